"""What ARCHITECTURE.md says of the code as a whole, held against all of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.house.snippets import ROOT

SOURCE = ROOT / "src/recollect"
MODULES = {
    str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")
}
# Rooms from the model up to the recipes of a recall: the same in, the same out.
PURE = ("check.py", "dates.py", "hours.py", "model/", "policy/", "recall/", "frames/", "write/")
CHANCE_AND_TIME = {"random", "secrets", "uuid", "time", "socket", "subprocess", "tempfile"}
# The catalogue can be selected from without the engine, and then tells the time itself.
OWN_CLOCK = {"recall/select/selection.py"}
# Reads the table of words that is shipped beside it, and nothing else.
OWN_TABLE = {"policy/orders.py"}


def imported(source: str) -> set[str]:
    """Return the top-level names of all that a module imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in names}


def attributes(source: str) -> Iterator[str]:
    """Yield what a module takes from names: `datetime.now`, `os.environ`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reads_environment(source: str) -> bool:
    wanted = {"os.environ", "os.environb", "os.getenv", "os.getenvb"}
    return bool(wanted & set(attributes(source)))


def tells_time(source: str) -> bool:
    wanted = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
    return bool(wanted & set(attributes(source)))


def pure() -> list[str]:
    return sorted(path for path in MODULES if path.startswith(PURE))


def test_one_module_reads_the_environment() -> None:
    assert {path for path, source in MODULES.items() if reads_environment(source)} == {
        "settings.py"
    }


@pytest.mark.parametrize("path", pure())
def test_below_the_engine_there_is_no_clock_no_chance_and_no_network(path: str) -> None:
    assert not imported(MODULES[path]) & CHANCE_AND_TIME
    assert not tells_time(MODULES[path]) or path in OWN_CLOCK


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.startswith("policy/") and path not in OWN_TABLE]
)
def test_the_rules_of_access_touch_no_file_and_no_store(path: str) -> None:
    assert not imported(MODULES[path]) & {"os", "pathlib", "io", "sqlite3", "numpy", "logging"}
    used = {part for name in attributes(MODULES[path]) for part in [name.rpartition(".")[0]]}
    assert not {name for name in used if name.startswith(("recollect.stores", "recollect.ports"))}


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.startswith(("recall/", "model/"))]
)
def test_no_stage_knows_a_driver(path: str) -> None:
    assert "sqlite3" not in imported(MODULES[path])


def test_a_planted_reader_would_be_seen() -> None:
    assert reads_environment("import os\nhome = os.environ['HOME']")
    assert reads_environment("from os import getenv\n")
    assert tells_time("from datetime import datetime\nnow = datetime.now()")
    assert imported("def later():\n    import random") == {"random"}
