"""A client of the protocol as a test holds one: the official SDK's, without its colour.

In: a server, a command or an address, and an era of the protocol. Out: calls that block.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from recollect import Recollect
from recollect.edge.mcp.local import LocalMemory
from recollect.edge.mcp.server import make_server

ERAS = ("auto", "legacy")
RECOLLECT = str(Path(sys.executable).with_name("recollect"))


class Agent:
    """Somebody who calls tools and reads what comes back."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self._client, self._portal = client, portal

    def ask(self, method: str, *args: Any, **given: Any) -> Any:
        """Return what a method of the client gives."""
        return self._portal.call(lambda: getattr(self._client, method)(*args, **given))

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool."""
        return self.ask("call_tool", tool, arguments)

    def answer(self, tool: str, /, **arguments: Any) -> Any:
        """Return the structured answer of a tool that does not refuse."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def text(self, tool: str, /, **arguments: Any) -> str:
        """Return what a model reads of an answer."""
        (content,) = self.call(tool, **arguments).content
        text: str = content.text
        return text

    def refusal(self, tool: str, /, **arguments: Any) -> str:
        """Return what a model reads of a tool that refuses."""
        result = self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        assert result.structured_content is None
        text: str = result.content[0].text
        return text


@contextmanager
def agent_of(target: Any, era: str = "auto") -> Iterator[Agent]:
    """Connect to a server, a command or an address."""
    with start_blocking_portal() as portal:
        client = Client(target, mode=era)
        with portal.wrap_async_context_manager(client):
            yield Agent(client, portal)


@contextmanager
def agent_in_memory(
    memory: Recollect, era: str = "auto", *, tools: str = "default"
) -> Iterator[Agent]:
    """Connect to a memory that is open here, without a transport."""
    local = LocalMemory(lambda: nullcontext(memory))
    with agent_of(make_server(local, tools=tools), era) as agent:
        yield agent


def command(*words: str, env: Mapping[str, str] | None = None) -> StdioServerParameters:
    """Return how `recollect mcp` is started."""
    given = {**os.environ, **(env or {})}
    return StdioServerParameters(command=RECOLLECT, args=["mcp", *words], env=given)


@contextmanager
def agent_over_http(url: str, key: str | None, era: str = "auto") -> Iterator[Agent]:
    """Connect to an address with a key."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    with start_blocking_portal() as portal:
        http = httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False)
        with portal.wrap_async_context_manager(http):
            client = Client(streamable_http_client(url, http_client=http), mode=era)
            with portal.wrap_async_context_manager(client):
                yield Agent(client, portal)
