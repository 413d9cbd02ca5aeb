"""Runners through MCP: without a transport, over stdio and over HTTP, in both eras.

A case is a call of the tool that does what its verb does. Where a tool has a default of its own,
the verb's is passed; lines that a verb streams are in one object here. Nothing else differs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from typing import Any

from mcp import StdioServerParameters
from tests.conformance.stores import PEOPLE, build, clock
from tests.conformance.stories import Case, Names, Outcome, answered
from tests.house.snippets import ROOT
from tests.mcp_client import ERAS, Agent, agent_in_memory, agent_of, agent_over_http
from tests.served import served

from recollect import Recollect, errors
from recollect.edge.http.problems import STATUSES
from recollect.edge.mcp.tools import TOOLS, Tool, tool_of

Connect = Callable[[str], AbstractContextManager[Agent]]


def made(place: str) -> tuple[Recollect, Mapping[str, str], float]:
    """Make the store of the cases; return it with everybody's keys, and what time it is."""
    time = clock()
    memory = Recollect.open(place, embedder="none", clock=time, receipts=True)
    return memory, build(memory, time), time.seconds


def asked(agents: ExitStack, connect: Connect) -> Callable[[Case, dict[str, Any]], Outcome]:
    """Return what asks as each of the people; who never asks is never connected."""
    known: dict[str, Agent] = {}

    def perform(case: Case, given: dict[str, Any]) -> Outcome:
        name = case["as"]
        if name not in known:
            known[name] = agents.enter_context(connect(name))
        tool = TOOLS[tool_of(case["verb"])]
        return _outcome(known[name].call(tool.name, **{**_usual(tool, given), **given}))

    return perform


def _usual(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the verb's own defaults where the tool has others."""
    fields = {one.name: one.default for one in tool.verb.fields}
    return {name: fields.get(name, "full") for name in tool.usual or {} if name not in given}


def _outcome(result: Any) -> Outcome:
    if result.is_error:
        told = result.meta["recollect/error"]
        assert result.content[0].text == "\n".join(filter(None, (told["message"], told["hint"])))
        return {"error": {**told, "status": _statuses()[told["code"]]}}
    told = result.structured_content
    return answered(told["lines"] if list(told) == ["lines"] else told)


@cache
def _statuses() -> Mapping[str, int]:
    kinds: list[type[errors.RecollectError]] = [getattr(errors, name) for name in errors.__all__]
    return {
        kind.code: next(STATUSES[one] for one in kind.__mro__ if one in STATUSES) for kind in kinds
    }


@contextmanager
def in_memory(era: str, place: str) -> Iterator[tuple[Names, Any]]:
    """Ask a server in this process."""
    memory, keys, _ = made(place)
    with memory, ExitStack() as agents:

        def connect(name: str) -> AbstractContextManager[Agent]:
            return agent_in_memory(memory.as_principal(PEOPLE[name]), era, tools="all")

        yield Names(keys), asked(agents, connect)


@contextmanager
def stdio(era: str, place: str) -> Iterator[tuple[Names, Any]]:
    """Ask a process for each of the people; they share the file."""
    memory, keys, seconds = made(place)
    memory.close()
    with ExitStack() as agents:

        def connect(name: str) -> AbstractContextManager[Agent]:
            words = ["-m", "tests.conformance.mcp_child", place, keys[name], repr(seconds)]
            env = {**os.environ, "PYTHONPATH": str(ROOT)}
            started = StdioServerParameters(command=sys.executable, args=words, env=env)
            return agent_of(started, era)

        yield Names(keys), asked(agents, connect)


@contextmanager
def http(era: str, place: str) -> Iterator[tuple[Names, Any]]:
    """Ask the server at /mcp."""
    memory, keys, _ = made(place)
    with served(memory, mcp_tools="all") as url, ExitStack() as agents:

        def connect(name: str) -> AbstractContextManager[Agent]:
            return agent_over_http(f"{url}/mcp", keys[name], era)

        yield Names(keys), asked(agents, connect)


Way = Callable[[str], AbstractContextManager[tuple[Names, Any]]]
WAYS: Mapping[str, Way] = {
    f"mcp {name}, {'2026' if era == 'auto' else 'handshake'}": partial(way, era)
    for name, way in (("here", in_memory), ("stdio", stdio), ("http", http))
    for era in ERAS
}
