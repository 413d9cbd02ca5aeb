"""Recall for some seconds while others write; print how many answers were full."""

import sys
import time

from tests.e2e.engine.stores import opened

path, seconds = sys.argv[1:]
with opened(path) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    end, full = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        for frame in ("evidence", "attention"):
            answer = memory.recall("walrus plan", frame=frame, top_k=5)
            assert answer.degraded == ()
            assert len({one.fact.pak_id for one in answer.results}) == len(answer.results)
            full += len(answer.results) == 5
print(full, flush=True)
