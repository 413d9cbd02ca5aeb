"""What the engine asks of a store about receipts: what was answered to whom, and when.

A receipt is no part of the history that indexes follow: to keep one moves no revision, and nobody's
answer changes by it. It names memories. Whichever way one of them goes, what is kept of it, of the
question and of the text that was sent goes too; that something was answered stays, and how many
memories were given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from recollect.model import AnsweredBy, Part
from recollect.ports.state import Head
from recollect.ports.uses import Who
from recollect.values import dataclass

__all__ = ["ENDED_AT_ONCE", "Given", "KeptReceipt", "ReceiptFilter", "ReceiptPlace", "ReceiptRoom"]

# So many receipts whose time is over go when another is kept.
ENDED_AT_ONCE = 100

# Where a receipt stands among those of a tenant, the latest first: when, its id, whose.
ReceiptPlace: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Given:
    """A memory that was given, and its score."""

    pak_id: str
    score: float
    part: Part


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """One answer. `given` counts all that was in it, also what is gone from `items` by now.

    `request` is JSON. It and `digest` are None once something of the answer is gone.
    """

    who: Who
    recall_id: str
    verb: AnsweredBy
    at: str
    until: str
    head: Head
    request: str | None
    digest: str | None
    tokens_used: int
    degraded: tuple[str, ...]
    items: tuple[Given, ...]
    given: int

    @property
    def place(self) -> ReceiptPlace:
        """Where it stands among those of its tenant."""
        return self.at, self.recall_id, self.who[1]


@dataclass(frozen=True, slots=True)
class ReceiptFilter:
    """Which receipts: those of a tenant, of one principal of it, those that ended by a time."""

    tenant: str | None = None
    principal: str | None = None
    ended_by: str | None = None


class ReceiptRoom(Protocol):
    """Receipts by tenant, principal and recall id."""

    def keep(self, receipt: KeptReceipt) -> None:
        """Keep a receipt, durably, in the place of one with its name; the revision stays.

        In the same transaction some of those go that ended by then. Of what it names and is not
        there any more nothing is kept.
        """

    def find(self, tenant: str, recall_id: str, *, now: str) -> Sequence[KeptReceipt]:
        """Return the receipts of an answer that have not ended, by principal."""

    def page(
        self,
        tenant: str,
        *,
        principal: str | None,
        now: str,
        before: ReceiptPlace | None,
        most: int,
    ) -> Sequence[KeptReceipt]:
        """Return the latest receipts that have not ended, or those before a place."""

    def count(self, where: ReceiptFilter) -> int:
        """Return how many there are of these."""

    def erase(self, where: ReceiptFilter) -> int:
        """Delete these, inside a commit; return how many went. Their bytes are to be wiped."""
