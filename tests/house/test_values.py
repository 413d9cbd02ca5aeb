"""Values are declared by the decorator that costs little: a command pays for all it loads."""

from __future__ import annotations

import ast
from pathlib import Path

import recollect

_SOURCE = Path(recollect.__file__).parent


def test_the_decorator_of_values_is_ours_in_every_module() -> None:
    found = [
        f"{path.relative_to(_SOURCE)}: import `dataclass` from recollect.values"
        for path in sorted(_SOURCE.rglob("*.py"))
        if path != _SOURCE / "values.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if "dataclass" in [name.name for name in node.names]
    ]
    assert found == []
