"""Quarantine: facts that wait for a moderator, or were turned away.

In: ids. Out: what is known of the waiting, never their text. A promoted one is a memory like any
other; a rejected one never comes back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.index.selection import Where
from recollect.paks import UnknownPak
from recollect.policy.permit import need, takes_instruct
from recollect.policy.view import QUARANTINED, REJECTED
from recollect.ports.store import RowFilter
from recollect.values import dataclass
from recollect.verbs.erase import hash_name
from recollect.verbs.requests import Request, answered, keep, nothing, raise_if_repeated
from recollect.write.status import set_status

if TYPE_CHECKING:
    from recollect.model import Memory, Principal, Status
    from recollect.open_store import OpenStore
    from recollect.ports.store import Commit
    from recollect.recall.sight import Sight

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

    def __init__(self, open_store: OpenStore, principal: Principal) -> None:
        self._open_store = open_store
        self._principal = principal

    def list(self) -> tuple[Held, ...]:
        """Return what waits, oldest first: no text, no title, nothing that was said."""
        need(self._principal, "read")
        found = self._open_store.of_one_revision(self._waiting)
        return tuple(sorted(map(_held, found), key=lambda held: (held.held_since, held.pak_id)))

    def _waiting(self) -> Iterable[Memory]:
        sight = _with_quarantined(self._open_store.sight(self._principal))
        waiting = sight.select(Where(statuses=(QUARANTINED,)))
        return sight.memories(sight.index.pak_ids(waiting.slots)).values()

    def promote(self, pak_id: str, *, request_id: str | None = None) -> None:
        """Make a waiting fact a memory like any other."""
        self._judge(pak_id, "quarantine.promote", "active", request_id)

    def reject(self, pak_id: str, *, request_id: str | None = None) -> None:
        """Turn a waiting memory away for good."""
        self._judge(pak_id, "quarantine.reject", REJECTED, request_id)

    def _judge(self, pak_id: str, act: str, status: Status, request_id: str | None) -> None:
        need(self._principal, "read")
        request = Request.of(self._open_store, self._principal, request_id, verb=act, body=[pak_id])
        answered(request, lambda: self._set(pak_id, act, status, request), told=nothing)

    def _set(self, pak_id: str, act: str, status: Status, request: Request | None) -> None:
        open_store, who = self._open_store, self._principal
        open_store.of_one_revision(lambda: _find_waiting(pak_id, open_store.sight(who)))
        with open_store.administering(who, act, hash_name(pak_id)) as commit:
            raise_if_repeated(request)
            # Somebody may have judged it meanwhile; from here on nobody else can.
            memory = _find_waiting(pak_id, open_store.sight_before(who, commit))
            if status == "active" and takes_instruct(memory):
                need(who, "instruct")
            self._set_status(pak_id, status, commit)
            keep(request, None, names=[pak_id])

    def _set_status(self, pak_id: str, status: Status, commit: Commit) -> None:
        open_store = self._open_store
        set_status(
            open_store.store.memories.standing(RowFilter(pak_ids=(pak_id,))).values(),
            status,
            store=open_store.store,
            before=open_store.follower.before,
            commit=commit,
            links=open_store.links,
            by=self._principal.id,
            at=open_store.time_of_writing(None),
        )


def _find_waiting(pak_id: str, sight: Sight) -> Memory:
    """Return what waits under an id for this moderator."""
    memory = _with_quarantined(sight).memories([pak_id]).get(pak_id)
    if memory is None or memory.status != QUARANTINED:
        raise UnknownPak(
            f"there is no {pak_id!r:.80} in quarantine.",
            hint="quarantine.list() names what waits for you.",
        )
    return memory


def _with_quarantined(sight: Sight) -> Sight:
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
