"""The suite of stores calls everything that the port has, so that no rule of it goes unasked."""

from __future__ import annotations

import ast
from functools import cache

import pytest
from tests.house.snippets import ROOT

from recollect.ports.store import (
    AccessRoom,
    EdgeRoom,
    MemoryRoom,
    ReceiptRoom,
    RecordRoom,
    StateRoom,
    Store,
    UseRoom,
    VectorRoom,
    VersionRoom,
)

ROOMS = {
    "memories": MemoryRoom,
    "edges": EdgeRoom,
    "vectors": VectorRoom,
    "uses": UseRoom,
    "receipts": ReceiptRoom,
    "access": AccessRoom,
    "state": StateRoom,
    "records": RecordRoom,
    "versions": VersionRoom,
}
METHODS = [
    *(f"{room}.{name}" for room, port in ROOMS.items() for name in vars(port) if name[0] != "_"),
    *(f"store.{name}" for name in vars(Store) if name[0] != "_" and name not in ROOMS),
]


@cache
def called() -> set[str]:
    """Return what the suite calls, as the last two names of each call."""
    found = set()
    for path in (ROOT / "src/recollect/testing").glob("*contract.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                found.add(".".join(ast.unparse(node.func).split(".")[-2:]))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_the_suite_of_stores_calls_every_method_of_the_port(method: str) -> None:
    assert method in called()
