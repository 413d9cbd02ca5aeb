"""What was answered, as it is kept for whoever asks later: who asked what, and what was given.

Frozen values, standard library only. A receipt holds no text of a memory: ids with scores, and a
digest of what was sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from recollect.model.answer import FrameResult, RecallResponse
from recollect.values import dataclass

__all__ = [
    "AnsweredBy",
    "ItemState",
    "Part",
    "Receipt",
    "ReceiptItem",
    "ReceiptPage",
    "text_digest",
]

# The verbs whose answers have receipts.
AnsweredBy = Literal["recall", "frame"]
# In which part of an answer a memory was given.
Part = Literal["results", "instructions", "blocks"]
# What became of a memory since it was given.
ItemState = Literal["unchanged", "changed", "superseded", "archived"]


@dataclass(frozen=True, slots=True)
class ReceiptItem:
    """A memory that was given, and its score then; by which title it goes now, what became of it.

    `title` and `state` are told by `why`; a list of receipts leaves them out.
    """

    pak_id: str
    score: float
    part: Part
    title: str | None = None
    state: ItemState | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What somebody asked, when, and what was given, best first.

    `items` are those that the reader may read; `missing` counts the others: forgotten since, or not
    the reader's to know. `request` and `digest` are there while nothing is missing: the digest is a
    SHA-256 of the text that was sent. `revision` and `commit_id`, the head of the store that was
    answered from, are told to whoever opened it. `same_today` says whether the same question, asked
    as of that time, is given the same text; None where that cannot be asked.
    """

    recall_id: str
    verb: AnsweredBy
    at: str
    until: str
    tenant: str
    principal: str
    request: Mapping[str, Any] | None
    items: tuple[ReceiptItem, ...]
    missing: int
    tokens_used: int
    degraded: tuple[str, ...]
    digest: str | None
    revision: int | None = None
    commit_id: str | None = None
    same_today: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    """One page of receipts, latest first."""

    items: tuple[Receipt, ...]
    next_cursor: str | None


def text_digest(answer: RecallResponse | FrameResult) -> str:
    """Return a digest of the text that was sent: that of a frame, or each of a recall's texts."""
    if isinstance(answer, FrameResult):
        text = answer.text
    else:
        given = [one.fact.content for one in (*answer.results, *answer.instructions)]
        text = json.dumps(given, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
