"""What the engine asks of a store about memories, and the values that pass between them.

Rows in, rows out. A text is read through a `View` or not at all; what a writer must know of a
memory is its `Standing`, which holds no text. What a replacement keeps, what is settled, where a
memory goes when its garden does: the core decides, and hands over the rows as they shall be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, overload

from recollect.model import Memory, is_settled, name_key
from recollect.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.model import Place, Status
    from recollect.model.pak import PakRow
    from recollect.policy import View
    from recollect.ports.state import Head
    from recollect.ports.uses import Uses, Who

__all__ = [
    "Changes",
    "Claim",
    "Facts",
    "IndexColumns",
    "IndexRow",
    "Indexable",
    "Indexed",
    "MemoryRoom",
    "NewMemory",
    "RowFilter",
    "Standing",
    "Texts",
    "Written",
]


class Indexed(NamedTuple):
    """The fields of a `Memory` that an index reads; a store can make 100,000 of these sooner."""

    pak_id: str
    content: str
    title: str
    category: str
    project: str | None
    confidence: float
    thread: str | None
    position: int | None
    speaker: str | None
    occurred_at: str | None
    valid_from: str | None
    valid_until: str | None
    updated_at: str
    status: Status
    authority: str
    superseded_by: str | None
    decay: float
    reinforced: int
    last_reinforced: float
    tags: tuple[str, ...]
    risks: tuple[str, ...]
    place: Place


Indexable: TypeAlias = Memory | Indexed


class IndexRow(NamedTuple):
    """What an index learns of one memory. `row_id` is the store's own number for it."""

    row_id: int
    memory: Indexable
    vector: NDArray[np.int8] | None
    pending: bool = False


class IndexColumns(Sequence[IndexRow]):
    """Rows for an index, a column a field: so 100,000 memories need no object each.

    Columns are in the order of `Indexed`; a vector is an array, or the bytes of one.
    """

    def __init__(
        self,
        row_ids: Sequence[int],
        columns: Sequence[Sequence[Any]],
        vectors: Sequence[NDArray[np.int8] | bytes | None],
        pending: Sequence[bool],
    ) -> None:
        self.row_ids = row_ids
        self.vectors = vectors
        self.pending = pending
        self._columns = columns

    @classmethod
    def of(cls, rows: Sequence[IndexRow]) -> IndexColumns:
        """Return rows as columns; of those with the same number the last counts."""
        if isinstance(rows, IndexColumns):
            return rows
        latest = list({row.row_id: row for row in rows}.values())
        fields = [_indexed_fields(row.memory) for row in latest]
        return cls(
            [row.row_id for row in latest],
            list(zip(*fields, strict=True)) or [()] * len(Indexed._fields),
            [row.vector for row in latest],
            [row.pending for row in latest],
        )

    @classmethod
    def joined(cls, parts: Sequence[IndexColumns]) -> IndexColumns:
        """Return the rows of all parts, which have none in common."""
        if len(parts) == 1:
            return parts[0]
        every = zip(*(part._columns for part in parts), strict=True)
        return cls(
            [row_id for part in parts for row_id in part.row_ids],
            [list(chain.from_iterable(columns)) for columns in every],
            [vector for part in parts for vector in part.vectors],
            [pending for part in parts for pending in part.pending],
        )

    def __eq__(self, other: object) -> bool:
        """Return whether the rows are the same, however their columns are held."""
        if not isinstance(other, IndexColumns):
            return NotImplemented
        return self._plain() == other._plain()

    def __hash__(self) -> int:
        """Return what equal rows have in common."""
        return hash(tuple(self.row_ids))

    def _plain(self) -> tuple[list[Any], ...]:
        vectors = [None if one is None else bytes(one) for one in self.vectors]
        return list(self.row_ids), list(map(list, self._columns)), vectors, list(self.pending)

    def column(self, name: str) -> Sequence[Any]:
        """Return one field of all memories."""
        return self._columns[_COLUMN_OF[name]]

    def at(self, places: Sequence[int]) -> IndexColumns:
        """Return some of the rows."""
        if len(places) == len(self):
            return self
        return IndexColumns(
            [self.row_ids[place] for place in places],
            [[column[place] for place in places] for column in self._columns],
            [self.vectors[place] for place in places],
            [self.pending[place] for place in places],
        )

    def vector_at(self, place: int) -> NDArray[np.int8] | None:
        """Return one vector; one of bytes cannot be written to."""
        from numpy import frombuffer, int8

        vector = self.vectors[place]
        return frombuffer(vector, dtype=int8) if isinstance(vector, bytes) else vector

    def memory_at(self, place: int) -> Indexed:
        """Return one memory."""
        return Indexed._make(column[place] for column in self._columns)

    def __len__(self) -> int:
        return len(self.row_ids)

    @overload
    def __getitem__(self, place: int) -> IndexRow: ...

    @overload
    def __getitem__(self, place: slice) -> IndexColumns: ...

    def __getitem__(self, place: int | slice) -> IndexRow | IndexColumns:
        if isinstance(place, slice):
            return self.at(range(len(self))[place])
        return IndexRow(
            self.row_ids[place],
            self.memory_at(place),
            self.vector_at(place),
            bool(self.pending[place]),
        )


