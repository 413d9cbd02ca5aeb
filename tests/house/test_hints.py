"""A hint that is read at a shell can be followed there: it holds no call or keyword of Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.house.snippets import ROOT

from recollect.edge.cli.hints import in_shell

SOURCE = ROOT / "src/recollect"
# A call, a keyword argument, a class or a value of Python.
PYTHON = re.compile(
    r"\w\(|\b\w+=(?!1\b)|\bTrue\b|\bFalse\b|\bNone\b|\bdict\b|\bstr\b|Recollect\.\w"
)
# Who calls these does not come from the command line.
OF_THE_LIBRARY = {
    "aio.py",
    "hooks/sdk.py",
    "hooks/handle.py",
    "hooks/in_process.py",
    "paks/validate.py",
    "paks/catalogue.py",
    "paks/store.py",
    "recall/select/values.py",
    "ports/",
    "testing/",
    "paks/listing.py",
    "stores/memory/session.py",
    "stores/sqlite/session.py",
}


def hints() -> Iterator[tuple[str, str]]:
    """Yield where a hint stands, and its words; what is filled in is an ellipsis."""
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        if any(where.startswith(name) for name in OF_THE_LIBRARY):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                words = _words(node.value)
                if words:
                    yield f"{where}:{node.value.lineno}", words


def _words(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_words, node.values))
    if isinstance(node, ast.FormattedValue):
        return "'…'" if node.conversion == ord("r") else "…"
    return ""


HINTS = dict(hints())


def test_hints_are_found() -> None:
    assert len(HINTS) > 150


@pytest.mark.parametrize("where", HINTS)
def test_a_hint_can_be_followed_at_a_shell(where: str) -> None:
    assert not PYTHON.search(in_shell(HINTS[where])), in_shell(HINTS[where])
