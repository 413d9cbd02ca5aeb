"""The chain: who runs, in which order, for how long, and what comes of it in the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidInput, NotAllowed, StoreClosed
from recollect.hooks import (
    AskUser,
    ChainResult,
    Denied,
    ExecutorRegistry,
    HookChain,
    HookEvent,
    HookSpec,
)
from recollect.hooks.doctor import payload_of
from recollect.hooks.events import EventClass
from recollect.hooks.payload import Payload
from recollect.hooks.sdk import allow, ask_user, deny, modify
from recollect.hooks.spec import Function
from recollect.hooks.verbs import SHAPES


@pytest.fixture
def registry() -> Iterator[ExecutorRegistry]:
    made = ExecutorRegistry()
    yield made
    made.close()


def hook(name: str, function: Function, **given: Any) -> HookSpec:
    fields: dict[str, Any] = {"event": HookEvent.PRE_REMEMBER, "mode": "python"}
    return HookSpec(name=name, function=function, **{**fields, **given})


def text(**given: Any) -> Payload:
    return payload_of(HookEvent.PRE_REMEMBER, {"content": "text", "namespace": "", **given})


def fire(registry: ExecutorRegistry, *hooks: HookSpec, **payload: Any) -> ChainResult:
    return HookChain(hooks).fire(text(**payload), registry)


def names(fired: ChainResult) -> list[str]:
    return [run.hook for run in fired.runs]


def test_thirteen_events_each_with_its_deadline_and_payload() -> None:
    deadlines = {event.value: event.event_class.value for event in HookEvent}
    reads = ("pre_recall", "post_recall", "pre_frame", "post_frame", "pre_select")
    writes = ("remember", "forget", "link")
    assert deadlines == {
        "pre_recall_expand": 0.05,
        **dict.fromkeys(reads, 2.0),
        **{f"{when}_{verb}": 5.0 for when in ("pre", "post") for verb in writes},
        "pre_ingest": 5.0,
    }
    assert set(SHAPES) == set(HookEvent)
    told = {event for event, shape in SHAPES.items() if "namespace" in shape.fields}
    # A project is only one of the ways to say what to forget: no hook is meant for some of them.
    assert {event for event in HookEvent if event.has_namespace} == told - {HookEvent.PRE_FORGET}


def test_higher_priority_first_and_ties_as_given(registry: ExecutorRegistry) -> None:
    fired = fire(
        registry,
        hook("a", lambda _: None),
        hook("b", lambda _: None, priority=5),
        hook("c", lambda _: None, priority=-1),
        hook("d", lambda _: None, priority=5),
    )
    assert names(fired) == ["b", "d", "a", "c"]


def test_a_disabled_hook_does_not_run(registry: ExecutorRegistry) -> None:
    chain = HookChain([hook("off", lambda _: deny("no"), enabled=False)])
    assert not chain.listens(HookEvent.PRE_REMEMBER)
    assert chain.fire(text(), registry).action == "allow"


def test_the_namespace_pattern_is_really_applied(registry: ExecutorRegistry) -> None:
    hooks = [
        hook("all", lambda _: None),
        hook("team", lambda _: None, namespace="team/*"),
        hook("shop", lambda _: None, namespace="shop"),
        hook("none", lambda _: None, namespace=""),
    ]
    assert names(fire(registry, *hooks, namespace="team/x")) == ["all", "team"]
    assert names(fire(registry, *hooks, namespace="shop")) == ["all", "shop"]
    assert names(fire(registry, *hooks)) == ["all", "none"]


def test_a_guard_of_the_namespace_that_it_was_routed_to_is_asked(
    registry: ExecutorRegistry,
) -> None:
    fired = fire(
        registry,
        hook("router", lambda _: modify(namespace="team/x"), priority=1),
        hook("guard", lambda _: deny("not you"), namespace="team/*"),
        namespace="default",
    )
    assert fired.denied == Denied("not you", 403)


def test_a_change_is_seen_by_the_next_hook_under_its_own_name(registry: ExecutorRegistry) -> None:
    fired = fire(
        registry,
        hook("one", lambda payload: modify(content=payload["content"] + " one")),
        hook("two", lambda payload: modify(content=payload["content"] + " two", tags=["t"])),
    )
    assert fired.action == "modify"
    assert fired.delta == {"content": "text one two", "tags": ("t",)}
    assert fired.payload == text(content="text one two", tags=("t",))


def test_the_first_denial_stops_the_chain(registry: ExecutorRegistry) -> None:
    fired = fire(
        registry,
        hook("one", lambda _: modify(content="x")),
        hook("two", lambda _: deny("secret", 451)),
        hook("three", lambda _: deny("never asked")),
    )
    assert (fired.action, fired.denied, names(fired)) == (
        "deny",
        Denied("secret", 451),
        ["one", "two"],
    )


def test_a_question_survives_a_later_allowance_and_keeps_the_change(
    registry: ExecutorRegistry,
) -> None:
    fired = fire(
        registry,
        hook("one", lambda _: modify(content="x")),
        hook("two", lambda _: ask_user("Sure?", ["yes", "no"], "no")),
        hook("three", lambda _: allow()),
        hook("four", lambda _: ask_user("Really?")),
    )
    assert fired.action == "ask_user"
    assert fired.asks == (AskUser("Sure?", ("yes", "no"), "no"), AskUser("Really?"))
    assert fired.payload.values["content"] == "x"


def test_a_denial_outweighs_a_question(registry: ExecutorRegistry) -> None:
    fired = fire(
        registry, hook("one", lambda _: ask_user("Sure?")), hook("two", lambda _: deny("no"))
    )
    assert fired.action == "deny"


def test_a_function_that_raises_is_passed_over_or_denies(registry: ExecutorRegistry) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("broken")

    def leave(_: object) -> None:
        raise SystemExit(3)

    for function in (fail, leave):
        fired = fire(
            registry, hook(f"open-{function.__name__}", function), hook("b", lambda _: None)
        )
        assert (fired.action, names(fired)[1:]) == ("allow", ["b"])
        assert fired.degraded == (f"open-{function.__name__}",)
        fired = fire(registry, hook(f"closed-{function.__name__}", function, fail_mode="closed"))
        assert fired.denied is not None
        assert fired.denied.code == 503


def test_a_function_that_takes_too_long_is_left_to_itself(registry: ExecutorRegistry) -> None:
    gate = threading.Event()
    slow = hook("slow", lambda _: gate.wait(30) and None, timeout_ms=20)
    closed = hook("closed", lambda _: gate.wait(30) and None, timeout_ms=20, fail_mode="closed")
    fired = fire(registry, slow, hook("next", lambda _: modify(content="x")))
    assert fired.degraded == ("slow",)
    assert fired.payload.values["content"] == "x"
    assert fired.runs[0].action == "timeout"
    refused = fire(registry, closed).denied
    assert refused is not None
    assert refused.code == 504
    gate.set()


def test_threads_that_hang_are_bounded_and_then_the_hook_fails_at_once(
    registry: ExecutorRegistry,
) -> None:
    gate = threading.Event()
    stuck = hook("stuck", lambda _: gate.wait(30) and None, timeout_ms=1)
    actions = {fire(registry, stuck).runs[0].action for _ in range(40)}
    assert actions == {"timeout", "busy"}
    gate.set()


def test_each_hook_gets_what_the_others_left(registry: ExecutorRegistry) -> None:
    """Two hooks that take all of the 50 ms: the third finds nothing left and is not even asked."""
    gate = threading.Event()
    event = HookEvent.PRE_RECALL_EXPAND
    asked: list[str] = []
    fields: dict[str, Any] = {"event": event, "mode": "python"}
    hooks = [
        HookSpec(name="first", function=lambda _: gate.wait(30) and None, **fields),
        HookSpec(name="second", function=lambda _: asked.append("second"), **fields),
        HookSpec(name="last", function=lambda _: None, fail_mode="closed", **fields),
    ]
    fired = HookChain(hooks).fire(payload_of(event), registry)
    gate.set()
    assert asked == []
    assert fired.degraded == ("first", "second")
    assert fired.denied is not None
    assert fired.denied.code == 504
    assert event.event_class is EventClass.HOT_PATH


@pytest.mark.parametrize(
    "reply",
    [
        "allow",
        7,
        [],
        {},
        {"action": "explode"},
        {"action": None},
        {"action": "modify"},
        {"action": "modify", "delta": []},
        {"action": "modify", "delta": {"colour": "red"}},
        {"action": "modify", "delta": {"pak_id": "another"}},
        {"action": "modify", "delta": {"content": 5}},
        {"action": "modify", "delta": {"tags": "one"}},
        {"action": "modify", "delta": {"tags": [1]}},
        {"action": "modify", "delta": {"confidence": True}},
        {"action": "modify", "delta": {"confidence": "1"}},
        {"action": "deny", "reason": 5},
        {"action": "deny", "reason": "no", "code": "403"},
        {"action": "deny", "reason": "no", "code": True},
        {"action": "ask_user"},
        {"action": "ask_user", "prompt": "Sure?", "options": []},
        {"action": "ask_user", "prompt": "Sure?", "options": "yn"},
        {"action": "ask_user", "prompt": "Sure?", "options": ["y"], "default": "x"},
        {"error": "it broke"},
    ],
    ids=str,
)
def test_a_reply_that_cannot_be_read_is_the_hooks_failure(
    registry: ExecutorRegistry, reply: object
) -> None:
    fired = fire(registry, hook("bad", lambda _: reply))
    assert (fired.degraded, fired.delta, fired.asks) == (("bad",), {}, ())
    fired = fire(registry, hook("bad", lambda _: reply, fail_mode="closed"))
    assert fired.denied is not None
    assert fired.denied.code == 503


@pytest.mark.parametrize("refusal", [InvalidInput("bad."), NotAllowed("bad.")], ids=repr)
def test_what_the_verb_refuses_is_the_failure_of_the_hook_that_wanted_it(
    registry: ExecutorRegistry, refusal: Exception
) -> None:
    seen: list[dict[str, Any]] = []

    def check(delta: Mapping[str, Any]) -> None:
        seen.append(dict(delta))
        if delta["content"] == "bad":
            raise refusal

    def fired(fail_mode: str) -> ChainResult:
        hooks = [
            hook("one", lambda _: modify(content="one", title="t"), priority=2),
            hook("bad", lambda _: modify(content="bad"), priority=1, fail_mode=fail_mode),
            hook("two", lambda payload: modify(summary=payload["content"])),
        ]
        return HookChain(hooks).fire(text(), registry, check)

    left = fired("open")
    assert left.degraded == ("bad",)
    assert left.delta == {"content": "one", "title": "t", "summary": "one"}
    # Each is judged together with what the hooks before it changed.
    assert seen == [
        {"content": "one", "title": "t"},
        {"content": "bad", "title": "t"},
        {"content": "one", "title": "t", "summary": "one"},
    ]
    assert fired("closed").denied == Denied("hook bad: delta: bad.", 503)


def test_a_store_that_was_closed_meanwhile_is_nobodys_failure(registry: ExecutorRegistry) -> None:
    def check(_: object) -> None:
        raise StoreClosed("closed.")

    chain = HookChain([hook("one", lambda _: modify(content="one"))])
    with pytest.raises(StoreClosed):
        chain.fire(text(), registry, check)


def test_a_recall_never_gets_wider(registry: ExecutorRegistry) -> None:
    def recall(delta: dict[str, Any], **given: Any) -> ChainResult:
        spec = hook("wide", lambda _: modify(**delta), event=HookEvent.PRE_RECALL)
        unset: dict[str, Any] = {"token_budget": None, "namespace": "shop"}
        payload = payload_of(HookEvent.PRE_RECALL, {**unset, **given})
        return HookChain([spec]).fire(payload, registry)

    assert recall({"token_budget": 900}, token_budget=100).payload.values["token_budget"] == 100
    assert recall({"token_budget": 50}, token_budget=100).payload.values["token_budget"] == 50
    assert recall({"token_budget": 50}).payload.values["token_budget"] == 50
    assert recall({"tags": ["a"]}, tags=("a", "b")).payload.values["tags"] == ("a",)
    assert recall({"tags": ["a", "c"]}, tags=("a", "b")).degraded == ("wide",)
    assert recall({"tags": []}, tags=("a", "b")).degraded == ("wide",)
    assert recall({"tags": ["c"]}).payload.values["tags"] == ("c",)
    assert recall({"namespace": ""}).degraded == ("wide",)
    assert recall({"k": 10**9}).payload.values["k"] == 1000


actions = st.sampled_from(["allow", "modify", "deny", "ask_user", "fail"])


@given(st.lists(st.tuples(actions, st.integers(-3, 3), st.booleans()), max_size=6))
def test_the_result_follows_from_the_decisions_whatever_they_are(
    drawn: list[tuple[str, int, bool]],
) -> None:
    replies: dict[str, Any] = {
        "allow": None,
        "modify": modify(title="t"),
        "deny": deny("no"),
        "ask_user": ask_user("Sure?"),
        "fail": {"action": "nonsense"},
    }
    hooks = [
        hook(
            str(number),
            lambda _, action=action: replies[action],
            priority=priority,
            fail_mode="closed" if closed else "open",
        )
        for number, (action, priority, closed) in enumerate(drawn)
    ]
    registry = ExecutorRegistry()
    try:
        fired = HookChain(hooks).fire(text(), registry)
    finally:
        registry.close()
    order = sorted(range(len(drawn)), key=lambda one: -drawn[one][1])
    ran = []
    for number in order:
        action, _, closed = drawn[number]
        ran.append(action)
        if action == "deny" or (action == "fail" and closed):
            break
    assert len(fired.runs) == len(ran)
    denied = bool(ran) and (ran[-1] == "deny" or fired.denied is not None)
    expected = (
        "deny"
        if denied
        else "ask_user"
        if "ask_user" in ran
        else "modify"
        if "modify" in ran
        else "allow"
    )
    assert fired.action == expected
    assert (fired.payload.values["title"] == "t") == ("modify" in ran)
