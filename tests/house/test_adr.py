"""Decisions are written in one form, and lean on nothing that a clone does not have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.house.snippets import ROOT

RECORDS = sorted((ROOT / "docs/adr").glob("*.md"))
HEADINGS = ["Context", "Decision", "Measured", "What was not chosen", "Consequences"]
NEEDED = {"Context", "Decision", "Consequences"}

records = pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)


@records
def test_a_decision_has_the_form_of_all(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert re.match(rf"# ADR-{path.name[:4]}: \S", lines[0]), "`# ADR-0001: A sentence` comes first"
    assert re.match(r"(Accepted|Replaced by ADR-\d{4})\b", lines[2]), "then its state"
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert set(headings) >= NEEDED
    assert headings == [one for one in HEADINGS if one in headings], "these headings, in this order"


@records
def test_a_decision_names_no_file_that_is_not_here(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\.\./shared|\bcontracts?/\d|\bissue #?\d|\bseeds?/", text)
    files = re.findall(r"`((?:src|tests|bench|docs|tools)/[\w./-]+)`", text)
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_numbers_follow_one_another() -> None:
    numbers = [path.name[:4] for path in RECORDS]
    assert len(numbers) == len(set(numbers))
    assert numbers == sorted(numbers)
