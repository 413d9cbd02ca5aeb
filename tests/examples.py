"""How many examples a property gets: some in `make test`, ten times as many in `make soak`."""

from __future__ import annotations

import os

__all__ = ["PROFILE", "examples"]

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeat")


def examples(count: int) -> int:
    """Return how many examples to make where a short run makes `count`."""
    return 10 * count if PROFILE == "soak" else count
