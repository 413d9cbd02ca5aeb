"""From a name (a term, a tag) to the slots that hold it and how often.

Immutable segments of arrays, each over later slots than the one before, and a small tail. The tail
becomes a segment, and segments merge with their neighbours while they are of like size, so a slot
is moved a few times at most. What many texts hold waits for `settle`, to become one segment. Dead
slots stay until `compact`; the caller masks them. A successor appends to the tail that it shares
with the postings before it; these know how far it is theirs.
"""

from __future__ import annotations

from array import array
from collections import Counter
from copy import copy
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.arrays import distinct, is_in, ranges
from recollect.index.names import Names
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["MOST_COUNTED", "Numbered", "Posting", "Postings"]

# A term that occurs more often in one text counts as this often.
MOST_COUNTED = 2**16 - 1
_TAIL_ROWS = 2048
_TAIL_POSTINGS = 1 << 17
# So many names of texts at most wait to become a segment.
_MOST_WAITING = 1 << 22
# So many entries of a segment are made at a time: room in memory that is used again costs less.
_PIECE = 1 << 16
_LIKE_SIZE = 4
_SLOT = 2**32 - 1
_NO_NAME = -1


@dataclass(frozen=True, slots=True, eq=False)
class Posting:
    """The slots that hold one name, ascending, and how often each holds it."""

    slots: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def since(self, first: int) -> Posting:
        """Return what it has of the slots from `first` on."""
        place = int(self.slots.searchsorted(first)) if first else 0
        return self.after(place)

    def after(self, place: int) -> Posting:
        """Return what stands from a place on."""
        return Posting(self.slots[place:], self.counts[place:])


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """`names` ascending; the slots of names[i] lie between starts[i] and starts[i + 1]."""

    names: NDArray[np.int32]
    starts: NDArray[np.integer]
    slots: NDArray[np.int32]
    counts: NDArray[np.uint16]
    # The last slot in it; -1 if there is none.
    last: int


_NOTHING = Posting(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16))


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """The names of some texts by number, text after text, and how many each text has."""

    numbers: NDArray[np.int32]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[array[int]]) -> Numbered:
        """Return texts in one piece."""
        numbers = np.frombuffer(b"".join(texts), dtype=np.intc).astype(np.int32, copy=False)
        return cls(numbers, np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))


