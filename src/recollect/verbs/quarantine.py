"""Quarantine: facts that wait for a moderator, or were turned away.

In: ids. Out: what is known of the waiting, never their text. A promoted one is a memory like any
other; a rejected one never comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from recollect.index.selection import Where
from recollect.model import INSTRUCTION, Memory, Principal
from recollect.opened import OpenStore
from recollect.paks import UnknownPak
from recollect.policy.permit import need
from recollect.policy.view import QUARANTINED, REJECTED
from recollect.ports.store import Commit, RowFilter
from recollect.recall.sight import Sight
from recollect.verbs.erase import hashed
from recollect.write.status import set_status

__all__ = ["Held", "Quarantine"]


@dataclass(frozen=True, slots=True)
class Held:
    """A memory in quarantine: where it came from and what it looks like, but not what it says."""

    pak_id: str
    source: str | None
    category: str
    scope: str
    garden: str | None
    owner: str
    characters: int
    risks: tuple[str, ...]
    confidence: float
    held_since: str


class Quarantine:
    """What waits for the principal's judgement, where it is a moderator."""

    def __init__(self, opened: OpenStore, principal: Principal) -> None:
        self._opened = opened
        self._principal = principal

    def list(self) -> tuple[Held, ...]:
        """Return what waits, oldest first: no text, no title, nothing that was said."""
        need(self._principal, "read")
        with self._opened.turn():
            sight = _moderated(self._opened.sight(self._principal))
            waiting = sight.select(Where(statuses=(QUARANTINED,)))
            found = sight.memories(sight.index.pak_ids(waiting.slots)).values()
        return tuple(sorted(map(_held, found), key=lambda held: (held.held_since, held.pak_id)))

    def promote(self, pak_id: str) -> None:
        """Make a waiting fact a memory like any other."""
        with self._judged(pak_id, "quarantine.promote") as (memory, commit):
            if memory.category == INSTRUCTION:
                need(self._principal, "instruct")
            self._set_status(pak_id, "active", commit)

    def reject(self, pak_id: str) -> None:
        """Turn a waiting memory away for good."""
        with self._judged(pak_id, "quarantine.reject") as (_, commit):
            self._set_status(pak_id, REJECTED, commit)

    def _set_status(self, pak_id: str, status: str, commit: Commit) -> None:
        opened = self._opened
        set_status(
            opened.store.memories.standing(RowFilter(pak_ids=(pak_id,))).values(),
            status,
            store=opened.store,
            before=opened.follower.before,
            commit=commit,
            links=opened.links,
        )

    @contextmanager
    def _judged(self, pak_id: str, act: str) -> Iterator[tuple[Memory, Commit]]:
        opened, who = self._opened, self._principal
        with opened.turn():
            _waiting(pak_id, opened.sight(who))
            with opened.administering(who, act, hashed(pak_id)) as commit:
                # Somebody may have judged it meanwhile; from here on nobody else can.
                yield _waiting(pak_id, opened.sight_before(who, commit)), commit


def _waiting(pak_id: str, sight: Sight) -> Memory:
    """Return what waits under an id for this moderator."""
    memory = _moderated(sight).memories([pak_id]).get(pak_id)
    if memory is None or memory.status != QUARANTINED:
        raise UnknownPak(
            f"there is no {pak_id!r:.80} in quarantine.",
            hint="quarantine.list() names what waits for you.",
        )
    return memory


def _moderated(sight: Sight) -> Sight:
    return replace(sight, view=replace(sight.view, with_quarantined=True))


def _held(memory: Memory) -> Held:
    return Held(
        pak_id=memory.pak_id,
        source=memory.source,
        category=memory.category,
        scope=memory.place.scope,
        garden=memory.place.garden,
        owner=memory.place.owner,
        characters=len(memory.content),
        risks=memory.risks,
        confidence=memory.confidence,
        held_since=memory.created_at,
    )
