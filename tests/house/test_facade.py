"""The façade passes on what it is given by name."""

from __future__ import annotations

import ast

from tests.house.snippets import ROOT

SOURCE = ROOT / "src/recollect"


def test_no_module_reads_its_arguments_off_the_stack() -> None:
    readers = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "locals"
    ]
    assert readers == []
