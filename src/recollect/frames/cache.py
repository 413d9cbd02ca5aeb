"""Keep answers of frames for a while: bounded, safe between threads, least recently used out.

The caller brings the time and a token that stands for the state of the world, such as the
revisions of a frame's declared events. An answer kept under another token is gone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable
from dataclasses import dataclass, replace
from threading import Lock

from recollect.locks import fresh_in_child
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


@dataclass(frozen=True, slots=True)
class _Entry:
    expires_at: float
    token: Hashable
    result: FrameResult


class FrameCache:
    """Answers by key. They are frozen through and through, so handing one out shares nothing."""

    def __init__(self, *, most_entries: int = 128) -> None:
        self._most_entries = most_entries
        self._entries: OrderedDict[CacheKey, _Entry] = OrderedDict()
        self._lock = Lock()
        fresh_in_child(self, "_lock", Lock)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: CacheKey, *, now: float, token: Hashable) -> FrameResult | None:
        """Return the kept answer, marked as cached, or None; what is stale is let go."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if now >= entry.expires_at or entry.token != token:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
        return replace(entry.result, cached=True)

    def put(
        self, key: CacheKey, result: FrameResult, *, now: float, ttl_seconds: float, token: Hashable
    ) -> None:
        """Keep an answer until `now` + `ttl_seconds`, or until its token is another."""
        with self._lock:
            self._entries[key] = _Entry(now + ttl_seconds, token, result)
            self._entries.move_to_end(key)
            while len(self._entries) > self._most_entries:
                self._entries.popitem(last=False)

    def drop_holding(self, pak_ids: Collection[str]) -> None:
        """Let go of every answer in which any of these memories is, in the text or as left out."""
        gone = set(pak_ids)
        with self._lock:
            for key, entry in list(self._entries.items()):
                if gone & named(entry.result):
                    del self._entries[key]

    def invalidate(self, name: str, *, tenant: str) -> None:
        """Let go of every answer of one frame in one tenant."""
        with self._lock:
            for key in list(self._entries):
                if (key.frame.name, key.tenant) == (name, tenant):
                    del self._entries[key]

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._entries.clear()


def named(result: FrameResult) -> set[str]:
    """Return the ids of all memories that are in an answer, in the text or as left out."""
    blocks = {block.pak_id for block in result.blocks}
    return blocks | {dropped.pak_id for dropped in result.dropped}
