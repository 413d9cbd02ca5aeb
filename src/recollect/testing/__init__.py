"""For your tests: a clock you set, an embedder you know, builders, and the suite of a store.

Nothing here needs pytest; `StoreContract` is a class of test methods that pytest collects when
you subclass it.
"""

from __future__ import annotations

from recollect.testing.builders import new_memory
from recollect.testing.contract import StoreContract
from recollect.testing.fakes import FakeClock, FakeEmbedder

__all__ = ["FakeClock", "FakeEmbedder", "StoreContract", "new_memory"]
