"""What filters ask of memories, as columns: read once when somebody asks, then followed.

In: values of fields and of metadata by row of the store. Out: which slots fulfil a filter, as a
mask over all of them. A column knows each value once, in order, so that a comparison costs a few
steps and one look at each slot. An index shares with the one before it what nobody changed; of what
changed, the rows are read again when they are next asked for.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.arrays import distinct
from recollect.model.filters import (
    METADATA,
    WHEN,
    AllOf,
    Condition,
    NoneOf,
    conditions_in,
    key_of,
    key_of_field,
)
from recollect.model.memory import name_key
from recollect.policy.permit import is_of_self
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.index.contents import Contents
    from recollect.model.filters import Filter, Key
    from recollect.ports.memories import Facts

__all__ = [
    "KNOWN_TAGS",
    "TAGS",
    "FactBook",
    "FactColumn",
    "Path",
    "WantedFacts",
    "matching",
    "paths_of",
]

Path = tuple[str, ...]

TAGS: Path = ("tags",)
# The same without what a memory says of whoever wrote it: so far other tenants know them.
KNOWN_TAGS: Path = ("tags", "known")

_ABSENT, _UNKNOWN = -1, -2
# Whoever asks for more at once, or again, has them read again.
_MOST_COLUMNS = 64
# From so many on, reading all rows is no slower than naming those that are wanted.
_MOST_NAMED = 4_096
_TEXT, _LIST = 3, 4


@dataclass(frozen=True, slots=True)
class WantedFacts:
    """What has to be read of a store: columns by name, and of which rows; None is of all."""

    names: tuple[str, ...]
    rows: tuple[int, ...] | None
    paths: tuple[Path, ...]


class FactColumn:
    """The values at one path, as of some slots: `keys` in order, and for each slot which it is."""

    def __init__(self, keys: Sequence[Key] = (), codes: NDArray[np.int32] | None = None) -> None:
        self.keys = keys
        self.codes = np.empty(0, np.int32) if codes is None else codes

    def at(self, size: int) -> NDArray[np.int32]:
        """Return for each of all slots which key it has; -1 for none."""
        codes = np.full(size, _ABSENT, np.int32)
        known = min(size, len(self.codes))
        codes[:known] = np.maximum(self.codes[:known], _ABSENT)
        return codes

    def unknown(self, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the living slots of which nobody knows the value."""
        known = len(self.codes)
        late = np.arange(known, len(alive))
        early = np.flatnonzero(self.codes == _UNKNOWN)
        slots: NDArray[np.int64] = np.concatenate([early, late])
        living: NDArray[np.int64] = slots[alive[slots]]
        return living

    def learning(
        self, slots: NDArray[np.int64], values: Sequence[Key | None], size: int
    ) -> FactColumn:
        """Return the column that also knows the values of some slots."""
        codes = self.at(size)
        keys = self._merged(values, codes)
        place = {key: at for at, key in enumerate(keys)} if len(values) > len(keys) // 16 else None
        codes[slots] = [_ABSENT if key is None else _place(keys, key, place) for key in values]
        return FactColumn(keys, codes)

    def unlearning(self, slots: NDArray[np.int64]) -> FactColumn:
        """Return the column that does not know the values of some slots any more."""
        here = slots[(slots >= 0) & (slots < len(self.codes))]
        if not len(here):
            return self
        codes = self.codes.copy()
        codes[here] = _UNKNOWN
        return FactColumn(self.keys, codes)

    def _merged(self, values: Sequence[Key | None], codes: NDArray[np.int32]) -> Sequence[Key]:
        """Return the keys with those that are new, and number `codes` by them."""
        found = sorted({key for key in values if key is not None})
        places = [bisect_left(self.keys, key) for key in found]
        fresh = [
            (at, key)
            for at, key in zip(places, found, strict=True)
            if at == len(self.keys) or self.keys[at] != key
        ]
        if not fresh:
            return self.keys
        before = np.array([at for at, _ in fresh], dtype=np.int64)
        known = codes >= 0
        codes[known] += np.searchsorted(before, codes[known], side="right").astype(np.int32)
        keys, start = [], 0
        for at, key in fresh:
            keys += [*self.keys[start:at], key]
            start = at
        return [*keys, *self.keys[start:]]

    def matching(self, condition: Condition, size: int) -> NDArray[np.bool_]:
        """Return which of all slots fulfil a condition; what is not there fulfils its denial."""
        codes = self.at(size)
        operator, operands = condition.operator, condition.operands
        if operator == "exists":
            wanted: NDArray[np.bool_] = (codes >= 0) == operands[0][1]
            return wanted
        if operator in ("ne", "nin"):
            return ~self._among(codes, operands)
        if operator in ("eq", "in"):
            return self._among(codes, operands)
        if operator == "contains":
            return self._holding(codes, operands[0])
        first, last = self._range(operator, operands[0])
        ordered: NDArray[np.bool_] = (codes >= first) & (codes < last)
        return ordered

    def _among(self, codes: NDArray[np.int32], operands: Iterable[Key]) -> NDArray[np.bool_]:
        table = np.zeros(len(self.keys) + 2, np.bool_)
        for key in operands:
            at = bisect_left(self.keys, key)
            if at < len(self.keys) and self.keys[at] == key:
                table[at] = True
        # What is absent or unknown stands at the end of the table.
        among: NDArray[np.bool_] = table[codes]
        return among

    def _holding(self, codes: NDArray[np.int32], operand: Key) -> NDArray[np.bool_]:
        table = np.zeros(len(self.keys) + 2, np.bool_)
        lists = range(*self._of_kind(_LIST))
        table[lists.start : lists.stop] = [operand in self.keys[at][2] for at in lists]
        if operand[0] == _TEXT:
            texts, part = range(*self._of_kind(_TEXT)), operand[1]
            table[texts.start : texts.stop] = [part in self.keys[at][1] for at in texts]
        holding: NDArray[np.bool_] = table[codes]
        return holding

    def _of_kind(self, kind: int) -> tuple[int, int]:
        return bisect_left(self.keys, (kind,)), bisect_left(self.keys, (kind + 1,))

    def _range(self, operator: str, operand: Key) -> tuple[int, int]:
        """Return the first code that fulfils an order, and the first after those: of one kind."""
        first, last = self._of_kind(operand[0])
        if operator == "gt":
            return bisect_right(self.keys, operand), last
        if operator == "gte":
            return bisect_left(self.keys, operand), last
        if operator == "lt":
            return first, bisect_left(self.keys, operand)
        return first, bisect_right(self.keys, operand)


