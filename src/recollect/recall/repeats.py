"""Who says again what somebody before already said.

In: memories, one after the other. Out: for each the earlier one that says the same, if there is
one. Who said it and on which day are part of what a memory says; but of a thread that has two turns
in an answer, a further one that has nothing new to say gives way, whoever says it when. Nothing is
read here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable

from recollect.limits import ALIKE_COMPARED
from recollect.model import Memory
from recollect.policy.sanitizer import plain
from recollect.recall.same import Reading, outline, read, say_the_same

__all__ = ["Said"]

# So many turns of a thread may say the same as others before words alone count.
_FREE_TURNS = 2


class Said:
    """What was said so far. Texts are taken apart only where two of them look alike."""

    def __init__(self) -> None:
        self._memories: defaultdict[Hashable, list[Memory]] = defaultdict(list)
        self._turns: Counter[Hashable] = Counter()
        self._readings: dict[str, Reading] = {}

    def first_to_say(self, memory: Memory) -> str | None:
        """Return the id of who said the same before; if nobody did, this one is kept as first."""
        words = outline(plain(memory.content))
        fully, thread = (words, memory.speaker, memory.occurred_at), _thread(memory)
        first = self._first(memory, fully)
        if first is None and thread is not None and self._turns[thread] >= _FREE_TURNS:
            first = self._first(memory, (words,))
        if first is None:
            self._turns[thread] += 1
            for key in (fully, (words,)):
                if len(self._memories[key]) < ALIKE_COMPARED:
                    self._memories[key].append(memory)
        return first

    def _first(self, memory: Memory, key: Hashable) -> str | None:
        for other in self._memories[key]:
            if say_the_same(self._read(other), self._read(memory)):
                return other.pak_id
        return None

    def _read(self, memory: Memory) -> Reading:
        reading = self._readings.get(memory.pak_id)
        if reading is None:
            reading = self._readings[memory.pak_id] = read(plain(memory.content))
        return reading


def _thread(memory: Memory) -> Hashable:
    """Return what tells a thread from all others; None for a memory that is in none."""
    if memory.thread is None:
        return None
    return memory.place.tenant, memory.project, memory.thread
