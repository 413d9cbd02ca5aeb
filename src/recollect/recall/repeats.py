"""Who says again what somebody before already said.

In: memories, one after the other. Out: for each the earlier one that says the same, if there is
one. Who said it and on which day are part of what a memory says. Nothing is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from recollect.limits import ALIKE_COMPARED
from recollect.model import Memory
from recollect.policy.sanitizer import plain
from recollect.recall.same import Reading, outline, read, say_the_same

__all__ = ["Said"]


class Said:
    """What was said so far. Texts are taken apart only where two of them look alike."""

    def __init__(self) -> None:
        self._memories: defaultdict[Hashable, list[Memory]] = defaultdict(list)
        self._readings: dict[str, Reading] = {}

    def first_to_say(self, memory: Memory) -> str | None:
        """Return the id of who said the same before; if nobody did, this one is kept as first."""
        alike = self._memories[outline(plain(memory.content)), memory.speaker, memory.occurred_at]
        for other in alike:
            if say_the_same(self._read(other), self._read(memory)):
                return other.pak_id
        if len(alike) < ALIKE_COMPARED:
            alike.append(memory)
        return None

    def _read(self, memory: Memory) -> Reading:
        reading = self._readings.get(memory.pak_id)
        if reading is None:
            reading = self._readings[memory.pak_id] = read(plain(memory.content))
        return reading