class Postings:
    """Names to slots and counts; `names` numbers them, until `compact` numbers anew."""

    def __init__(self) -> None:
        self.names = Names()
        self._segments: list[_Segment] = []
        # The names of many texts, and the slot of the first of each.
        self._waiting: list[tuple[Numbered, int]] = []
        # Each slot with its count in the lower 16 bits: one array to append to, not two.
        self._tail: dict[int, array[int]] = {}
        # The same once more, each name above its slot: to look through at once, whatever the names.
        self._tail_pairs: array[int] = array("q")
        self._tail_rows = 0
        self._tail_postings = 0
        # What the tail holds of later slots belongs to a successor.
        self._size = 0

    def successor(self) -> Postings:
        """Return postings to extend in the place of these, which stay as they are."""
        successor = copy(self)
        successor._segments = [*self._segments]
        successor._waiting = [*self._waiting]
        return successor

    def mend(self) -> None:
        """Drop what a successor that was given up has left in the tail."""
        self.names.mend()
        for number, entry in [*self._tail.items()]:
            while entry and entry[-1] >> 16 >= self._size:
                entry.pop()
            if not entry:
                del self._tail[number]
        while self._tail_pairs and self._tail_pairs[-1] & _SLOT >= self._size:
            self._tail_pairs.pop()

    def extend(self, texts: Sequence[Collection[str]], first: int) -> None:
        """Add the names of consecutive slots, the first of them `first`; read after `settle`."""
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        names = map(self.names.__getitem__, chain.from_iterable(texts))
        self.extend_numbered(Numbered(np.fromiter(names, np.int32, int(sizes.sum())), sizes), first)

    def extend_numbered(self, texts: Numbered, first: int) -> None:
        """Add the same, each name by its number in `names`."""
        count = len(texts.sizes)
        self._size = first + count
        if count > _TAIL_ROWS:
            self._freeze_tail()
            self._waiting.append((texts, first))
            if sum(len(each.numbers) for each, _ in self._waiting) > _MOST_WAITING:
                self.settle()
            return
        numbers, start = texts.numbers.tolist(), 0
        for slot, size in enumerate(texts.sizes.tolist(), first):
            self._add(slot, numbers[start : start + size])
            start += size
        self._tail_rows += count
        if self._tail_rows > _TAIL_ROWS or self._tail_postings > _TAIL_POSTINGS:
            self._freeze_tail()

    @property
    def waits(self) -> bool:
        """Whether anything was put in that is not to be read yet."""
        return bool(self._waiting)

    def settle(self) -> None:
        """Make what waits ready to be read; sorted at once it need not be merged."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._push(_segment_of(_pairs(waiting)))

    def get(self, names: Sequence[str]) -> list[Posting]:
        """Return each name's posting, dead slots included."""
        return self.of_numbers([self.names.find(name) for name in names])

    def since(self, first: int, names: Sequence[str]) -> list[Posting]:
        """Return what each name's posting has of the slots from `first` on."""
        known = [self.names.find(name) for name in names]
        late = [segment for segment in self._segments if segment.last >= first]
        if late:
            parts = self._parts_of(known, late)
            return [_join([part.since(first) for part in one]) for one in parts]
        return [self._in_tail(number, first) for number in known]

    def of_numbers(self, known: Sequence[int]) -> list[Posting]:
        """Return the same of names by their numbers; -1 stands for one that has none."""
        return [_join(parts) for parts in self._parts_of(known, self._segments)]

    def starting_with(self, prefix: str) -> list[str]:
        """Return the known names that start so, in order."""
        return self.names.starting_with(prefix)

    def slots_starting_with(self, prefix: str) -> NDArray[np.integer]:
        """Return the slots that hold any of the names that start so, some of them repeatedly."""
        numbers = self.names.numbers_starting_with(prefix)
        # Copied as bytes: an array that numpy looks at cannot be appended to meanwhile.
        pairs = np.frombuffer(self._tail_pairs.tobytes(), dtype=np.int64)
        late = pairs[is_in(pairs >> 32, numbers)] & _SLOT
        found = [_slots_of(segment, numbers) for segment in self._segments]
        return np.concatenate([*found, late[late < self._size]])

    def compact(self, moved: NDArray[np.int32]) -> None:
        """Drop the dead and renumber: `moved` gives each slot's new number, or -1; it ascends."""
        self._merge_all()
        self._segments = [self._without_unused(_renumber(self._segments[0], moved))]
        self._size = int(moved.max(initial=-1)) + 1

    def export(self) -> dict[str, NDArray[Any]]:
        """Return the names, and the one segment that their numbers point into, as arrays."""
        self._merge_all()
        segment = self._segments[0]
        return {
            **{f"name_{part}": array for part, array in self.names.export().items()},
            "numbers": segment.names,
            "starts": segment.starts.astype(np.int64, copy=False),
            "slots": segment.slots,
            "counts": segment.counts,
        }

    @classmethod
    def restore(
        cls,
        *,
        numbers: NDArray[np.int32],
        starts: NDArray[np.integer],
        slots: NDArray[np.int32],
        counts: NDArray[np.uint16],
        **names: NDArray[Any],
    ) -> Postings:
        """Return the postings that were exported."""
        postings = cls()
        postings.names = Names.restore(
            **{part.removeprefix("name_"): array for part, array in names.items()}
        )
        last = int(slots.max(initial=-1))
        postings._segments = [_Segment(numbers, starts, slots, counts, last)]
        postings._size = last + 1
        return postings

    def _add(self, slot: int, numbers: list[int]) -> None:
        tail, counted = self._tail, Counter(numbers)
        for number, often in counted.items():
            entry = tail.get(number)
            if entry is None:
                entry = tail[number] = array("q")
            entry.append(slot << 16 | min(often, MOST_COUNTED))
        self._tail_pairs.extend([number << 32 | slot for number in counted])
        self._tail_postings += len(counted)

    def _parts_of(self, known: Sequence[int], segments: Iterable[_Segment]) -> list[list[Posting]]:
        """Return what some segments and the tail hold of names by their numbers, in order."""
        parts: list[list[Posting]] = [[] for _ in known]
        numbers = np.array(known, dtype=np.int32)
        for segment in segments:
            _gather(segment, numbers, parts)
        for found, number in zip(parts, known, strict=True):
            if number in self._tail:
                found.append(_unpack(self._entries(number)))
        return parts

    def _in_tail(self, number: int, first: int) -> Posting:
        """Return what the tail has of a name from a slot on: few, or nearly always nothing."""
        entry = self._tail.get(number)
        least, end = first << 16, self._size << 16
        if entry is None or entry[-1] < least:
            return _NOTHING
        found = [one for one in takewhile(least.__le__, reversed(entry)) if one < end]
        return _unpack(np.array(found[::-1], dtype=np.int64))

    def _entries(self, number: int) -> NDArray[np.int64]:
        # Copied as bytes: an array that numpy looks at cannot be appended to meanwhile.
        entries = np.frombuffer(self._tail[number].tobytes(), dtype=np.int64)
        return entries[: entries.searchsorted(self._size << 16)]

    def _freeze_tail(self) -> None:
        if self._tail:
            self.settle()  # that is of slots before
            numbers = sorted(self._tail)
            entries = [self._entries(number) for number in numbers]
            every = _unpack(np.concatenate(entries))
            named = np.repeat(numbers, [len(entry) for entry in entries])
            self._push(_segment(named, every.slots, every.counts))
        self._tail, self._tail_pairs = {}, array("q")
        self._tail_rows, self._tail_postings = 0, 0

    def _push(self, segment: _Segment) -> None:
        self._segments.append(segment)
        while len(self._segments) > 1 and self._last_are_alike():
            self._merge_last()

    def _last_are_alike(self) -> bool:
        before, last = self._segments[-2:]
        return len(before.slots) < _LIKE_SIZE * len(last.slots)

    def _merge_all(self) -> None:
        self._freeze_tail()
        self.settle()
        while len(self._segments) > 1:
            self._merge_last()
        self._segments = self._segments or [_EMPTY]

    def _merge_last(self) -> None:
        last, before = self._segments.pop(), self._segments.pop()
        self._segments.append(_merge(before, last))

    def _without_unused(self, segment: _Segment) -> _Segment:
        names = self.names.in_order()
        self.names = Names(names[number] for number in segment.names.tolist())
        numbers = np.arange(len(segment.names), dtype=np.int32)
        return _Segment(numbers, segment.starts, segment.slots, segment.counts, segment.last)


