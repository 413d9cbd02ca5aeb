"""A memory without automatic links."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recollect import Recollect


@pytest.fixture
def memory(open_memory: Callable[..., Recollect]) -> Recollect:
    return open_memory(links=False)
