"""One text that cannot be read any more costs that memory, and no verb."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.damaged_stores import opened

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
