"""What a user's type checker makes of the public API: mypy and pyright see the same types."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = """
from typing import Literal, assert_type

from recollect import AsyncRecollect, Recollect
from recollect.client import AsyncRemoteRecollect, RemoteRecollect
from recollect.model import Forgotten, FrameResult, Memory, RecallResponse, Remembered, Version
from recollect.policy import Principal


def now(memory: Recollect) -> None:
    assert_type(memory.remember("tea", tags=["drink"], confidence=0.5), Remembered)
    assert_type(memory.recall("tea", top_k=3), RecallResponse)
    assert_type(memory.frame("task", "tea"), FrameResult)
    assert_type(memory.get("p"), Memory | None)
    assert_type(memory.forget("p"), Forgotten)
    assert_type(memory.update("p", confidence=0.5), Remembered)
    assert_type(memory.history("p")[0], Version)
    assert_type(memory.as_principal(Principal("acme", "ann")), Recollect)
    memory.remember("tea", scope="company", on_conflict="dispute")
    memory.list(order="title", scope="team")
    memory.gardens.create("lab", scope="public")
    memory.gardens.add("lab", "ann", "writer")
    Principal("acme", "ann", permissions=("read", "moderate"))
    Recollect.open("a.db", hours="wall", sanitizer="block")


def closed(memory: Recollect, one: Memory) -> None:
    assert_type(one.place.scope, Literal["local", "team", "company", "public"])
    assert_type(one.status, Literal["active", "archived", "quarantined", "rejected"])
    assert_type(memory.remember("tea").state, Literal["ready", "pending"])
    assert_type(
        memory.recall("tea").results[0].match, Literal["strong", "fair", "weak"] | None
    )


async def later(memory: AsyncRecollect) -> None:
    assert_type(await memory.remember("tea", tags=["drink"], confidence=0.5), Remembered)
    assert_type(await memory.recall("tea", top_k=3), RecallResponse)
    assert_type(await memory.frame("task", "tea"), FrameResult)
    assert_type(await memory.get("p"), Memory | None)
    assert_type(await memory.forget("p"), Forgotten)
    assert_type(await memory.update("p", confidence=0.5), Remembered)
    assert_type((await memory.history("p"))[0], Version)
    async with await AsyncRecollect.open("a.db", read_only=True) as other:
        assert_type(other, AsyncRecollect)


def there(memory: RemoteRecollect) -> None:
    assert_type(memory.remember("tea", tags=["drink"], confidence=0.5), Remembered)
    assert_type(memory.recall("tea", top_k=3), RecallResponse)
    assert_type(memory.get("p"), Memory | None)
    assert_type(memory.update("p", confidence=0.5), Remembered)
    assert_type(memory.principal, Principal)
    memory.gardens.add("lab", "ann", "writer")


async def there_later(memory: AsyncRemoteRecollect) -> None:
    assert_type(await memory.remember("tea", tags=["drink"], confidence=0.5), Remembered)
    assert_type(await memory.frame("task", "tea"), FrameResult)
    assert_type(await memory.get("p"), Memory | None)
    await memory.gardens.create("lab", scope="public")
    async with AsyncRemoteRecollect("http://127.0.0.1:8377", "rk_") as other:
        assert_type(other, AsyncRemoteRecollect)


def wrong(memory: Recollect) -> None:
    memory.recall("tea", top_k="3")
    memory.remember("tea", colour="green")
    memory.remember("tea", on_conflict="ignore")
    memory.remember("tea", scope="world")
    memory.recall("tea", scope="mine")
    memory.list(order="tea")
    memory.forget("tea", scope="all")
    memory.gardens.add("tea", "ann", "owner")
    memory.gardens.create("tea", scope="room")
    Principal("tea", "ann", permissions=("erase",))
    Recollect.open("tea.db", sanitizer="strict")


async def wrong_later(memory: AsyncRecollect) -> None:
    await memory.recall("tea", top_k="3")
    await memory.remember("tea", colour="green")
    await memory.recall("tea", scope="mine")
    await memory.list(order="tea")
    await AsyncRecollect.open("a.db", embeder="none")


def wrong_there(memory: RemoteRecollect) -> None:
    memory.recall("tea", top_k="3")
    memory.remember("tea", colour="green")
    memory.gardens.add("tea", "ann", "owner")


async def wrong_there_later(memory: AsyncRemoteRecollect) -> None:
    await memory.recall("tea", scope="mine")
    await memory.list(order="tea")
"""
LINES = PROGRAM.splitlines()
_WRONG = LINES.index("def wrong(memory: Recollect) -> None:") + 1
WRONG = {number for number, line in enumerate(LINES, 1) if number > _WRONG and "tea" in line} | {
    number for number, line in enumerate(LINES, 1) if "embeder" in line
}


def errors_of_mypy(file: Path) -> set[int]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    assert not done.stderr
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    return {int(line.split(":")[1]) for line in lines}


def errors_of_pyright(file: Path) -> set[int]:
    settings = {"typeCheckingMode": "standard", "include": [file.name]}
    (file.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"}


@pytest.mark.parametrize("errors_of", [errors_of_mypy, errors_of_pyright])
def test_what_is_right_passes_and_what_is_wrong_is_found(
    errors_of: Callable[[Path], set[int]], tmp_path: Path
) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    assert errors_of(file) == WRONG
