"""Tags of answers: whoever asks again and shows one is told that nothing changed, without a body.

In: answers, and what they were answers to. Out: tags, each a digest of an answer but for when it
was given. What was answered at one head of a store, in one second, is remembered: asked again, it
costs a look. Nothing is remembered beyond that second, since hours and expiry move on with time;
a question with a `now` of its own is not of any second.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from threading import Lock
from typing import Any

from recollect.edge import wire
from recollect.values import dataclass

__all__ = ["Asked", "Tags", "tagged"]

_MOST_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: by whom, of which head of which store, as of when."""

    store: str
    who: Hashable
    head: Hashable
    verb: str
    given: str
    second: int | None

    @classmethod
    def of(
        cls,
        verb: str,
        given: Mapping[str, Any],
        *,
        store: str,
        who: Hashable,
        head: Hashable,
        second: int,
    ) -> Asked:
        """Return what was asked; one with a time of its own is not of any second."""
        written = json.dumps(given, sort_keys=True, default=str)
        own_time = given.get("now") is not None
        return cls(store, who, head, verb, written, None if own_time else second)


class Tags:
    """The tags of the latest answers of one worker."""

    def __init__(self, *, most_kept: int = _MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[Asked, str] = OrderedDict()
        self._lock = Lock()

    def of(self, asked: Asked) -> str | None:
        """Return the tag of what was answered, if that is remembered."""
        with self._lock:
            return self._kept.get(asked)

    def keep(self, asked: Asked, tag: str) -> None:
        """Remember the tag of an answer."""
        with self._lock:
            self._kept[asked] = tag
            self._kept.move_to_end(asked)
            while len(self._kept) > self._most_kept:
                self._kept.popitem(last=False)


# A frame that was found in the cache is the same frame.
_NO_PART = frozenset((*wire.OF_THE_MOMENT, "cached"))


def tagged(answer: wire.Object) -> tuple[str, bytes]:
    """Return the tag of an answer, and the answer as it leaves."""
    whole, lasting = wire.encode_apart(answer, _NO_PART)
    return f'W/"{blake2b(lasting, digest_size=16).hexdigest()}"', whole
