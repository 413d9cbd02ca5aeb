"""Which project a folder belongs to, and what its owner said about memory there.

In: a working directory. Out: a `Project`: its name, and whether anything is kept or shown in it.
A `.recollect.toml` at or above the folder may narrow what is done, never widen it: it comes with
whatever was cloned. One that cannot be read keeps and shows nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recollect.limits import NAME_CHARACTERS
from recollect.values import dataclass

__all__ = ["FILE", "Project", "project_at"]

FILE = ".recollect.toml"
_MOST_LEVELS = 64
_MOST_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Project:
    """What a folder is part of; `problem` says why its file was not followed."""

    name: str | None
    capture: bool = True
    inject: bool = True
    problem: str | None = None


def project_at(cwd: object) -> Project:
    """Return the project of a working directory; one that is not told has no name."""
    if not isinstance(cwd, str) or not cwd or not cwd.startswith("/") or "\0" in cwd:
        return Project(None)
    folder = Path(cwd)
    above = [folder, *folder.parents][:_MOST_LEVELS]
    root = next((_work_tree(one) for one in above if _exists(one / ".git")), None)
    said = next((one for one in above if _exists(one / FILE)), None)
    usual = _shortened(str(root or said or folder))
    return Project(usual) if said is None else _as_said(said / FILE, usual)


def _as_said(file: Path, usual: str) -> Project:
    try:
        with file.open("rb") as opened:
            told = tomllib.loads(opened.read(_MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        return Project(usual, capture=False, inject=False, problem=type(error).__name__)
    name = told.get("project", usual)
    if not isinstance(name, str) or not name.strip() or (name != usual and name.startswith("/")):
        # A path would be another folder's project: its memories are not for this one to ask for.
        return Project(usual, capture=False, inject=False, problem="project")
    if not all(isinstance(told.get(key, True), bool) for key in ("capture", "inject")):
        return Project(usual, capture=False, inject=False, problem="capture")
    return Project(
        _shortened(name.strip()), capture=_on(told, "capture"), inject=_on(told, "inject")
    )


def _on(told: Mapping[str, Any], key: str) -> bool:
    return told.get(key, True) is True


def _work_tree(folder: Path) -> Path:
    """Return the folder of a repository; of a second work tree, that of the first."""
    mark = folder / ".git"
    if not mark.is_file():
        return folder
    try:
        text = mark.read_text(encoding="utf-8")[:NAME_CHARACTERS]
        git = (folder / text.removeprefix("gitdir:").strip()).resolve()
    except (OSError, ValueError):
        return folder
    # <repository>/.git/worktrees/<name>; a submodule's is in .git/modules and is its own project.
    first = git.parent.parent
    return first.parent if git.parent.name == "worktrees" and first.name == ".git" else folder


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _shortened(name: str) -> str:
    return name[-NAME_CHARACTERS:]
