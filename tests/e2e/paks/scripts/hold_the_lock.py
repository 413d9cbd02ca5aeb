"""Hold the write lock of a catalogue until told to let go."""

from __future__ import annotations

import sys

from recollect.paks import RecallStore

with RecallStore.open(sys.argv[1]) as store, store.transaction():
    print("held", flush=True)
    sys.stdin.readline()
