"""Keep answers of frames for a while: bounded, safe between threads, least recently used out.

The caller brings the time and a token that stands for the state of the world, such as the
revisions of a frame's declared events. An answer kept under another token is gone. Whoever asks has
room of its own: what others keep takes none of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import replace
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from recollect.locks import fresh_in_child
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import FrameDefinition, FrameResult

__all__ = ["CacheKey", "FrameCache", "named"]


@dataclass(frozen=True, slots=True)
class CacheKey:
    """What an answer depends on besides the store.

    The whole definition is part of it: a frame that was changed, here or elsewhere, never gets
    an answer of its former self.
    """

    frame: FrameDefinition
    tenant: str
    principal: Hashable
    query: str | None
    top_k: int
    token_budget: int
    # What else was asked for, in one spelling.
    narrowed: str = ""


@dataclass(frozen=True, slots=True)
class _Entry:
    expires_at: float
    token: Hashable
    result: FrameResult


_Owner: TypeAlias = tuple[str, Hashable]
_Room: TypeAlias = OrderedDict[CacheKey, _Entry]


class FrameCache:
    """Answers by key, `most_entries` of each who asks.

    They are frozen through and through, so handing one out shares nothing.
    """

    def __init__(self, *, most_entries: int = 128) -> None:
        self._most_entries = most_entries
        self._rooms: OrderedDict[_Owner, _Room] = OrderedDict()
        self._lock = Lock()
        fresh_in_child(self, "_lock", Lock)

    def __len__(self) -> int:
        return sum(map(len, self._rooms.values()))

    def get(self, key: CacheKey, *, now: float, token: Hashable) -> FrameResult | None:
        """Return the kept answer, marked as cached, or None; what is stale is let go."""
        with self._lock:
            room = self._rooms.get(_owner(key), OrderedDict())
            entry = room.get(key)
            if entry is None:
                return None
            if now >= entry.expires_at or entry.token != token:
                del room[key]
                return None
            room.move_to_end(key)
        return replace(entry.result, cached=True)

    def put(
        self, key: CacheKey, result: FrameResult, *, now: float, ttl_seconds: float, token: Hashable
    ) -> None:
        """Keep an answer until `now` + `ttl_seconds`, or until its token is another."""
        with self._lock:
            self._sweep_one(now)
            room = self._rooms.setdefault(_owner(key), OrderedDict())
            room[key] = _Entry(now + ttl_seconds, token, result)
            room.move_to_end(key)
            while len(room) > self._most_entries:
                room.popitem(last=False)

    def drop_holding(self, pak_ids: Collection[str]) -> None:
        """Let go of every answer in which any of these memories is, in the text or as left out."""
        gone = set(pak_ids)
        with self._lock:
            for room in self._rooms.values():
                for key, entry in list(room.items()):
                    if gone & named(entry.result):
                        del room[key]

    def invalidate(self, name: str, *, tenant: str) -> None:
        """Let go of every answer of one frame in one tenant."""
        with self._lock:
            for key in list(chain.from_iterable(self._rooms.values())):
                if (key.frame.name, key.tenant) == (name, tenant):
                    del self._rooms[_owner(key)][key]

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._rooms.clear()

    def _sweep_one(self, now: float) -> None:
        """Let go of what is too old in one room: by and by, of all that nobody asks for again."""
        if not self._rooms:
            return
        owner, room = self._rooms.popitem(last=False)
        kept = {key: entry for key, entry in room.items() if now < entry.expires_at}
        if kept:
            self._rooms[owner] = OrderedDict(kept)


def _owner(key: CacheKey) -> _Owner:
    return key.tenant, key.principal


def named(result: FrameResult) -> set[str]:
    """Return the ids of all memories that are in an answer, in the text or as left out."""
    blocks = {block.pak_id for block in result.blocks}
    # What was counted has no name.
    return blocks | {dropped.pak_id for dropped in result.dropped if dropped.count is None}
