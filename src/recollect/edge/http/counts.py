"""What is counted of a whole server, as Prometheus reads it.

In: each request once it was answered, and now and then what each worker holds. Out: a page of
numbers, the same whichever worker is asked: they count in files of one folder. Labels are names of
verbs, statuses, codes of errors and hooks: nothing that a memory, a tenant or a question says.
"""

from __future__ import annotations

import os
import re
from collections import Counter as Tally
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

__all__ = ["Counts"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_FILE_OF = re.compile(r"_(\d+)\.db$")


class Counts:
    """The counters of one worker, and the page of all."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._own = CollectorRegistry()
        own: dict[str, Any] = {"registry": self._own, "namespace": "recollect"}
        live: dict[str, Any] = {**own, "multiprocess_mode": "livesum"}
        worst: dict[str, Any] = {**own, "multiprocess_mode": "livemax"}
        self._requests = Counter("requests", "Requests answered.", ["verb", "status"], **own)
        self._seconds = Histogram(
            "request_seconds", "Time to answer.", ["verb"], buckets=_SECONDS, **own
        )
        self._in_flight = Gauge("in_flight", "Requests under way or waiting.", **live)
        self._refused = Counter("refused", "Requests refused, by code.", ["reason"], **own)
        self._degraded = Counter("degraded", "Answers that lack a source.", ["verb"], **own)
        self._embedder = Counter(
            "embedder_failures", "Answers and writes that had to do without a vector.", **own
        )
        self._hooks = Counter("hooks", "What came of hooks.", ["hook", "outcome"], **own)
        self._memories = Gauge("index_memories", "Memories in the largest index.", **worst)
        self._bytes = Gauge("index_bytes", "Memory that indexes take, of all workers.", **live)
        self._behind = Gauge("index_behind", "Commits that the slowest has not seen.", **worst)
        self._workers = Gauge("workers", "Workers that answer.", **live)
        self._workers.set(1)
        self._hooks_before: dict[str, Tally[str]] = {}

    def began(self) -> None:
        """Count a request that came in."""
        self._in_flight.inc()

    def ended(self, verb: str, status: int, seconds: float, *, reason: str | None) -> None:
        """Count a request that was answered."""
        self._in_flight.dec()
        self._requests.labels(verb, str(status)).inc()
        self._seconds.labels(verb).observe(seconds)
        if reason is not None:
            self._refused.labels(reason).inc()

    def answered(self, verb: str, answer: Mapping[str, Any]) -> None:
        """Look whether an answer had to do without something."""
        degraded = answer.get("degraded")
        if degraded:
            self._degraded.labels(verb).inc()
        if answer.get("state") == "pending" or (degraded and "vector" in degraded):
            self._embedder.inc()

    def holds(self, memories: int, held_bytes: int, behind: int) -> None:
        """Keep what this worker's index is like."""
        self._memories.set(memories)
        self._bytes.set(held_bytes)
        self._behind.set(behind)

    def hook_did(self, hook: str, counts: Mapping[str, int]) -> None:
        """Add what a hook did since this was last said."""
        before = self._hooks_before.get(hook, Tally())
        now = Tally(counts)
        for outcome, times in (now - before).items():
            self._hooks.labels(hook, outcome).inc(times)
        self._hooks_before[hook] = now

    def page(self) -> bytes:
        """Return the numbers of all workers; one that died holds nothing any more."""
        if self._folder is None:
            return generate_latest(self._own)
        self._bury()
        whole = CollectorRegistry()
        MultiProcessCollector(whole, path=self._folder)  # type: ignore[no-untyped-call]
        return generate_latest(whole)

    def _bury(self) -> None:
        named = (_FILE_OF.search(one.name) for one in Path(str(self._folder)).glob("gauge_live*"))
        for worker in {int(one[1]) for one in named if one is not None}:
            if not _is_alive(worker):
                mark_process_dead(worker, path=self._folder)  # type: ignore[no-untyped-call]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
