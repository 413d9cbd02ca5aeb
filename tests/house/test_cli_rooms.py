"""The command line's rooms: commands parse and call, views draw, and both have the same names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.house.snippets import ROOT
from typer.main import get_command

from recollect.edge.cli.app import app

CLI = ROOT / "src/recollect/edge/cli"
COMMANDS = {path.stem: path for path in (CLI / "commands").glob("*.py") if path.stem[0] != "_"}
VIEWS = {path.stem: path for path in (CLI / "views").glob("*.py") if path.stem[0] != "_"}
# Modules with commands of several names, which share what they are about.
SHARED = {"change", "memories", "transfer", "upkeep"}


def imports(path: Path, *, at_start: bool = False) -> set[str]:
    """Return the modules that a file imports, `at_start` without those inside of functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if at_start else list(ast.walk(tree))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_a_view_has_the_name_of_its_command() -> None:
    assert VIEWS.keys() - COMMANDS.keys() == {"elements", "piped", "words"}


def test_a_command_is_where_its_name_says() -> None:
    tree = get_command(app)
    words = {"eval": "evaluate"}
    named = {words.get(name, name) for name in tree.commands}  # type: ignore[attr-defined]
    assert COMMANDS.keys() - SHARED <= named


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_opens_nothing_and_parses_nothing(name: str) -> None:
    used = imports(VIEWS[name])
    assert not {one for one in used if one.split(".")[0] == "typer"}
    assert not used & {"recollect.engine", "recollect.Recollect"}
    assert not {one for one in used if "open_memory" in one or "open_catalogue" in one}
    assert not {one for one in used if one.startswith("recollect.edge.cli.commands")}


@pytest.mark.parametrize("path", sorted(COMMANDS.values()), ids=lambda path: path.stem)
def test_a_command_loads_what_draws_and_what_answers_only_when_it_runs(path: Path) -> None:
    slow = ("rich", "numpy", "recollect.engine", "recollect.recall", "recollect.edge.cli.views")
    assert not {one for one in imports(path, at_start=True) if one.startswith(slow)}


def test_the_rooms_hold_all_but_what_every_command_shares() -> None:
    outside = {path.stem for path in CLI.glob("*.py")}
    assert outside == {
        *("__init__", "app", "ask", "given", "options", "output", "process", "quick"),
        *("open_memory", "on_a_server", "open_catalogue", "demo_memory"),
        *("words", "hints", "complete"),
    }
