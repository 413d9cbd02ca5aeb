"""How much a tenant may have: memories, and bytes of text.

In: a write that is about to begin. Out: nothing, or `OverQuota` before anything is written. What a
tenant has is counted in the store once; from then on each write adds the most that it can bring, in
numbers that all workers share. Only when these say that it is too much is the store asked again, at
most once a second for a tenant. So writes cost no scan, and what is let in never exceeds a quota by
more than what is under way while the store is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.edge.http.shared_slots import SharedSlots
from recollect.errors import OverQuota

if TYPE_CHECKING:
    from recollect.edge.http.stores import Served
    from recollect.edge.verbs import Verb

__all__ = ["COUNTED", "Quotas", "brings"]

_FILE = "quotas"
# Verbs that can add to what a tenant has.
COUNTED = ("remember", "remember_many", "update", "ingest", "import")
_AGAIN_S = 1.0


def brings(verb: Verb, given: Mapping[str, Any], body_bytes: int) -> tuple[int, int]:
    """Return the most memories and bytes of text that a request can add."""
    if verb.name == "update":
        return 0, body_bytes
    items = given.get("items")
    return (len(items) if isinstance(items, list) else 1), body_bytes


class Quotas:
    """What each tenant may have, and about what it has."""

    def __init__(
        self,
        *,
        most_memories: int | None,
        most_bytes: int | None,
        folder: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_memories = most_memories
        self._most_bytes = most_bytes
        self._clock = clock
        # Whose slot it is, memories, bytes, when the store was asked.
        any_at_all = most_memories is not None or most_bytes is not None
        self._slots = SharedSlots(folder, _FILE, form="=16sqqd") if any_at_all else None

    @property
    def is_on(self) -> bool:
        """Whether there is any quota."""
        return self._slots is not None

    def take(self, served: Served, memories: int, text_bytes: int) -> None:
        """Count what a write may add, or refuse it."""
        if self._slots is None:
            return
        tenant, now = served.memory.principal.tenant, self._clock()
        whose = _digest(f"{served.store}\0{tenant}")

        def ask(kept: tuple[Any, ...]) -> tuple[tuple[Any, ...], str | None]:
            owner, held, held_bytes, asked_at = kept
            is_known = owner == whose and asked_at > 0
            lacks = self._lacks(held + memories, held_bytes + text_bytes) if is_known else "all"
            if not is_known or (lacks and not 0 <= now - asked_at < _AGAIN_S):
                held, held_bytes = served.opener.holdings(tenant)
                asked_at = now
                lacks = self._lacks(held + memories, held_bytes + text_bytes)
            if lacks is None:
                held, held_bytes = held + memories, held_bytes + text_bytes
            return (whose, held, held_bytes, asked_at), lacks

        lacks = self._slots.change(whose.hex(), ask)
        if lacks is not None:
            raise OverQuota(
                f"the tenant would have more than {lacks}.",
                hint="forget what is not needed, or ask the operator for more.",
            )

    def close(self) -> None:
        """Let go of the file."""
        if self._slots is not None:
            self._slots.close()

    def _lacks(self, memories: int, text_bytes: int) -> str | None:
        if self._most_memories is not None and memories > self._most_memories:
            return f"{self._most_memories:,} memories"
        if self._most_bytes is not None and text_bytes > self._most_bytes:
            return f"{self._most_bytes:,} bytes of text"
        return None


def _digest(text: str) -> bytes:
    from hashlib import blake2b

    return blake2b(text.encode(), digest_size=16).digest()
