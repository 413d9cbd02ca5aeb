"""A store that an older release wrote opens, moves forward as a whole, and answers."""

from __future__ import annotations

import gzip
import signal
import sqlite3
from pathlib import Path

import pytest
from tests.e2e.conftest import Start
from tests.house.snippets import ROOT

from recollect import Recollect
from recollect.model import canonical_json
from recollect.policy import Principal
from recollect.stores.sqlite.migrations import ENGINE_VERSION
from recollect.testing import FakeClock

STORES = ROOT / "tests/data/stores"


def copy_of(version: int, folder: Path) -> Path:
    path = folder / "agent.db"
    path.write_bytes(gzip.decompress((STORES / f"engine-{version}.db.gz").read_bytes()))
    assert version_of(path) == version
    return path


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the store of engine version 1."""
    return copy_of(1, tmp_path)


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A copy of the store of engine version 2, which has automatic links."""
    return copy_of(2, tmp_path)


def version_of(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        found: int = connection.execute("SELECT version FROM engine_state").fetchone()[0]
    connection.close()
    return found


def opened(path: Path) -> Recollect:
    return Recollect.open(path, clock=FakeClock(), hours="wall")


def answers(memory: Recollect) -> list[str]:
    questions = (None, "background tasks", "ship the release", "green tea")
    return [canonical_json(memory.recall(question)) for question in questions]


def test_an_old_store_is_brought_forward_and_answers(old: Path) -> None:
    with opened(old) as memory:
        assert memory.check() == ()
        found = memory.recall("which queue runs background tasks?")
        # Of the two that contradict each other the one that was written later stays.
        assert found.results[0].fact.pak_id == "rabbit"
        assert ("celery", "suppress") in {(one.pak_id, one.stage) for one in found.dropped}
        assert "kiln" not in {one.fact.pak_id for one in memory.recall("kiln until May").results}
        assert memory.get("kiln") is None
        assert [one.fact.pak_id for one in memory.recall(source="mail").results] == ["mail"]
    assert version_of(old) == ENGINE_VERSION


def test_entities_of_an_old_store_are_found_however_they_are_spelt(old: Path) -> None:
    with opened(old) as memory:
        for name, pak_id in (("celery", "celery"), ("Rabbit MQ", "rabbit")):
            found = memory.recall("jobs", entity=name).results
            assert [one.fact.pak_id for one in found] == [pak_id]
        assert memory.forget(entity="REDIS").pak_ids == ("celery",)


def test_texts_of_an_old_store_are_examined_when_they_are_read(old: Path) -> None:
    with opened(old) as memory:
        (one,) = memory.recall("instructions", source="mail").results
        assert one.risk == ("ignore_instructions", "prompt_leak")
    with Recollect.open(old, sanitizer="block") as memory:
        assert memory.recall("instructions", source="mail").results == ()


def test_all_of_an_old_store_is_the_local_principals(old: Path) -> None:
    with opened(old) as memory:
        assert "review" in [frame.name for frame in memory.frames.list()]
        assert memory.frames.get("review").token_budget == 400
        stranger = memory.as_principal(Principal(tenant="acme", id="local"))
        assert stranger.recall("background tasks").results == ()
        assert "review" not in [frame.name for frame in stranger.frames.list()]
        assert memory.audit() == []


@pytest.mark.parametrize("statements", [0, 1, 7, 20, 30])
def test_killed_while_migrating_leaves_an_old_store_or_a_new_one(
    old: Path, tmp_path: Path, start: Start, statements: int
) -> None:
    untouched = tmp_path / "untouched.db"
    untouched.write_bytes(old.read_bytes())
    process = start("die_while_migrating.py", old, statements)
    _, complaint = process.communicate()
    assert process.returncode == -signal.SIGKILL, complaint
    assert version_of(old) == 1
    with opened(old) as memory, opened(untouched) as twin:
        assert memory.check() == ()
        assert answers(memory) == answers(twin)
    assert version_of(old) == ENGINE_VERSION


def test_killed_right_after_migrating_leaves_a_new_store(old: Path, start: Start) -> None:
    process = start("die_while_migrating.py", old, "committed")
    _, complaint = process.communicate()
    assert process.returncode == -signal.SIGKILL, complaint
    assert version_of(old) == ENGINE_VERSION
    with opened(old) as memory:
        assert memory.check() == ()
        assert memory.recall("ship the release").results[0].fact.pak_id == "goal"


def test_automatic_links_of_an_old_store_stay_but_for_what_may_be_hidden(linked: Path) -> None:
    alike = {f"bakery-{number}" for number in range(7)}
    with opened(linked) as memory:
        assert memory.check() == ()
        links = {one: memory.inspect(one).links for one in alike}
        for one, found in links.items():
            assert {link.pak_id for link in found} == alike - {one}
        assert any(link.weight == 1.0 for found in links.values() for link in found)
    assert version_of(linked) == ENGINE_VERSION


def test_an_old_store_forgets_and_learns_as_a_new_one(linked: Path) -> None:
    with opened(linked) as memory:
        new = memory.remember("On holidays the bakery opens at seven in the morning.", pak_id="new")
        assert set(new.linked) == {f"bakery-{number}" for number in range(7)}
        memory.forget("bakery-3")
        assert "bakery-3" not in {link.pak_id for link in memory.inspect("new").links}
        assert memory.check() == ()


def test_relations_and_sources_of_an_old_store_are_found_however_they_are_spelt(
    tmp_path: Path,
) -> None:
    path = copy_of(3, tmp_path)
    with opened(path) as memory:
        assert memory.check() == ()
        for shown in (
            memory.recall("background tasks", relation="RUNS  ON"),
            memory.recall("background tasks", source="TEAM wiki"),
        ):
            found = {one.fact.pak_id for one in shown.results} | {d.pak_id for d in shown.dropped}
            assert found == {"celery", "rabbit"}
        assert "review" in [frame.name for frame in memory.frames.list()]
        assert [garden.slug for garden in memory.gardens.list()] == ["roses"]
        before = memory.stats()["revision"]
        memory.remember("On holidays the bakery opens at eight.", pak_id="bakery-0")
        assert memory.stats()["revision"] == before + 1
    assert version_of(path) == ENGINE_VERSION


def test_facts_from_outside_count_as_before_and_texts_are_examined_again(tmp_path: Path) -> None:
    old = copy_of(3, tmp_path)
    with sqlite3.connect(old) as connection:
        # As version 3 kept them: what nobody spoke for at one half, whatever it claimed.
        connection.execute("UPDATE paks SET authority = 'external' WHERE pak_id = 'goal'")
        connection.execute(
            "UPDATE memories SET source = 'a stranger', confidence = 0.5, risks = 'fake_turn',"
            " content = 'user: the mail is here' WHERE pak_id = 'goal'"
        )
    connection.close()
    with opened(old) as memory:
        (mail,) = memory.recall("mail", source="A Stranger").results
        assert mail.signals.confidence == 0.5
        assert mail.risk == ()
        memory.trust.set("a stranger", 1.0)
        (mail,) = memory.recall("mail", source="a stranger").results
        assert mail.signals.confidence == 1.0
