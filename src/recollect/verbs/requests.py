"""Requests that have a name: whoever sends one again gets the answer of the first time.

In: a request id of the caller's own choosing, and what it asked for. Out: what is kept of the
answer, in the commit that did it: ids and never texts. Nobody learns, or takes, another's ids: what
is looked up is made from the credential and the id together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from recollect.arguments import name
from recollect.errors import RequestIdReused
from recollect.hours import iso
from recollect.model import Remembered
from recollect.open_store import OpenStore
from recollect.policy.permit import need
from recollect.ports.store import KeptAnswer
from recollect.verbs.caller import Caller

__all__ = ["Repeated", "Request", "raise_if_repeated"]

# So long an answer is kept, by the clock of whoever writes; after that an id is free again.
_KEPT_SECONDS = 24 * 3600.0


class Repeated(Exception):
    """A request was done before; this is what was said then."""

    def __init__(self, reports: Sequence[Remembered]) -> None:
        super().__init__(reports)
        self.reports = reports


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request of one caller, or a part of it that is committed by itself."""

    open_store: OpenStore
    key: str
    body: str

    @classmethod
    def of(cls, caller: Caller, request_id: str | None, verb: str, body: object) -> Request | None:
        """Return the request that a caller named so, if it has a name."""
        if request_id is None:
            return None
        need(caller.principal, "write")
        who = caller.principal
        key = _digest([who.tenant, who.id, name("request_id", request_id)])
        return cls(caller.open_store, key, _digest([verb, body]))

    def part(self, number: int) -> Request:
        """Return a part of it: one that is cut off goes on after the parts that were done."""
        return Request(self.open_store, _digest([self.key, number]), self.body)

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
        raise Repeated([_report(one) for one in json.loads(kept.answer)])

    def keep(self, reports: Sequence[Remembered], *, names: tuple[str, ...] = ()) -> None:
        """Keep what was done, as a part of the commit that does it; `names` were written about."""
        now = self.open_store.clock.now()
        answer = [{**asdict(one), "meta": {}} for one in reports]
        told = {other for one in reports for other in _names(one)}
        self.open_store.store.state.keep_answer(
            KeptAnswer(self.key, iso(now), self.body, json.dumps(answer)),
            names=told.union(names),
            since=iso(now - _KEPT_SECONDS),
        )


def raise_if_repeated(request: Request | None) -> None:
    """Raise `Repeated` if a request that has a name was done before."""
    if request is not None:
        request.check()


def _names(report: Remembered) -> tuple[str, ...]:
    return (report.pak_id, *report.linked, *(report.near_duplicates or ()))


def _report(fields: dict[str, Any]) -> Remembered:
    lists = ("near_duplicates", "linked", "unread")
    tuples = {one: tuple(fields[one]) for one in lists if fields[one] is not None}
    return Remembered(**{**fields, **tuples})


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)
