"""What a shell may complete: names that are in the memory, of those that the caller may read.

In: what was typed so far. Out: names that begin so. Whatever goes wrong, a shell gets none: it must
never show an error in the middle of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["frames", "ids", "projects", "tags"]


def frames(context: typer.Context, incomplete: str) -> list[str]:
    """Return the frames there are."""
    return _found(context, incomplete, lambda memory: (one.name for one in memory.frames.list()))


def projects(context: typer.Context, incomplete: str) -> list[str]:
    """Return the projects there are."""
    return _found(context, incomplete, _projects)


def tags(context: typer.Context, incomplete: str) -> list[str]:
    """Return the tags there are."""
    return _found(context, incomplete, _tags)


def ids(context: typer.Context, incomplete: str) -> list[str]:
    """Return ids that begin so."""
    return _found(
        context, incomplete, lambda memory: memory.ids(incomplete, limit=50) if incomplete else ()
    )


def _projects(memory: Recollect) -> Iterable[str]:
    there = memory.list(limit=1, counts=True).counts
    return () if there is None else there.project


def _tags(memory: Recollect) -> Iterable[str]:
    there = memory.list(limit=1, counts=True).counts
    return () if there is None else there.tag


def _found(
    context: typer.Context, incomplete: str, names: Callable[[Recollect], Iterable[str]]
) -> list[str]:
    from recollect.edge.cli import open_memory

    try:
        with open_memory.existing(context.params.get("db"), None) as memory:
            return sorted({name for name in names(memory) if name.startswith(incomplete)})
    except RecollectError:
        return []
