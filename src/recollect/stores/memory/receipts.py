"""Receipts in memory: a row for each answer.

In: values of `recollect.ports.receipts`. Out: the same. What they name goes with it.
"""

from __future__ import annotations

from dataclasses import replace

from recollect.ports.receipts import ENDED_AT_ONCE, KeptReceipt, ReceiptFilter, ReceiptPlace
from recollect.stores.memory.session import Session

__all__ = ["MemoryReceipts", "let_go_of"]


class MemoryReceipts:
    """The receipts of one store in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def keep(self, receipt: KeptReceipt) -> None:
        """Keep a receipt, which is no commit; drop some that ended by then."""
        tables = self._session
        with tables.undo.transaction():
            ended = [one for one in tables.receipts.rows() if one.until <= receipt.at]
            for one in sorted(ended, key=lambda one: one.until)[:ENDED_AT_ONCE]:
                tables.receipts.drop((*one.who, one.recall_id))
            there = tuple(one for one in receipt.items if one.pak_id in tables.memories)
            if there != receipt.items:
                receipt = replace(receipt, items=there, request=None, digest=None)
            tables.receipts.put((*receipt.who, receipt.recall_id), receipt)

    def find(self, tenant: str, recall_id: str, *, now: str) -> list[KeptReceipt]:
        """Return the receipts of an answer that have not ended, by principal."""
        found = [one for one in self._of(tenant, None, now) if one.recall_id == recall_id]
        return sorted(found, key=lambda one: one.who)

    def page(
        self,
        tenant: str,
        *,
        principal: str | None,
        now: str,
        before: ReceiptPlace | None,
        most: int,
    ) -> list[KeptReceipt]:
        """Return the latest receipts that have not ended, or those before a place."""
        found = self._of(tenant, principal, now)
        left = [one for one in found if before is None or one.place < before]
        return sorted(left, key=lambda one: one.place, reverse=True)[:most]

    def count(self, where: ReceiptFilter) -> int:
        """Return how many there are of these."""
        return len(self._fitting(where))

    def erase(self, where: ReceiptFilter) -> int:
        """Delete these."""
        _ = self._session.revision  # refuses outside of a commit
        doomed = self._fitting(where)
        for one in doomed:
            self._session.receipts.drop((*one.who, one.recall_id))
        return len(doomed)

    def _of(self, tenant: str, principal: str | None, now: str) -> list[KeptReceipt]:
        found = self._fitting(ReceiptFilter(tenant, principal))
        return [one for one in found if one.until > now]

    def _fitting(self, where: ReceiptFilter) -> list[KeptReceipt]:
        with self._session.snapshot():
            return [
                one
                for one in self._session.receipts.rows()
                if where.tenant in (None, one.who[0])
                and where.principal in (None, one.who[1])
                and (where.ended_by is None or one.until <= where.ended_by)
            ]


def let_go_of(pak_id: str, tables: Session) -> None:
    """Keep nothing more of a memory that goes, nor of what was asked and sent when it was given."""
    for one in list(tables.receipts.rows()):
        left = tuple(item for item in one.items if item.pak_id != pak_id)
        if left != one.items:
            without = replace(one, items=left, request=None, digest=None)
            tables.receipts.put((*one.who, one.recall_id), without)
