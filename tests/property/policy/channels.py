"""Channels beside the texts: counters, queues, caches, positions, numbers of acts, names of rivals.

Each is a context in which the engine has that channel as it might easily be built: shared by all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from recollect.frames import cache
from recollect.index.uses import UseBook
from recollect.ports.uses import Uses, Who
from recollect.recall import explain
from recollect.stores.sqlite.access import SqliteAccess
from recollect.stores.sqlite.memories import SqliteMemories
from recollect.stores.sqlite.uses import SqliteUses
from recollect.stores.sqlite.vectors import SqliteVectors
from recollect.write import remember

__all__ = ["CHANNELS"]

_EVERYBODY = ("", "everybody")


@contextmanager
def uses_of_everybody() -> Iterator[None]:
    """Whoever is given a memory raises its uses for all, and the strength of its links."""
    of, count = SqliteUses.of, SqliteUses.count

    def of_all(self: SqliteUses, _who: Who) -> Uses:
        return of(self, _EVERYBODY)

    def count_for_all(self: SqliteUses, _who: Who, pak_ids: Any, *, at: float) -> Uses:
        return count(self, _EVERYBODY, pak_ids, at=at)

    def read_again(self: UseBook, who: Who) -> bool:
        self._by_slot.pop(who, None)
        return False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteUses, "of", of_all)
        patch.setattr(SqliteUses, "count", count_for_all)
        # Nobody's are known for long: those of all change whenever anybody's do.
        patch.setattr(UseBook, "knows", read_again)
        yield


@contextmanager
def one_queue_for_vectors() -> Iterator[None]:
    """Those who wait longest for a vector are served first, whoever's they are."""
    honest = SqliteVectors.waiting

    def waiting(self: SqliteVectors, limit: int, **named: Any) -> Any:
        return honest(self, limit, **{**named, "tenant": None, "owner": None})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteVectors, "waiting", waiting)
        yield


@contextmanager
def positions_from_elsewhere() -> Iterator[None]:
    """A turn that moves to another thread keeps its number, counted over all tenants."""

    def next_position(self: SqliteMemories, tenant: str, thread: str) -> int:
        found = self._db.one("SELECT max(position) FROM memories WHERE thread = ?", thread)
        return 0 if found[0] is None else int(found[0]) + 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteMemories, "next_position", next_position)
        patch.setattr(remember, "_kept_position", lambda _, old: old and old.position)
        yield


@contextmanager
def one_cache_of_frames() -> Iterator[None]:
    """All answers of frames share their room."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_owner", lambda _: ("", ""))
        yield


@contextmanager
def one_count_of_acts() -> Iterator[None]:
    """Acts are numbered over all tenants."""
    honest = SqliteAccess.acts

    def acts(self: SqliteAccess, tenant: str, **named: Any) -> Any:
        (others,) = self._db.one("SELECT count(*) FROM audit_log WHERE tenant != ?", tenant)
        found = honest(self, tenant, **named)
        return [replace(act, number=act.number + others) for act in found]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteAccess, "acts", acts)
        yield


@contextmanager
def rival_by_its_words() -> Iterator[None]:
    """Whoever a reason seems to name is the rival, though the name may go on."""
    honest = explain._explained

    def explained(subject: Any, memory: Any, trace: Any, order: Any) -> Any:
        told = honest(subject, memory, trace, order)
        named = {end for pair in trace.sources.disputes for end in pair}
        rivals = sorted(one for one in named if f"contradicted by {one}," in told.reason)
        return replace(told, rival=rivals[0]) if rivals else told

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explain, "_explained", explained)
        yield


CHANNELS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    channel.__name__: channel
    for channel in (
        uses_of_everybody,
        one_queue_for_vectors,
        positions_from_elsewhere,
        one_cache_of_frames,
        one_count_of_acts,
        rival_by_its_words,
    )
}
