"""docs/python.md and the examples run as they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.snippets import ROOT, Block, Reader, blocks

PAGE = ROOT / "docs/python.md"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    program = [block.text for block in blocks(PAGE) if block.language == "python"]
    assert len(program) > 5
    Reader(tmp_path).follow(Block("python", "\n".join(program)))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_assistant_answers_with_what_is_so_now_and_tells_nobody_else(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, ROOT / "examples/chat.py", tmp_path / "chat.db"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    _, home, food = shown.split("## Evidence\n")
    assert home.startswith("[1] Ann's home is Berlin.")
    assert "nuts make me ill" in food
    assert "Bob is told: nothing" in food
    assert "wiped: True" in food
