"""What ARCHITECTURE.md and docs/security.md say of all, every, only or never is shown by a test."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache

import pytest
from tests.house.snippets import ROOT

PAGES = ("ARCHITECTURE.md", "docs/security.md")
ABSOLUTE = re.compile(r"\b(?:all|every|only|never|nobody|nothing|always)\b", re.IGNORECASE)
PROMISES: dict[str, dict[str, list[str]]] = tomllib.loads(
    (ROOT / "tests/house/promises.toml").read_text(encoding="utf-8")
)


def sentences(page: str) -> list[str]:
    """Return the sentences of a page that say something of all of a kind, on one line each."""
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("#", "|"))]
    paragraphs = re.split(r"\n\s*\n|\n(?=- |\d\. )", "\n".join(lines))
    found = []
    for paragraph in paragraphs:
        joined = " ".join(paragraph.replace("**", "").split()).removeprefix("- ")
        found += re.split(r"(?<=[.:?!])\s+(?=[A-Z`0-9])", joined)
    return [sentence for sentence in found if ABSOLUTE.search(sentence)]


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the names of tests and of test cases that a file makes."""
    made = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        if isinstance(node, ast.Assign):
            made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(made)


@pytest.mark.parametrize("page", PAGES)
def test_each_absolute_sentence_is_listed_with_its_tests(page: str) -> None:
    listed = list(PROMISES[page])
    bare = [
        sentence
        for sentence in sentences(page)
        if not any(sentence.startswith(opening) for opening in listed)
    ]
    assert bare == []


@pytest.mark.parametrize("page", PAGES)
def test_what_is_listed_stands_on_the_page(page: str) -> None:
    said = sentences(page)
    gone = [one for one in PROMISES[page] if not any(text.startswith(one) for text in said)]
    assert gone == []


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_are_named_are_there(page: str) -> None:
    for opening, shown_by in PROMISES[page].items():
        assert shown_by, opening
        for named in shown_by:
            path, _, test = named.partition("::")
            assert test in names_in(path), f"{opening}: no {named}"