def _unpack(entries: NDArray[np.int64]) -> Posting:
    return Posting((entries >> 16).astype(np.int32), entries.astype(np.uint16))


def _pairs(waiting: Sequence[tuple[Numbered, int]]) -> NDArray[np.int64]:
    """Return each name of some texts above its slot, in order, as often as it is there."""
    ends = np.cumsum([len(texts.numbers) for texts, _ in waiting]).tolist()
    pairs = np.empty(ends[-1], dtype=np.int64)
    for (texts, first), end in zip(waiting, ends, strict=True):
        some = pairs[end - len(texts.numbers) : end]
        np.left_shift(texts.numbers, 32, out=some, dtype=np.int64)
        some |= np.repeat(np.arange(first, first + len(texts.sizes)), texts.sizes)
    pairs.sort()
    return pairs


def _segment_of(pairs: NDArray[np.int64]) -> _Segment:
    """Return a segment of names above their slots, in order."""
    is_first = np.ones(len(pairs), dtype=np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=is_first[1:])
    size = int(np.count_nonzero(is_first))
    slots, counts = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint16)
    names, starts, at, last = [], [], 0, _NO_NAME
    for start, end in _pieces(is_first):
        edges = np.flatnonzero(is_first[start:end])
        held = pairs[start:end].take(edges)
        some = slice(at, at + len(edges))
        slots[some] = held & _SLOT
        counts[some] = np.minimum(np.diff(edges, append=end - start), MOST_COUNTED)
        held >>= 32
        begins = np.flatnonzero(np.diff(held, prepend=last))
        names.append(held.take(begins))
        starts.append(begins + at)
        at, last = some.stop, int(held[-1])
    return _Segment(
        np.concatenate([*names, ()]).astype(np.int32),
        np.concatenate([*starts, (size,)]).astype(np.int64),
        slots,
        counts,
        int(slots.max(initial=-1)),
    )


