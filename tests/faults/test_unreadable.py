"""One text that cannot be read any more costs that memory, and no verb."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.damaged_stores import opened, said
from tests.faults.test_repair import behind_its_copy

from recollect import Recollect
from recollect.errors import StoreDamaged
from recollect.policy import Principal

# What a fault may leave in a row, as SQL past all checks; each makes a memory of `lost` impossible.
FAULTS = {
    "a text that is no UTF-8": "UPDATE memories SET content = CAST(x'66c3' AS TEXT)",
    "tags that are no JSON": """UPDATE memories SET tags = '["a"'""",
    "tags that are no list": "UPDATE memories SET tags = '7'",
    "a text that is a number": "UPDATE memories SET category = x'00'",
    "a status that nobody knows": "UPDATE memories SET status = 'actiwe'",
    "a confidence beyond all": "UPDATE memories SET confidence = 7.5",
    "uses below nothing": "UPDATE memories SET reinforced = -1",
    "an owner that is no UTF-8": "UPDATE memories SET owner = CAST(x'ff' AS TEXT)",
    "a title that is no UTF-8": "UPDATE paks SET title = CAST(x'ff' AS TEXT)",
}


@pytest.fixture(params=FAULTS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Recollect]:
    """A memory of three texts, one of which cannot be read."""
    path = tmp_path / "a.db"
    with opened(path) as whole:
        for name in ("first", "lost", "third"):
            whole.remember(f"The {name} note is about billing", pak_id=name, tags=["note"])
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA ignore_check_constraints = ON")
        conn.execute(f"{FAULTS[request.param]} WHERE pak_id = 'lost'")
        conn.commit()
    with opened(path) as memory:
        yield memory


def test_the_others_answer_and_the_answer_says_that_something_is_missing(
    memory: Recollect,
) -> None:
    answer = memory.recall("note about billing", top_k=5)

    assert sorted(one.fact.pak_id for one in answer.results) == ["first", "third"]
    assert answer.degraded == ("damaged",)
    assert memory.frame("task", "billing").degraded == ("damaged",)


def test_a_principal_whose_it_may_not_be_is_told_nothing(memory: Recollect) -> None:
    memory.recall("note about billing")
    somebody = memory.as_principal(Principal("acme", "ann"))

    assert somebody.recall("note about billing").degraded == ()
    assert somebody.frame("task", "billing").degraded == ()


ANN, BOB = (Principal("acme", name, permissions=("read", "write")) for name in ("ann", "bob"))
ADMIN = Principal("acme", "root", permissions=("read", "write", "admin"))
QUESTIONS = ("note about billing", "the lost one", None)
# What leaves no doubt where a memory stood: SQL changes its second copy too.
PLACE_IS_KNOWN = [
    fault
    for fault in FAULTS
    if fault not in ("a status that nobody knows", "an owner that is no UTF-8")
]


def of_two(path: Path, fault: str | None, *, held_back: bool = False) -> None:
    """Make a memory of two principals; one of ann's cannot be read if there is a fault."""
    with opened(path) as memory:
        memory.as_principal(ADMIN).trust.set("peer", 0.1)
        for who in (ANN, BOB):
            handle = memory.as_principal(who)
            for number in range(3):
                handle.remember(f"Note {number} of {who.id} is about billing", tags=["note"])
        if not held_back:
            memory.as_principal(ANN).remember("The lost one is about billing", pak_id="lost")
        else:
            memory.as_principal(ANN).ingest([{"content": "The lost one"}], source="peer")
    if fault is not None:
        which = "content = 'The lost one'" if held_back else "pak_id = 'lost'"
        with closing(sqlite3.connect(path)) as conn:
            conn.execute("PRAGMA ignore_check_constraints = ON")
            found = conn.execute(f"SELECT pak_id FROM memories WHERE {which}").fetchall()
            conn.execute(f"{FAULTS[fault]} WHERE pak_id = ?", found[0])
            conn.commit()


