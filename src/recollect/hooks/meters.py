"""What each hook did and how long it took: counters and a histogram, cheap to write.

In: one note a call. Out: plain numbers for `stats()`. Buckets are fixed, so that a histogram costs
the same however long a process lives.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from threading import Lock
from typing import Any

__all__ = ["BUCKETS_MS", "Meter", "latency_of"]

BUCKETS_MS = (
    0.05,
    0.1,
    0.15,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    25.0,
    50.0,
    100.0,
    250.0,
    500.0,
    1000.0,
    2500.0,
    5000.0,
)


class Meter:
    """The counters of one hook; safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._buckets = [0] * (len(BUCKETS_MS) + 1)
        self._total_ms = 0.0
        self._last_failure: str | None = None

    def ran(self, action: str, ms: float) -> None:
        """Note one call: what came of it, and how long it took."""
        bucket = bisect_left(BUCKETS_MS, ms)
        with self._lock:
            self._counts[action] += 1
            self._buckets[bucket] += 1
            self._total_ms += ms

    def count(self, what: str) -> None:
        """Note something that happened beside a call."""
        with self._lock:
            self._counts[what] += 1

    def failed(self, detail: str) -> None:
        """Keep the last failure in words."""
        with self._lock:
            self._last_failure = detail

    def seen(self, what: str) -> int:
        """Return how often something happened."""
        with self._lock:
            return self._counts[what]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: counts, percentiles as upper edges of their buckets, the histogram."""
        with self._lock:
            counts, buckets = dict(sorted(self._counts.items())), list(self._buckets)
            total_ms, last_failure = self._total_ms, self._last_failure
        return {
            "calls": sum(buckets),
            "counts": counts,
            "latency_ms": latency_of(buckets, total_ms),
            "last_failure": last_failure,
        }


def latency_of(buckets: list[int], total_ms: float) -> dict[str, Any]:
    """Return how long calls took: so many fell into each bucket, the last is beyond all edges."""
    calls, edges = sum(buckets), [*BUCKETS_MS, None]
    return {
        "total": round(total_ms, 3),
        "mean": round(total_ms / calls, 3) if calls else None,
        "p50": _percentile(buckets, 0.50),
        "p99": _percentile(buckets, 0.99),
        "histogram": [
            {"up_to": edge, "calls": number}
            for edge, number in zip(edges, buckets, strict=True)
            if number
        ],
    }


def _percentile(buckets: list[int], share: float) -> float | None:
    """Return the upper edge of the bucket that holds it; None when empty or beyond the last."""
    left = share * sum(buckets)
    for edge, number in zip(BUCKETS_MS, buckets, strict=False):
        left -= number
        if number and left <= 0:
            return edge
    return None
