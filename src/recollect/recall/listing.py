"""One page of memories in one of four orders, and how many there are of what.

In: a sight, what of it was asked for, and where the page before ended. Out: a `MemoryPage`. A page
ends with the last memory that is shown: its cursor tells of nothing else. Counts are of all that
was asked for and may be read, whatever the page.
"""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recollect import check
from recollect.errors import InvalidInput
from recollect.index.arrays import kth_largest
from recollect.index.columns import epoch_microseconds
from recollect.index.facts import KNOWN_TAGS, TAGS
from recollect.model import ListRequest, RecallRequest
from recollect.model.filters import WHEN, key_of
from recollect.model.memory import name_key
from recollect.model.plain import PlainObject
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.index.facts import FactColumn, Path
    from recollect.index.selection import Selection
    from recollect.model import Memory
    from recollect.model.filters import Key
    from recollect.recall.sight import Sight

__all__ = ["MemoryCounts", "MemoryPage", "after_turns", "page"]

_NOTHING_ASKED = RecallRequest().checked().to_dict()
_WHEN: Path = (WHEN,)
_TITLES: Path = ("title", "folded")
_PROJECTS: Path = ("project",)
_THREADS: Path = ("thread",)
_SPEAKERS: Path = ("speaker", "written")
_TYPES: Path = ("pak_type",)
_RISKS: Path = ("risks",)


