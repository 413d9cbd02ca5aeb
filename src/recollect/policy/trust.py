"""What word from outside is worth. Trust is ours, a number a source; theirs is never asked.

In: what a source claims, and our trust in it. Out: what counts here.
"""

from __future__ import annotations

__all__ = ["QUARANTINE_BELOW", "UNKNOWN_SOURCE", "capped", "is_low"]

# A source that nobody has spoken for: its facts are taken in, at half confidence at most.
UNKNOWN_SOURCE = 0.5
# Facts of a source trusted less than this wait for a moderator.
QUARANTINE_BELOW = 0.5


def capped(confidence: float, trust: float) -> float:
    """Return a confidence from outside: never above our trust in its source."""
    return min(confidence, trust)


def is_low(trust: float) -> bool:
    """Return whether a source's facts go to quarantine."""
    return trust < QUARANTINE_BELOW
