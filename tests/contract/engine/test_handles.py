"""A handle on a memory: opened, shared between threads, closed; and what a second look keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput, RecollectError, StoreClosed
from recollect.testing import FakeClock, FakeEmbedder


@pytest.mark.parametrize(
    "verb",
    [
        lambda memory: memory.remember("x"),
        lambda memory: memory.recall("x"),
        lambda memory: memory.frame("self"),
        lambda memory: memory.get("x"),
        lambda memory: memory.list(),
        lambda memory: memory.forget("x"),
        lambda memory: memory.stats(),
    ],
)
def test_a_closed_memory_says_so(memory: Recollect, verb: Callable[[Recollect], object]) -> None:
    memory.close()
    with pytest.raises(StoreClosed, match=r"Recollect\.open"):
        verb(memory)


def test_the_catalogue_and_the_engine_take_turns(memory: Recollect) -> None:
    failures: list[RecollectError] = []

    def catalogue() -> None:
        for number in range(150):
            try:
                memory.paks.upsert_pak(
                    pak_id=f"p{number}",
                    pak_type="note",
                    source_type="test",
                    authority="test",
                    title="t",
                    content_hash="h",
                )
            except RecollectError as error:
                failures.append(error)

    thread = Thread(target=catalogue)
    thread.start()
    for number in range(150):
        memory.remember(f"note {number}")
    thread.join()
    assert failures == []
    assert memory.paks.count_paks() == 300


def test_a_page_is_full_even_if_the_catalogue_holds_other_paks(memory: Recollect) -> None:
    for number in range(6):
        memory.remember(f"note {number}", pak_id=f"m{number}", now="2025-01-01T00:00:00Z")
        memory.paks.upsert_pak(
            pak_id=f"n{number}",
            pak_type="note",
            source_type="test",
            authority="test",
            title="t",
            content_hash="h",
            now="2025-01-01T00:00:00Z",
        )
    first = memory.list(limit=4)
    second = memory.list(limit=4, cursor=first.next_cursor)
    assert [one.pak_id for one in first.items] == ["m5", "m4", "m3", "m2"]
    assert [one.pak_id for one in second.items] == ["m1", "m0"]
    assert second.next_cursor is None


def test_without_an_embedder_named_a_memory_opens_with_its_own(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none") as memory:
        memory.remember("tea")
    with Recollect.open(tmp_path / "a.db") as memory:
        assert memory.recall("tea").degraded == ()
        assert memory.stats()["model_id"] == "none"


@pytest.mark.parametrize(("asked", "pragma"), [(False, 1), (True, 2)])
def test_power_safe_waits_for_the_disk(tmp_path: Path, asked: bool, pragma: int) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none", power_safe=asked) as memory:
        assert memory.paks.conn.execute("PRAGMA synchronous").fetchone()[0] == pragma


def test_a_bad_item_of_many_is_named(memory: Recollect) -> None:
    with pytest.raises(InvalidInput, match="item 2: content is blank"):
        memory.remember_many(["a", "b", "  "])
    assert memory.stats()["memories"] == 0


def test_reasons_speak_the_askers_words_rarest_first(memory: Recollect) -> None:
    memory.remember_many([f"the plan of the day {n}" for n in range(20)])
    memory.remember("the deliveries of single customers", pak_id="x")
    answer = memory.recall("What about the deliveries, for a customer?", top_k=30)
    (found,) = (result for result in answer.results if result.fact.pak_id == "x")
    assert found.why[0] == "matches 'customer', 'deliveries'"


def test_every_write_moves_the_hours(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("a", pak_id="a")
    memory.remember("b", pak_id="b")
    for act in (
        lambda: memory.link("a", "b"),
        lambda: memory.dispute("a", "b"),
        lambda: memory.resolve("a", "b"),
        lambda: memory.forget("b"),
    ):
        before = memory.paks.conn.execute("SELECT active_hours FROM engine_state").fetchone()[0]
        clock.advance(hours=1)
        act()
        after = memory.paks.conn.execute("SELECT active_hours FROM engine_state").fetchone()[0]
        assert after == before + 1


def test_remembering_again_keeps_the_successor_and_a_good_vector(
    memory: Recollect, embedder: FakeEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    memory.remember("new", pak_id="new")
    memory.remember("old", pak_id="old")
    memory.paks.conn.execute("UPDATE paks SET superseded_by = 'new' WHERE pak_id = 'old'")
    embedder.fail = True
    assert memory.remember("old", pak_id="old").state == "pending"
    assert memory.paks.get_pak("old").superseded_by == "new"  # type: ignore[union-attr]
    embedder.fail = False
    assert memory.recall("old").degraded == ()
    memory.remember("quite another text", pak_id="old")
    assert caplog.records == []


def test_a_vector_that_came_late_brings_its_links(
    open_memory: Callable[..., Recollect], embedder: FakeEmbedder
) -> None:
    memory = open_memory()
    memory.remember("green tea from the hills", pak_id="a")
    embedder.fail = True
    memory.remember("green tea from the hill", pak_id="b")
    assert memory.stats()["edges"] == 0
    embedder.fail = False
    assert memory.retry_pending() == 1
    assert memory.stats()["edges"] == 1
