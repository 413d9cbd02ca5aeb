"""What was answered is written down for who asks later, and no answer changes by that."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect import AsyncRecollect, Recollect
from recollect.errors import InvalidInput
from recollect.hooks.sdk import deny, modify
from recollect.model import RecallRequest, canonical_json
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]


@pytest.fixture(params=["agent.db", "memory://"])
def memory(request: pytest.FixtureRequest, open_memory: Open, clock: FakeClock) -> Recollect:
    where = request.param
    if where == "memory://":
        made = Recollect.open(
            where, clock=clock, embedder=FakeEmbedder(), hours="wall", links=False, receipts=True
        )
        request.addfinalizer(made.close)
    else:
        made = open_memory(links=False, receipts=True)
    return filled(made)


def filled(memory: Recollect) -> Recollect:
    memory.remember("the kiln is booked until May", pak_id="kiln", title="Kiln")
    memory.remember("Ann has the key of the kiln", pak_id="key", title="Key")
    memory.remember("never promise a kiln date", pak_id="order", category="instruction")
    return memory


def test_a_recall_is_told_as_it_was_asked_and_answered(memory: Recollect, clock: FakeClock) -> None:
    answer = memory.recall("kiln key", top_k=2, tags=[], min_score=0.0, since="2025-05-01")
    revision = memory.stats()["revision"]
    clock.advance(hours=1)
    told = memory.why(answer.recall_id)
    assert (told.recall_id, told.verb) == (answer.recall_id, "recall")
    assert (told.at, told.until) == (answer.generated_at, "2026-01-31T00:00:00Z")
    assert (told.tenant, told.principal) == ("local", "local")
    asked = RecallRequest("kiln key", top_k=2, min_score=0.0, since="2025-05-01").checked()
    assert RecallRequest.from_dict(told.request).checked() == asked
    given = [(one.pak_id, one.score, one.part) for one in told.items]
    assert given == [
        *((one.fact.pak_id, one.score, "results") for one in answer.results),
        ("order", answer.instructions[0].score, "instructions"),
    ]
    assert [one.title for one in told.items][-1] == memory.get("order").title
    assert {one.state for one in told.items} == {"unchanged"}
    assert (told.missing, told.tokens_used, told.degraded) == (0, answer.tokens_used, ())
    assert told.revision == revision
    assert told.same_today is True


def test_a_frame_is_told_with_the_digest_of_its_text(memory: Recollect) -> None:
    plain = memory.frame("task", "kiln", token_budget=50, project=None)
    told = memory.why(plain.recall_id)
    assert told.verb == "frame"
    assert told.digest == hashlib.sha256(plain.text.encode()).hexdigest()
    assert (told.request["frame"], told.request["query"]) == ("task", "kiln")
    assert told.request["token_budget"] == 50
    assert [one.pak_id for one in told.items] == [one.pak_id for one in plain.blocks]
    assert {one.part for one in told.items} == {"blocks"}
    assert (told.tokens_used, told.same_today) == (plain.tokens_used, True)


def test_a_frame_from_the_cache_has_a_receipt_of_its_own(memory: Recollect) -> None:
    memory.frames.register("kept", extends="task", cache={"ttl_seconds": 60, "invalidate_on": ()})
    first, second = (memory.frame("kept", "kiln") for _ in range(2))
    assert (first.cached, second.cached) == (False, True)
    assert first.recall_id != second.recall_id
    assert memory.why(first.recall_id).digest == memory.why(second.recall_id).digest


def test_receipts_change_no_byte_of_an_answer(open_memory: Open) -> None:
    with_them, without = (
        filled(open_memory(f"{kept}.db", links=False, receipts=kept)) for kept in (True, False)
    )
    requests = (RecallRequest("kiln"), RecallRequest(top_k=1, frame="task"))
    for request in requests:
        one, other = (canonical_json(memory.respond(request)) for memory in (with_them, without))
        assert one == other
    framed, plain = (memory.frame("attention", "kiln").to_dict() for memory in (with_them, without))
    assert framed.pop("recall_id").startswith("recall_")
    assert framed == plain


def test_a_receipt_is_no_change_that_an_index_or_a_cache_would_hear_of(memory: Recollect) -> None:
    memory.frames.register("kept", extends="task", cache={"ttl_seconds": 60, "invalidate_on": ()})
    memory.frame("kept", "kiln")
    index, revision = memory._open_store.current().index, memory.stats()["revision"]
    hours = memory.stats()["active_hours"]
    for _ in range(3):
        memory.recall("kiln")
        assert memory.frame("kept", "kiln").cached
    assert memory._open_store.current().index is index
    assert memory.stats()["revision"] == revision
    assert memory.stats()["active_hours"] == hours


def test_without_asking_for_them_there_are_none(open_memory: Open) -> None:
    memory = filled(open_memory())
    answer, plain = memory.recall("kiln"), memory.frame("attention", "kiln")
    assert plain.recall_id is None
    assert memory.why(answer.recall_id) is None
    assert memory.receipts().items == ()


def test_what_became_of_each_memory_is_told(memory: Recollect, clock: FakeClock) -> None:
    for name in ("changed", "old", "away"):
        memory.remember(f"the {name} kiln", pak_id=name)
    answer = memory.recall("kiln", top_k=20)
    clock.advance(hours=1)
    memory.update("changed", content="the other kiln")
    memory.supersede("old", "key")
    memory.archive("away")
    told = memory.why(answer.recall_id)
    states = {one.pak_id: one.state for one in told.items}
    assert states == {
        "kiln": "unchanged",
        "key": "unchanged",
        "order": "unchanged",
        "changed": "changed",
        "old": "superseded",
        "away": "archived",
    }
    assert told.same_today is False


def test_a_write_that_changes_no_text_of_it_leaves_the_text_the_same(memory: Recollect) -> None:
    answer, plain = memory.recall("kiln"), memory.frame("attention", "kiln")
    memory.remember("an apple", pak_id="apple")
    memory.forget("apple")
    for name in (answer.recall_id, plain.recall_id):
        assert memory.why(name).same_today is True
    memory.update("kiln", content="the kiln is booked until June")
    for name in (answer.recall_id, plain.recall_id):
        assert memory.why(name).same_today is False


def test_to_ask_again_counts_and_keeps_nothing(memory: Recollect) -> None:
    plain = memory.frame("attention", "kiln")
    before = (memory.inspect("kiln"), memory.stats(), memory.receipts())
    memory.why(plain.recall_id)
    assert (memory.inspect("kiln"), memory.stats(), memory.receipts()) == before


def test_a_question_by_a_frame_that_is_no_more_cannot_be_asked_again(memory: Recollect) -> None:
    memory.frames.register("mine", extends="task")
    plain, answer = memory.frame("mine", "kiln"), memory.recall("kiln", frame="mine")
    memory.frames.delete("mine")
    for name in (plain.recall_id, answer.recall_id):
        assert memory.why(name).same_today is None


def test_receipts_are_listed_latest_first_a_page_at_a_time(
    memory: Recollect, clock: FakeClock
) -> None:
    asked: list[str] = []
    for number in range(5):
        asked.insert(0, memory.recall(f"kiln {number}").recall_id)
        clock.advance(seconds=1 if number % 2 else 0)
    pages, cursor = [], None
    while True:
        page = memory.receipts(limit=2, cursor=cursor)
        pages += [one.recall_id for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(pages) == sorted(asked)
    assert len(pages) == 5
    at = [memory.why(name).at for name in pages]
    assert at == sorted(at, reverse=True)
    (latest,) = memory.receipts(limit=1).items
    assert (latest.items[0].title, latest.items[0].state) == (None, None)
    assert latest.request["query"] == "kiln 4"


@pytest.mark.parametrize("cursor", ["", "x", "WyJhIl0", "W251bGwsMSwyXQ", 5])
def test_a_cursor_that_is_none_is_refused(memory: Recollect, cursor: Any) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        memory.receipts(cursor=cursor)


def test_a_receipt_is_absent_once_its_time_is_over_and_tidy_erases_it(
    open_memory: Open, clock: FakeClock
) -> None:
    memory = filled(open_memory(receipts=True, receipt_days=2))
    answer = memory.recall("qjxsecret kiln")
    clock.advance(hours=47)
    assert memory.why(answer.recall_id) is not None
    clock.advance(hours=1)
    assert memory.why(answer.recall_id) is None
    assert memory.receipts().items == ()
    assert memory.tidy(dry_run=True).receipts == 1
    done = memory.tidy()
    assert (done.pak_ids, done.receipts, done.wiped, bool(done)) == ((), 1, True, True)
    assert memory.tidy().receipts == 0
    assert memory.audit()[0].detail == "0 memories, 1 receipts"
    assert b"qjxsecret" not in memory.path.read_bytes()


def test_another_handle_keeps_to_the_time_that_a_receipt_was_written_with(
    open_memory: Open, clock: FakeClock
) -> None:
    with open_memory(receipts=True, receipt_days=400) as memory:
        name = filled(memory).recall("kiln").recall_id
    clock.advance(hours=24 * 300)
    other = open_memory()
    assert other.tidy().receipts == 0
    assert other.why(name) is not None


@pytest.mark.parametrize("days", [0, -1, float("nan"), "many", None, 10**9])
def test_receipts_are_kept_for_some_time_or_refused(open_memory: Open, days: Any) -> None:
    with pytest.raises(InvalidInput, match="receipt_days"):
        open_memory(receipts=True, receipt_days=days)


def test_a_receipt_outlives_its_process_and_its_time_has_an_end(open_memory: Open) -> None:
    with open_memory(receipts=True, receipt_days=365_000) as memory:
        name = filled(memory).recall("kiln").recall_id
    told = open_memory().why(name)
    assert told.until.startswith("3025")


def test_an_answer_is_given_where_no_receipt_can_be_written(open_memory: Open) -> None:
    with open_memory() as memory:
        plain = filled(memory).recall("kiln")
    reader = open_memory(receipts=True, read_only=True)
    answer = reader.recall("kiln")
    assert (answer.results, answer.degraded) == (plain.results, ("receipt",))
    assert reader.why(answer.recall_id) is None
    framed = reader.frame("attention", "kiln")
    assert (framed.degraded, framed.recall_id) == (("reinforcement", "receipt"), None)
    assert framed.text


def test_a_store_that_somebody_writes_to_answers_without_a_receipt(open_memory: Open) -> None:
    memory = filled(open_memory(receipts=True, timeout=0.05))
    with closing(sqlite3.connect(memory.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert memory.recall("kiln").degraded == ("receipt",)
        other.execute("ROLLBACK")
    assert memory.recall("kiln").degraded == ()


def test_a_receipt_that_was_damaged_is_told_by_examine_and_to_nobody_else(
    open_memory: Open,
) -> None:
    memory = filled(open_memory(receipts=True, links=False))
    one, other = memory.recall("kiln").recall_id, memory.recall("key").recall_id
    with closing(sqlite3.connect(memory.path)) as file, file:
        file.execute("UPDATE receipts SET request = '{}' WHERE recall_id = ?", (one,))
    assert memory.why(one) is None
    assert memory.why(other) is not None
    assert [one.recall_id for one in memory.receipts().items] == [other]
    assert memory.check() == (f"1 receipts are not as they were written: {one}",)
    done = memory.repair()
    assert done.aside == (f"the receipt {one}",)
    assert memory.check() == ()
    assert memory.why(other) is not None
    memory.forget("order")
    with closing(sqlite3.connect(memory.path)) as file:
        assert file.execute("SELECT count(*) FROM damaged").fetchone() == (0,)


def test_a_memory_that_is_put_aside_takes_the_question_along(open_memory: Open) -> None:
    memory = filled(open_memory(receipts=True, links=False))
    name = memory.recall("kiln").recall_id
    with closing(sqlite3.connect(memory.path)) as file, file:
        file.execute("UPDATE memories SET content = 'x', seal = x'00' WHERE pak_id = 'kiln'")
    assert memory.repair().aside == ("kiln",)
    told = memory.why(name)
    assert ([one.pak_id for one in told.items], told.missing) == (["key", "order"], 1)
    assert (told.request, told.digest) == (None, None)


def test_no_receipt_is_in_an_export(memory: Recollect) -> None:
    memory.recall("qjxsecret")
    assert "qjxsecret" not in "".join(memory.export(everything=True))


def test_hooks_have_their_say_and_the_receipt_has_what_was_asked(open_memory: Open) -> None:
    memory = filled(open_memory(receipts=True))
    memory.hooks.register("pre_recall", lambda _: modify(k=1))
    answer = memory.recall("kiln", top_k=5)
    told = memory.why(answer.recall_id)
    assert (told.request["top_k"], len(told.items)) == (5, 2)
    assert told.same_today is True
    memory.hooks.register("pre_frame", lambda _: deny("not now"))
    denied = memory.frame("task", "kiln")
    told = memory.why(denied.recall_id)
    assert (told.items, told.same_today) == ((), True)


async def _awaited(path: Path) -> tuple[str, int]:
    async with await AsyncRecollect.open(path, embedder=FakeEmbedder(), receipts=True) as memory:
        await memory.remember("a kiln")
        answer = await memory.recall("kiln")
        told = await memory.why(answer.recall_id)
        return told.recall_id, len((await memory.receipts()).items)


def test_receipts_can_be_awaited(tmp_path: Path) -> None:
    name, count = asyncio.run(_awaited(tmp_path / "a.db"))
    assert name.startswith("recall_")
    assert count == 1
