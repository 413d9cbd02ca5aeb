"""A process that serves the store of the cases over stdio, at the time at which they happen.

`python -m tests.conformance.mcp_child PLACE KEY SECONDS`
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from recollect import Recollect
from recollect.edge.mcp.stdio import serve_stdio
from recollect.testing import FakeClock


@contextmanager
def opened(place: str, key: str, seconds: float) -> Iterator[Recollect]:
    """Open the store as whoever has a key."""
    with Recollect.open(place, embedder="none", clock=FakeClock(seconds), receipts=True) as memory:
        yield memory.as_principal(memory.keys.principal_for(key))


if __name__ == "__main__":
    _, place, key, seconds = sys.argv
    serve_stdio(lambda: opened(place, key, float(seconds)), tools="all")
