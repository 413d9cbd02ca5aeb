"""A store of two tenants, as each of their people sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder


@dataclass
class People:
    """Handles on one store: an admin, three members of one tenant, one of another."""

    opener: Recollect
    root: Recollect
    ann: Recollect
    bob: Recollect
    mod: Recollect
    dan: Recollect


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
        options = {
            "clock": clock,
            "embedder": embedder,
            "hours": "wall",
            "links": False,
            **options,
        }
        opened.append(Recollect.open(tmp_path / name, **options))
        return opened[-1]

    yield open_it
    for memory in opened:
        memory.close()


def people_of(memory: Recollect) -> People:
    """Return what each of the people uses of a store."""
    return People(
        opener=memory,
        root=memory.as_principal(Principal("acme", "root", ("red",))),
        ann=memory.as_principal(Principal("acme", "ann", ("red",), ("read", "write"))),
        bob=memory.as_principal(Principal("acme", "bob", (), ("read", "write"))),
        mod=memory.as_principal(Principal("acme", "mod", ("red",), ("read", "moderate"))),
        dan=memory.as_principal(Principal("globex", "dan")),
    )


@pytest.fixture
def people(open_memory: Callable[..., Recollect]) -> People:
    return people_of(open_memory())
