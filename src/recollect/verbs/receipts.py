"""Receipts: what was answered is kept, and told later to who asked, and to admins of the tenant.

In: answers as they leave. Out: the same, or the same marked when no receipt could be kept; and
`Receipt`s. Whoever reads one is told what it may read now: of the rest that it is missing, whether
somebody forgot it or it was never the reader's to know.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from recollect import check
from recollect.errors import InvalidInput, StoreError
from recollect.hours import LAST_SECOND, iso
from recollect.model import (
    FrameResult,
    Memory,
    RecallRequest,
    RecallResponse,
    Receipt,
    ReceiptItem,
    ReceiptPage,
    text_digest,
)
from recollect.model.answer import name_of_frame
from recollect.model.receipt import AnsweredBy, ItemState, Part
from recollect.policy.sanitizer import plain
from recollect.ports.receipts import Given, KeptReceipt, ReceiptPlace
from recollect.ports.store import KeptVersion
from recollect.recall.sight import Sight
from recollect.verbs.caller import Caller
from recollect.verbs.read import Reader

__all__ = ["Receipts"]

_DAY_SECONDS = 86_400.0
# What is degraded when an answer was given and nobody could write down that it was.
_NOT_KEPT = "receipt"
_ARCHIVED = "archived"

Answer = TypeVar("Answer", RecallResponse, FrameResult)


class Receipts:
    """Keeps receipts of one caller's answers, and tells those that it may read."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def of_recall(
        self, asked: RecallRequest, answer: Callable[[Reader], RecallResponse]
    ) -> RecallResponse:
        """Return an answer, and keep a receipt of it: no byte changes by that."""
        given, sight = self._seen(answer)
        items = _of_results(given)
        kept = self._receipt("recall", given.recall_id, asked, given, items, sight)
        return given if self._keep(kept) else _degraded(given)

    def of_frame(
        self, asked: RecallRequest, answer: Callable[[Reader], FrameResult]
    ) -> FrameResult:
        """Return a frame; if a receipt of it is kept, with the name of that."""
        given, sight = self._seen(answer)
        name = name_of_frame(given, [*self._caller.who, sight.now, _as_asked(asked)])
        items = (Given(one.pak_id, one.score, "blocks") for one in given.blocks)
        if not self._keep(self._receipt("frame", name, asked, given, items, sight)):
            return _degraded(given)
        return replace(given, recall_id=name)

    def why(
        self,
        recall_id: str,
        principal: str | None,
        again: Callable[[Receipt], RecallResponse | FrameResult],
    ) -> Receipt | None:
        """Return the receipt of an answer, with what became of it since; None if there is none.

        One's own comes first; of others', which admins are told, that of the principal who is
        named, or the latest. `again` asks the same as of then.
        """
        found = self._readable(recall_id, principal)
        if found is None:
            return None
        told = self._caller.answer(lambda sight: self._shown(found, sight, with_states=True))
        if found.who != self._caller.who or told.request is None:
            return told
        try:
            today = again(told)
        except InvalidInput:
            return told  # its frame, or a garden that it names, is no more
        return replace(told, same_today=text_digest(today) == told.digest)

    def page(self, *, limit: int, cursor: str | None) -> ReceiptPage:
        """Return receipts that the caller may read, latest first."""
        before = None if cursor is None else _place(cursor)
        tenant, own = self._caller.who
        principal = None if self._is_admin else own

        def told(sight: Sight) -> ReceiptPage:
            now = iso(sight.now)
            found = self._caller.store.receipts.page(
                tenant, principal=principal, now=now, before=before, most=limit + 1
            )
            items = tuple(self._shown(one, sight) for one in found[:limit])
            more = len(found) > limit
            return ReceiptPage(items, _cursor(found[limit - 1].place) if more else None)

        return self._caller.answer(told)

    def _seen(self, answer: Callable[[Reader], Answer]) -> tuple[Answer, Sight]:
        """Return an answer, and the last sight that was taken for it."""
        seen: list[Sight] = []
        given = answer(self._reader.telling(seen.append))
        return given, seen[-1] if seen else self._caller.sight()

    @property
    def _is_admin(self) -> bool:
        return "admin" in self._caller.principal.permissions

    def _receipt(
        self,
        verb: AnsweredBy,
        recall_id: str,
        asked: RecallRequest,
        answer: RecallResponse | FrameResult,
        items: Iterable[Given],
        sight: Sight,
    ) -> KeptReceipt:
        days = self._caller.open_store.receipt_days or 0.0
        given = tuple(items)
        return KeptReceipt(
            who=self._caller.who,
            recall_id=recall_id,
            verb=verb,
            at=iso(sight.now),
            until=iso(min(sight.now + days * _DAY_SECONDS, LAST_SECOND)),
            head=sight.index.head,
            request=json.dumps(_as_asked(asked), ensure_ascii=False, sort_keys=True),
            digest=text_digest(answer),
            tokens_used=answer.tokens_used,
            degraded=answer.degraded,
            items=given,
            given=len(given),
        )

    def _keep(self, receipt: KeptReceipt) -> bool:
        """Keep a receipt; who asked gets the answer all the same, and is told if that failed."""
        try:
            self._caller.store.receipts.keep(receipt)
        except StoreError:
            return False
        return True

    def _readable(self, recall_id: str, principal: str | None) -> KeptReceipt | None:
        tenant, own = self._caller.who
        self._caller.open_store.check_open()
        found = self._caller.store.receipts.find(tenant, recall_id, now=self._caller.now())
        mine = [one for one in found if self._is_admin or one.who[1] == own]
        if principal is not None:
            mine = [one for one in mine if one.who[1] == principal]
        return max(mine, key=lambda one: (one.who[1] == own, one.place), default=None)

    def _shown(self, kept: KeptReceipt, sight: Sight, *, with_states: bool = False) -> Receipt:
        """Return a receipt as the caller may read it now."""
        shown = (one for one in kept.items if sight.may_read(one.pak_id))
        items = tuple(ReceiptItem(one.pak_id, one.score, one.part) for one in shown)
        if with_states:
            items = tuple(self._with_states(items, kept, sight))
        is_whole, is_opener = len(items) == kept.given, self._caller.is_opener
        return Receipt(
            recall_id=kept.recall_id,
            verb=kept.verb,
            at=kept.at,
            until=kept.until,
            tenant=kept.who[0],
            principal=kept.who[1],
            request=json.loads(kept.request) if is_whole and kept.request is not None else None,
            items=items,
            missing=kept.given - len(items),
            tokens_used=kept.tokens_used,
            degraded=kept.degraded,
            digest=kept.digest if is_whole else None,
            revision=kept.head.revision if is_opener else None,
            commit_id=kept.head.commit_id if is_opener else None,
        )

    def _with_states(
        self, items: Sequence[ReceiptItem], kept: KeptReceipt, sight: Sight
    ) -> Iterator[ReceiptItem]:
        names = [one.pak_id for one in items]
        memories, versions = sight.memories(names), sight.versions(names)
        cleaned = plain if self._caller.open_store.shows_plain_words else str
        for one in (one for one in items if one.pak_id in memories):
            memory = memories[one.pak_id]
            state = _state(memory, versions.get(one.pak_id, ()), kept.head.revision)
            yield replace(one, title=cleaned(memory.title), state=state)


