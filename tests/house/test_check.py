"""What a share and what a time is, is said in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.house.snippets import ROOT

SOURCE = ROOT / "src/recollect"
CHECK = "check.py"
MODULES = {
    str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")
}
SMALLER, LARGER = (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)


def reads_of_times(source: str) -> int:
    """Return how often a text is read as an ISO-8601 time."""
    return sum(
        isinstance(node, ast.Attribute) and node.attr in ("fromisoformat", "strptime")
        for node in ast.walk(ast.parse(source))
    )


def comparisons_with_0_and_1(source: str) -> int:
    """Return how often something is held between 0 and 1, in one comparison or in two."""
    return sum(_is_share(node) for node in ast.walk(ast.parse(source)))


def _is_share(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare) and len(node.ops) == 2:
        low, high = node.left, node.comparators[1]
        if all(isinstance(one, LARGER) for one in node.ops):
            low, high = high, low
        return _is(low, 0) and (_is(high, 1) or (isinstance(high, ast.BinOp) and _is(high.left, 1)))
    if isinstance(node, ast.BoolOp):
        bounds = set(_bounds(node))
        return any({(name, 0), (name, 1)} <= bounds for name, _ in bounds)
    return False


def _bounds(node: ast.BoolOp) -> Iterator[tuple[str, int]]:
    for one in node.values:
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], SMALLER + LARGER):
            ends = (one.left, one.comparators[0])
            names = [end.id for end in ends if isinstance(end, ast.Name)]
            numbers = [number for number in (0, 1) for end in ends if _is(end, number)]
            yield from ((name, number) for name in names for number in numbers)


def _is(node: ast.expr, number: int) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
        and node.value == number
    )


def test_a_time_is_read_in_one_place() -> None:
    assert {path: n for path, source in MODULES.items() if (n := reads_of_times(source))} == {
        CHECK: 1
    }


def test_a_share_is_compared_in_one_place() -> None:
    assert {
        path: n for path, source in MODULES.items() if (n := comparisons_with_0_and_1(source))
    } == {CHECK: 2}


@pytest.mark.parametrize(
    "line",
    [
        "0 <= x <= 1",
        "0.0 < x <= 1.0",
        "1 >= x > 0",
        "0 <= x <= 1 + SLACK",
        "x < 0 or x > 1",
        "0 <= x and x <= 1.0",
    ],
)
def test_another_comparison_would_be_seen(line: str) -> None:
    assert comparisons_with_0_and_1(f"if {line}: pass") == 1


def test_another_reading_of_a_time_would_be_seen() -> None:
    assert reads_of_times("from datetime import datetime as d\nd.fromisoformat(text)") == 1
    assert reads_of_times("import datetime\nread = datetime.date.fromisoformat") == 1
