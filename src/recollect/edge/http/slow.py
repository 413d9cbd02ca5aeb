"""Recalls that took long, of the last hour: whose, when, how long. Never what was asked.

In: each request once it was answered. Out: the slowest of one tenant. Workers share a folder: each
adds lines to a file of its own there, and whichever is asked reads them all.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["SLOW_SECONDS", "SlowCalls"]

# From so long on somebody may have noticed.
SLOW_SECONDS = 0.1
_VERBS = ("recall", "frame", "page /ask", "page /frame")
_KEPT_SECONDS = 3_600.0
_MOST_LINES = 10_000


class SlowCalls:
    """What took long, of all workers."""

    def __init__(
        self,
        folder: str | None,
        *,
        clock: Callable[[], float] = time.time,
        slow_seconds: float = SLOW_SECONDS,
    ) -> None:
        self._file = None if folder is None else Path(folder) / f"slow-{os.getpid()}.jsonl"
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._added = 0
        self._clock = clock
        self._slow_seconds = slow_seconds

    def took(self, verb: str, seconds: float, known: Mapping[str, Any]) -> None:
        """Keep a recall that took long."""
        who = known.get("who")
        if seconds < self._slow_seconds or verb not in _VERBS or who is None:
            return
        told = {
            "time": self._clock(),
            "verb": verb,
            "ms": round(1_000 * seconds, 1),
            "store": known.get("store") or "",
            "tenant": who.tenant,
            "principal": who.id,
            "request_id": known.get("request_id") or "",
            "recall_id": known.get("recall_id"),
        }
        line = f"{json.dumps(told)}\n"
        self._lines.append(line)
        if self._file is not None:
            self._write(self._file, line)

    def _write(self, file: Path, line: str) -> None:
        """Add a line to a file that others read; now and then only the latest are kept."""
        if self._added % _MOST_LINES == 0:
            # A reader gets the old or the new.
            beside = file.with_suffix(".new")
            beside.write_text("".join(self._lines), encoding="utf-8")
            beside.replace(file)
        else:
            with file.open("a", encoding="utf-8") as kept:
                kept.write(line)
        self._added += 1

    def of(self, store: str, tenant: str, *, principal: str | None = None) -> list[dict[str, Any]]:
        """Return a tenant's, or one principal's of it, the slowest first."""
        since = self._clock() - _KEPT_SECONDS
        found = [
            one
            for one in map(json.loads, self._all())
            if one["time"] >= since
            and (one["store"], one["tenant"]) == (store, tenant)
            and principal in (None, one["principal"])
        ]
        ordered = sorted(found, key=lambda one: (-one["ms"], -one["time"], one["request_id"]))
        return [
            {
                "at": datetime.fromtimestamp(one["time"], UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                **{
                    name: one[name]
                    for name in ("verb", "ms", "principal", "request_id", "recall_id")
                },
            }
            for one in ordered
        ]

    def _all(self) -> Iterator[str]:
        if self._file is None:
            yield from tuple(self._lines)
            return
        for file in sorted(self._file.parent.glob("slow-*.jsonl")):
            # The last line may be on its way.
            written = file.read_text(encoding="utf-8").splitlines(keepends=True)
            yield from (line for line in written if line.endswith("\n"))
