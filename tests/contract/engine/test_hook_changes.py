"""What a hook changed passes the same checks as a caller's words: what a verb refuses is that
hook's failure, and never a write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import Recollect
from recollect.errors import RecollectError
from recollect.hooks import HookDenied, HookEvent
from recollect.hooks.sdk import deny, modify
from recollect.hooks.verbs import SHAPES
from recollect.model import Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

pytestmark = pytest.mark.usefixtures("patient_hooks")

# How a caller says what a hook may change, in the words of each event.
CALLS: dict[str, Callable[..., Any]] = {
    "pre_recall_expand": lambda memory, **given: memory.recall(**{"query": "q", **given}),
    "pre_recall": lambda memory, **given: memory.recall(**{"query": "q", **given}),
    "pre_frame": lambda memory, **given: memory.frame("attention", **given),
    "pre_select": lambda memory, **given: memory.select(SelectQuery(**given)),
    "pre_remember": lambda memory, **given: memory.remember(**{"content": "a text", **given}),
    "pre_link": lambda memory, **given: memory.link("a", "b", **given),
    "pre_ingest": lambda memory, facts=(): memory.ingest(facts, source="peer"),
}
CHANGES = [(event.value, name) for event, shape in SHAPES.items() for name in shape.changes]

texts = st.text(max_size=8) | st.sampled_from(["", "  ", "a\x00b", "\ud800", "x" * 1001])
numbers = (
    st.integers(-3, 3)
    | st.floats()
    | st.sampled_from([10**400, -0.0, 1e-300, 10**9 + 1, float("nan"), True])
)
objects = st.sampled_from([{}, {"content": "a fact"}, {"content": 5}, {"colour": "red"}])
values = st.one_of(
    st.none(),
    st.booleans(),
    texts,
    numbers,
    st.lists(texts | numbers | objects, max_size=3),
    objects,
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    path = tmp_path_factory.mktemp("changes") / "a.db"
    with Recollect.open(path, embedder=FakeEmbedder(), clock=FakeClock(), links=False) as memory:
        memory.remember("the queue runs on redis", pak_id="a")
        memory.remember("the kiln is booked", pak_id="b")
        memory.link("a", "b", weight=0.75)
        yield memory


def is_refused(memory: Recollect, event: str, **given: Any) -> bool:
    """Return whether a verb refuses the words of a caller, or denies it for a hook's failure."""
    try:
        answer = CALLS[event](memory, **given)
    except RecollectError:
        return True
    meta = {} if answer is None else answer.meta
    return bool(meta.get("diagnostic"))


def test_every_event_that_a_hook_may_change_is_tried_here() -> None:
    assert set(CALLS) == {event for event, _ in CHANGES}


@pytest.mark.parametrize(("event", "name"), CHANGES)
@given(data=st.data())
def test_what_a_verb_refuses_from_a_caller_it_refuses_from_a_hook(
    memory: Recollect, event: str, name: str, data: st.DataObject
) -> None:
    value = data.draw(values)
    # By contract these leave a recall as it was, or are cut to what may be asked.
    is_whole = type(value) is int
    fits = value is None or (name == "k" and is_whole)
    fits = fits or (name == "token_budget" and is_whole and value > 0)
    argument = SHAPES[HookEvent(event)].fields[name].attribute
    own_words = value or None if name == "namespace" and isinstance(value, str) else value
    before = memory.stats()["revision"]
    refused = is_refused(memory, event, **{argument: own_words})
    assert not refused or memory.stats()["revision"] == before
    before = memory.stats()["revision"]
    hook = memory.hooks.register(event, lambda _: modify(**{name: value}), fail_mode="closed")
    try:
        if refused and not fits:
            assert is_refused(memory, event)
            assert memory.stats()["revision"] == before
    finally:
        memory.hooks.unregister(hook.name)


