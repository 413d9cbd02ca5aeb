"""The check of non-interference is put to the test itself: it must find every planted leak."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from tests.property.policy.mutants import LEAKS
from tests.property.policy.worlds import ANN, BOB, CID, PEOPLE, World, world

from recollect.paks import PakRelationEntry


def lively(here: World) -> None:
    """Fill a store with a little of everything, so that every leak has something to tell."""
    for who, text, place in (
        ("ann", "redis queue worker", {}),
        ("ann", "redis likes release notes and a long tail of other words", {"scope": "company"}),
        ("ann", "zebra crossing", {"garden": "ops"}),
        ("bob", "redis queue redis queue", {}),
        ("bob", "redis queue redis worker", {}),
        ("bob", "redis redis queue", {"scope": "team", "team": "blue"}),
        ("bob", "queue queue queue", {"project": "hush"}),
        ("bob", "café release", {"scope": "company"}),
        ("root", "zebra redis release", {"garden": "lab"}),
        ("dan", "redis queue for globex", {"scope": "company"}),
        ("dan", "redis queue for everyone", {"scope": "public"}),
    ):
        here.clock.advance(seconds=1)
        here.act(who, "remember", text, pak_id=f"{who}-{len(here.ids())}", **place)
    # bob's own: he links what others may read to what they may not, and disputes it.
    here.act("bob", "link", "bob-3", "bob-7")
    here.act("ann", "link", "ann-0", "bob-7")
    here.act("bob", "link", "bob-3", "ann-1")
    here.act("bob", "dispute", "bob-4", "ann-1")
    paks = here.memory.paks
    paks.conn.execute("UPDATE paks SET superseded_by = 'bob-4' WHERE pak_id = 'ann-1'")
    paks.add_pak_relation("ann-1", PakRelationEntry("bob-4", "refines"))
    # bob's secret is told to all by half; what it was stays his.
    here.act("bob", "remember", "a zebra in secret", pak_id="was-secret")
    here.act("bob", "update", "was-secret", content="a zebra", scope="company")
    for _ in range(3):
        here.act("bob", "frame", "attention", "queue", top_k=2)
    here.act("ann", "frame", "attention", "redis", top_k=2)
    here.act("dan", "trust.set", "stranger", 0.2)
    here.act("dan", "ingest", [{"content": "redis rumour"}], source="stranger", scope="public")
    # What ann used most she may not read any more.
    for _ in range(5):
        here.act("ann", "frame", "evidence", "zebra redis release", top_k=1)
    here.act("root", "gardens.remove", "lab", "ann")
    here.embedder.fail = True
    here.act("bob", "remember", "still without a vector")
    here.embedder.fail = False


@pytest.mark.parametrize("links", [False, True])
def test_without_a_leak_nothing_differs(links: bool) -> None:
    with world(links=links) as here:
        lively(here)
        for who in (ANN, BOB, CID):
            assert here.hidden_from(who)
            assert here.of(who).recall("redis").results
            here.compare(who)


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_the_check_finds_a_planted_leak(
    leak: Callable[[], AbstractContextManager[None]],
) -> None:
    with world(links=False) as here:
        lively(here)
        with leak(), pytest.raises(AssertionError, match="without:"):
            for who in (ANN, BOB, CID):
                here.compare(who)


def test_everybody_in_the_tests_is_somebody_else() -> None:
    assert len({(one.tenant, one.id) for one in PEOPLE.values()}) == len(PEOPLE)
