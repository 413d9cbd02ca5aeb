"""Locks that a forked child gets anew: whoever held one in the parent is not there to let it go.

In: who has a lock, under which name, and how one is made. Out: nothing; a child has another.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

__all__ = ["fresh_in_child"]

_HOLDERS: list[tuple[weakref.ref[Any], str, Callable[[], object]]] = []


def fresh_in_child(holder: Any, name: str, make: Callable[[], object]) -> None:
    """Give a holder another lock of this name in each child that is forked from now on."""
    _HOLDERS.append((weakref.ref(holder), name, make))
    # Now and then, so that opening one store more costs the same however many there were.
    if len(_HOLDERS).bit_count() == 1:
        _HOLDERS[:] = [one for one in _HOLDERS if one[0]() is not None]


def _make_anew() -> None:
    for found, name, make in _HOLDERS:
        if (holder := found()) is not None:
            setattr(holder, name, make())


os.register_at_fork(after_in_child=_make_anew)
