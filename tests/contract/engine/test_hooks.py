"""Hooks around the engine's verbs: what they may change, what a denial is, what answers tell."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect import AsyncRecollect, Recollect
from recollect.errors import InvalidInput, NotAllowed, StoreClosed
from recollect.hooks import HookConfigError, HookDenied
from recollect.hooks.sdk import ask_user, deny, modify
from recollect.model import Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

pytestmark = pytest.mark.usefixtures("patient_hooks")

Payload = dict[str, Any]
LOCAL = {"tenant": "local", "id": "local"}


def ids(answer: Any) -> list[str]:
    return [result.fact.pak_id for result in answer.results]


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    memory = open_memory(links=False)
    memory.remember("the queue runs on redis", pak_id="redis", project="shop")
    memory.remember("the kiln is booked", pak_id="kiln", project="pottery")
    return memory


def broken(_: Payload) -> None:
    raise RuntimeError("broken")


def test_without_hooks_an_answer_says_nothing_of_them(memory: Recollect) -> None:
    answer = memory.recall("queue")
    assert answer.meta == {"diagnostic": {}}
    assert "meta" not in memory.frame("attention", "queue").to_dict()
    assert memory.remember("text").meta == {}
    assert memory.stats()["hooks"]["hooks"] == []


def test_a_question_is_rewritten_and_the_answer_says_by_whom(memory: Recollect) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: modify(query="kiln"), name="rewriter")
    answer = memory.recall("queue", top_k=1)
    assert ids(answer) == ["kiln"]
    assert answer.query["query"] == "kiln"
    (run,) = answer.meta["hooks"]
    assert (run["hook"], run["action"]) == ("rewriter", "modify")
    assert run["ms"] >= 0
    assert set(run) == {"hook", "action", "ms"}


def test_equal_answers_have_equal_names_however_long_hooks_took(memory: Recollect) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: None)
    assert memory.recall("queue").recall_id == memory.recall("queue").recall_id


@pytest.mark.parametrize(
    "said",
    [
        None,
        modify(query="kiln"),
        modify(namespace="pottery", k=1),
        modify(content="kiln", priority=2),
        modify(k=10**9),
        modify(namespace=""),
        modify(k="many"),
        deny("no", 451),
        ask_user("Sure?"),
    ],
    ids=str,
)
def test_a_recall_makes_of_an_expansion_what_the_seam_makes_of_it(
    memory: Recollect, said: Any
) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: said, name="one")
    outcome = memory.hooks.expand("queue", "shop", 5)
    answer = memory.recall("queue", project="shop", top_k=5)
    asked = answer.query
    assert asked["query"] == outcome.query("queue")
    assert asked["project"] == outcome.namespace("shop")
    assert asked["top_k"] == outcome.k(5)
    assert ("pre_recall_denied" in answer.meta["diagnostic"]) == outcome.is_denied()
    assert outcome.result is not None
    assert answer.meta["hooks"][0]["action"] == outcome.result.runs[0].action
    assert answer.degraded == outcome.result.degraded


def test_a_question_is_routed_to_another_project(memory: Recollect) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: modify(namespace="pottery"))
    answer = memory.recall(project="shop")
    assert ids(answer) == ["kiln"]
    assert answer.query["project"] == "pottery"


def test_k_is_clamped_to_what_any_caller_may_ask(memory: Recollect) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: modify(k=10**9))
    assert memory.recall("queue").query["top_k"] == 1000


def test_both_events_of_a_recall_see_what_the_one_before_left(memory: Recollect) -> None:
    seen: list[Payload] = []

    def look(payload: Payload) -> object:
        seen.append(payload)
        return modify(k=1, token_budget=50)

    memory.hooks.register("pre_recall_expand", lambda _: modify(query="kiln", namespace="pottery"))
    memory.hooks.register("pre_recall", look, name="second")
    answer = memory.recall("queue", tags=["self/%"], min_confidence=0.2)
    assert seen == [
        {
            "query": "kiln",
            "namespace": "pottery",
            "k": 5,
            "frame": "evidence",
            "token_budget": None,
            "tags": ["self/%"],
            "entity": None,
            "relation": None,
            "source": None,
            "scope": None,
            "garden": None,
            "min_confidence": 0.2,
            "diversity": None,
            "include_quarantined": False,
            "since": None,
            "until": None,
            "thread": None,
            "speaker": None,
            "filter": None,
            "now": None,
            "min_score": None,
            "min_match": None,
            "refresh": False,
            "principal": {"tenant": "local", "id": "local"},
        }
    ]
    assert (answer.query["top_k"], answer.query["token_budget"]) == (1, 50)
    assert [run["hook"] for run in answer.meta["hooks"]][1] == "second"


@pytest.mark.parametrize("event", ["pre_recall_expand", "pre_recall"])
def test_a_denied_recall_is_empty_and_says_why(memory: Recollect, event: str) -> None:
    told: list[Payload] = []
    memory.hooks.register(event, lambda _: deny("not on Sundays", 451), name="sunday")
    memory.hooks.register("post_recall", told.append)
    answer = memory.recall("queue")
    assert (answer.results, answer.instructions, answer.truncated) == ((), (), False)
    assert answer.meta["diagnostic"]["pre_recall_denied"] == {
        "reason": "not on Sundays",
        "code": 451,
    }
    assert [run["action"] for run in answer.meta["hooks"]] == ["deny"]
    assert answer.query["query"] == "queue"
    assert answer.generated_at == memory.recall("queue").generated_at
    memory.close()
    assert told == []


def test_denied_degraded_and_empty_are_three_answers(memory: Recollect) -> None:
    empty = memory.recall("queue", project="nowhere")
    assert (empty.results, empty.degraded, empty.meta["diagnostic"]) == ((), (), {})
    hook = memory.hooks.register("pre_recall_expand", broken, name="broken")
    degraded = memory.recall("queue")
    assert ids(degraded)[0] == "redis"
    assert degraded.degraded == ("broken",)
    assert degraded.meta["diagnostic"] == {}
    assert degraded.meta["hooks"][0]["action"] == "raised"
    memory.hooks.unregister(hook.name)
    memory.hooks.register("pre_recall_expand", broken, name="guard", fail_mode="closed")
    denied = memory.recall("queue")
    assert denied.results == ()
    assert denied.meta["diagnostic"]["pre_recall_denied"]["code"] == 503


def test_a_question_of_a_hook_does_not_hold_up_a_recall(memory: Recollect) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: modify(query="kiln"), priority=1)
    memory.hooks.register("pre_recall_expand", lambda _: ask_user("Really?"))
    answer = memory.recall("queue", top_k=1)
    assert ids(answer) == ["redis"]
    assert [run["action"] for run in answer.meta["hooks"]] == ["modify", "ask_user"]


def test_a_hook_never_widens_what_a_principal_may_read(
    open_memory: Callable[..., Recollect],
) -> None:
    memory = open_memory("shared.db", links=False)
    ann = memory.as_principal(Principal(tenant="acme", id="ann"))
    bob = memory.as_principal(Principal(tenant="acme", id="bob"))
    ann.remember("ann's secret queue", project="private")
    bob.remember("bob's own queue", project="open")
    memory.hooks.register(
        "pre_recall_expand", lambda _: modify(query="secret queue", namespace="private", k=1000)
    )
    assert bob.recall("queue", project="open").results == ()
    assert len(ann.recall("queue").results) == 1
    for handle in (ann, bob):
        with pytest.raises(NotAllowed):
            _ = handle.hooks
        assert "hooks" not in handle.stats()


def test_a_frame_is_rewritten_denied_and_told_of(memory: Recollect) -> None:
    told: list[Payload] = []
    hook = memory.hooks.register("pre_frame", lambda _: modify(query="kiln", k=1, token_budget=99))
    memory.hooks.register("post_frame", told.append, name="listener")
    result = memory.frame("attention", "queue", token_budget=200)
    assert [block.pak_id for block in result.blocks] == ["kiln"]
    assert result.token_budget == 99
    assert result.to_dict()["meta"]["hooks"][0]["action"] == "modify"
    memory.hooks.unregister(hook.name)
    memory.hooks.register("pre_frame", lambda _: deny("closed"), name="closed")
    denied = memory.frame("attention", "queue")
    assert (denied.text, denied.blocks, denied.frame_name) == ("", (), "attention")
    assert denied.meta["diagnostic"] == {"pre_frame_denied": {"reason": "closed", "code": 403}}
    memory.close()
    assert [(one["name"], one["query"], one["pak_ids"]) for one in told] == [
        ("attention", "kiln", ["kiln"])
    ]


def test_a_frame_from_the_cache_goes_through_hooks_too(memory: Recollect) -> None:
    memory.remember("ship it", tags=["self/goal"])
    asked: list[Payload] = []
    memory.hooks.register("pre_frame", asked.append, name="look")
    first, second = memory.frame("self"), memory.frame("self")
    assert (first.cached, second.cached) == (False, True)
    assert len(asked) == 2
    assert second.meta["hooks"][0]["hook"] == "look"


def test_a_selection_is_rewritten_denied_and_marked(memory: Recollect) -> None:
    hook = memory.hooks.register("pre_select", lambda _: modify(query="kiln", k=1), name="rewrite")
    result = memory.select(SelectQuery("queue", project="shop"))
    assert (result.query.text, result.query.limit) == ("kiln", 1)
    assert result.to_dict()["meta"]["hooks"][0]["hook"] == "rewrite"
    memory.hooks.unregister(hook.name)
    memory.hooks.register("pre_select", lambda _: deny("closed", 451), name="closed")
    denied = memory.select(SelectQuery("queue"))
    assert denied.scores == ()
    assert denied.meta["diagnostic"] == {"pre_select_denied": {"reason": "closed", "code": 451}}
    assert denied.generated_at
    with pytest.raises(InvalidInput):
        memory.select("queue")  # type: ignore[arg-type]


def test_a_text_is_changed_before_it_is_stored(memory: Recollect) -> None:
    memory.hooks.register(
        "pre_remember",
        lambda p: modify(
            content=p["content"].replace("4111", "****"), namespace="safe", tags=["t"]
        ),
        name="redact",
    )
    done = memory.remember("card 4111", project="shop")
    stored = memory.get(done.pak_id)
    assert stored is not None
    assert (stored.content, stored.title, stored.project, stored.tags) == (
        "card ****",
        "card ****",
        "safe",
        ("t",),
    )
    assert done.meta["hooks"][0]["hook"] == "redact"
    assert done.meta["degraded"] == []


def test_a_text_that_is_denied_is_not_stored(memory: Recollect) -> None:
    before = memory.stats()["memories"]
    memory.hooks.register(
        "pre_remember", lambda p: deny("a secret", 422) if "secret" in p["content"] else None
    )
    with pytest.raises(HookDenied, match=r"^pre_remember was denied \(422\): a secret") as refusal:
        memory.remember("my secret")
    denied = refusal.value
    assert (denied.event, denied.reason, denied.status) == ("pre_remember", "a secret", 422)
    assert isinstance(denied, PermissionError)
    with pytest.raises(HookDenied, match=r"^item 1: pre_remember was denied \(422\): a secret"):
        memory.remember_many(["fine", "a secret one", "fine too"])
    assert memory.stats()["memories"] == before
    assert len(memory.remember_many(["fine", "fine too"])) == 2


def test_bad_input_is_refused_before_any_hook_is_asked(memory: Recollect) -> None:
    asked: list[Payload] = []
    for event in ("pre_remember", "pre_recall_expand", "pre_recall", "pre_frame", "pre_link"):
        memory.hooks.register(event, asked.append)
    for call in (
        lambda: memory.remember("  "),
        lambda: memory.recall("q", top_k=0),
        lambda: memory.frame("attention", top_k=0),
        lambda: memory.link("redis", "kiln", weight=7),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert asked == []


def test_a_hook_that_makes_a_text_impossible_has_failed(memory: Recollect) -> None:
    hook = memory.hooks.register("pre_remember", lambda _: modify(content="  "), name="blank")
    done = memory.remember("fine")
    assert done.meta["degraded"] == ["blank"]
    stored = memory.get(done.pak_id)
    assert stored is not None
    assert stored.content == "fine"
    memory.hooks.unregister(hook.name)
    memory.hooks.register("pre_remember", lambda _: modify(content="  "), fail_mode="closed")
    before = memory.stats()["revision"]
    with pytest.raises(HookDenied, match="content is blank"):
        memory.remember("another")
    assert memory.stats()["revision"] == before


def test_a_failed_guard_of_a_write_shows_in_its_report(memory: Recollect) -> None:
    memory.hooks.register("pre_remember", broken, name="guard")
    assert memory.remember("text").meta["degraded"] == ["guard"]


def test_what_was_stored_is_told(memory: Recollect) -> None:
    told: list[Payload] = []
    memory.hooks.register("post_remember", told.append)
    memory.remember("one", pak_id="p1", project="shop")
    memory.remember_many([{"content": "two", "pak_id": "p2"}, {"content": "one", "pak_id": "p1"}])
    memory.close()
    assert [(one["pak_id"], one["namespace"], one["created"]) for one in told] == [
        ("p1", "shop", True),
        ("p2", "", True),
        ("p1", "", False),
    ]


def test_forgetting_is_denied_or_told(memory: Recollect) -> None:
    told: list[Payload] = []
    hook = memory.hooks.register("pre_forget", lambda _: deny("keep it"))
    memory.hooks.register("post_forget", told.append)
    with pytest.raises(HookDenied, match="keep it"):
        memory.forget("redis")
    assert memory.get("redis") is not None
    memory.hooks.unregister(hook.name)
    assert not memory.forget("nobody")
    assert memory.forget("redis")
    memory.close()
    assert told == [{"pak_ids": ["redis"], "entity": None, "principal": LOCAL}]


def test_linking_is_weakened_denied_or_told(memory: Recollect) -> None:
    told: list[Payload] = []
    hook = memory.hooks.register("pre_link", lambda _: modify(weight=0.25))
    memory.hooks.register("post_link", told.append)
    memory.link("redis", "kiln", weight=0.5)
    memory.hooks.unregister(hook.name)
    memory.hooks.register("pre_link", lambda _: deny("no"))
    with pytest.raises(HookDenied):
        memory.link("redis", "kiln")
    memory.close()
    assert told == [{"pak_id": "redis", "other": "kiln", "weight": 0.25, "principal": LOCAL}]


def test_facts_from_outside_are_thinned_or_denied(memory: Recollect) -> None:
    hook = memory.hooks.register("pre_ingest", lambda p: modify(facts=p["facts"][:1]), name="thin")
    done = memory.ingest([{"content": "one"}, {"content": "two"}], source="peer")
    assert len(done.items) == 1
    assert done.meta["hooks"][0]["hook"] == "thin"
    memory.hooks.unregister(hook.name)
    memory.hooks.register("pre_ingest", lambda p: deny(f"not from {p['source']}"))
    with pytest.raises(HookDenied, match="not from peer"):
        memory.ingest([{"content": "three"}], source="peer")


def test_hooks_run_outside_of_the_engines_lock(memory: Recollect) -> None:
    """Two recalls that are in a hook at the same time, and a hook that asks the memory itself."""
    both = threading.Barrier(2)

    def meet(payload: Payload) -> None:
        if payload["query"] == "meet":
            both.wait(30)
        elif payload["query"] == "ask":
            memory.get("redis")

    memory.hooks.register("pre_recall", meet)
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(memory.recall("meet"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.append(memory.recall("ask"))
    assert [answer.degraded for answer in answers] == [(), (), ()]


def test_a_file_of_hooks_is_loaded_with_the_memory_and_ends_with_it(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    (tmp_path / "hook.py").write_text(
        "from recollect.hooks.sdk import hook, modify, serve\n"
        "@hook('pre_recall_expand')\n"
        "def expand(payload): return modify(query='kiln')\n"
        "serve()\n"
    )
    (tmp_path / "hooks.toml").write_text(
        f'[[hook]]\nevent = "pre_recall_expand"\ncommand = ["{sys.executable}", "hook.py"]\n'
    )
    with open_memory("other.db", hooks=tmp_path / "hooks.toml") as memory:
        memory.remember("the kiln is booked")
        assert memory.recall("queue").query["query"] == "kiln"
        (only,) = memory.stats()["hooks"]["hooks"]
        assert (only["hook"], only["state"], only["counts"]["modify"]) == ("hook.py", "ready", 1)
        assert only["latency_ms"]["p50"] is not None
        hooks = memory.hooks
    assert hooks.stats()["hooks"][0]["state"] == "stopped"


def test_a_bad_file_of_hooks_opens_nothing(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    (tmp_path / "hooks.toml").write_text("nonsense")
    with pytest.raises(HookConfigError, match="line 1"):
        open_memory("other.db", hooks=str(tmp_path / "hooks.toml"))
    with pytest.raises(HookConfigError, match="cannot be read"):
        open_memory("other.db", hooks=tmp_path / "nowhere.toml")
    with pytest.raises(InvalidInput, match="hooks must be a path"):
        open_memory("other.db", hooks=7)


def test_a_closed_memory_is_closed_whatever_its_hooks_say(memory: Recollect) -> None:
    memory.hooks.register("pre_recall_expand", lambda _: deny("no"), fail_mode="closed")
    memory.close()
    with pytest.raises(StoreClosed):
        memory.recall("queue")
    with pytest.raises(StoreClosed):
        memory.remember("text")


def test_the_awaited_verbs_go_through_the_same_hooks(tmp_path: Path) -> None:
    import asyncio

    async def story() -> None:
        async with await AsyncRecollect.open(
            tmp_path / "a.db", embedder=FakeEmbedder(), clock=FakeClock()
        ) as memory:
            memory.hooks.register("pre_remember", lambda _: deny("no"))
            with pytest.raises(HookDenied):
                await memory.remember("text")

    asyncio.run(story())