def answers_of(path: Path, who: Principal) -> list[str]:
    with opened(path) as memory:
        handle = memory.as_principal(who)
        asked = [handle.recall(question, top_k=5) for question in QUESTIONS]
        return [said(one) for one in (*asked, handle.frame("task", "billing"), handle.list())]


@pytest.mark.parametrize("fault", PLACE_IS_KNOWN)
def test_who_could_read_it_is_told(tmp_path: Path, fault: str) -> None:
    of_two(tmp_path / "a.db", fault)
    with opened(tmp_path / "a.db") as memory:
        handle = memory.as_principal(ANN)
        assert handle.recall("billing").degraded == ("damaged",)
        assert handle.frame("task", "billing").degraded == ("damaged",)
        assert memory.as_principal(BOB).recall("billing").degraded == ()


@pytest.mark.parametrize("fault", FAULTS)
def test_nobody_elses_answer_changes_by_a_byte(tmp_path: Path, fault: str) -> None:
    of_two(tmp_path / "whole.db", None)
    shutil.copy(tmp_path / "whole.db", tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as conn:
        conn.execute("PRAGMA ignore_check_constraints = ON")
        conn.execute(f"{FAULTS[fault]} WHERE pak_id = 'lost'")
        conn.commit()

    assert answers_of(tmp_path / "a.db", BOB) == answers_of(tmp_path / "whole.db", BOB)


@pytest.mark.parametrize("fault", PLACE_IS_KNOWN)
def test_what_is_held_back_is_not_told_of_to_who_may_not_see_it(tmp_path: Path, fault: str) -> None:
    of_two(tmp_path / "a.db", fault, held_back=True)
    with opened(tmp_path / "a.db") as memory:
        assert memory.recall("billing").degraded == ("damaged",)
        assert memory.as_principal(ANN).recall("billing").degraded == ()


def test_where_a_row_and_its_copy_name_two_owners_neither_is_told(tmp_path: Path) -> None:
    of_two(tmp_path / "a.db", "tags that are no list")
    behind_its_copy(
        tmp_path / "a.db",
        "twin_memories",
        "UPDATE memories SET owner = 'bob' WHERE pak_id = 'lost'",
    )
    with opened(tmp_path / "a.db") as memory:
        assert memory.recall("billing").degraded == ("damaged",)
        for who in (ANN, BOB):
            assert memory.as_principal(who).recall("billing").degraded == ()


def test_an_owner_that_cannot_be_read_is_known_from_the_copy(tmp_path: Path) -> None:
    of_two(tmp_path / "a.db", None)
    behind_its_copy(
        tmp_path / "a.db",
        "twin_memories",
        "UPDATE memories SET owner = CAST(x'ff' AS TEXT) WHERE pak_id = 'lost'",
    )
    with opened(tmp_path / "a.db") as memory:
        assert memory.as_principal(ANN).recall("billing").degraded == ("damaged",)
        assert memory.as_principal(BOB).recall("billing").degraded == ()


def test_every_verb_goes_on_without_it(memory: Recollect) -> None:
    assert memory.get("lost") is None
    assert {one.pak_id for one in memory.list().items} == {"first", "third"}
    assert not any('"lost"' in line for line in memory.export())
    assert memory.remember("A fourth note", pak_id="fourth").created
    assert memory.link("first", "third") is None


def test_an_export_of_the_whole_store_says_so_and_is_no_backup_without_it(
    memory: Recollect,
) -> None:
    with pytest.raises(StoreDamaged, match="cannot be read"):
        list(memory.export(everything=True))


def test_a_check_names_it_and_nothing_else(memory: Recollect) -> None:
    report = memory.examine()

    assert not report
    assert report.damaged == ("lost",)
    assert "lost" in "".join(report.problems)


def test_written_anew_it_is_a_memory_again(memory: Recollect) -> None:
    memory.recall("billing")
    memory.remember("The lost note was found, on billing", pak_id="lost")

    assert memory.recall("billing", top_k=5).degraded == ()
    assert memory.get("lost") is not None
    assert memory.examine().damaged == ()
