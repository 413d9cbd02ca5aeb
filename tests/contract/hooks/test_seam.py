"""The seam as the seed has it: three outcomes, each with the triple to go on with."""

from __future__ import annotations

import json
import logging

import pytest
from tests.contract.hooks.conftest import World

from recollect.hooks import (
    Allow,
    Denied,
    ExecutorRegistry,
    HookChain,
    HookEvent,
    HookSpec,
    Modified,
    PreRecallOutcome,
    apply_pre_recall_expand,
)
from recollect.hooks.sdk import ask_user, deny, modify
from recollect.hooks.spec import Function

pytestmark = pytest.mark.usefixtures("patient_hooks")


def asked(*functions: Function, query: str = "orig", namespace: str = "ns", k: int = 7) -> object:
    """Return what the seam comes to with these functions as hooks."""
    hooks = [
        HookSpec(name=f"hook{n}", event=HookEvent.PRE_RECALL_EXPAND, mode="python", function=one)
        for n, one in enumerate(functions)
    ]
    registry = ExecutorRegistry()
    try:
        return apply_pre_recall_expand(query, namespace, k, HookChain(hooks), registry)
    finally:
        registry.close()


def triple(outcome: PreRecallOutcome) -> tuple[str, str, int, bool]:
    return outcome.query("orig"), outcome.namespace("ns"), outcome.k(7), outcome.is_denied()


def test_allow_keeps_the_original_triple() -> None:
    assert triple(Allow()) == ("orig", "ns", 7, False)


def test_modified_gives_the_rewritten_triple() -> None:
    assert triple(Modified("rewrite", "team/x", 25)) == ("rewrite", "team/x", 25, False)


def test_denied_gives_the_original_triple_for_logs() -> None:
    assert triple(Denied("blocked", 451)) == ("orig", "ns", 7, True)


def test_outcomes_are_equal_by_what_they_say() -> None:
    assert Allow() == Allow()
    assert Modified("q", "n", 1) == Modified(query="q", namespace="n", k=1)
    assert Modified("q", "n", 1) != Modified("q", "n", 2)
    assert Denied("no", 403) != Denied("no", 451)
    assert Allow() != Modified("q", "n", 1)
    assert repr(Modified("q", "n", 1)) == "Modified(query='q', namespace='n', k=1)"


def test_an_empty_chain_allows_and_makes_nothing_of_it() -> None:
    class Nothing:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"{name} was used")

    chain = HookChain([])
    assert apply_pre_recall_expand("hello", "default", 10, chain, ExecutorRegistry()) == Allow()
    # Not even a payload is made of what was passed.
    unused: object = Nothing()
    assert apply_pre_recall_expand(unused, unused, unused, chain, unused) == Allow()  # type: ignore[arg-type]


def test_hooks_of_other_events_are_not_asked() -> None:
    hook = HookSpec(name="x", event=HookEvent.PRE_LINK, mode="python", function=lambda _: deny(""))
    outcome = apply_pre_recall_expand("q", "n", 1, HookChain([hook]), ExecutorRegistry())
    assert outcome == Allow()


def test_a_hook_sees_the_triple_and_rewrites_any_of_it() -> None:
    seen: list[dict[str, object]] = []

    def look(payload: dict[str, object]) -> None:
        seen.append(payload)

    assert asked(look) == Allow()
    assert seen == [{"query": "orig", "namespace": "ns", "k": 7}]
    assert asked(lambda _: modify(query="x")) == Modified("x", "ns", 7)
    assert asked(lambda _: modify(namespace="team/x")) == Modified("orig", "team/x", 7)
    assert asked(lambda _: modify(k=25)) == Modified("orig", "ns", 25)


def test_the_names_of_the_seed_are_understood() -> None:
    assert asked(lambda _: modify(content="x", priority=3)) == Modified("x", "ns", 3)
    assert asked(lambda _: modify(content="x", priority=0)) == Modified("x", "ns", 7)
    assert asked(lambda _: modify(content="x", priority=-5)) == Modified("x", "ns", 7)
    assert asked(lambda _: modify(content="x", query="y", k=2, priority=3)) == Modified(
        "y", "ns", 2
    )


@pytest.mark.parametrize("k", [0, -1, None])
def test_a_number_that_is_not_positive_changes_nothing(k: int | None) -> None:
    assert asked(lambda _: modify(k=k)) == Allow()


def test_k_is_clamped() -> None:
    assert asked(lambda _: modify(k=10**12)) == Modified("orig", "ns", 1000)


def test_the_namespace_of_the_caller_cannot_be_dropped() -> None:
    outcome = asked(lambda _: modify(namespace=""))
    assert outcome == Allow()
    assert outcome.result.degraded == ("hook0",)  # type: ignore[attr-defined]
    assert asked(lambda _: modify(namespace=""), namespace="") == Modified("orig", "", 7)


def test_a_denial_has_its_reason_and_code() -> None:
    assert asked(lambda _: deny("blocked", 451)) == Denied("blocked", 451)


def test_a_question_becomes_an_allowance_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "recollect.hooks"):
        outcome = asked(lambda _: modify(query="x"), lambda _: ask_user("Really?", default="n"))
    assert outcome == Allow()
    assert "Really?" in caplog.text


def test_what_each_hook_did_is_told() -> None:
    outcome = asked(lambda _: None, lambda _: modify(query="x"))
    assert isinstance(outcome, Modified)
    assert outcome.result is not None
    assert [(run.hook, run.action) for run in outcome.result.runs] == [
        ("hook0", "allow"),
        ("hook1", "modify"),
    ]
    assert all(set(run.to_dict()) == {"hook", "action", "ms"} for run in outcome.result.runs)


DENYING = """
echo '{"ready":true}'
read -r line
printf %s "$line" >said
echo '{"id":"1","action":"deny","reason":"no","code":418}'
read -r nothing
"""


def test_a_real_daemon_sees_the_wire_as_promised(world: World) -> None:
    command = ("/bin/sh", "-c", DENYING)
    world.start(world.hook("good", name="tea", command=command, folder=world.folder))
    assert world.recall('what is "tea"?\n☕', "shop", 3) == Denied("no", 418)
    said = (world.folder / "said").read_text()
    assert said == (
        '{"v":1,"id":"1","event":"pre_recall_expand","hook":"tea","deadline_ms":'
        f"{json.loads(said)['deadline_ms']},"
        '"payload":{"query":"what is \\"tea\\"?\\n\\u2615","namespace":"shop","k":3}}'
    )
    assert 9000 <= json.loads(said)["deadline_ms"] <= 10_000
