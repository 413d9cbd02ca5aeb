"""What holds for a time: absent once it has ended, erased by tidy, held on to by touch alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed
from recollect.model import PERMISSIONS, Principal
from recollect.testing import FakeClock

ANN = Principal("acme", "ann", permissions=("read", "write"))
READER = Principal("acme", "ann", permissions=("read",))
ROOT = Principal("acme", "root", permissions=PERMISSIONS)
DAN = Principal("globex", "dan", permissions=("read", "write"))


def found(memory: Recollect) -> set[str]:
    return {one.fact.pak_id for one in memory.recall(top_k=50).results}


def test_what_has_ended_is_absent_at_once(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("a", pak_id="a", ttl=60)
    memory.remember("b", pak_id="b", ttl=timedelta(minutes=2))
    memory.remember("c", pak_id="c")
    assert found(memory) == {"a", "b", "c"}
    clock.advance(seconds=60)
    assert found(memory) == {"b", "c"}
    assert memory.get("a") is None
    assert [one.pak_id for one in memory.list(order="title").items] == ["b", "c"]


def test_tidy_erases_what_has_ended_and_says_what(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("a secret of an hour", pak_id="a", ttl=3600)
    memory.remember("b", pak_id="b", ttl=7200)
    memory.remember("c", pak_id="c", valid_until="2026-01-01T01:00:00Z")
    assert memory.tidy().pak_ids == ()
    clock.advance(hours=1)
    told = memory.tidy(dry_run=True)
    assert (told.pak_ids, told.dry_run) == (("a", "c"), True)
    done = memory.tidy()
    assert (done.pak_ids, done.wiped) == (("a", "c"), True)
    assert memory.tidy().pak_ids == ()
    rows = memory.paks.conn.execute("SELECT pak_id FROM memories").fetchall()
    assert rows == [("b",)]
    assert b"a secret of an hour" not in memory.path.read_bytes()
    (act, *_) = memory.audit()
    assert (act.act, act.detail) == ("tidy", "2 memories")


def test_tidy_is_for_the_owner_of_the_store_or_of_the_tenant(
    memory: Recollect, clock: FakeClock
) -> None:
    for who in (ANN, DAN):
        memory.as_principal(who).remember("over", pak_id=f"of {who.id}", ttl=1)
    clock.advance(hours=1)
    with pytest.raises(NotAllowed):
        memory.as_principal(ANN).tidy()
    assert memory.as_principal(ROOT).tidy(dry_run=True).pak_ids == ("of ann",)
    assert memory.as_principal(ROOT).tidy().pak_ids == ("of ann",)
    assert memory.tidy().pak_ids == ("of dan",)


def test_reading_refreshes_nothing_unless_asked_to(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("tea", pak_id="a", ttl=3600)
    memory.remember("coffee", pak_id="c")
    clock.advance(seconds=1800)
    memory.recall("tea")
    memory.frame("attention", "tea")
    before = memory.get("a")
    assert before is not None
    assert before.valid_until == "2026-01-01T01:00:00Z"
    memory.recall("tea", refresh=True)
    after = memory.get("a")
    assert after is not None
    assert after.valid_until == "2026-01-01T01:30:00Z"
    clock.advance(seconds=3599)
    assert "a" in found(memory)
    assert memory.examine().problems == ()


def test_touch_lets_a_memory_hold_for_its_time_again(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("tea", pak_id="a", ttl=60)
    memory.remember("coffee", pak_id="c", valid_until="2027-01-01")
    clock.advance(seconds=59)
    assert memory.touch("a")
    clock.advance(seconds=59)
    assert "a" in found(memory)
    assert not memory.touch("c")
    assert not memory.touch("nobody")
    clock.advance(seconds=1)
    assert not memory.touch("a")


def test_to_refresh_takes_the_right_to_write(
    memory: Recollect, open_memory: Callable[..., Recollect], clock: FakeClock
) -> None:
    ann = memory.as_principal(ANN)
    ann.remember("tea", pak_id="a", ttl=60)
    ann.remember("tea for all", pak_id="b", ttl=60, scope="public")
    reader = memory.as_principal(READER)
    with pytest.raises(NotAllowed):
        reader.touch("a")
    with pytest.raises(NotAllowed):
        reader.recall("tea", refresh=True)
    assert not memory.as_principal(DAN).touch("b")
    memory.as_principal(DAN).recall("tea", refresh=True)
    clock.advance(seconds=60)
    assert found(ann) == set()


@pytest.mark.parametrize("bad", [0, -1, float("nan"), "60", True, 1e12, timedelta(0)])
def test_a_time_that_is_none_is_refused(memory: Recollect, bad: object) -> None:
    with pytest.raises(InvalidInput, match="ttl must be a finite number from 1"):
        memory.remember("tea", ttl=bad)  # type: ignore[arg-type]


def test_a_text_that_is_stored_again_keeps_its_time_or_gets_a_new_one(
    memory: Recollect, clock: FakeClock
) -> None:
    pak_id = memory.remember("tea", ttl=60).pak_id
    clock.advance(seconds=30)
    memory.remember("tea", tags=["x"])
    kept = memory.get(pak_id)
    assert kept is not None
    assert (kept.ttl, kept.valid_until) == (60.0, "2026-01-01T00:01:00Z")
    memory.remember("tea", ttl=120)
    longer = memory.get(pak_id)
    assert longer is not None
    assert (longer.ttl, longer.valid_until) == (120.0, "2026-01-01T00:02:30Z")
    memory.remember("tea", valid_until="2026-01-02T00:00:00Z")
    fixed = memory.get(pak_id)
    assert fixed is not None
    assert (fixed.ttl, fixed.valid_until) == (None, "2026-01-02T00:00:00Z")
    clock.advance(hours=48)
    memory.remember("tea")
    lasting = memory.get(pak_id)
    assert lasting is not None
    assert (lasting.ttl, lasting.valid_until) == (None, None)
