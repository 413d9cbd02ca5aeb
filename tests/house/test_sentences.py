"""What the pages promise is shown by a test that is named beside it.

Of docs/security.md that is each sentence and each table; of ARCHITECTURE.md what it says of all,
every, only or never. The names are in promises.toml.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import groupby

import pytest
from tests.house.snippets import ROOT

ABSOLUTE = re.compile(r"\b(?:all|every|only|never|nobody|nothing|always)\b", re.IGNORECASE)
# Of which sentences of a page a test is named.
PAGES = {"ARCHITECTURE.md": ABSOLUTE, "docs/security.md": re.compile("")}
_LISTED = tomllib.loads((ROOT / "tests/house/promises.toml").read_text(encoding="utf-8"))
ADVICE: dict[str, list[str]] = _LISTED.pop("advice")
PROMISES: dict[str, dict[str, list[str]]] = _LISTED
MOST_ADVICE = 12

_LEAD = re.compile(r"^(?:- )?\*\*[^*]+\.\*\* ")
_SENTENCE_END = re.compile(r"(?<=[.:?!])\s+(?=[A-Z`0-9])")


def lines_of(page: str) -> list[str]:
    """Return a page without its code and headings."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines()
    return [line for line in lines if not line.startswith("#")]


def sentences(page: str) -> list[str]:
    """Return the sentences of a page that a test should show, on one line each."""
    prose = "\n".join(line for line in lines_of(page) if not line.startswith("|"))
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d\. )", prose):
        joined = _LEAD.sub("", " ".join(paragraph.split()))
        found += _SENTENCE_END.split(joined.replace("**", "").removeprefix("- "))
    return [sentence for sentence in found if sentence and PAGES[page].search(sentence)]


def tables(page: str) -> Iterator[list[str]]:
    """Yield the header and the rows of each table of a page that each says something."""
    for is_table, lines in groupby(lines_of(page), key=lambda line: line.startswith("|")):
        if is_table:
            header, _, *rows = lines
            yield [header, *rows]


def claims(page: str) -> list[str]:
    """Return what a test should be named for: a table is listed whole, or else row by row."""
    said = sentences(page)
    if page == "docs/security.md":
        for header, *rows in tables(page):
            said += [header] if listed_as(header, PROMISES[page]) else rows
    return said


def listed_as(claim: str, openings: dict[str, list[str]] | list[str]) -> list[str]:
    return [opening for opening in openings if claim.startswith(opening)]


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the names of tests and of test cases that a file makes."""
    made = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        if isinstance(node, ast.Assign):
            made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(name for name in made if name.startswith(("test_", "Test")))


@pytest.mark.parametrize("page", PAGES)
def test_each_claim_is_listed_with_its_tests(page: str) -> None:
    openings = [*PROMISES[page], *ADVICE.get(page, ())]
    assert [claim for claim in claims(page) if len(listed_as(claim, openings)) != 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_what_is_listed_stands_on_the_page_once(page: str) -> None:
    said = claims(page)
    for opening in (*PROMISES[page], *ADVICE.get(page, ())):
        assert sum(claim.startswith(opening) for claim in said) == 1, opening


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_are_named_are_there(page: str) -> None:
    for opening, shown_by in PROMISES[page].items():
        assert shown_by, opening
        for named in shown_by:
            path, _, test = named.partition("::")
            assert test in names_in(path), f"{opening}: no {named}"


def test_little_is_said_that_claims_nothing() -> None:
    assert set(ADVICE) <= set(PAGES)
    assert all(len(said) <= MOST_ADVICE for said in ADVICE.values())
