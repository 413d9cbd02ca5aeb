"""Small worlds of Paks for the index's tests, and the plain answers an index gives about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recollect.index import MemoryIndex, Selection, Where
from recollect.model import Memory, Place
from recollect.ports.store import Changes, Head, IndexRow, Used, Uses

ANN = ("acme", "ann")
DIMENSION = 8
WORDS = ("cat", "cats", "running", "ran", "naïve", "Rome", "don't", "x_y", "2024", "the")
TAGS = ("self", "self/goal", "self/value", "a%b", "a_b", "A_b", "")
TIMES = ("2024-01-01T00:00:00+00:00", "2024-01-01T01:00:00+01:00", "2024-05-05", "nonsense", "")

texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
components = st.lists(st.integers(-127, 127), min_size=DIMENSION, max_size=DIMENSION)
vectors = st.one_of(st.none(), components.map(lambda numbers: np.array(numbers, dtype=np.int8)))
memories = st.builds(
    Memory,
    pak_id=st.just(""),
    content=texts,
    title=st.sampled_from(("", "cat", "Rome")),
    tags=st.lists(st.sampled_from(TAGS), max_size=3).map(tuple),
    category=st.sampled_from(("knowledge", "observation")),
    project=st.sampled_from((None, "shop")),
    confidence=st.sampled_from((0.0, 0.5, 1.0)),
    thread=st.sampled_from((None, "t1")),
    position=st.sampled_from((None, 0, 3)),
    speaker=st.sampled_from((None, "ann")),
    valid_until=st.sampled_from((None, "2024-05-05T00:00:00+00:00")),
    updated_at=st.sampled_from(TIMES),
    status=st.sampled_from(("active", "active", "active", "archived")),
    reinforced=st.integers(0, 3),
    last_reinforced=st.sampled_from((0.0, 80.0, 100.0, 180.0)),
    place=st.builds(Place, team=st.sampled_from((None, "red"))),
)
row_ids = st.integers(1, 9)
weights = st.sampled_from((0.0, 0.1, 0.2, 0.3, 0.6321, 0.7, 1.0))
edges = st.tuples(row_ids, row_ids, weights)
uses = st.builds(Used, row_ids, st.integers(0, 3), st.sampled_from((0.0, 80.0, 100.0, 180.0)))


@dataclass
class World:
    """What a store holds after a history of changes, and the changes themselves."""

    rows: dict[int, IndexRow] = field(default_factory=dict)
    edges: dict[tuple[int, int], float] = field(default_factory=dict)
    history: list[Changes] = field(default_factory=list)

    def change(
        self,
        written: list[tuple[int, Memory, Any]],
        gone: list[int],
        joined: list[tuple[int, int, float]],
    ) -> None:
        """Delete, write and join as a store would, and note what it would report."""
        lost = [number for number in gone if number in self.rows]
        for number in lost:
            del self.rows[number]
            self.edges = {pair: w for pair, w in self.edges.items() if number not in pair}
        for number, memory, vector in written:
            named = replace(memory, pak_id=f"pak_{number % 3}{number}")
            self.rows[number] = IndexRow(number, named, vector)
        reported = self._join(joined)
        rows = [self.rows[number] for number in dict.fromkeys(n for n, _, _ in written)]
        self.history.append(Changes(Head(len(self.history) + 1, None), rows, lost, reported))

    def use(self, used: list[Used], joined: list[tuple[int, int, float]]) -> None:
        """Count uses, and join, and note what a store would report."""
        known = [one for one in used if one.row_id in self.rows]
        self.history.append(
            Changes(
                Head(len(self.history) + 1, None), (), (), self._join(joined), {ANN: Uses(known)}
            )
        )

    def _join(self, joined: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
        reported = []
        for one, other, weight in joined:
            pair = (min(one, other), max(one, other))
            if pair[0] == pair[1] or not {*pair} <= self.rows.keys():
                continue
            self.edges[pair] = weight
            reported.append((*pair, weight))
        self.edges = {pair: weight for pair, weight in self.edges.items() if weight}
        return reported


changes = st.tuples(
    st.lists(st.tuples(row_ids, memories, vectors), max_size=4),
    st.lists(row_ids, max_size=2, unique=True),
    st.lists(edges, max_size=4),
    st.lists(uses, max_size=3, unique_by=lambda use: use.row_id),
)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw a world with a history."""
    world = World()
    for written, gone, joined, used in draw(st.lists(changes, max_size=8)):
        world.change(written, gone, joined)
        if used:
            world.use(used, joined)
    return world


