"""The fault matrix of docs/reliability.md is what the command makes, and its tests are there."""

from __future__ import annotations

import ast
import re

import pytest
from tests.faults.matrix import BEGIN, CLAIMS, END, PAGE, ROWS, Counts, Row, cells
from tests.house.snippets import ROOT

FAULT_TESTS = sorted((ROOT / "tests/faults").glob("test_*.py"))


def shown() -> list[list[str]]:
    """Return the cells of the table in the page."""
    text = PAGE.read_text(encoding="utf-8")
    between = text.split(BEGIN)[1].split(END)[0]
    lines = [line for line in between.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.test.split("::")[1][:60])
def test_a_row_names_a_test_that_is_there_and_what_it_would_see(row: Row) -> None:
    path, name = row.test.split("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert row.sees
    assert set(row.sees) <= set(CLAIMS)


def test_the_page_shows_every_row_with_what_came_of_it() -> None:
    page = shown()
    assert len(page) == len(ROWS)
    for row, found in zip(ROWS, page, strict=True):
        fine, failed = cells(row, Counts()), cells(row, Counts({row.test: 1}))
        assert found[:2] == fine[:2]
        assert found[3:] in (fine[3:], failed[3:])
        assert re.fullmatch(r"[\d,]+", found[2])
        assert found[2] != "0" or found[3:] == failed[3:]


@pytest.mark.parametrize("path", FAULT_TESTS, ids=lambda path: path.stem)
def test_every_module_of_faults_has_a_row(path: object) -> None:
    assert any(row.test.startswith(f"tests/faults/{path.name}::") for row in ROWS)  # type: ignore[attr-defined]