def _as_asked(asked: RecallRequest) -> dict[str, Any]:
    """Return a request as somebody asked it, as plain data; hooks may have changed it since."""
    told = asked.checked().to_dict()
    return {**told, "tags": list(told["tags"])}


def _of_results(answer: RecallResponse) -> Iterator[Given]:
    parts: tuple[tuple[Part, Any], ...] = (
        ("results", answer.results),
        ("instructions", answer.instructions),
    )
    for part, results in parts:
        for one in results:
            yield Given(one.fact.pak_id, one.score, part)


def _degraded(answer: Answer) -> Answer:
    return replace(answer, degraded=(*answer.degraded, _NOT_KEPT))


def _state(memory: Memory, versions: Iterable[KeptVersion], revision: int) -> ItemState:
    """Return what became of a memory since a revision."""
    if memory.superseded_by is not None:
        return "superseded"
    if memory.status == _ARCHIVED:
        return "archived"
    later = any((one.revision or 0) > revision for one in versions)
    return "changed" if later else "unchanged"


def _cursor(place: ReceiptPlace) -> str:
    text = json.dumps(place, ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _place(cursor: object) -> ReceiptPlace:
    if isinstance(cursor, str):
        check.length("cursor", cursor)
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)  # type: ignore[attr-defined,arg-type]
        fields = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        at, recall_id, principal = fields
    except (AttributeError, TypeError, UnicodeError, binascii.Error, ValueError, RecursionError):
        at = recall_id = principal = None
    place = (at, recall_id, principal)
    if not all(isinstance(one, str) and check.is_storable(one) for one in place):
        raise InvalidInput(
            "this is not a cursor of receipts.",
            hint="pass next_cursor of the page before unchanged, or none for the first page.",
        )
    return place
