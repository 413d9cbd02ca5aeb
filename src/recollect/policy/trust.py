"""What word from outside is worth. Trust is ours, a number a source; theirs is never asked.

In: what a source claims, and our trust in it. Out: what counts here. A claim is kept as it was made
and trust is applied when it is read, once, so that whoever is trusted more tomorrow counts for more
tomorrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.model import EXTERNAL, name_key

if TYPE_CHECKING:
    from recollect.model import Memory

__all__ = ["QUARANTINE_BELOW", "UNKNOWN_SOURCE", "as_trusted", "by_key", "is_low"]

# How far a source is trusted that nobody has spoken for, where its word came from outside.
UNKNOWN_SOURCE = 0.5
# Facts of a source trusted less than this wait for a moderator.
QUARANTINE_BELOW = 0.5


def is_low(trust: float) -> bool:
    """Return whether a source's facts go to quarantine."""
    return trust < QUARANTINE_BELOW


def by_key(trusts: Mapping[str, float]) -> dict[str, float]:
    """Return trust by the key of a source's name; of two spellings the lesser trust counts."""
    known: dict[str, float] = {}
    for source, trust in trusts.items():
        key = name_key(source)
        known[key] = min(trust, known.get(key, 1.0))
    return known


def as_trusted(memory: Memory, trusts: Mapping[str, float]) -> Memory:
    """Return a memory as it is shown: what came from outside is no surer than we trust its source.

    `trusts` is what `by_key` gave.
    """
    if memory.authority != EXTERNAL:
        return memory
    trust = trusts.get(name_key(memory.source or ""), UNKNOWN_SOURCE)
    return memory if memory.confidence <= trust else replace(memory, confidence=trust)
