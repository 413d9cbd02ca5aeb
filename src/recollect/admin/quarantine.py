"""Quarantine: facts that wait for a moderator, or were turned away.

In: ids. Out: what is known of the waiting, never their text. A promoted Pak is a memory like any
other; a rejected one never comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from recollect.index.selection import Where
from recollect.model import INSTRUCTION, Memory, Principal, is_settled
from recollect.opened import OpenStore
from recollect.paks import UnknownPak
from recollect.policy.permit import need
from recollect.policy.view import QUARANTINED, REJECTED
from recollect.ports.store import Commit, RowFilter, Store
from recollect.recall.sight import Sight
from recollect.write.likeness import arrivals_of, relink

__all__ = ["Held", "Quarantine"]


@dataclass(frozen=True, slots=True)
class Held:
    """A Pak in quarantine: where it came from and what it looks like, but not what it says."""

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
        """Make a waiting Pak a memory like any other."""
        with self._judged(pak_id, "quarantine.promote") as (memory, commit):
            if memory.category == INSTRUCTION:
                need(self._principal, "instruct")
            opened = self._opened
            index = opened.follower.before(commit)
            _set_status(opened.store, pak_id, "active")
            if opened.links and is_settled("active", memory.valid_until, memory.risks):
                rows = opened.store.memories.rows(RowFilter(pak_ids=(pak_id,)))
                come = [
                    replace(one, settled=True, was_there=False) for one in arrivals_of(rows, index)
                ]
                relink(come, without=(), index=index, store=opened.store)

    def reject(self, pak_id: str) -> None:
        """Turn a waiting Pak away for good."""
        with self._judged(pak_id, "quarantine.reject"):
            _set_status(self._opened.store, pak_id, REJECTED)

    @contextmanager
    def _judged(self, pak_id: str, act: str) -> Iterator[tuple[Memory, Commit]]:
        opened, who = self._opened, self._principal
        with opened.turn():
            _waiting(pak_id, opened.sight(who))
            with opened.administering(who, act, pak_id) as commit:
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


def _set_status(store: Store, pak_id: str, status: str) -> None:
    standing = store.memories.standing(RowFilter(pak_ids=(pak_id,))).values()
    store.memories.set_standing([replace(one, status=status) for one in standing])
