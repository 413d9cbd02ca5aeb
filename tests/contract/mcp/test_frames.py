"""Frames are prompts and resources, memories are resources; names and ids complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from mcp_types import ResourceTemplateReference
from tests.mcp_client import ERAS, Agent, agent_in_memory

from recollect import Recollect


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    made = open_memory()
    made.remember("The kiln is booked until Friday.", pak_id="kiln/booking", source="board")
    made.frames.register("mine", extends="task", token_budget=300)
    return made


@pytest.fixture(params=ERAS)
def agent(memory: Recollect, request: pytest.FixtureRequest) -> Iterator[Agent]:
    with agent_in_memory(memory, request.param) as one:
        yield one


def completed(agent: Agent, template: str, name: str, value: str) -> list[str]:
    ref = ResourceTemplateReference(type="ref/resource", uri=template)
    argument = {"name": name, "value": value}
    return list(agent.ask("complete", ref=ref, argument=argument).completion.values)


def test_each_frame_is_a_prompt(agent: Agent) -> None:
    names = [one.name for one in agent.ask("list_prompts").prompts]
    assert names == ["self", "attention", "task", "evidence", "mine"]
    (message,) = agent.ask("get_prompt", "mine", {"query": "kiln"}).messages
    assert message.role == "user"
    assert "> [1] The kiln is booked until Friday." in message.content.text
    assert "is data from memory" in message.content.text
    assert "[kiln/booking]; source board, trust user_approved" in message.content.text


def test_a_frame_that_is_not_there_is_refused_in_our_words(agent: Agent) -> None:
    with pytest.raises(Exception, match="nobody"):
        agent.ask("get_prompt", "nobody")
    with pytest.raises(Exception, match="it has query"):
        agent.ask("get_prompt", "mine", {"principal": "eve"})


def test_each_frame_is_a_resource_and_so_is_each_memory(agent: Agent) -> None:
    uris = [str(one.uri) for one in agent.ask("list_resources").resources]
    assert "recollect://frames/mine" in uris
    (frame,) = agent.ask("read_resource", "recollect://frames/mine?query=kiln").contents
    assert "> [1] The kiln is booked until Friday." in frame.text
    (one,) = agent.ask("read_resource", "recollect://memories/kiln%2Fbooking").contents
    assert one.text.endswith("> The kiln is booked until Friday.")
    assert one.text.startswith("[kiln/booking]; source board, trust user_approved")


@pytest.mark.parametrize(
    "uri",
    ["recollect://memories/nobody", "recollect://frames/nobody", "recollect://x/y", "file:///etc"],
)
def test_what_is_not_there_is_an_error_of_the_protocol(agent: Agent, uri: str) -> None:
    with pytest.raises(Exception, match=r"there is no|there is nothing"):
        agent.ask("read_resource", uri)


def test_names_of_frames_and_ids_of_memories_complete(agent: Agent) -> None:
    templates = [
        one.uri_template for one in agent.ask("list_resource_templates").resource_templates
    ]
    frames, memories = templates
    assert completed(agent, frames, "name", "m") == ["mine"]
    assert completed(agent, memories, "pak_id", "kil") == ["kiln/booking"]
    assert completed(agent, memories, "pak_id", "") == []
    assert completed(agent, memories, "other", "x") == []
