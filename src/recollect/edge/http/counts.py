"""What is counted of a whole server, as Prometheus reads it.

In: each request once it was answered, and now and then what each worker holds. Out: a page of
numbers, the same whichever worker is asked: they count in files of one folder. Labels are names of
verbs, statuses, codes of errors and hooks: nothing that a memory, a tenant or a question says.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.parser import text_string_to_metric_families

from recollect.hooks.meters import BUCKETS_MS, latency_of

__all__ = ["Counts"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_WRONG = 400
_MS = 1_000
_SINGLE = (
    *("in_flight", "workers", "embedder_failures"),
    *("index_memories", "index_bytes", "index_behind"),
)
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
        self._hook_seconds = Histogram(
            "hook_seconds",
            "Time that hooks took.",
            ["hook"],
            buckets=[edge / _MS for edge in BUCKETS_MS],
            **own,
        )
        self._memories = Gauge("index_memories", "Memories in the largest index.", **worst)
        self._bytes = Gauge("index_bytes", "Memory that indexes take, of all workers.", **live)
        self._behind = Gauge("index_behind", "Commits that the slowest has not seen.", **worst)
        self._workers = Gauge("workers", "Workers that answer.", **live)
        self._workers.set(1)
        self._hooks_before: dict[str, Tally[str]] = {}
        self._latencies_before: dict[str, tuple[list[int], float]] = {}

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
        pending = answer.get("pending")
        if isinstance(pending, int):
            self._embedder.inc(pending)

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

    def hook_took(self, hook: str, latency_ms: Mapping[str, Any]) -> None:
        """Add how long a hook took since this was last said."""
        counted = {one["up_to"]: one["calls"] for one in latency_ms["histogram"]}
        now = [counted.get(edge, 0) for edge in (*BUCKETS_MS, None)]
        before, total_before = self._latencies_before.get(hook, ([0] * len(now), 0.0))
        if any(one < was for one, was in zip(now, before, strict=True)):
            before, total_before = [0] * len(now), 0.0  # the hook was read again, and began anew
        histogram = self._hook_seconds.labels(hook)
        # So many at once: the histogram is told its buckets, not each call.
        for bucket, one, was in zip(histogram._buckets, now, before, strict=True):
            bucket.inc(one - was)
        histogram._sum.inc((latency_ms["total"] - total_before) / _MS)
        self._latencies_before[hook] = now, latency_ms["total"]

    def hooks_told(self) -> dict[str, dict[str, Any]]:
        """Return what each hook did and how long it took, in all workers, by name."""
        families = {one.name: one for one in text_string_to_metric_families(self.page().decode())}
        told: dict[str, dict[str, Any]] = {}
        for one in _samples(families, "hooks"):
            if one.name.endswith("_total"):
                counts = told.setdefault(one.labels["hook"], {}).setdefault("counts", {})
                counts[one.labels["outcome"]] = int(one.value)
        times: dict[str, tuple[dict[float, int], list[float]]] = {}
        for one in _samples(families, "hook_seconds"):
            heights, total = times.setdefault(one.labels["hook"], ({}, []))
            if one.name.endswith("_bucket"):
                heights[float(one.labels["le"])] = int(one.value)
            elif one.name.endswith("_sum"):
                total.append(one.value)
        for hook, (heights, total) in times.items():
            rising = [0, *(heights[edge] for edge in sorted(heights))]
            buckets = [now - was for was, now in pairwise(rising)]
            told.setdefault(hook, {})["calls"] = sum(buckets)
            told[hook]["latency_ms"] = latency_of(buckets, sum(total) * _MS)
        return told

    def told(self) -> dict[str, Any]:
        """Return the numbers of all workers as plain data, by verb and by name."""
        families = {one.name: one for one in text_string_to_metric_families(self.page().decode())}

        def by(name: str, label: str) -> dict[str, float]:
            found = families.get(f"recollect_{name}")
            told: dict[str, float] = {}
            for one in () if found is None else found.samples:
                if one.name.endswith(("_created", "_bucket", "_sum")):
                    continue
                at = one.labels.get(label, "")
                told[at] = told.get(at, 0) + one.value
            return told

        return {
            "verbs": _by_verb(families),
            "refused": by("refused", "reason"),
            "degraded": by("degraded", "verb"),
            **{name: int(by(name, "").get("", 0)) for name in _SINGLE},
        }

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


def _samples(families: Mapping[str, Any], name: str) -> Sequence[Any]:
    """Return the numbers of one name; of what never happened there are none."""
    found = families.get(f"recollect_{name}")
    return () if found is None else list(found.samples)


def _by_verb(families: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return how often each verb was asked for, and how long it took."""
    told: dict[str, dict[str, Any]] = {}
    for one in families["recollect_request_seconds"].samples:
        verb = told.setdefault(one.labels["verb"], {"buckets": [], "calls": 0, "seconds": 0.0})
        if one.name.endswith("_bucket"):
            verb["buckets"].append((float(one.labels["le"]), one.value))
        elif one.name.endswith("_count"):
            verb["calls"] = int(one.value)
        elif one.name.endswith("_sum"):
            verb["seconds"] = one.value
    failed = Tally(
        {
            name: sum(
                int(one.value)
                for one in families["recollect_requests"].samples
                if one.name.endswith("_total")
                and one.labels["verb"] == name
                and int(one.labels["status"]) >= _WRONG
            )
            for name in told
        }
    )
    return [
        {
            "verb": name,
            "calls": one["calls"],
            "failed": failed[name],
            "mean_ms": round(1_000 * one["seconds"] / one["calls"], 1) if one["calls"] else None,
            "p95_ms": _edge(one["buckets"], 0.95 * one["calls"]),
        }
        for name, one in sorted(told.items(), key=lambda pair: (-pair[1]["calls"], pair[0]))
    ]


def _edge(buckets: list[tuple[float, float]], calls: float) -> float | None:
    """Return the upper edge of the bucket that so many calls reach; None beyond the last."""
    found = next((edge for edge, count in sorted(buckets) if count >= calls), math.inf)
    return None if math.isinf(found) else 1_000 * found


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