class FactBook:
    """The columns that somebody asked for, as of one index."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        # Columns, and the rows that changed since they were read: replaced together.
        self._known: tuple[Mapping[Path, FactColumn], frozenset[int]] = ({}, frozenset())

    @property
    def is_asked(self) -> bool:
        """Whether there is anything to follow."""
        return bool(self._known[0])

    def columns(
        self, paths: Iterable[Path], read: Callable[[WantedFacts], Facts]
    ) -> Mapping[Path, FactColumn]:
        """Return the columns of some paths; `read` is asked for what is not known of them."""
        known = self._still_known()
        wanted = self._wanted(tuple(dict.fromkeys(paths)), known)
        if wanted is not None:
            known = self._learnt(wanted, read(wanted), known)
        if len(known) > _MOST_COLUMNS:
            known = {path: known[path] for path in dict.fromkeys(paths)}
        # Of two threads that learn at once one may lose what it learnt: that is read again.
        self._known = known, frozenset()
        return known

    def following(self, contents: Contents, changed: Iterable[int]) -> FactBook:
        """Return the book of the next index, given which rows changed; slots are as they were."""
        after = FactBook(contents)
        columns, earlier = self._known
        if columns:
            after._known = columns, earlier.union(changed)
        return after

    def _still_known(self) -> Mapping[Path, FactColumn]:
        columns, changed = self._known
        if not changed:
            return columns
        rows = np.fromiter(changed, np.int64, len(changed))
        slots = self._contents.slots_of_rows(rows)
        return {path: one.unlearning(slots) for path, one in columns.items()}

    def _wanted(
        self, paths: Sequence[Path], known: Mapping[Path, FactColumn]
    ) -> WantedFacts | None:
        alive = self._contents.columns["alive"]
        unknown = {path: known.get(path, _NOTHING_KNOWN).unknown(alive) for path in paths}
        missing = [path for path in paths if path not in known or len(unknown[path])]
        if not missing:
            return None
        names = tuple(dict.fromkeys(chain.from_iterable(_columns_of(path) for path in missing)))
        slots = distinct(np.concatenate([unknown[path] for path in missing]))
        rows = None
        if len(slots) <= _MOST_NAMED:
            rows = tuple(self._contents.columns["row_id"][slots].tolist())
        return WantedFacts(names, rows, tuple(missing))

    def _learnt(
        self, wanted: WantedFacts, facts: Facts, known: Mapping[Path, FactColumn]
    ) -> Mapping[Path, FactColumn]:
        contents = self._contents
        slots = contents.slots_of_rows([row[0] for row in facts.rows])
        here = np.flatnonzero(slots >= 0)
        told = [dict(zip(wanted.names, facts.rows[at][1:], strict=True)) for at in here.tolist()]
        learnt = dict(known)
        for path in wanted.paths:
            values = _values(path, told)
            column = known.get(path, _NOTHING_KNOWN)
            learnt[path] = column.learning(slots[here], values, contents.size)
        return learnt


def matching(
    tree: Filter,
    columns: Mapping[Path, FactColumn],
    size: int,
    *,
    foreign: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Return which of all slots fulfil a filter.

    `foreign` are those of other tenants: of these, what they say of themselves does not count.
    """
    if isinstance(tree, Condition):
        mask = columns[tree.path].matching(tree, size)
        if tree.path != TAGS or foreign is None:
            return mask
        return np.where(foreign, columns[KNOWN_TAGS].matching(tree, size), mask)
    if isinstance(tree, NoneOf):
        return ~matching(tree.part, columns, size, foreign=foreign)
    masks = [matching(part, columns, size, foreign=foreign) for part in tree.parts]
    join = np.logical_and if isinstance(tree, AllOf) else np.logical_or
    found: NDArray[np.bool_] = reduce(join, masks)
    return found


