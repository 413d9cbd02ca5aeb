"""A browser for the tests of pages is found or fetched; where neither can be, the run says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.snippets import ROOT
from tools.chromium import find


def fetched(into: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the tool where no program can be found."""
    return subprocess.run(
        [sys.executable, "-m", "tools.chromium", str(into / "chromium")],
        cwd=ROOT,
        env={"PATH": str(into), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# A Mac has its browsers in a place of their own, whatever the PATH says.
has_path_only = pytest.mark.skipif(sys.platform == "darwin", reason="browsers are elsewhere")


@has_path_only
def test_without_apt_and_browser_the_run_says_so_and_goes_on(tmp_path: Path) -> None:
    done = fetched(tmp_path)
    assert done.returncode == 0
    assert "there is no Chromium" in done.stderr
    assert "tests of pages are skipped." in done.stderr


@has_path_only
def test_without_apt_and_browser_the_run_fails_under_ci(tmp_path: Path) -> None:
    done = fetched(tmp_path, CI="true")
    assert done.returncode == 1
    assert "there is no Chromium" in done.stderr
    assert "skipped" not in done.stderr


def test_what_was_unpacked_is_run_with_its_own_libraries_and_fonts(tmp_path: Path) -> None:
    root = tmp_path / "chromium"
    (root / "usr/lib/chromium").mkdir(parents=True)
    (root / "usr/lib/chromium/chromium").write_text("")
    libraries = root / "usr/lib/x86_64-linux-gnu"
    libraries.mkdir()
    browser = find(root)
    assert browser.program == root / "usr/lib/chromium/chromium"
    assert str(libraries) in browser.environment["LD_LIBRARY_PATH"].split(":")
    config = Path(browser.environment["FONTCONFIG_FILE"]).read_text(encoding="utf-8")
    assert f"<dir>{root / 'usr/share/fonts'}</dir>" in config


def test_the_tests_of_pages_are_prepared_by_the_command_that_runs_them() -> None:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "test: check browser " in rules
    assert "-m tools.chromium" in rules
    assert "export CI=true" in (ROOT / ".ci/run").read_text(encoding="utf-8")
