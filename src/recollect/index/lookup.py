"""From a number to the slots that carry it: a sorted array and a small dictionary beside it.

A dictionary of 100k entries takes 15 MB and must be rebuilt on load; two arrays take 1.2 MB.
Answers are candidates: slots that died since are among them, and the caller knows who lives. A
successor adds to the dictionary that it shares with the lookup before it; who asks knows how many
slots it has.
"""

from __future__ import annotations

from copy import copy
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.courtesy import Pause, go_on, in_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["Lookup", "digest", "digests", "words_digest"]

_LEAST_TAIL = 2048
_MOST_TAIL = 16384
_EMPTY = blake2b(digest_size=8)


def digest(text: str) -> int:
    """Return the 64 bits, signed, that stand for a text."""
    octets = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(octets, digest_size=8).digest(), "little", signed=True)


def digests(texts: Iterable[bytes], pause: Pause = go_on) -> NDArray[np.int64]:
    """Return the same of many texts, as UTF-8."""
    made: list[bytes] = []
    for piece in in_pieces(texts, pause):
        for octets in piece:
            # A copy is made sooner than another one.
            one = _EMPTY.copy()
            one.update(octets)
            made.append(one.digest())
    return np.frombuffer(b"".join(made), dtype="<i8").astype(np.int64, copy=False)


def words_digest(words: Iterable[str]) -> int:
    """Return the 64 bits, signed, that stand for words in their order."""
    return digest(" ".join(words))


_NO_KEYS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


class Lookup:
    """Keys of 64 bits to slots."""

    def __init__(self) -> None:
        self._keys: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._slots: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._tail: dict[int, list[int]] = {}
        self._tail_size = 0

    def successor(self) -> Lookup:
        """Return a lookup to extend in the place of this one, which stays as it is."""
        return copy(self)

    def mend(self, size: int) -> None:
        """Drop the slots from `size` on, which a successor that was given up has left."""
        for key, slots in [*self._tail.items()]:
            while slots and slots[-1] >= size:
                slots.pop()
            if not slots:
                del self._tail[key]

    def extend(self, keys: NDArray[np.int64], first: int, alive: NDArray[np.bool_]) -> None:
        """Add keys, the first of them at slot `first`; the dead are forgotten when it is worth it.

        `alive` covers every slot, the new ones included.
        """
        if len(keys) > _LEAST_TAIL:
            self._freeze(alive, keys, first)
            return
        for slot, key in enumerate(keys.tolist(), first):
            self._tail.setdefault(key, []).append(slot)
        self._tail_size += len(keys)
        if self._tail_size > min(max(_LEAST_TAIL, len(self._keys) // 8), _MOST_TAIL):
            self._freeze(alive)

    def candidates(self, key: int, size: int) -> Iterator[int]:
        """Yield the slots below `size` that were given this key, the latest first."""
        yield from (slot for slot in reversed(self._tail.get(key, ())) if slot < size)
        place = int(self._keys.searchsorted(key))
        while place < len(self._keys) and self._keys[place] == key:
            yield int(self._slots[place])
            place += 1

    def find(self, keys: NDArray[np.int64], alive: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the living slot of each key, -1 where there is none; for keys that are unique."""
        found = np.full(len(keys), -1, dtype=np.int64)
        if len(self._keys) and len(keys):
            places = self._keys.searchsorted(keys)
            slots = self._slots.take(places, mode="clip")
            hit = (self._keys.take(places, mode="clip") == keys) & alive[slots]
            found[hit] = slots[hit]
        if self._tail and len(keys):
            for place in np.flatnonzero(found < 0).tolist():
                found[place] = self._latest(int(keys[place]), alive)
        return found

    def keys_of(self, slots: NDArray[np.int64], size: int) -> NDArray[np.int64]:
        """Return the key of each of some living slots, and 0 for one that came lately.

        There are `size` slots; it takes as long for one of them as for all.
        """
        keys = np.zeros(size, dtype=np.int64)
        keys[self._slots] = self._keys
        return keys.take(slots)

    def compact(self, moved: NDArray[np.int32], alive: NDArray[np.bool_]) -> None:
        """Renumber the slots; `moved` and `alive` are over the slots as they were."""
        self._freeze(alive)
        self._slots = moved[self._slots]

    def export(self, alive: NDArray[np.bool_]) -> dict[str, NDArray[np.int64] | NDArray[np.int32]]:
        """Return the lookup as arrays."""
        self._freeze(alive)
        return {"keys": self._keys, "slots": self._slots}

    @classmethod
    def restore(cls, keys: NDArray[np.int64], slots: NDArray[np.int32]) -> Lookup:
        """Return the lookup that was exported."""
        lookup = cls()
        lookup._keys, lookup._slots = keys, slots
        return lookup

    def _latest(self, key: int, alive: NDArray[np.bool_]) -> int:
        latest = next((s for s in reversed(self._tail.get(key, ())) if s < len(alive)), -1)
        return latest if latest >= 0 and alive[latest] else -1

    def _freeze(
        self, alive: NDArray[np.bool_], more: NDArray[np.int64] = _NO_KEYS, first: int = 0
    ) -> None:
        """Sort everything into the arrays, `more` keys from slot `first` on included."""
        tail = [(key, slot) for key, slots in self._tail.items() for slot in slots]
        late = np.array(tail, dtype=np.int64).reshape(-1, 2)
        added = np.arange(first, first + len(more))
        keys = np.concatenate((self._keys, late[:, 0], more))
        slots = np.concatenate((self._slots, late[:, 1], added)).astype(np.int32)
        living = alive[slots]
        keys, slots = keys[living], slots[living]
        order = np.argsort(keys, kind="stable")
        self._keys, self._slots = keys[order], slots[order]
        self._tail, self._tail_size = {}, 0
