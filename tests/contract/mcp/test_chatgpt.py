"""`search` and `fetch`, as ChatGPT's connectors call them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from tests.mcp_client import ERAS, Agent, agent_in_memory

from recollect import Recollect


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    made = open_memory()
    made.remember("The kiln is booked until Friday.", pak_id="kiln/booking", source="board")
    return made


@pytest.fixture(params=ERAS)
def agent(memory: Recollect, request: pytest.FixtureRequest) -> Iterator[Agent]:
    with agent_in_memory(memory, request.param, tools="chatgpt") as one:
        yield one


def test_a_search_tells_ids_and_a_fetch_tells_the_text(agent: Agent) -> None:
    tools = {one.name: one for one in agent.ask("list_tools").tools}
    assert list(tools) == ["search", "fetch"]
    assert all(one.annotations.read_only_hint for one in tools.values())
    (hit,) = agent.answer("search", query="when is the kiln booked?")["results"]
    assert hit == {
        "id": "kiln/booking",
        "title": "The kiln is booked until Friday.",
        "url": "recollect://memories/kiln%2Fbooking",
    }
    told = agent.answer("fetch", id=hit["id"])
    assert told["text"] == "The kiln is booked until Friday."
    assert told["metadata"]["source"] == "board"
    assert set(told) == {"id", "title", "text", "url", "metadata"}


def test_the_text_is_the_same_as_json(agent: Agent) -> None:
    for tool, given in (("search", {"query": "kiln"}), ("fetch", {"id": "kiln/booking"})):
        assert json.loads(agent.text(tool, **given)) == agent.answer(tool, **given)


def test_what_is_wrong_is_said_in_our_words(agent: Agent) -> None:
    assert agent.refusal("search").startswith("search takes query as a text, not None.")
    assert "no field 'limit'" in agent.refusal("search", query="kiln", limit=5)
    assert agent.refusal("fetch", id="nobody").startswith("there is no memory 'nobody'.")
    with pytest.raises(Exception, match="There is no tool 'remember'"):
        agent.call("remember", content="x")