_indexed_fields = attrgetter(*Indexed._fields)
_COLUMN_OF = {name: place for place, name in enumerate(Indexed._fields)}


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since a head of the store: memories as they are now, and row ids that are gone.

    `edges` holds (row, row, weight) of each changed link as it is now; weight 0 means gone. `used`
    names whose uses changed; with what they are now, if whoever says so has just counted them.
    Who has taken them over has come to `head`. Where a store hands out all that it holds, about so
    many rows are `to_come` after these.
    """

    head: Head
    rows: Sequence[IndexRow]
    gone: Sequence[int]
    edges: Sequence[tuple[int, int, float]]
    used: Mapping[Who, Uses | None] = field(default_factory=dict)
    to_come: int = 0

    @property
    def row_ids(self) -> Sequence[int]:
        """The numbers of the rows."""
        rows = self.rows
        return rows.row_ids if isinstance(rows, IndexColumns) else [row.row_id for row in rows]

    @property
    def revision(self) -> int:
        """The revision of `head`."""
        return self.head.revision


class RowFilter(NamedTuple):
    """Which memories are meant: those that fulfil every condition that is given.

    Names are compared by their `name_key`, so that two spellings of one name are one. `about` is
    the entity or the value. The other conditions are compared as they are.
    """

    pak_ids: tuple[str, ...] | None = None
    row_ids: tuple[int, ...] | None = None
    tenant: str | None = None
    garden: str | None = None
    entity: str | None = None
    relation: str | None = None
    source: str | None = None
    about: str | None = None
    superseded_by: tuple[str, ...] | None = None

    def fits(self, row_id: int, memory: Memory) -> bool:
        """Return whether a memory is among those that are meant."""
        return (
            (self.pak_ids is None or memory.pak_id in self.pak_ids)
            and (self.row_ids is None or row_id in self.row_ids)
            and self.tenant in (None, memory.place.tenant)
            and self.garden in (None, memory.place.garden)
            and _is_called(self.entity, memory.entity)
            and _is_called(self.relation, memory.relation)
            and _is_called(self.source, memory.source)
            and (self.superseded_by is None or memory.superseded_by in self.superseded_by)
            and (_is_called(self.about, memory.entity) or _is_called(self.about, memory.value))
        )


class Claim(NamedTuple):
    """What a memory says of an entity: a relation and its value, by their keys."""

    row_id: int
    entity: str
    relation: str
    value: str


class Texts(NamedTuple):
    """Memories as they were at one head of the store, by id."""

    head: Head
    memories: dict[str, Memory]


class Facts(NamedTuple):
    """Values that filters ask for, as they were at one head: row ids, each with its values."""

    head: Head
    rows: Sequence[tuple[Any, ...]]


class NewMemory(NamedTuple):
    """A row to write, whole: what a replacement keeps of the old one has been filled in.

    `pak` is its entry in the catalogue. `by` writes it, if that is not its owner. With `same_text`
    the row had this very text before, and its vectors stay; else they go. In either case a `vector`
    that is given serves from now on.
    """

    memory: Memory
    pak: PakRow
    vector: NDArray[np.int8] | None
    pending: bool
    same_text: bool = False
    by: str | None = None


class Written(NamedTuple):
    """What became of one `NewMemory`."""

    row_id: int
    created: bool


class Standing(NamedTuple):
    """What a writer must know of a memory that exists: where it stands, and of what it says only
    the title, and whether the rest is the same.
    """

    row_id: int
    content_hash: str
    place: Place
    status: Status
    valid_from: str | None
    valid_until: str | None
    risks: tuple[str, ...]
    thread: str | None
    project: str | None
    position: int | None
    reinforced: int
    last_reinforced: float
    superseded_by: str | None
    has_vector: bool
    title: str = ""

    @property
    def settled(self) -> bool:
        """Whether it may be linked by itself."""
        return is_settled(self.status, (self.valid_from, self.valid_until), self.risks)


def _is_called(wanted: str | None, name: str | None) -> bool:
    """Return whether a name is the one that is wanted, however the two are spelt."""
    return wanted is None or (name is not None and name_key(name) == name_key(wanted))


class MemoryRoom(Protocol):
    """Memories. Writes happen inside a commit.

    A memory gets a row id when it is first written: the highest there is and one more. It keeps it
    until it is erased; then the number may be given to another.
    """

    def read(self, where: RowFilter, view: View) -> Texts:
        """Return those memories that `view.shows`, with the head of the store that they are of.

        In the order in which `where` names them, or else of their row ids. `position` is not for
        readers (`HIDDEN_FIELDS`). Texts and head are of one state of the store, whoever writes
        meanwhile: who finds another head than the one its index has must start again.
        """

    def rows(self, where: RowFilter) -> list[int]:
        """Return the row ids of some memories, in ascending order."""

    def facts(self, names: Sequence[str], row_ids: Sequence[int] | None) -> Facts:
        """Return fields of some rows, or of all, in the order of `names`; for masks, not for eyes.

        A name is that of a field of a memory or its place. A value that cannot be one is None.
        """

    def standing(self, where: RowFilter) -> dict[str, Standing]:
        """Return where some memories stand, by id; for writers, whatever a view would show."""

    def claims(self, tenant: str, about: Sequence[tuple[str, str]]) -> list[Claim]:
        """Return what a tenant's memories say of pairs of entity and relation, all by their keys.

        In the order of their row ids; whoever names no value says nothing.
        """

    def unplaced(self) -> frozenset[str]:
        """Return the ids of Paks that the catalogue holds and the engine never wrote."""

    def unreadable(self) -> frozenset[int]:
        """Return the rows that reads through this store left out: what stands there is no memory.

        Nothing, unless the data is damaged. Answers that had to do without them say so.
        """

    def unreadable_places(self) -> frozenset[Place]:
        """Return where those stood that no moderator holds back, as far as that is beyond doubt."""

    def next_position(self, tenant: str, thread: str) -> int:
        """Return the position after the last one in a tenant's threads of this name; 0 at first.

        Those of several projects are counted together: positions are compared within a thread, and
        nobody sees one.
        """

    def changes(self, since: Head) -> Iterator[Changes]:
        """Yield what changed since a head that `knows`, in batches, all of one state of the store.

        What is gone comes first, since its number may be another's by now. A row that changed twice
        is told once, as it is now; one that was written and erased since may be told as gone. The
        last batch holds the store's head, the others hold `since`; there is none if nothing
        changed. Since `START` it is everything that there is.
        """

    def write(self, memories: Sequence[NewMemory]) -> list[Written]:
        """Add memories, or replace those that exist; report in the order given.

        No two have the same id. A replacement keeps its row id, its links and disputes, and its
        `created_at`; everything else is as it is given. The catalogue's entry and full text are
        written with it. If it says something else than before, what was before is kept as a
        version; the new one is of its `updated_at`.
        """

    def set_standing(self, standing: Iterable[Standing], *, by: str, at: str) -> None:
        """Write where rows stand now: their place, their status and their uses, as given.

        Nothing else of a row changes, and `updated_at` does not. Another place or status is another
        version: by whom and when is said.
        """

    def supersede(self, successors: Mapping[str, str | None], *, by: str, at: str) -> None:
        """Name the successor of memories, None for none; each is another version, as before."""

    def set_ends(self, ends: Mapping[int, str]) -> None:
        """Write until when rows that end hold now; nothing else of them changes."""

    def erase(self, pak_ids: Sequence[str]) -> int:
        """Delete memories and everything that hangs on them, also in the catalogue.

        Return how many links went along.
        """

    def traces(self, pak_ids: Sequence[str]) -> list[str]:
        """Return the names of what still knows any of these memories; nothing after `erase`."""