def paths_of(tree: Filter) -> tuple[Path, ...]:
    """Return the paths that a filter asks for."""
    paths = dict.fromkeys(one.path for one in conditions_in(tree))
    return (*paths, KNOWN_TAGS) if TAGS in paths else tuple(paths)


def _columns_of(path: Path) -> tuple[str, ...]:
    """Return what of a store's columns the values at a path are made of."""
    if path[0] == WHEN:
        return "occurred_at", "created_at"
    return (path[0],)


def _values(path: Path, told: Sequence[Mapping[str, Any]]) -> list[Key | None]:
    """Return the keys of many; most say what another one said, and that is worked out once."""
    if path[0] == METADATA:
        return [_value(path, fields) for fields in told]
    names = _columns_of(path)
    known: dict[tuple[Any, ...], Key | None] = {}
    found = []
    for fields in told:
        said = tuple(fields[name] for name in names)
        if said not in known:
            known[said] = _value(path, fields)
        found.append(known[said])
    return found


def _value(path: Path, fields: Mapping[str, Any]) -> Key | None:
    name = path[0]
    if name == METADATA:
        return _at_path(path[1:], fields[METADATA])
    if path == KNOWN_TAGS:
        tags = fields["tags"]
        return None if tags is None else key_of([tag for tag in tags if not is_of_self(tag)])
    if path[1:] == ("written",):
        return key_of(fields[name]) if fields[name] is not None else None
    if path[1:] == ("folded",):
        return key_of(name_key(fields[name])) if fields[name] is not None else None
    if name == WHEN:
        happened = key_of_field("occurred_at", fields["occurred_at"])
        return happened or key_of_field("created_at", fields["created_at"])
    return key_of_field(name, fields[name])


def _at_path(names: Path, value: Any) -> Key | None:
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return key_of(value)


def _place(keys: Sequence[Key], key: Key, known: Mapping[Key, int] | None) -> int:
    return bisect_left(keys, key) if known is None else known[key]


_NOTHING_KNOWN = FactColumn()