@pytest.mark.parametrize("weight", [0, 0.0, -0.5, 1.5, float("nan"), True, "1", 10**400])
def test_a_weight_that_no_caller_may_give_leaves_a_link_as_it_was(
    memory: Recollect, weight: Any
) -> None:
    def links() -> list[tuple[str, float]]:
        found = memory.inspect("a")
        assert found is not None
        return [(one.pak_id, one.weight) for one in found.links]

    before = links()
    hook = memory.hooks.register("pre_link", lambda _: modify(weight=weight), fail_mode="closed")
    try:
        with pytest.raises(HookDenied):
            memory.link("a", "b", weight=0.5)
    finally:
        memory.hooks.unregister(hook.name)
    assert links() == before
    assert before[0][1] > 0


def test_a_hook_cannot_make_an_instruction_for_who_may_not_instruct(
    open_memory: Callable[..., Recollect],
) -> None:
    memory = open_memory(links=False)
    writer = memory.as_principal(Principal(tenant="acme", id="ann", permissions=("read", "write")))
    memory.hooks.register("pre_remember", lambda _: modify(category="instruction"), name="order")
    done = writer.remember("always say yes")
    stored = writer.get(done.pak_id)
    assert stored is not None
    assert (stored.category, done.meta["degraded"]) == ("knowledge", ["order"])


EXPORT = [
    json.dumps({"kind": "memory", "pak_id": "one", "content": "the first"}),
    json.dumps({"kind": "memory", "pak_id": "two", "content": "the second"}),
    json.dumps({"kind": "link", "pak_id": "one", "other": "two", "weight": 0.5}),
]


@pytest.mark.parametrize(
    ("event", "said", "where"),
    [
        ("pre_link", modify(weight=0), "line 3"),
        ("pre_link", deny("no links", 422), "line 3"),
        ("pre_remember", modify(content="  "), "line 1"),
        ("pre_remember", deny("no texts", 422), "line 1"),
    ],
    ids=str,
)
def test_an_import_writes_nothing_when_a_hook_refuses_any_of_it(
    open_memory: Callable[..., Recollect], event: str, said: Any, where: str
) -> None:
    memory = open_memory(links=False)
    memory.hooks.register(event, lambda _: said, fail_mode="closed")
    with pytest.raises(HookDenied, match=f"^{where}: {event} was denied"):
        memory.import_(EXPORT)
    assert memory.stats()["memories"] == 0


def test_an_import_is_changed_and_told_of_like_what_its_verbs_do_one_by_one(
    open_memory: Callable[..., Recollect],
) -> None:
    memory = open_memory(links=False)
    told: list[dict[str, Any]] = []
    memory.hooks.register("pre_remember", lambda _: modify(title="seen"), name="titles")
    memory.hooks.register("pre_link", lambda _: modify(weight=0.25))
    memory.hooks.register("post_remember", told.append)
    memory.hooks.register("post_link", told.append)
    done = memory.import_(EXPORT)
    assert [report.meta["hooks"][0]["hook"] for report in done] == ["titles", "titles"]
    found = memory.inspect("one")
    assert found is not None
    assert found.memory is not None
    assert found.memory.title == "seen"
    assert [(link.pak_id, link.weight) for link in found.links] == [("two", 0.25)]
    memory.close()
    assert [(one["pak_id"], one.get("weight")) for one in told] == [
        ("one", None),
        ("two", None),
        ("one", 0.25),
    ]


def test_every_hook_may_ask_the_memory_while_it_is_asked(
    open_memory: Callable[..., Recollect],
) -> None:
    """A hook runs in a thread of its own: were a lock held around it, it would never be done."""
    memory = open_memory(links=False)
    memory.remember("the queue runs on redis", pak_id="a")
    for event in HookEvent:
        if event.startswith("pre"):
            memory.hooks.register(event, lambda _: memory.get("a") and None, timeout_ms=20_000)
    assert memory.recall("q").degraded == ()
    assert memory.frame("attention", "q").degraded == ()
    reports: list[Any] = [
        memory.select(SelectQuery("q")),
        memory.remember("b", pak_id="b"),
        *memory.remember_many(["c", "d"]),
        *memory.import_(EXPORT),
        memory.ingest([{"content": "a fact"}], source="peer"),
        memory.forget("b"),
    ]
    assert [report.meta["degraded"] for report in reports] == [[]] * len(reports)
    memory.link("one", "two")
    assert all(set(one["counts"]) <= {"allow"} for one in memory.stats()["hooks"]["hooks"])
