"""What a file keeps of versions: no statement for a new text, no byte after `forget`, no damage."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.contract.policy.bytes_on_disk import found_in

from recollect import Recollect
from recollect.verbs.change import Update

Open = Callable[..., Recollect]


@contextmanager
def statements(memory: Recollect) -> Iterator[list[str]]:
    """Give a list that fills with the statements that are run for the body."""
    run: list[str] = []
    conn = memory.paks.conn
    conn.set_trace_callback(run.append)
    try:
        yield run
    finally:
        conn.set_trace_callback(None)


def about_versions(run: list[str]) -> list[str]:
    named = ("memory_versions", "entity_key, relation_key)")
    return [one for one in run if any(name in one for name in named)]


def test_to_remember_something_new_takes_no_statement_about_versions_or_rivals(
    open_memory: Open,
) -> None:
    memory = open_memory()
    memory.remember("Ann lives in Paris.", pak_id="a")
    with statements(memory) as run:
        memory.remember("Ann lives in Rome.", pak_id="b", entity="Ann")
        memory.remember_many(["one", "two", "three"])
    assert run
    assert about_versions(run) == []
    with statements(memory) as run:
        items = [
            {"content": f"{n}", "entity": "Ann", "relation": "has", "value": f"{n}"}
            for n in range(50)
        ]
        memory.remember_many(items)
    assert len(about_versions(run)) == 1, "one question for all of them"


def test_no_byte_of_any_version_is_left_after_forget(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    memory.remember("qjxfirst about zqold", pak_id="p", tags=["qjxtag"], entity="zqold")
    memory.update("p", content="qjxsecond", tags=[], entity=None)
    memory.remember("qjxthird", pak_id="zqsuccessor")
    memory.remember("qjxfourth", pak_id="next")
    memory.supersede("p", "zqsuccessor")
    memory.supersede("p", "next")
    assert found_in(tmp_path, ["qjxfirst"])
    assert memory.forget("zqsuccessor").wiped
    assert found_in(tmp_path, ["zqsuccessor", "qjxthird"]) == []
    gone = memory.forget(entity="ZQold")
    assert (gone.pak_ids, gone.versions, gone.wiped) == ((), 1, True)
    assert found_in(tmp_path, ["qjxfirst", "qjxtag", "zqold"]) == []
    assert found_in(tmp_path, ["qjxsecond"])
    assert memory.forget("next", versions=True).wiped
    assert found_in(tmp_path, ["qjxsecond", "qjxfourth"]) == []
    memory.remember("qjxfifth", pak_id="p")
    memory.update("p", content="qjxsixth")
    assert memory.prune_versions(days=0) == 0
    assert memory.check() == ()


def damaged(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        seal = conn.execute("SELECT seal FROM memory_versions WHERE number = 1").fetchone()[0]
        conn.execute("UPDATE memory_versions SET fields = replace(fields, 'Paris', 'Rouen')")
        # An edit takes the seal away; damage leaves it.
        conn.execute("UPDATE memory_versions SET seal = ? WHERE number = 1", (seal,))


def test_a_damaged_version_is_told_of_shown_to_nobody_and_put_aside(
    open_memory: Open, tmp_path: Path
) -> None:
    with open_memory() as memory:
        memory.remember("Ann lives in Paris.", pak_id="p")
        memory.update("p", content="Ann lives in Berlin.")
    damaged(tmp_path / "agent.db")
    memory = open_memory()
    assert [one.memory.content for one in memory.history("p")] == ["Ann lives in Berlin."]
    assert memory.check() == ("1 versions of memories are not as they were written: p",)
    assert memory.recall("Ann").degraded == ()
    memory.update("p", content="Ann lives in Rome.")
    assert len(memory.check()) == 1
    assert memory.repair().aside == ("a version of p",)
    assert memory.check() == ()
    assert [one.memory.content for one in memory.history("p")] == [
        "Ann lives in Berlin.",
        "Ann lives in Rome.",
    ]
    memory.forget("p")
    assert found_in(tmp_path, ["Rouen", "Berlin"]) == []


def test_an_edit_by_hand_is_no_damage(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    memory.remember("Ann lives in Paris.", pak_id="p")
    memory.update("p", content="Ann lives in Berlin.")
    with closing(sqlite3.connect(memory.path)) as conn, conn:
        conn.execute("UPDATE memory_versions SET fields = replace(fields, 'Paris', 'Rouen')")
    assert memory.check() == ()
    assert memory.history("p")[0].memory.content == "Ann lives in Rouen."


@pytest.mark.parametrize("foreign_keys", ["ON", "OFF"])
def test_versions_go_whoever_deletes_their_memory(open_memory: Open, foreign_keys: str) -> None:
    memory = open_memory()
    memory.remember("Ann lives in Paris.", pak_id="p")
    memory.update("p", content="Ann lives in Berlin.")
    with closing(sqlite3.connect(memory.path)) as conn, conn:
        conn.execute(f"PRAGMA foreign_keys = {foreign_keys}")
        conn.execute("DELETE FROM paks")
        assert conn.execute("SELECT count(*) FROM memory_versions").fetchone() == (0,)
    assert memory.check() == ()


def test_who_is_overtaken_changes_what_is_there_by_then(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = open_memory(), open_memory()
    memory.remember("Ann lives in Paris.", pak_id="p", tags=["home"])
    waiting = ["once"]
    honest = Update.draft

    def slow(self: Update, *given: object, **named: object) -> object:
        if waiting:
            waiting.pop()
            other.update("p", tags=["city"], summary="of the other")
        return honest(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Update, "draft", slow)
    memory.update("p", content="Ann lives in Berlin.")
    now = memory.get("p")
    assert now is not None
    assert (now.content, now.tags, now.summary) == (
        "Ann lives in Berlin.",
        ("city",),
        "of the other",
    )
    assert [one.changed for one in memory.history("p")] == [
        (),
        ("summary", "tags"),
        ("content", "title"),
    ]
