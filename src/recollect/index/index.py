"""The index: what recall needs of every live Pak, as columns in memory.

It is filled by `apply` with what a store says has changed, and answers from inside a selection
only: nothing outside may influence a number. Answers depend on the Paks it holds, never on the
order or history of changes. The caller sees to it that `apply` and questions do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recollect.dates import NO_DAY
from recollect.errors import InvalidInput
from recollect.index import lexical, ranking
from recollect.index.analyse import indexed_text, marks
from recollect.index.columns import CODED, Columns, place_from
from recollect.index.graph import Graph
from recollect.index.lexicon import Lexicon
from recollect.index.lookup import Lookup, digest
from recollect.index.postings import Postings
from recollect.index.selection import Selection, Where, mask_of, tag_mask
from recollect.index.speakers import Speaker, Speakers
from recollect.index.strings import Strings
from recollect.index.threads import Threads, Turns
from recollect.index.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from recollect.index.lexical import Lexical, Part
    from recollect.index.vectors import Nearest
    from recollect.model import Place
    from recollect.ports.store import Changes, Indexable, IndexRow, Used

__all__ = ["MemoryIndex", "View"]

# What narrows a selection beside its conditions: a mask over the slots, or who can make one. The
# latter must be hashable: selections are kept under it until the next change.
View: TypeAlias = "Callable[[MemoryIndex], NDArray[np.bool_]] | NDArray[np.bool_]"

_EVERY_ACTIVE = Where()
_BATCH = 8192
_LEAST_DEAD = 1024
# What is held of the terms of past questions, in postings: some megabytes at most. A term that
# nobody holds takes room too.
_POSTINGS_HELD, _ROOM_OF_A_TERM = 1 << 20, 64
_MOST_SELECTIONS = 16


@dataclass(slots=True)
class _Inside:
    """What was found out about one selection, for the next question about it."""

    average: float | None = None
    any_vector: bool | None = None
    parts: dict[str, Part] = field(default_factory=dict)


class MemoryIndex:
    """Live Paks of one store as columns; each lies in a slot, which only the next change moves."""

    def __init__(self, dimension: int) -> None:
        self.revision = 0
        self._generation = 0
        self._live = 0
        self._terms_held = 0
        self._columns = Columns()
        self._pak_ids = Strings()
        self._by_row = Lookup()
        self._by_pak = Lookup()
        self._terms = Postings()
        self._lexicon = Lexicon(self._terms.names)
        self._tags = Postings()
        self._vectors = Vectors(dimension)
        self._graph = Graph()
        self._threads = Threads()
        self._speakers = Speakers()
        self._lines: dict[Selection, Turns] = {}
        self._selections: dict[tuple[Where, View | None], Selection] = {}
        self._places: list[Place] = []
        self._waiting: bool | None = None
        self._inside: dict[Selection, _Inside] = {}
        self._postings_held = 0
        self._floors: tuple[float, float] | None = None
        self._ends: NDArray[np.float64] | None = None
        self._has_days: bool | None = None

    def __len__(self) -> int:
        return self._live

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 means there are none."""
        return self._vectors.dimension

    @property
    def size(self) -> int:
        """Slots in use, dead ones included: the length of every mask and column."""
        return self._columns.size

    def apply(self, changes: Changes) -> None:
        """Take over what changed; a vector of the wrong shape is refused before anything is."""
        rows = list({row.row_id: row for row in changes.rows}.values())
        for row in rows:
            if row.vector is not None:
                self._vectors.check(row.vector)
        if changes.gone:
            self._forget(changes.gone)
        for start in range(0, len(rows), _BATCH):
            self._take(rows[start : start + _BATCH])
        if changes.used:
            self._count_uses(changes.used)
        if changes.edges:
            self._join(changes.edges)
        if changes.gone or rows:
            self._begin_generation()
        self.revision = changes.revision

    def select(
        self, where: Where = _EVERY_ACTIVE, *, view: View | None = None, at: float | None = None
    ) -> Selection:
        """Return the live Paks that fulfil `where` and that `view` allows (a mask over slots).

        `at` stands for a `valid_at` of that moment.
        """
        if at is not None and at >= self._bounds()[1]:
            where = replace(where, valid_at=at)
        where = self._without_idle(where)
        if view is not None and not callable(view):
            return self._selected(where, view)
        key = (where, view)
        known = self._selections.get(key)
        if known is None:
            if len(self._selections) >= _MOST_SELECTIONS:
                self._selections.clear()
            known = self._selections[key] = self._selected(where, view and view(self))
        return known

    def places(self) -> list[Place]:
        """Return the place that each code of the column of places stands for."""
        known = self._columns.vocabularies["place"].in_order
        if len(self._places) != len(known):
            self._places = [place_from(text) for text in known if text is not None]
        return self._places

    def any_pending(self, selection: Selection) -> bool:
        """Return whether any selected Pak still waits for its vector."""
        self._check(selection)
        if self._waiting is None:
            self._waiting = bool((self._columns["pending"] & self._columns["alive"]).any())
        return self._waiting and bool((self._columns["pending"] & selection.mask).any())

    def slots_tagged(self, patterns: Iterable[str], selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots with a tag that matches any of the patterns; ascending."""
        self._check(selection)
        return np.flatnonzero(tag_mask(patterns, self._tags, self.size) & selection.mask)

    def document_frequencies(self, names: Sequence[str], selection: Selection) -> NDArray[np.int64]:
        """Return how many selected Paks hold each term."""
        self._check(selection)
        return np.array([part.frequency for part in self._parts(names, selection)], dtype=np.int64)

    def average_length(self, selection: Selection) -> float:
        """Return the selected Paks' average length in terms; 0 when there are none."""
        self._check(selection)
        if not selection.count:
            return 0.0
        if selection.is_all:
            return self._terms_held / selection.count
        inside = self._known_inside(selection)
        if inside.average is None:
            lengths = self._columns["length"][selection.slots]
            inside.average = int(lengths.sum(dtype=np.int64)) / selection.count
        return inside.average

    def lexical(
        self, names: Iterable[str], selection: Selection, *, stressed: Container[str] = ()
    ) -> Lexical:
        """Score the selected Paks by BM25 for some terms, each counted once."""
        distinct = sorted(set(names))
        return lexical.score(
            distinct,
            self._parts(distinct, selection),
            self._columns["length"],
            selection=selection,
            average=self.average_length(selection),
            stressed=stressed,
        )

    def turns(self, selection: Selection) -> Turns | None:
        """Return the selected Paks that are turns of threads, in order; None if nobody is."""
        self._check(selection)
        threads = self._columns.vocabularies["thread"]
        if len(threads) == (None in threads):
            return None
        line = self._lines.get(selection)
        if line is None:
            if len(self._lines) >= _MOST_SELECTIONS:
                self._lines.clear()
            line = self._lines[selection] = self._threads.turns(self._columns, selection)
        return line if len(line) else None

    def speakers_named(self, spoken: Mapping[str, str], selection: Selection) -> list[Speaker]:
        """Return whom among the selected Paks' speakers some words name.

        `spoken` gives each term of the words in the spelling that was used.
        """
        self._check(selection)
        found = self._speakers.named(spoken, self._columns.vocabularies["speaker"])
        if not found:
            return found
        heard = self._columns["speaker"][selection.slots]
        return [speaker for speaker in found if (heard == speaker.code).any()]

    def any_day(self, selection: Selection) -> bool:
        """Return whether of any selected Pak it is known when it happened or was said."""
        self._check(selection)
        days = self._columns["day"]
        if self._has_days is None:
            self._has_days = bool((days != NO_DAY).any())
        return self._has_days and bool((days[selection.slots] != NO_DAY).any())

    def cosines(self, query: NDArray[np.int8], slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosine of each slot to a query; 0 where a slot has no vector."""
        return self._vectors.cosines(query, slots)

    def cosines_inside(self, query: NDArray[np.int8], selection: Selection) -> NDArray[np.float64]:
        """Return the exact cosine of each selected slot; a small selection's are soon had again."""
        self._check(selection)
        return self._vectors.cosines_inside(query, selection)

    def cosines_between(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosine of each of these slots to each of them."""
        return self._vectors.cosines_between(slots)

    def vectors(self, slots: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the vectors of some slots; all zeros where there is none."""
        return self._vectors.rows(slots)

    def compact(self) -> None:
        """Let go of everything that belonged to Paks which are gone, down to their words."""
        if self.size > self._live:
            self._compact()
            self._let_go()

    def has_vector(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which slots have a vector; a zero one counts as none."""
        return self._vectors.present(slots)

    def any_vector(self, selection: Selection) -> bool:
        """Return whether any selected Pak has a vector."""
        self._check(selection)
        inside = self._known_inside(selection)
        if inside.any_vector is None:
            inside.any_vector = bool(self._vectors.present(selection.slots).any())
        return inside.any_vector

    def nearest(self, query: NDArray[np.int8], selection: Selection, keep: int) -> Nearest:
        """Return the `keep` selected slots of largest cosine, and all that tie with the last."""
        self._check(selection)
        return self._vectors.nearest(query, selection, keep)

    def alike(self, query: NDArray[np.int8], selection: Selection, threshold: float) -> Nearest:
        """Return all selected slots that are alike a query: of at least this cosine."""
        self._check(selection)
        return self._vectors.alike(query, selection, threshold)

    def neighbours(self, slots: NDArray[np.int64], selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots one edge away from any of these, these left out; ascending."""
        self._check(selection)
        return self._graph.neighbours(slots, selection)

    def degrees(
        self, selection: Selection, slots: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return each slot's summed edge weights inside the selection; of all slots, or of some."""
        self._check(selection)
        return self._graph.degrees(selection, slots)

    def pak_ids(self, slots: NDArray[np.int64]) -> list[str]:
        """Return the Pak ids of some slots."""
        return self._pak_ids.at(slots)

    def slots_of_rows(self, row_ids: Sequence[int]) -> NDArray[np.int64]:
        """Return where the rows of a store lie; those not here are left out."""
        slots = self._slots_of_rows(row_ids)
        return slots[slots >= 0]

    def slot_of(self, pak_id: str) -> int | None:
        """Return where a Pak lies, or None if it is not here."""
        alive = self._columns["alive"]
        for slot in self._by_pak.candidates(digest(pak_id)):
            if alive[slot] and self._pak_ids.one(slot) == pak_id:
                return slot
        return None

    def slots_of(self, pak_ids: Iterable[str]) -> NDArray[np.int64]:
        """Return where Paks lie, in the order given; those not here are left out."""
        found = (self.slot_of(pak_id) for pak_id in pak_ids)
        return np.array([slot for slot in found if slot is not None], dtype=np.int64)

    def best(
        self, slots: NDArray[np.int64], scores: NDArray[np.float64], keep: int
    ) -> NDArray[np.int64]:
        """Return where the `keep` best stand: score, then later update, then larger Pak id."""
        return ranking.best(
            slots, scores, keep, updated_at=self._columns["updated_at"], pak_ids=self._pak_ids
        )

    def column(self, name: str) -> NDArray[Any]:
        """Return a column over all slots, read-only.

        confidence, decay, last_reinforced, reinforced, updated_at (microseconds since 1970),
        valid_until (seconds since 1970 or inf), position (-1: none), day (since 1970, or NO_DAY),
        marks (bits of `analyse`), length, row_id, risky, pending, alive; and the codes of
        category, project, status, thread, speaker, place.
        """
        values = self._columns[name]
        values.flags.writeable = False
        return values

    def code(self, name: str, value: str | None) -> int:
        """Return the number that stands for a value in a column of codes; -1 if none has it."""
        return self._columns.vocabularies[name].get(value, -1)

    def values(self, name: str, slots: NDArray[np.int64]) -> list[str | None]:
        """Return what the codes of a column stand for."""
        known = self._columns.vocabularies[name].in_order
        return [known[code] for code in self._columns[name][slots].tolist()]

    def export(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return everything as plain data and arrays, for `restore`."""
        alive = self._columns["alive"]
        rooms: dict[str, dict[str, Any]] = {
            "columns": self._columns.export(),
            "pak_ids": self._pak_ids.export(),
            "by_row": self._by_row.export(alive),
            "by_pak": self._by_pak.export(alive),
            "terms": self._terms.export(),
            "tags": self._tags.export(),
            "vectors": self._vectors.export(),
            "graph": self._graph.export(),
        }
        plain = {
            "revision": self.revision,
            "vocabularies": {name: self._columns.vocabularies[name].in_order for name in CODED},
        }
        arrays = {f"{room}/{name}": a for room, held in rooms.items() for name, a in held.items()}
        return plain, arrays

    @classmethod
    def restore(cls, plain: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> MemoryIndex:
        """Return the index that was exported; it takes the arrays as its own."""
        rooms: dict[str, dict[str, Any]] = {}
        for path, array in arrays.items():
            room, _, name = path.partition("/")
            rooms.setdefault(room, {})[name] = array
        index = cls(0)
        index.revision = plain["revision"]
        index._columns = Columns.restore(rooms["columns"], plain["vocabularies"])
        index._pak_ids = Strings.restore(**rooms["pak_ids"])
        index._by_row = Lookup.restore(**rooms["by_row"])
        index._by_pak = Lookup.restore(**rooms["by_pak"])
        index._terms = Postings.restore(**rooms["terms"])
        index._lexicon = Lexicon(index._terms.names)
        index._tags = Postings.restore(**rooms["tags"])
        index._vectors = Vectors.restore(**rooms["vectors"])
        index._graph = Graph.restore(**rooms["graph"])
        alive = index._columns["alive"]
        index._live = int(np.count_nonzero(alive))
        index._terms_held = int(index._columns["length"].sum(where=alive, dtype=np.int64))
        return index

    def _parts(self, names: Sequence[str], selection: Selection) -> list[Part]:
        """Return what of each term lies inside a selection; a question asks for it twice."""
        parts = self._known_inside(selection).parts
        missing = [name for name in names if name not in parts]
        if missing and self._postings_held > _POSTINGS_HELD:
            self._forget_inside()
            return self._parts(names, selection)
        for name, posting in zip(missing, self._terms.get(missing) if missing else (), strict=True):
            part = parts[name] = lexical.part_of(posting, selection)
            self._postings_held += len(part.places) + _ROOM_OF_A_TERM
        return [parts[name] for name in names]

    def _known_inside(self, selection: Selection) -> _Inside:
        known = self._inside.get(selection)
        if known is None:
            if len(self._inside) >= _MOST_SELECTIONS:
                self._forget_inside()
            known = self._inside[selection] = _Inside()
        return known

    def _forget_inside(self) -> None:
        self._inside.clear()
        self._postings_held = 0

    def _begin_generation(self) -> None:
        """Let go of all that was derived from which Paks there are."""
        if self.size - self._live > max(_LEAST_DEAD, self._live // 4):
            self._compact()
        self._let_go()

    def _let_go(self) -> None:
        self._generation += 1
        self._threads.changed()
        self._lines.clear()
        self._selections.clear()
        self._forget_inside()
        self._floors = None
        self._ends = None
        self._has_days = None
        self._waiting = None

    def _count_uses(self, used: Sequence[Used]) -> None:
        """Count uses; who is selected stays as it is, unless that was asked by time of use."""
        slots = self._slots_of_rows([one.row_id for one in used])
        if (slots < 0).any():
            raise InvalidInput(
                "a Pak was used that the index does not hold.",
                hint="apply the changes before this one first.",
            )
        self._columns.count_uses(slots, used)
        oldest, soonest = self._bounds()
        self._floors = (min(oldest, *(one.last_reinforced for one in used)), soonest)
        self._selections = {
            key: known for key, known in self._selections.items() if key[0].reinforced_after is None
        }

    def _forget(self, row_ids: Sequence[int]) -> None:
        slots = self._slots_of_rows(row_ids)
        for slot in slots[slots >= 0].tolist():
            self._graph.drop(slot)
            self._kill(slot)

    def _kill(self, slot: int) -> None:
        self._columns["alive"][slot] = False
        self._live -= 1
        self._terms_held -= int(self._columns["length"][slot])

    def _take(self, rows: Sequence[IndexRow]) -> None:
        """Overwrite Paks whose text is as it was; put the others in new slots."""
        digests = [_text_digest(row.memory) for row in rows]
        known = self._slots_of_rows([row.row_id for row in rows])
        same = (known >= 0) & (self._digests_at(known) == digests)
        for place in np.flatnonzero(same).tolist():
            self._columns.overwrite(int(known[place]), rows[place].memory)
            self._columns["pending"][known[place]] = rows[place].pending
            self._vectors.overwrite(int(known[place]), rows[place].vector)
        fresh = np.flatnonzero(~same).tolist()
        if fresh:
            self._replace(
                known[fresh].tolist(), [rows[p] for p in fresh], [digests[p] for p in fresh]
            )

    def _replace(
        self, replaced: Sequence[int], rows: Sequence[IndexRow], digests: Sequence[int]
    ) -> None:
        # The old die first: a lookup that is frozen on the way must not take them for living.
        for slot in replaced:
            if slot >= 0:
                self._kill(slot)
        for new, old in enumerate(replaced, self._append(rows, digests)):
            if old >= 0:
                self._graph.move(old, new)

    def _append(self, rows: Sequence[IndexRow], digests: Sequence[int]) -> int:
        memories = [row.memory for row in rows]
        row_ids = [row.row_id for row in rows]
        found = [self._lexicon.numbers(indexed_text(memory)) for memory in memories]
        lengths = [len(numbers) for numbers in found]
        kinds = [
            marks(memory.content, tells_time=self._lexicon.tells_time(numbers))
            for memory, numbers in zip(memories, found, strict=True)
        ]
        first = self._columns.extend(
            memories,
            row_ids=row_ids,
            lengths=lengths,
            digests=digests,
            marks=kinds,
            pending=[row.pending for row in rows],
        )
        alive = self._columns["alive"]
        pak_ids = [memory.pak_id for memory in memories]
        self._pak_ids.extend(pak_ids)
        self._by_row.extend(row_ids, first, alive)
        self._by_pak.extend([digest(pak_id) for pak_id in pak_ids], first, alive)
        self._terms.extend_numbered(found, first)
        self._tags.extend([dict.fromkeys(memory.tags) for memory in memories], first)
        self._vectors.extend([row.vector for row in rows])
        self._graph.extend(len(rows))
        self._live += len(rows)
        self._terms_held += sum(lengths)
        return first

    def _join(self, edges: Sequence[tuple[int, int, float]]) -> None:
        near, far, weights = (np.array(column) for column in zip(*edges, strict=True))
        ends = self._slots_of_rows(near), self._slots_of_rows(far)
        known = (ends[0] >= 0) & (ends[1] >= 0)
        self._graph.join(ends[0][known], ends[1][known], weights[known].astype(np.float64))

    def _compact(self) -> None:
        alive = self._columns["alive"]
        kept = np.flatnonzero(alive)
        moved = np.full(self.size, -1, dtype=np.int32)
        moved[kept] = np.arange(len(kept))
        self._by_row.compact(moved, alive)
        self._by_pak.compact(moved, alive)
        self._terms.compact(moved)
        self._lexicon = Lexicon(self._terms.names)
        self._tags.compact(moved)
        self._graph.compact(moved, kept)
        self._pak_ids.compact(kept)
        self._vectors.compact(kept)
        self._columns.compact(kept)
        self._threads = Threads()
        self._places = []

    def _slots_of_rows(self, row_ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        return self._by_row.find(np.asarray(row_ids, dtype=np.int64), self._columns["alive"])

    def _digests_at(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        digests: NDArray[np.int64] = self._columns["digest"]
        return digests.take(slots, mode="wrap") if len(digests) else np.zeros(len(slots), np.int64)

    def _bounds(self) -> tuple[float, float]:
        """Return bounds, not above the earliest last reinforcement and the earliest end."""
        if self._floors is None:
            alive = self._columns["alive"]
            reinforced = self._columns["last_reinforced"].min(where=alive, initial=inf)
            ends = self._columns["valid_until"].min(where=alive, initial=inf)
            self._floors = (float(reinforced), float(ends))
        return self._floors

    def _without_idle(self, where: Where) -> Where:
        """Leave out conditions that every live Pak fulfils, so that selections can be shared."""
        if where.valid_at is None and where.reinforced_after is None:
            return where
        oldest, soonest = self._bounds()
        if where.valid_at is not None:
            is_idle = soonest > where.valid_at
            where = replace(where, valid_at=None if is_idle else self._last_end(where.valid_at))
        if where.reinforced_after is not None and oldest > where.reinforced_after:
            where = replace(where, reinforced_after=None)
        return where

    def _last_end(self, moment: float) -> float:
        """Return the last end up to a moment: nothing more ends between the two."""
        if self._ends is None:
            ends = self._columns["valid_until"][self._columns["alive"]]
            self._ends = np.unique(ends[ends < inf])
        return float(self._ends[np.searchsorted(self._ends, moment, side="right") - 1])

    def _selected(self, where: Where, allowed: NDArray[np.bool_] | None) -> Selection:
        mask = mask_of(where, self._columns, self._tags)
        return self._selection(mask if allowed is None else mask & self._checked_view(allowed))

    def _selection(self, mask: NDArray[np.bool_]) -> Selection:
        count = int(np.count_nonzero(mask))
        mask.flags.writeable = False
        return Selection(mask, count, is_all=count == self._live, generation=self._generation)

    def _checked_view(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if mask.shape != (self.size,) or mask.dtype != np.bool_:
            raise InvalidInput(
                f"a view is {self.size} booleans, not {mask.dtype} of shape {mask.shape}.",
                hint="make the mask from this index's columns, after its last change.",
            )
        return mask

    def _check(self, selection: Selection) -> None:
        if selection.generation != self._generation:
            raise InvalidInput(
                "the selection was made before the index last changed.",
                hint="select again after apply, and do not let the two overlap.",
            )


def _text_digest(memory: Indexable) -> int:
    """Return 64 bits that change when anything does that postings or the Pak's name hold."""
    pak_id, title, content = memory.pak_id, memory.title, memory.content
    bounds = f"{len(pak_id)} {len(title)} {len(content)} {memory.tags!r}"
    return digest(f"{bounds}{pak_id}{title}{content}")
