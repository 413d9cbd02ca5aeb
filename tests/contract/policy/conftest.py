"""A store of two tenants, as each of their people sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

from recollect import Recollect
from recollect.policy import PERMISSIONS, Principal


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
def open_memory(open_memory: Callable[..., Recollect]) -> Callable[..., Recollect]:
    """Open without automatic links, unless a test asks for them."""
    return partial(open_memory, links=False)


def people_of(memory: Recollect) -> People:
    """Return what each of the people uses of a store."""
    return People(
        opener=memory,
        root=memory.as_principal(Principal("acme", "root", ("red",), PERMISSIONS)),
        ann=memory.as_principal(Principal("acme", "ann", ("red",), ("read", "write"))),
        bob=memory.as_principal(Principal("acme", "bob", (), ("read", "write"))),
        mod=memory.as_principal(Principal("acme", "mod", ("red",), ("read", "moderate"))),
        dan=memory.as_principal(Principal("globex", "dan", (), PERMISSIONS)),
    )


@pytest.fixture
def people(open_memory: Callable[..., Recollect]) -> People:
    return people_of(open_memory())
