"""The README claims only what a command shows: every block in it is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.bars import BARS
from tests.house.snippets import ROOT, Block, Reader, blocks

README = ROOT / "README.md"


def test_every_snippet_runs(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(README):
        reader.follow(block)


def test_the_readme_names_the_two_commands_and_a_python_example() -> None:
    text = "\n".join(block.text for block in blocks(README) if block.language == "sh")
    assert {"make demo", "make test"} <= {
        line.partition(" #")[0].strip() for line in text.split("\n")
    }
    assert any(block.language == "python" for block in blocks(README))


def test_the_readme_is_two_screens_long() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_numbers_are_those_that_are_promised() -> None:
    table = README.read_text(encoding="utf-8").split("## What is promised, in numbers")[1]
    rows = re.findall(
        r"^\| .* \| at (least|most) ([\d.]+) ?(times|a second|MB|second|) *\| `--only (\S+)` \|$",
        table,
        re.MULTILINE,
    )
    bars = {one.name: one for one in BARS}
    units = {"times": "x", "a second": "/s", "MB": "MB", "second": "s", "": ""}
    assert len(rows) == len(re.findall(r"--only", table)) > 5
    for side, number, unit, name in rows:
        bar = bars[name]
        assert (side == "least", float(number)) == (bar.at_least, bar.limit), name
        assert units[unit] == bar.unit, name


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/api.md",
        "docs/python.md",
        "docs/cli.md",
    ],
)
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    here = ROOT / page
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", here.read_text(encoding="utf-8"))
    assert [target for target in targets if not (here.parent / target).exists()] == []


@pytest.mark.parametrize(
    "block",
    [
        Block("python", "raise SystemExit(3)"),
        Block("sh", "recollect paks nonsense\n"),
        Block("sh", "make nonsense\n"),
        Block("sh", "rm -rf /nowhere\n"),
        Block("console", "$ recollect --version\nrecollect 99\n"),
        Block("ruby", "puts 1\n"),
    ],
    ids=lambda block: block.text.strip(),
)
def test_a_snippet_that_does_not_hold_is_noticed(tmp_path: Path, block: Block) -> None:
    with pytest.raises(AssertionError):
        Reader(tmp_path).follow(block)
