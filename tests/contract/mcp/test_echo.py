"""A text that memory gave out and that comes back is not stored as new."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from tests.mcp_client import Agent, agent_in_memory

from recollect import Recollect
from recollect.edge.echo import Echoes
from recollect.policy import Principal

KILN = "The kiln is booked until Friday."
LONG = "The release is cut on Tuesdays. " + "It takes a while. " * 400


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    made = open_memory()
    made.remember(KILN, pak_id="kiln", speaker="Ann", occurred_at="2026-05-08T13:56:00Z")
    made.remember("Glaze: ash,\n- clay\n- feldspar.", pak_id="glaze")
    return made


@pytest.fixture
def agent(memory: Recollect) -> Iterator[Agent]:
    with agent_in_memory(memory, tools="all") as one:
        yield one


def stored(memory: Recollect) -> int:
    return len(memory.list().items)


def test_a_text_that_was_recalled_is_not_stored_again(agent: Agent, memory: Recollect) -> None:
    agent.call("recall", query="kiln")
    told = agent.answer("remember", content="  the KILN is booked\nuntil Friday.", scope="company")
    assert (told["pak_id"], told["created"]) == ("kiln", False)
    assert told["meta"] == {"echo_of": ["kiln"]}
    assert stored(memory) == 2
    text = agent.text("remember", content=KILN, scope="company")
    assert text.startswith("Not stored again: memory says this already, as kiln.")


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("recall", {"query": "kiln glaze"}),
        ("recall", {"query": "kiln glaze", "detail": "full"}),
        ("frame", {"name": "attention", "query": "kiln glaze"}),
        ("list_memories", {}),
        ("get_memory", {"pak_id": "glaze"}),
    ],
    ids=lambda one: str(one),
)
def test_what_a_model_read_is_known_as_it_was_wrapped(
    agent: Agent, memory: Recollect, tool: str, given: dict[str, object]
) -> None:
    text = agent.text(tool, **given)
    told = agent.answer("remember", content=text, scope="company")
    assert told["created"] is False, text
    assert "glaze" in told["meta"]["echo_of"]
    assert stored(memory) == 2


def test_the_text_of_a_frame_alone_is_known(agent: Agent, memory: Recollect) -> None:
    text = agent.answer("frame", name="attention", query="kiln glaze")["text"]
    assert "(Ann, 2026-05-08)" in text
    assert agent.answer("remember", content=text)["created"] is False
    assert stored(memory) == 2


def test_first_words_that_were_shown_are_known(agent: Agent, memory: Recollect) -> None:
    memory.remember(LONG, pak_id="long")
    (entry,) = agent.answer("recall", query="release", top_k=1)["results"]
    assert "content" not in entry
    assert agent.answer("remember", content=entry["beginning"])["created"] is False


def test_a_text_that_says_one_word_more_is_new(agent: Agent) -> None:
    text = agent.text("recall", query="kiln")
    assert agent.answer("remember", content=f"Not true: {KILN}")["created"] is True
    assert agent.answer("remember", content=f"{text}\nBen says it is free.")["created"] is True


WRAPPED: tuple[tuple[str, dict[str, object]], ...] = (
    ("recall", {"query": "kiln glaze"}),
    ("recall", {"query": "kiln glaze", "detail": "full"}),
    ("frame", {"name": "attention", "query": "kiln glaze"}),
    ("list_memories", {}),
    ("get_memory", {"pak_id": "glaze"}),
)


@pytest.mark.parametrize(("tool", "given"), WRAPPED, ids=lambda one: str(one))
def test_what_another_process_told_is_known_as_it_was_wrapped(
    memory: Recollect, tool: str, given: dict[str, object]
) -> None:
    with agent_in_memory(memory) as one:
        text = one.text(tool, **given)
    with agent_in_memory(memory) as other:
        told = other.answer("remember", content=text, scope="company")
    assert told["created"] is False, text
    assert "glaze" in told["meta"]["echo_of"]
    assert stored(memory) == 2


@pytest.mark.parametrize(
    "text",
    [
        "  the KILN is booked\nuntil Friday.",
        f'"{KILN}"',
        f"1 memory, best first.\n- (Ann, 2026-05-08) {KILN}\n- {KILN}",
        f"- {KILN} (Ann 2026-05-08; source notes; trust user_approved 1; id kiln)",
    ],
)
def test_what_memory_says_already_is_known_whoever_told_it(
    agent: Agent, memory: Recollect, text: str
) -> None:
    told = agent.answer("remember", content=text, tags=["kiln"])
    assert (told["pak_id"], told["created"]) == ("kiln", False)
    assert stored(memory) == 2


def test_first_words_are_known_that_another_process_showed(agent: Agent, memory: Recollect) -> None:
    memory.remember(LONG, pak_id="long")
    (entry,) = agent.answer("recall", query="release", top_k=1)["results"]
    with agent_in_memory(memory) as other:
        assert other.answer("remember", content=entry["beginning"])["created"] is False
        assert other.answer("remember", content=entry["beginning"][:-1])["created"] is True


@pytest.mark.parametrize(
    "more",
    [{"project": "shop"}, {"thread": "t9"}, {"speaker": "Ben"}, {"scope": "company"}],
    ids=str,
)
def test_another_who_says_it_or_for_whom_is_another_memory(
    agent: Agent, memory: Recollect, more: dict[str, str]
) -> None:
    assert agent.answer("remember", content=KILN, **more)["created"] is True
    assert stored(memory) == 3


def test_what_holds_words_of_memory_and_more_is_new_to_every_process(agent: Agent) -> None:
    for text in (f"Not true: {KILN}", f"{KILN} Or Monday.", f"- {KILN}\n- Ben fires it."):
        assert agent.answer("remember", content=text)["created"] is True


def test_what_one_may_not_read_does_not_change_what_is_stored() -> None:
    ann, ben = (Principal("acme", name, (), ("read", "write")) for name in ("ann", "ben"))
    answers = []
    for hidden in ("Ben would never know this.", KILN):
        memory = Recollect.open("memory://")
        memory.as_principal(ann).remember(hidden, pak_id="hidden")
        with memory, agent_in_memory(memory.as_principal(ben)) as agent:
            wrapped = f"[hidden]; source not named, trust user_approved\n> {KILN}"
            said = [
                agent.call("remember", content=text).model_dump_json() for text in (KILN, wrapped)
            ]
            answers.append([re.sub(r"pak_[0-9a-f]{32}", "pak_…", one) for one in said])
    assert answers[0] == answers[1]
    assert '"created":true' in answers[0][0]


def test_who_may_only_write_is_told_of_no_echo(memory: Recollect) -> None:
    writer = Principal("local", "local", (), ("write",))
    with agent_in_memory(memory.as_principal(writer)) as agent:
        assert agent.answer("remember", content=f"{KILN.lower()} ")["created"] is True


def test_a_text_that_nobody_was_told_is_stored_as_ever(agent: Agent, memory: Recollect) -> None:
    assert agent.answer("remember", content=KILN, scope="company")["created"] is True
    assert stored(memory) == 3


def test_what_was_forgotten_or_changed_can_be_learnt_anew(agent: Agent) -> None:
    agent.call("recall", query="kiln glaze")
    agent.call("forget", pak_id="kiln")
    assert agent.answer("remember", content=KILN)["created"] is True
    agent.call("update_memory", pak_id="glaze", content="Glaze: lead.")
    assert agent.answer("remember", content="Glaze: ash,\n- clay\n- feldspar.")["created"] is True


def test_who_names_an_id_or_a_predecessor_means_it(agent: Agent) -> None:
    agent.call("recall", query="kiln")
    assert agent.answer("remember", content=KILN, pak_id="mine")["created"] is True
    told = agent.answer("remember", content=KILN, supersedes="glaze", scope="company")
    assert told["superseded"] == ["glaze"]


def test_of_many_texts_the_echoes_are_left_out(agent: Agent, memory: Recollect) -> None:
    agent.call("recall", query="kiln")
    items = ["A new fact.", {"content": KILN, "scope": "company"}, "Another fact."]
    told = agent.answer("remember_many", items=items)
    assert [one["created"] for one in told["items"]] == [True, False, True]
    assert told["items"][1]["pak_id"] == "kiln"
    assert (told["remembered"], told["created"]) == (2, 2)
    assert stored(memory) == 4


def test_each_listener_has_its_own_echoes() -> None:
    echoes = Echoes()
    echoes.tell("ann", [("kiln", KILN)])
    assert echoes.repeated("ann", KILN) == (("kiln", KILN),)
    assert echoes.repeated("ben", KILN) == ()


def test_what_is_kept_in_mind_does_not_grow() -> None:
    echoes = Echoes()
    echoes.tell("ann", ((str(number), f"text {number}") for number in range(5_000)))
    assert echoes.repeated("ann", "text 0") == ()
    assert echoes.repeated("ann", "text 4999") == (("4999", "text 4999"),)
    for number in range(300):
        echoes.tell(number, [("kiln", KILN)])
    assert echoes.repeated("ann", "text 4999") == ()