def _pieces(is_first: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield from where to where pieces go of which each begins with something new."""
    start, size = 0, len(is_first)
    while start < size:
        end = min(start + _PIECE, size)
        # Whatever is the same as the last belongs to it, however often it is there.
        while end < size and not is_first[end]:
            more = is_first[end : end + _PIECE]
            end += int(more.argmax()) if more.any() else len(more)
        yield start, end
        start = end


def _segment(names: NDArray[Any], slots: NDArray[Any], counts: NDArray[Any]) -> _Segment:
    """Return a segment of entries that are sorted by name, then slot."""
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])) if len(names) else [])
    return _Segment(
        names[starts].astype(np.int32),
        np.append(starts, len(names)).astype(np.int64),
        slots.astype(np.int32),
        counts.astype(np.uint16),
        int(slots.max(initial=-1)),
    )


_EMPTY = _segment(names=np.empty(0), slots=np.empty(0), counts=np.empty(0))


def _gather(segment: _Segment, numbers: NDArray[np.int32], parts: list[list[Posting]]) -> None:
    if not len(segment.names):
        return
    places = segment.names.searchsorted(numbers)
    found = segment.names.take(places, mode="clip") == numbers
    for query in found.nonzero()[0].tolist():
        start, end = segment.starts[places[query] : places[query] + 2].tolist()
        parts[query].append(Posting(segment.slots[start:end], segment.counts[start:end]))


def _slots_of(segment: _Segment, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
    places = np.flatnonzero(is_in(segment.names, numbers))
    starts = segment.starts[places]
    return segment.slots[ranges(starts, segment.starts[places + 1] - starts)]


def _join(parts: list[Posting]) -> Posting:
    if len(parts) > 1:
        return Posting(
            np.concatenate([part.slots for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )
    return parts[0] if parts else _NOTHING


def _merge(before: _Segment, last: _Segment) -> _Segment:
    """Return one segment of two; what stood before stays before within every name."""
    names = distinct(np.concatenate((before.names, last.names)))
    sizes = np.zeros(len(names), dtype=np.int64)
    placed = []
    for part in (before, last):
        at = names.searchsorted(part.names)
        placed.append((part, at, sizes[at]))
        sizes[at] += np.diff(part.starts)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    slots = np.empty(int(starts[-1]), dtype=np.int32)
    counts = np.empty(int(starts[-1]), dtype=np.uint16)
    for part, at, offset in placed:
        places = ranges(starts[at] + offset, np.diff(part.starts))
        slots[places], counts[places] = part.slots, part.counts
    return _Segment(names, starts, slots, counts, max(before.last, last.last))


def _renumber(segment: _Segment, moved: NDArray[np.int32]) -> _Segment:
    slots = moved[segment.slots]
    living = slots >= 0
    names = np.repeat(segment.names, np.diff(segment.starts))
    return _segment(names[living], slots[living], segment.counts[living])
