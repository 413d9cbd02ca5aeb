"""What a verb decides by, it reads after it has the write lock: nobody acts in between.

At the last moment before a handle takes the lock, another one commits something that changes the
answer. SQLite tells of a statement before it runs, so that moment can be held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed, RecollectError, UnknownGarden
from recollect.paks import UnknownPak
from recollect.policy import PERMISSIONS, Principal
from recollect.testing import FakeClock, FakeEmbedder

ANN = Principal("acme", "ann", (), ("read", "write"))
BOB = Principal("acme", "bob", (), ("read", "write"))
ROOT = Principal("acme", "root", (), PERMISSIONS)


@dataclass
class Two:
    """Two handles with a connection each, as two processes have them."""

    here: Recollect
    there: Recollect

    def just_before(self, act: Callable[[], object]) -> list[bool]:
        """Let `act` happen when `here` is about to take the write lock; return that it did."""
        conn = self.here.paks.conn
        happened: list[bool] = []

        def heard(statement: str) -> None:
            if statement.startswith("BEGIN IMMEDIATE") and not happened:
                happened.append(False)
                act()
                happened[0] = True

        conn.set_trace_callback(heard)
        return happened


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    path = tmp_path / "agent.db"
    here = Recollect.open(path, embedder=FakeEmbedder(8), clock=FakeClock())
    there = Recollect.open(path, embedder=FakeEmbedder(8), clock=FakeClock())
    with here, there:
        yield Two(here, there)
        here.paks.conn.set_trace_callback(None)


def root_of(memory: Recollect) -> Recollect:
    return memory.as_principal(ROOT)


def test_who_lost_the_right_to_erase_meanwhile_erases_nothing(two: Two) -> None:
    there = root_of(two.there)
    there.gardens.create("lab")
    there.gardens.add("lab", "ann", "admin")
    there.remember("in the garden", pak_id="plan", garden="lab")
    happened = two.just_before(lambda: there.gardens.remove("lab", "ann"))
    assert two.here.as_principal(ANN).forget("plan").pak_ids == ()
    assert happened == [True]
    assert there.get("plan") is not None
    assert "forget" not in [act.act for act in there.audit()]


def test_a_memory_that_was_moved_meanwhile_is_erased_by_its_new_place_only(two: Two) -> None:
    ann = two.here.as_principal(ANN)
    ann.remember("mine", pak_id="plan")
    happened = two.just_before(
        lambda: two.there.as_principal(ANN).remember("mine", pak_id="plan", scope="company")
    )
    assert ann.forget("plan", scope="local").pak_ids == ()
    assert happened == [True]
    assert ann.get("plan") is not None


def test_nothing_is_remembered_in_a_garden_that_was_deleted_meanwhile(two: Two) -> None:
    there = root_of(two.there)
    there.gardens.create("lab")
    happened = two.just_before(lambda: there.gardens.delete("lab"))
    with pytest.raises(UnknownGarden):
        root_of(two.here).remember("in the garden", garden="lab")
    assert happened == [True]
    assert there.list().items == ()


def test_nothing_is_ingested_into_a_garden_that_was_deleted_meanwhile(two: Two) -> None:
    there = root_of(two.there)
    there.gardens.create("lab")
    happened = two.just_before(lambda: there.gardens.delete("lab"))
    with pytest.raises(UnknownGarden):
        root_of(two.here).ingest([{"content": "a fact"}], source="peer", garden="lab")
    assert happened == [True]
    assert there.list().items == ()


def test_who_is_made_a_reader_meanwhile_writes_nothing(two: Two) -> None:
    there = root_of(two.there)
    there.gardens.create("lab")
    there.gardens.add("lab", "ann", "writer")
    happened = two.just_before(lambda: there.gardens.add("lab", "ann", "reader"))
    with pytest.raises(NotAllowed):
        two.here.as_principal(ANN).remember("in the garden", garden="lab")
    assert happened == [True]
    assert there.list().items == ()


def test_of_two_gardens_of_one_name_the_second_is_refused(two: Two) -> None:
    happened = two.just_before(lambda: root_of(two.there).gardens.create("lab", name="theirs"))
    with pytest.raises(InvalidInput):
        root_of(two.here).gardens.create("lab", name="ours")
    assert happened == [True]
    assert [garden.name for garden in root_of(two.here).gardens.list()] == ["theirs"]


def test_a_garden_that_was_deleted_meanwhile_does_not_come_back(two: Two) -> None:
    root_of(two.there).gardens.create("lab")
    happened = two.just_before(lambda: root_of(two.there).gardens.delete("lab"))
    with pytest.raises(UnknownGarden):
        root_of(two.here).gardens.update("lab", tier=0.5)
    assert happened == [True]
    assert root_of(two.here).gardens.list() == ()


def test_the_last_two_admins_cannot_remove_each_other(two: Two) -> None:
    there = root_of(two.there)
    there.gardens.create("lab")
    there.gardens.add("lab", "ann", "admin")
    happened = two.just_before(lambda: there.gardens.remove("lab", "root"))
    with pytest.raises(RecollectError):
        root_of(two.here).gardens.remove("lab", "ann")
    assert happened == [True]
    roles = {member.principal: member.role for member in there.gardens.members("lab")}
    assert roles == {"ann": "admin"}


def waiting(memory: Recollect) -> str:
    root_of(memory).trust.set("stranger", 0.1)
    report = root_of(memory).ingest([{"content": "a rumour"}], source="stranger", scope="company")
    return str(report.items[0].pak_id)


def test_what_was_rejected_meanwhile_is_not_promoted(two: Two) -> None:
    rumour = waiting(two.there)
    happened = two.just_before(lambda: root_of(two.there).quarantine.reject(rumour))
    with pytest.raises(UnknownPak):
        root_of(two.here).quarantine.promote(rumour)
    assert happened == [True]
    assert root_of(two.here).get(rumour) is None
    assert root_of(two.here).recall("rumour").results == ()
    assert root_of(two.there).recall("rumour").results == ()


def test_who_is_no_moderator_any_more_promotes_nothing(two: Two) -> None:
    there = root_of(two.there)
    there.gardens.create("lab")
    there.gardens.add("lab", "bob", "moderator")
    there.trust.set("stranger", 0.1)
    report = there.ingest([{"content": "a rumour"}], source="stranger", garden="lab")
    rumour = str(report.items[0].pak_id)
    happened = two.just_before(lambda: there.gardens.add("lab", "bob", "reader"))
    with pytest.raises(UnknownPak):
        two.here.as_principal(BOB).quarantine.promote(rumour)
    assert happened == [True]
    assert [held.pak_id for held in there.quarantine.list()] == [rumour]


def test_a_fact_that_was_rejected_meanwhile_is_refused(two: Two) -> None:
    rumour = waiting(two.there)
    happened = two.just_before(lambda: root_of(two.there).quarantine.reject(rumour))
    again = [{"content": "a rumour", "title": "another title"}, {"content": "news"}]
    report = root_of(two.here).ingest(again, source="stranger", scope="company")
    assert happened == [True]
    assert [item.state for item in report.items] == ["refused", "quarantined"]
    assert report.items[0].error == "this fact was turned away here."
    title = two.here.paks.get_pak(rumour)
    assert title is not None
    assert title.title == "a rumour"


def test_what_waits_for_a_moderator_stays_as_it_was_looked_at(two: Two) -> None:
    rumour = waiting(two.there)
    changed = {"content": "a rumour", "title": "Obey", "entity": "Ann", "summary": "Do as I say."}
    (item,) = root_of(two.here).ingest([changed], source="stranger", scope="company").items
    assert item.state == "quarantined"
    root_of(two.here).quarantine.promote(rumour)
    stored = root_of(two.there).get(rumour)
    assert stored is not None
    assert (stored.title, stored.entity, stored.summary) == ("a rumour", None, "")


@pytest.mark.parametrize("verb", ["link", "dispute", "resolve"])
def test_what_was_forgotten_meanwhile_is_joined_with_nothing(two: Two, verb: str) -> None:
    there = root_of(two.there)
    there.remember("the plan", pak_id="plan")
    there.remember("another thing", pak_id="other")
    happened = two.just_before(lambda: there.forget("other"))
    with pytest.raises(UnknownPak, match="other"):
        getattr(root_of(two.here), verb)("plan", "other")
    assert happened == [True]
    assert there.disputes() == []
    assert two.here.check() == ()


def test_a_memory_that_was_archived_meanwhile_is_archived_once(two: Two) -> None:
    there = root_of(two.there)
    there.remember("the plan", pak_id="plan")
    happened = two.just_before(lambda: there.archive("plan"))
    assert not root_of(two.here).archive("plan")
    assert happened == [True]
    assert [act.act for act in there.audit()] == ["archive"]
