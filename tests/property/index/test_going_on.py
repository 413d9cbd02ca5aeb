"""What an index takes over from the one before it is what an index made anew would find."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.property.index.test_history import Eagerly
from tests.property.index.worlds import (
    QUERY_TERMS,
    World,
    answers,
    edges,
    memories,
    rebuilt,
    row_ids,
    vectors,
    wheres,
)

from recollect.index import MemoryIndex, Selection, Where
from recollect.model import Memory, Place

TENANTS = ("acme", "globex")
SPEAKERS = ("ann", "bob")
DAYS = (None, "2024-03-01T10:00:00+00:00")
MOMENT = 1714867200.0
GERMAN = "Die Katze und der Hund sind nicht in dem Haus"


@dataclass(frozen=True)
class Readable:
    """What a tenant may read and nobody holds back: decided for each slot by itself."""

    tenant: str

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        mask = index.at_places(self._name(), self.concerns)
        mask &= index.column("status") != index.code("status", "archived")
        return mask

    def concerns(self, place: Place) -> bool:
        return place.tenant == self.tenant

    def _name(self) -> Hashable:
        return (self.tenant, "readable")


@dataclass(frozen=True)
class Unique:
    """What no other of the tenant's memories is of the same length as: others decide about it."""

    tenant: str

    def __call__(self, index: MemoryIndex) -> NDArray[np.bool_]:
        mask = Readable(self.tenant)(index) & index.column("alive")
        lengths = np.bincount(index.column("length")[np.arange(index.size)[mask]], minlength=1)
        return mask & (lengths[index.column("length").clip(max=len(lengths) - 1)] == 1)

    def concerns(self, place: Place) -> bool:
        return place.tenant == self.tenant


views = st.one_of(
    st.none(), st.builds(Readable, st.sampled_from(TENANTS)), st.builds(Unique, st.just("acme"))
)
questions = st.tuples(
    wheres.map(lambda where: replace(where, current_only=False)) | st.just(Where()), views
)
placed = st.builds(
    lambda memory, tenant, speaker, day, text: replace(
        memory,
        place=Place(tenant),
        speaker=speaker,
        occurred_at=day,
        content=text or memory.content,
    ),
    memories,
    st.sampled_from(TENANTS),
    st.sampled_from((None, *SPEAKERS)),
    st.sampled_from(DAYS),
    st.sampled_from((None, None, GERMAN)),
)
# What may change of a memory while its text stays.
lives = st.fixed_dictionaries(
    {
        "speaker": st.sampled_from((None, *SPEAKERS)),
        "occurred_at": st.sampled_from(DAYS),
        "status": st.sampled_from(("active", "archived")),
        "place": st.sampled_from(TENANTS).map(Place),
    }
)
steps = st.tuples(
    st.lists(st.tuples(row_ids, placed, vectors), max_size=3),
    st.lists(row_ids, max_size=1),
    st.lists(edges, max_size=2),
    st.lists(st.tuples(row_ids, lives), max_size=2),
    st.lists(st.integers(0, 2), max_size=3),
    st.booleans(),
)


def told(index: MemoryIndex, selection: Selection) -> dict[str, Any]:
    """Return all that an index says about a selection, and what it finds out on the way."""
    lexical = index.lexical(QUERY_TERMS, selection, stressed=("cat",))
    return answers(index, selection) | {
        "count": (selection.count, selection.is_all, int(selection.mask.sum())),
        "german": index.any_german(selection),
        "day": index.any_day(selection),
        "vector": index.any_vector(selection),
        "pending": index.any_pending(selection),
        "called": [one.name for one in index.speakers_called(SPEAKERS, selection)],
        "explained": sorted(
            zip(
                index.pak_ids(selection.slots),
                lexical.explaining_terms(selection.slots),
                strict=True,
            )
        ),
    }


def change(world: World, written: Any, gone: Any, joined: Any, edited: Any) -> None:
    """Write, delete and join, and change some of what is there without its text."""
    rows = world.rows
    same: list[Any] = [
        (number, replace(cast("Memory", rows[number].memory), **life), rows[number].vector)
        for number, life in edited
        if number in rows and number not in gone
    ]
    world.change([*written, *same], gone, joined)


def agree(lived: MemoryIndex, fresh: MemoryIndex, asked: list[Any]) -> None:
    """Ask two indexes the same."""
    for where, view in asked:
        ours = told(lived, lived.select(where, view=view))
        assert ours == told(fresh, fresh.select(where, view=view))


@settings(deadline=None)
@given(
    history=st.lists(steps, min_size=1, max_size=10),
    asked=st.lists(questions, min_size=3, max_size=3),
    eager=st.booleans(),
)
def test_whoever_asks_whenever_is_answered_as_by_an_index_made_anew(
    history: list[Any], asked: list[Any], eager: bool
) -> None:
    world, lived, fresh = World(), MemoryIndex.empty(8), MemoryIndex.empty(8)
    with Eagerly() if eager else nullcontext():
        for written, gone, joined, edited, now, late in history:
            change(world, written, gone, joined, edited)
            before, lived = lived, lived.after(world.history[-1])
            fresh_before, fresh = fresh, rebuilt(list(world.rows.values()), world.edges)
            agree(lived, fresh, [asked[number] for number in now])
            if late:
                # Somebody is still being answered from the index before.
                agree(before, fresh_before, asked)
            turned = {one.turning_point(MOMENT) for one in (lived, fresh)}
            # Who is asked whether all hold may say no for what is gone by now.
            assert None in turned or len(turned) == 1


@settings(deadline=None)
@given(
    first=st.lists(steps, min_size=1, max_size=4),
    lost=steps,
    then=st.lists(steps, min_size=1, max_size=4),
    question=questions,
)
def test_a_next_index_that_came_to_nothing_leaves_nothing_to_go_on_from(
    first: list[Any], lost: Any, then: list[Any], question: Any
) -> None:
    world, lived = World(), MemoryIndex.empty(8)

    def asked_after(step: Any) -> None:
        nonlocal lived
        change(world, *step[:4])
        lived = lived.after(world.history[-1])
        agree(lived, rebuilt(list(world.rows.values()), world.edges), [question])

    for step in first:
        asked_after(step)
    rolled_back = World(dict(world.rows), dict(world.edges), [*world.history])
    change(rolled_back, *lost[:4])
    lived.after(rolled_back.history[-1])
    lived.mend()
    for step in then:
        asked_after(step)