wheres = st.builds(
    Where,
    active_only=st.booleans(),
    project=st.sampled_from((None, "shop", "unknown")),
    tag_patterns=st.sampled_from(((), ("self/%",), ("a_%", "self"), ("%",), ("none",))),
    categories=st.sampled_from(((), ("observation",), ("knowledge", "observation"))),
    reinforced_after=st.sampled_from((None, 0.0, 80.0, 100.0)),
    valid_at=st.sampled_from((None, 0.0, 1714867200.0)),
)


def followed(history: list[Changes], *, asked: Where | None = None) -> MemoryIndex:
    """Return an index that took every change in turn, and was asked between them."""
    index = MemoryIndex.empty(DIMENSION)
    for change in history:
        if asked is not None:
            answers(index, index.select(asked))
        index = index.after(change)
    return index


def rebuilt(
    rows: list[IndexRow], edges: dict[tuple[int, int], float], *, revision: int = 1
) -> MemoryIndex:
    """Return an index that took everything at once."""
    index = MemoryIndex.empty(DIMENSION)
    joined = [(one, other, weight) for (one, other), weight in edges.items()]
    return index.after(Changes(Head(revision, None), rows, (), joined))


QUERY_TERMS = ("cat", "run", "rome", "dont", "unheard", "cat")
QUERY = np.array([3, -100, 50, 7, 0, 1, -1, 127], dtype=np.int8)


def answers(index: MemoryIndex, selection: Selection) -> dict[str, Any]:
    """Return everything an index says about a selection, by Pak id."""
    slots = selection.slots
    names = index.pak_ids(slots)
    lexical = index.lexical(QUERY_TERMS, selection)
    nearest = index.nearest(QUERY, selection, 3)
    degrees = index.degrees(selection)
    scores = np.round(lexical.scores_at(slots) + index.cosines(QUERY, slots), 9)
    return {
        "names": sorted(names),
        "frequencies": index.document_frequencies(QUERY_TERMS, selection),
        "average": index.average_length(selection),
        "lexical": _named(names, lexical.scores_at(slots)),
        "hits": sorted(index.pak_ids(lexical.hits)),
        "top": sorted(index.pak_ids(lexical.top(2))),
        "matched": _named(names, [lexical.matched_terms(int(slot)) for slot in slots]),
        "nearest": _named(index.pak_ids(nearest.slots), nearest.cosines),
        "cosines": _named(names, index.cosines_inside(QUERY, selection)),
        "pending": _named(names, index.has_vector(slots)),
        "best": index.pak_ids(slots[index.best(slots, scores, 4)]),
        "best by time": index.pak_ids(slots[index.best(slots, np.zeros(len(slots)), 3)]),
        "neighbours": {
            name: sorted(index.pak_ids(index.neighbours(slots[place : place + 1], selection)))
            for place, name in enumerate(names)
        },
        "degrees": _named(names, degrees[slots]),
        "some degrees": index.degrees(selection, index.slots_of(sorted(names)[::2])).tolist(),
        "self": sorted(index.pak_ids(index.slots_tagged(("self/%",), selection))),
        "columns": {
            column: _named(names, index.column(column)[slots])
            for column in ("confidence", "decay", "last_reinforced", "reinforced", "updated_at")
        },
        "values": {
            column: _named(names, index.values(column, slots))
            for column in ("category", "project", "status", "thread", "speaker", "place")
        },
    }


def _named(names: list[str], values: Any) -> dict[str, Any]:
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return dict(zip(names, plain, strict=True))
