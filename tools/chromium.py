"""A Chromium for the tests of pages: the one on the PATH, or Debian's, unpacked into `.cache`.

Run `python -m tools.chromium`. In: nothing, or a folder. Out: a folder with the browser, the
libraries that this machine lacks, and fonts. Nothing is installed: packages are fetched by apt-get
into folders of our own and unpacked there. Where that cannot be done it says so; under CI it fails.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from recollect.values import dataclass

__all__ = ["CACHE", "Browser", "cannot_be_had", "fetch", "find"]

CACHE = Path(__file__).parent.parent / ".cache" / "chromium"
_ON_PATH = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_PROGRAM = "usr/lib/chromium/chromium"
# A page without a font shows boxes, and one with another font is another picture.
_FONTS = ("fonts-liberation", "fonts-dejavu-core")
_FONTCONFIG = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir>
  <cachedir>{cache}</cachedir>
  <match target="pattern">
    <test name="family"><string>system-ui</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>Liberation Sans</string></edit>
  </match>
  <alias><family>sans-serif</family><prefer><family>Liberation Sans</family></prefer></alias>
  <alias><family>serif</family><prefer><family>Liberation Serif</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""


class NotToBeHad(Exception):
    """There is no browser here, and none can be fetched."""


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser to run, and what its environment needs."""

    program: Path
    environment: Mapping[str, str]


def find(into: Path = CACHE) -> Browser | None:
    """Return the browser that is here; None where there is none."""
    if (into / _PROGRAM).is_file():
        return _unpacked(into)
    for name in _ON_PATH:
        if (program := shutil.which(name)) is not None:
            return Browser(Path(program), {})
    return None


def cannot_be_had() -> str:
    """Return what to tell whoever has no browser."""
    return (
        "there is no Chromium for the tests of pages: install Debian's package chromium, or run "
        "`python -m tools.chromium` where apt-get can fetch it."
    )


def fetch(into: Path = CACHE) -> Browser:
    """Return the browser that is here, or fetch one; one run at a time."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with into.with_name(f"{into.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        here = find(into)
        if here is not None:
            return here
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise NotToBeHad("there is no apt-get here.")
        partial = into.with_name(f"{into.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        _unpack_all(_packages(partial / "apt"), partial / "root")
        (partial / "root").rename(into)
        shutil.rmtree(partial)
        return _unpacked(into)


def _packages(folder: Path) -> list[Path]:
    """Fetch what this machine lacks to run the browser, and fonts whether it has them or not."""
    archives = folder / "cache" / "archives"
    for needed in (archives / "partial", folder / "state" / "lists" / "partial"):
        needed.mkdir(parents=True)
    apt = (
        "apt-get",
        "--quiet",
        f"--option=Dir::State={folder / 'state'}",
        "--option=Dir::State::status=/var/lib/dpkg/status",
        f"--option=Dir::Cache={folder / 'cache'}",
        "--option=APT::Sandbox::User=root",
        "--option=Acquire::Retries=3",
    )
    _run(*apt, "update")
    wanted = ("install", "--download-only", "--no-install-recommends", "--yes", "chromium")
    _run(*apt, *wanted)
    _run(*apt, "download", *_FONTS, at=archives)
    return sorted(archives.glob("*.deb"))


def _run(*command: str, at: Path | None = None) -> None:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise NotToBeHad(f"{' '.join(command[-3:])!r} failed: {''.join(said)}")


def _unpack_all(packages: list[Path], root: Path) -> None:
    for package in packages:
        _run("dpkg-deb", "--extract", str(package), str(root))
    (root / "fonts-cache").mkdir()
    if not (root / _PROGRAM).is_file():
        raise NotToBeHad("the package chromium holds no program where Debian's has it.")


def _unpacked(root: Path) -> Browser:
    config = root / "fonts.conf"
    if not config.is_file():
        fonts, cache = root / "usr/share/fonts", root / "fonts-cache"
        config.write_text(_FONTCONFIG.format(fonts=fonts, cache=cache), encoding="utf-8")
    places = [root / "usr/lib", *root.glob("lib/*-linux-*"), *root.glob("usr/lib/*-linux-*")]
    places += root.glob("usr/lib/*-linux-*/pulseaudio")
    path = os.pathsep.join(str(place) for place in places)
    return Browser(root / _PROGRAM, {"LD_LIBRARY_PATH": path, "FONTCONFIG_FILE": str(config)})


def main() -> int:
    """Fetch the browser; 1 where there must be one and is none."""
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else CACHE
    try:
        print(f"browser: {fetch(into).program}")
    except (NotToBeHad, OSError) as error:
        print(f"{cannot_be_had()} {error}", file=sys.stderr)
        if os.environ.get("CI") == "true":
            return 1
        print("tests of pages are skipped.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
