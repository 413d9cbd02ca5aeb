"""Requests that have a name: whoever sends one again gets the answer of the first time.

In: a request id of the caller's own choosing, and what it asked for. Out: what is kept of the
answer, in the commit that did it: ids and never texts, under a seal that the request alone opens.
Nobody learns, or takes, another's ids: what is looked up is made from the credential and the id
together.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.arguments import name
from recollect.errors import RequestIdReused
from recollect.hours import iso
from recollect.model import Remembered
from recollect.ports.store import KeptAnswer
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Principal
    from recollect.open_store import OpenStore

__all__ = [
    "Repeated",
    "Request",
    "answered",
    "keep",
    "names_in",
    "nothing",
    "plain_report",
    "raise_if_repeated",
    "report_from",
]

# So long an answer is kept, by the clock of whoever writes; after that an id is free again.
_KEPT_SECONDS = 24 * 3600.0

Answer = TypeVar("Answer")


class Repeated(Exception):
    """A request was done before; this is what was kept of what was said then."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request of one caller, or a part of it that is committed by itself.

    The store knows it by `key` and tells another one by `body`; `seal` is kept nowhere.
    """

    open_store: OpenStore
    key: str
    body: str
    seal: str = field(repr=False)

    @classmethod
    def of(
        cls,
        open_store: OpenStore,
        who: Principal,
        request_id: str | None,
        *,
        verb: str,
        body: object,
    ) -> Request | None:
        """Return the request that a principal named so, if it has a name.

        A long `body` comes as the parts of its text in JSON.
        """
        if request_id is None:
            return None
        named = [who.tenant, who.id, name("request_id", request_id)]
        # Nobody can try out what a body may have been who does not know its request.
        return cls(
            open_store,
            key=_digest(named),
            body=_digest_of(_parts([*named, verb], body)),
            seal=_digest(["seal", *named]),
        )

    def part(self, part: str) -> Request:
        """Return a part of it: one that is cut off goes on after the parts that were done."""
        return Request(
            self.open_store, _digest([self.key, part]), self.body, _digest([self.seal, part])
        )

    def check(self) -> None:
        """Raise `Repeated` if it was done; asked again inside of the commit, nobody is between."""
        since = iso(self.open_store.clock.now() - _KEPT_SECONDS)
        kept = self.open_store.store.state.answer(self.key)
        if kept is None or kept.at < since:
            return
        if kept.answer is None:
            raise RequestIdReused(
                "what this request wrote was forgotten since; nothing was written again.",
                hint="send it under another request id if it shall be written again.",
            )
        if kept.body != self.body:
            raise RequestIdReused(
                "this request id was used for another request; nothing was written.",
                hint="use an id once, and again only to repeat the very same request.",
            )
        raise Repeated(json.loads(self._sealed(b64decode(kept.answer), kept.at)))

    def keep(self, answer: object, names: Iterable[str]) -> None:
        """Keep what is answered, as a part of the commit that does it."""
        now = self.open_store.clock.now()
        sealed = self._sealed(json.dumps(answer).encode(), iso(now))
        self.open_store.store.state.keep_answer(
            KeptAnswer(self.key, iso(now), self.body, b64encode(sealed).decode()),
            names=set(names),
            since=iso(now - _KEPT_SECONDS),
        )

    def _sealed(self, text: bytes, at: str) -> bytes:
        """Return a text under its seal, or what is under it: a stream used once is added to it."""
        stream = hashlib.shake_256(f"{self.seal} {at}".encode()).digest(len(text))
        mixed = int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")
        return mixed.to_bytes(len(text), "big")


def raise_if_repeated(request: Request | None) -> None:
    """Raise `Repeated` if a request that has a name was done before."""
    if request is not None:
        request.check()


def keep(request: Request | None, answer: object, *, names: Iterable[str] = ()) -> None:
    """Keep what a request that has a name is answered with, inside of the commit that does it.

    `names` are memories that it writes or tells of: what is kept goes when one is forgotten.
    """
    if request is not None:
        request.keep(answer, names)


def answered(
    request: Request | None, act: Callable[[], Answer], told: Callable[[Any], Answer]
) -> Answer:
    """Do a request, or return what it was answered with when it was done."""
    try:
        raise_if_repeated(request)
        return act()
    except Repeated as again:
        return told(again.answer)


def nothing(_: object) -> None:
    """Answer as a verb does that tells nothing."""


def plain_report(report: Remembered) -> dict[str, Any]:
    """Return what is kept of a report: not which hooks had a part in it."""
    return {**asdict(report), "meta": {}}


def names_in(report: Remembered) -> tuple[str, ...]:
    """Return the ids of all memories that a report names."""
    others = (*report.linked, *(report.near_duplicates or ()), *report.conflicts)
    return (report.pak_id, *others, *report.superseded, *report.disputed)


def report_from(fields: Mapping[str, Any]) -> Remembered:
    """Return a report that was kept."""
    tuples = {name: tuple(one) for name, one in fields.items() if isinstance(one, list)}
    return Remembered(**{**fields, **tuples})


def _digest(value: object) -> str:
    return _digest_of([_json(value)])


def _digest_of(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _parts(head: list[Any], body: object) -> Iterator[str]:
    """Yield the text of a list whose last value is the body, however long that is."""
    yield _json(head).removesuffix("]")
    yield ", "
    yield from body if isinstance(body, Iterator) else [_json(body)]
    yield "]"


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)
