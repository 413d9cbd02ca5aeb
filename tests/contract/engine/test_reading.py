"""Reading besides ranking: filters, validity, get, list, forget, stats, check, reindex."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.contract.engine.looking import recalled

from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]


def test_a_project_filter_keeps_to_the_project(memory: Recollect) -> None:
    for project in ("shop", "blog", None):
        memory.remember("queue", project=project, pak_id=f"in-{project}")
    assert recalled(memory.recall("queue", project="shop")) == ["in-shop"]
    assert recalled(memory.recall("queue", project="nowhere")) == []
    assert len(memory.recall("queue").results) == 3


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (["lang/python"], ["a"]),
        (["lang/%"], ["a", "b"]),
        (["lang/python", "db"], ["a", "c"]),
        (["LANG/%"], []),
        (["lang"], []),
        (["la_g/%"], ["e"]),
        (["%"], ["a", "b", "c", "e"]),
    ],
)
def test_tags_are_alternatives_prefixes_end_in_percent_and_all_else_is_literal(
    memory: Recollect, tags: list[str], found: list[str]
) -> None:
    for name, tag in {"a": "lang/python", "b": "lang/rust", "c": "db", "e": "la_g/x"}.items():
        memory.remember(f"queue {name}", pak_id=name, tags=[tag])
    memory.remember("queue d", pak_id="d")
    assert sorted(recalled(memory.recall("queue", tags=tags, top_k=10))) == found


def test_tags_narrow_what_the_frame_lets_in(memory: Recollect) -> None:
    memory.remember("I value tests", pak_id="a", tags=["self/value", "work"])
    memory.remember("I value tea", pak_id="b", tags=["self/value"])
    memory.remember("work", pak_id="c", tags=["work"])
    assert recalled(memory.recall(frame="self", tags=["work"])) == ["a"]


def test_what_is_no_longer_valid_is_not_found(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("queue always", pak_id="always")
    memory.remember("queue past", pak_id="past", valid_until="2025-12-31T23:59:59Z")
    memory.remember("queue soon", pak_id="soon", valid_until="2026-01-01T01:00:00Z")
    memory.link("always", "soon")
    assert set(recalled(memory.recall("queue"))) == {"always", "soon"}
    clock.advance(hours=1)
    for frame in ("evidence", "attention"):
        assert recalled(memory.recall("queue", frame=frame)) == ["always"]
    for verb in (memory.get, lambda pak_id: pak_id in "".join(memory.export())):
        assert not verb("past")
        assert verb("always")


def test_forget_deletes_once_and_get_finds_nothing(memory: Recollect) -> None:
    made = memory.remember("queue")
    assert memory.forget(made.pak_id)
    assert not memory.forget(made.pak_id)
    assert memory.get(made.pak_id) is None
    assert recalled(memory.recall("queue")) == []
    assert memory.paks.get_pak(made.pak_id) is None
    assert memory.paks.search("queue") == []


@pytest.mark.parametrize("odd", ["", "nobody", "\ud800", "a\x00b", 5, b"x", [], ["nobody", 7]])
def test_no_such_id_is_no_error(memory: Recollect, odd: str) -> None:
    memory.remember("queue")
    assert memory.get(odd) is None
    assert not memory.forget(odd)
    assert memory.stats()["memories"] == 1


def test_pages_hold_everything_once_newest_first(memory: Recollect, clock: FakeClock) -> None:
    for number in range(7):
        clock.advance(seconds=1)
        project = "shop" if number % 2 else "blog"
        memory.remember(f"note {number}", pak_id=f"p{number}", project=project)
    pages, cursor = [], None
    while True:
        page = memory.list(limit=3, cursor=cursor)
        pages.append([one.pak_id for one in page.items])
        cursor = page.next_cursor
        if cursor is None:
            break
    assert pages == [["p6", "p5", "p4"], ["p3", "p2", "p1"], ["p0"]]
    assert [one.pak_id for one in memory.list(project="shop").items] == ["p5", "p3", "p1"]


def test_stats_count_what_there_is(memory: Recollect, clock: FakeClock) -> None:
    memory.remember_many([{"content": f"note {n}", "pak_id": f"p{n}"} for n in range(3)])
    memory.link("p0", "p1")
    memory.dispute("p1", "p2", note="which?")
    memory.frames.register("mine", extends="task")
    clock.advance(hours=2)
    stats = memory.stats()
    counted = {name: stats[name] for name in ("memories", "edges", "open_disputes", "frames")}
    assert counted == {"memories": 3, "edges": 1, "open_disputes": 1, "frames": 1}
    assert (stats["model_id"], stats["dimension"], stats["pending"]) == ("fake", 32, 0)
    assert (stats["active_hours"], stats["embedder_error"]) == (2.0, None)
    (dispute,) = memory.disputes()
    assert ({dispute.first, dispute.second}, dispute.note) == ({"p1", "p2"}, "which?")


def test_check_names_what_is_wrong(memory: Recollect) -> None:
    memory.remember("a note", pak_id="a")
    assert memory.check() == ()
    memory.paks.conn.execute("UPDATE memories SET vector_0 = x'0102'")
    memory.paks.conn.execute("DELETE FROM commits")
    assert len(memory.check()) == 2


def test_reindex_changes_no_answer(memory: Recollect) -> None:
    memory.remember_many([{"content": f"queue {n}", "pak_id": f"p{n}"} for n in range(30)])
    for number in range(0, 30, 3):
        memory.forget(f"p{number}")
    memory.link("p1", "p2")
    before = memory.recall("queue", frame="attention", top_k=10)
    memory.reindex()
    assert memory.recall("queue", frame="attention", top_k=10) == before


def test_reindex_drops_cached_frames(memory: Recollect) -> None:
    memory.remember("Be kind.", tags=["self/value"])
    memory.frame("self")
    memory.reindex()
    assert not memory.frame("self").cached


def test_what_one_handle_committed_the_other_recalls(open_memory: Open) -> None:
    here, there = open_memory(links=True), open_memory(links=False)
    made = here.remember("walrus")
    assert recalled(there.recall("walrus")) == [made.pak_id]
    there.forget(made.pak_id)
    assert recalled(here.recall("walrus")) == []
    here.remember("walrus", pak_id="again")
    there.reindex()
    assert recalled(here.recall("walrus")) == recalled(there.recall("walrus")) == ["again"]


def test_closing_twice_is_fine_and_opening_again_finds_everything(open_memory: Open) -> None:
    memory = open_memory()
    made = memory.remember("walrus", tags=["zoo"])
    memory.close()
    memory.close()
    assert recalled(open_memory().recall("walrus", tags=["zoo"])) == [made.pak_id]


def test_a_memory_need_not_be_a_file(embedder: FakeEmbedder) -> None:
    with Recollect.open(":memory:", embedder=embedder) as memory:
        made = memory.remember("walrus")
        assert recalled(memory.recall("walrus")) == [made.pak_id]


def test_a_budget_bounds_a_recall_and_says_what_it_cost(memory: Recollect) -> None:
    memory.remember_many([f"queue {n} " + "x" * 100 for n in range(5)])
    answer = memory.recall("queue", token_budget=60)
    assert answer.tokens_used <= 60
    assert answer.truncated
    assert len(answer.results) + len(answer.dropped) == 5
    assert not memory.recall("queue").truncated


def test_the_counter_of_tokens_is_the_callers(open_memory: Open) -> None:
    memory = open_memory(token_counter=lambda text: len(text.split()))
    memory.remember_many(["queue one two", "queue three four", "queue five six"])
    result = memory.frame("attention", "queue", token_budget=11)
    # "## Relevant Knowledge" is three words, and each line four with its number.
    assert (len(result.blocks), result.tokens_used) == (2, 11)


def test_an_instruction_without_its_vector_makes_an_answer_degraded(
    memory: Recollect, embedder: FakeEmbedder
) -> None:
    memory.remember("queue", pak_id="note")
    embedder.fail = True
    memory.remember("drain the queue first", pak_id="order", category="instruction")
    embedder.fail = False
    answer = memory.recall("queue")
    assert [one.fact.pak_id for one in answer.instructions] == ["order"]
    assert answer.degraded == ("vector",)
