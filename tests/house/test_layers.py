"""The layer rules hold, and a module that nobody placed in a layer fails them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.snippets import ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package that a test may spoil."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=skipped)
    return tmp_path


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_layers_hold(copy: Path) -> None:
    result = lint(copy)
    assert result.returncode == 0, result.stdout


def test_a_module_that_nobody_placed_fails(copy: Path) -> None:
    (copy / "src/recollect/stray.py").write_text('"""A module that nobody placed."""\n')
    result = lint(copy)
    assert result.returncode != 0
    assert "recollect.stray" in result.stdout


def test_the_catalogue_may_not_import_a_door(copy: Path) -> None:
    registry = copy / "src/recollect/paks/registry.py"
    registry.write_text(registry.read_text() + "\nimport recollect.edge.wire\n")
    result = lint(copy)
    assert result.returncode != 0
    assert "recollect.paks.registry -> recollect.edge.wire" in result.stdout


def test_a_selection_may_not_know_sqlite(copy: Path) -> None:
    words = copy / "src/recollect/recall/select/words.py"
    words.write_text(words.read_text() + "\nimport sqlite3\n")
    result = lint(copy)
    assert result.returncode != 0
    assert "recollect.recall.select.words -> sqlite3" in result.stdout


def test_a_door_sees_the_catalogue_only_through_its_public_modules() -> None:
    public = {"recollect.paks", "recollect.paks.registry"}
    for path in (ROOT / "src/recollect/edge").rglob("*.py"):
        words = path.read_text(encoding="utf-8").split()
        used = {word for word in words if word.startswith("recollect.paks")}
        assert used <= public, path