@dataclass(frozen=True, slots=True)
class MemoryCounts:
    """How many memories there are, and of each project, tag and so on, by name.

    A month is that of when a memory is from, as 2026-05.
    """

    project: Mapping[str, int]
    tag: Mapping[str, int]
    thread: Mapping[str, int]
    speaker: Mapping[str, int]
    memories: int = 0
    pak_type: Mapping[str, int] = PlainObject()
    risk: Mapping[str, int] = PlainObject()
    month: Mapping[str, int] = PlainObject()


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page of memories in the order that was asked for; `counts` if they were asked for."""

    items: tuple[Memory, ...]
    next_cursor: str | None
    counts: MemoryCounts | None = None


def page(sight: Sight, selection: Selection, wanted: ListRequest) -> MemoryPage:
    """Return a page of what is selected; a cursor names the last that was shown."""
    if wanted.order == "turn":
        return _turns(sight, selection, wanted)
    order, slots = _Order.of(sight, wanted), selection.slots
    if wanted.cursor is not None:
        slots = _after(slots, *order.decoded(wanted), order=order, sight=sight)
    shown = _first(slots, wanted.limit + 1, order=order, sight=sight)
    items = tuple(sight.memories(shown[: wanted.limit]).values())
    more = len(shown) > wanted.limit and bool(items)
    cursor = order.encoded(items[-1], wanted) if more else None
    return MemoryPage(items, cursor, _counts(sight, selection) if wanted.counts else None)


def _turns(sight: Sight, selection: Selection, wanted: ListRequest) -> MemoryPage:
    """Return a page of a thread as it was said.

    A cursor tells how many turns were shown: where in the thread they stand is nobody's business.
    """
    turns = sight.index.column("position")[selection.slots].tolist()
    named = sorted(zip(turns, sight.index.pak_ids(selection.slots), strict=True))
    ids = [pak_id for _, pak_id in named]
    first = 0
    if wanted.cursor is not None:
        before, last = _decoded(wanted)
        # Where the last that was shown is gone, all after it have moved up by one.
        first = ids.index(last) + 1 if last in ids else max(before - 1, 0)
    shown = ids[first : first + wanted.limit]
    end, more = first + len(shown), len(ids) > first + wanted.limit
    items = tuple(sight.memories(shown).values())
    cursor = _encoded(end, shown[-1], wanted) if more else None
    return MemoryPage(items, cursor, _counts(sight, selection) if wanted.counts else None)


def after_turns(count: int, *, thread: str, order: Literal["turn"], limit: int) -> str:
    """Return the cursor from which a thread goes on after so many turns, whichever those are."""
    wanted = ListRequest(RecallRequest(thread=thread), limit=limit, order=order).checked()
    # As if the last that was shown were gone: then what comes after it is counted.
    return _encoded(count + 1, "", wanted)


def _encoded(written: Any, pak_id: str, wanted: ListRequest) -> str:
    text = json.dumps([written, pak_id, _name_of(wanted)], ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(wanted: ListRequest) -> tuple[Any, str]:
    """Return what a cursor says, if it is one of this very listing."""
    written, pak_id, listing = _fields_of(wanted.cursor)
    if listing != _name_of(wanted):
        raise InvalidInput(
            "this cursor belongs to another listing.",
            hint="ask for the same on all pages, or start without a cursor.",
        )
    if isinstance(written, str) == (wanted.order in ("occurred", "turn")):
        raise _no_cursor()
    return written, pak_id


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """By what memories are listed: numbers for all slots, the largest first."""

    name: str
    numbers: NDArray[np.int64]
    column: FactColumn | None = None

    @classmethod
    def of(cls, sight: Sight, wanted: ListRequest) -> _Order:
        if wanted.order == "updated":
            return cls(wanted.order, sight.index.column("updated_at"))
        path = _WHEN if wanted.order == "occurred" else _TITLES
        column = sight.facts((path,))[path]
        # Twice the place: what lies between two of them has a number of its own.
        places = column.at(sight.index.size).astype(np.int64) * 2
        return cls(wanted.order, places if path == _WHEN else -places, column)

    def number(self, written: Any) -> int:
        """Return the number of what a cursor says, also if that is gone by now."""
        if self.column is None:
            return epoch_microseconds(written)
        key: Key = key_of(written)
        at = bisect_left(self.column.keys, key)
        is_there = at < len(self.column.keys) and self.column.keys[at] == key
        place = 2 * at if is_there else 2 * at - 1
        return place if self.name == "occurred" else -place

    def written(self, memory: Memory) -> Any:
        """Return by what a memory stands where it does."""
        if self.name == "updated":
            return memory.updated_at
        if self.name == "title":
            return name_key(memory.title)
        moment = check.microseconds(memory.occurred_at)
        return check.microseconds(memory.created_at) if moment is None else moment

    def encoded(self, last: Memory, wanted: ListRequest) -> str:
        """Return the cursor of a page that ends with a memory."""
        return _encoded(self.written(last), last.pak_id, wanted)

    def decoded(self, wanted: ListRequest) -> tuple[int, str]:
        """Return where the page before ended."""
        written, pak_id = _decoded(wanted)
        return self.number(written), pak_id


def _name_of(wanted: ListRequest) -> str | None:
    """Return what tells one listing from another: by its project, or by all that was asked."""
    asked = wanted.asked.to_dict()
    project = asked["project"]
    if wanted.order == "updated" and asked == {**_NOTHING_ASKED, "project": project}:
        return None if project is None else str(project)
    text = json.dumps([wanted.order, asked], sort_keys=True)
    return f"={blake2b(text.encode(), digest_size=16).hexdigest()}"


def _fields_of(cursor: Any) -> tuple[Any, str, str | None]:
    if isinstance(cursor, str):
        check.length("cursor", cursor)
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        fields = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        written, pak_id, listing = fields
    except (AttributeError, TypeError, UnicodeError, binascii.Error, ValueError, RecursionError):
        raise _no_cursor() from None
    if type(written) not in (str, int) or not isinstance(pak_id, str):
        raise _no_cursor()
    return written, pak_id, listing


def _no_cursor() -> InvalidInput:
    return InvalidInput(
        "this is not a cursor of a listing.",
        hint="pass next_cursor of the page before unchanged, or none for the first page.",
    )


def _after(
    slots: NDArray[np.int64], number: int, pak_id: str, *, order: _Order, sight: Sight
) -> NDArray[np.int64]:
    numbers = order.numbers[slots]
    ties = slots[numbers == number]
    names = sight.index.pak_ids(ties)
    later = ties[[name < pak_id for name in names]] if len(ties) else ties
    return np.concatenate([slots[numbers < number], later])


def _first(slots: NDArray[np.int64], count: int, *, order: _Order, sight: Sight) -> list[str]:
    if not len(slots):
        return []
    numbers = order.numbers[slots]
    if len(slots) > count:
        first = numbers >= kth_largest(numbers.astype(np.float64), count)
        slots, numbers = slots[first], numbers[first]
    named = zip(numbers.tolist(), sight.index.pak_ids(slots), strict=True)
    # As many as are shown: of a batch that was written at once all have the same number.
    return [pak_id for _, pak_id in nlargest(count, named)]


def _counts(sight: Sight, selection: Selection) -> MemoryCounts:
    paths = (_PROJECTS, _THREADS, _SPEAKERS, _TYPES, _RISKS, _WHEN, TAGS, KNOWN_TAGS)
    columns = sight.facts(paths)
    slots = selection.slots
    binds = sight.binds(slots)
    tags: Counter[str] = Counter()
    for path, own in ((TAGS, slots[binds]), (KNOWN_TAGS, slots[~binds])):
        tags.update(_listed(columns[path], own))
    return MemoryCounts(
        project=_named(columns[_PROJECTS], slots),
        tag=PlainObject(sorted(tags.items())),
        thread=_named(columns[_THREADS], slots),
        speaker=_named(columns[_SPEAKERS], slots),
        memories=len(slots),
        pak_type=_named(columns[_TYPES], slots),
        risk=PlainObject(sorted(_listed(columns[_RISKS], slots).items())),
        month=_months(columns[_WHEN], slots),
    )


def _listed(column: FactColumn, slots: NDArray[np.int64]) -> Counter[str]:
    """Count what is in lists, each name by itself."""
    found: Counter[str] = Counter()
    for key, count in _tally(column, slots):
        found.update(dict.fromkeys((name for _, name in key[2]), count))
    return found


def _months(column: FactColumn, slots: NDArray[np.int64]) -> PlainObject:
    codes = column.codes[slots]
    moments = np.array([key[1] for key in column.keys], dtype="datetime64[us]")
    months = moments.astype("datetime64[M]")[codes[codes >= 0]]
    found, counts = np.unique(months, return_counts=True)
    return PlainObject(zip(found.astype(str).tolist(), counts.tolist(), strict=True))


def _named(column: FactColumn, slots: NDArray[np.int64]) -> PlainObject:
    # The keys of a column are in order, and so are the names.
    return PlainObject((key[1], count) for key, count in _tally(column, slots))


def _tally(column: FactColumn, slots: NDArray[np.int64]) -> list[tuple[Key, int]]:
    codes = column.codes[slots]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.keys))
    return [(column.keys[at], int(counts[at])) for at in np.flatnonzero(counts).tolist()]
