"""An engine whose clock and embedder the test holds in its hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def open_memory(
    tmp_path: Path, clock: FakeClock, embedder: FakeEmbedder
) -> Iterator[Callable[..., Recollect]]:
    opened: list[Recollect] = []

    def open_it(name: str = "agent.db", **options: Any) -> Recollect:
        options = {"clock": clock, "embedder": embedder, "hours": "wall", **options}
        opened.append(Recollect.open(tmp_path / name, **options))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()
