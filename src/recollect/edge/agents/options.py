"""What is chosen for agents: budgets, floors, what is kept; read from `agents.toml`.

In: the folder of Recollect's own files. Out: a frozen `AgentOptions`. A file that says something
we cannot follow is refused with the name of what is wrong; whoever answers a hook then keeps
nothing. Nothing else here opens a file.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from recollect import check
from recollect.errors import InvalidInput
from recollect.model import Match
from recollect.model.answer import MATCHES
from recollect.settings import home_directory
from recollect.values import dataclass

__all__ = ["FILE", "AgentOptions", "agent_options", "patience_s", "state_folder"]

FILE = "agents.toml"
_STATE = "agents"
_PATIENCE_MS = 300
_HINT = "docs/agents.md lists what it may say."


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """How hooks are answered.

    `state` is the folder of the log and of pauses. Of a prompt at most `top_k` memories come in
    `budget_tokens`, each fitting at least `min_match` and scoring at least `min_score`. `tools` and
    `subagents` keep what they did, too. `off_record` are phrases that keep a turn out. After
    `deadline_ms` an answer is given without what is not ready; a hook that is a process of its own,
    its start included, has `process_deadline_ms`. `announce` tells the user how much was given.
    """

    state: Path
    frame: str = "evidence"
    top_k: int = 5
    budget_tokens: int = 800
    session_budget_tokens: int = 600
    min_match: Match = "fair"
    min_score: float = 0.0
    capture: bool = True
    inject: bool = True
    tools: bool = False
    subagents: bool = False
    announce: bool = False
    off_record: tuple[str, ...] = ("off the record",)
    deadline_ms: int = _PATIENCE_MS
    process_deadline_ms: int = _PATIENCE_MS
    now: Callable[[], float] = time.time


def state_folder(home: Path | None = None) -> Path:
    """Return where the log of hooks and the pauses are."""
    return (home or home_directory()) / _STATE


def patience_s(file: Path) -> float:
    """Return how long a process of its own may take before a prompt, as a file says if it can."""
    try:
        told: Any = tomllib.loads(file.read_text(encoding="utf-8")).get("process_deadline_ms")
    except (OSError, ValueError):
        told = None
    is_good = type(told) is int and _may_be("process_deadline_ms", told)
    return (told if is_good else _PATIENCE_MS) / 1000


def agent_options(home: Path | None = None) -> AgentOptions:
    """Return what `agents.toml` says, the rest as it is usually."""
    place = home or home_directory()
    file = place / FILE
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        told = {}
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}.", hint=_HINT) from error
    return AgentOptions(state=state_folder(place), **_checked(file, told))


_FLAGS = ("capture", "inject", "tools", "subagents", "announce")
_COUNTS = {
    "top_k": 100,
    "budget_tokens": 100_000,
    "session_budget_tokens": 100_000,
    "deadline_ms": 60_000,
    "process_deadline_ms": 60_000,
}


def _checked(file: Path, told: Mapping[str, Any]) -> dict[str, Any]:
    known = {one.name for one in fields(AgentOptions)} - {"state", "now"}
    for name, value in told.items():
        if name not in known or not _may_be(name, value):
            raise InvalidInput(f"{file}: {name} cannot be {value!r:.60}.", hint=_HINT)
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in told.items()
    }


def _may_be(name: str, value: object) -> bool:
    if name in _FLAGS:
        return isinstance(value, bool)
    if name in _COUNTS:
        return type(value) is int and 1 <= value <= _COUNTS[name]
    if name == "min_match":
        return value in MATCHES
    if name == "min_score":
        check.share(name, value, hint=_HINT)
        return True
    if name == "off_record":
        return isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    return isinstance(value, str) and bool(value)
