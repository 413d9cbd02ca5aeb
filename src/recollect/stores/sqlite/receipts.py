"""Receipts in SQLite: a row for each answer, and one for each memory that was in it; sealed.

In: values of `recollect.ports.receipts`. Out: the same. Memories are named by their rows, so that a
trigger finds what to let go of when one is deleted. A receipt that is not as it was written is
shown to nobody; `examine` tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from recollect.ports.receipts import (
    ENDED_AT_ONCE,
    Given,
    KeptReceipt,
    ReceiptFilter,
    ReceiptPlace,
)
from recollect.ports.state import Head
from recollect.stores.sqlite.seals import RECEIPT_COLUMNS, RECEIPT_ITEM_COLUMNS, receipt_seal
from recollect.stores.sqlite.session import Session, chunks, marks

__all__ = ["SqliteReceipts"]

_LISTED = ", ".join(f"receipts.{column}" for column in RECEIPT_COLUMNS)
_ITEMS = ", ".join(f"receipt_items.{column}" for column in RECEIPT_ITEM_COLUMNS)
_READ = (
    f"SELECT number, receipts.seal, {_LISTED}, pak_id, {_ITEMS} FROM ({{found}}) AS receipts"
    " LEFT JOIN receipt_items ON receipt_items.receipt = number"
    " LEFT JOIN memories ON memories.row_id = receipt_items.row_id"
    " ORDER BY receipts.at DESC, recall_id DESC, receipts.principal DESC, receipt_items.position"
)
_KEPT = 2 + len(RECEIPT_COLUMNS)


class SqliteReceipts:
    """The receipts of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def keep(self, receipt: KeptReceipt) -> None:
        """Keep a receipt in a transaction that is no commit; drop some that ended by then."""
        with self._db.beside():
            tenant, principal = receipt.who
            self._delete(
                "tenant = ? AND recall_id = ? AND principal = ?",
                *(tenant, receipt.recall_id, principal),
            )
            self._delete("until <= ? ORDER BY until LIMIT ?", receipt.at, ENDED_AT_ONCE)
            items = self._rows_of(receipt.items)
            is_whole = len(items) == len(receipt.items)
            row = (
                *(tenant, principal, receipt.recall_id, receipt.verb, receipt.at, receipt.until),
                *(receipt.head.revision, receipt.head.commit_id),
                *((receipt.request, receipt.digest) if is_whole else (None, None)),
                *(receipt.tokens_used, json.dumps(receipt.degraded), receipt.given),
            )
            columns = (*RECEIPT_COLUMNS, "seal")
            number = self._db.run(
                f"INSERT INTO receipts ({', '.join(columns)}) VALUES ({marks(columns)})",
                *row,
                receipt_seal(row, items),
            ).lastrowid
            self._db.run_each(
                f"INSERT INTO receipt_items (receipt, {', '.join(RECEIPT_ITEM_COLUMNS)})"
                " VALUES (?, ?, ?, ?, ?)",
                [(number, *item) for item in items],
            )

    def find(self, tenant: str, recall_id: str, *, now: str) -> list[KeptReceipt]:
        """Return the receipts of an answer that have not ended, by principal."""
        found = self._read("tenant = ? AND recall_id = ? AND until > ?", tenant, recall_id, now)
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
        conditions, values = ["tenant = ?", "until > ?"], [tenant, now]
        if principal is not None:
            conditions.append("principal = ?")
            values.append(principal)
        if before is not None:
            conditions.append("(at, recall_id, principal) < (?, ?, ?)")
            values += before
        order = "ORDER BY at DESC, recall_id DESC, principal DESC LIMIT ?"
        return self._read(f"{' AND '.join(conditions)} {order}", *values, most)

    def count(self, where: ReceiptFilter) -> int:
        """Return how many there are of these."""
        condition, values = _condition(where)
        return int(self._db.one(f"SELECT count(*) FROM receipts WHERE {condition}", *values)[0])

    def erase(self, where: ReceiptFilter) -> int:
        """Delete these; their bytes are to be wiped."""
        revision = self._db.revision  # refuses outside of a commit
        condition, values = _condition(where)
        gone = self._delete(condition, *values)
        if gone:
            self._db.run("UPDATE engine_state SET unwiped = ?", revision)
        return gone

    def _delete(self, condition: str, *values: Any) -> int:
        numbers = self._db.column(f"SELECT number FROM receipts WHERE {condition}", *values)
        for chunk in chunks(numbers):
            # By hand, since a file may be used with foreign keys off.
            self._db.run(f"DELETE FROM receipt_items WHERE receipt IN ({marks(chunk)})", *chunk)
            self._db.run(f"DELETE FROM receipts WHERE number IN ({marks(chunk)})", *chunk)
        return len(numbers)

    def _rows_of(self, items: Sequence[Given]) -> list[tuple[int, int, float, str]]:
        """Return what to keep of memories that were given, as far as they are there."""
        known: dict[str, int] = {}
        for chunk in chunks([one.pak_id for one in items]):
            known.update(
                self._db.all(
                    f"SELECT pak_id, row_id FROM memories WHERE pak_id IN ({marks(chunk)})", *chunk
                )
            )
        return [
            (position, known[one.pak_id], float(one.score), one.part)
            for position, one in enumerate(items)
            if one.pak_id in known
        ]

    def _read(self, condition: str, *values: Any) -> list[KeptReceipt]:
        found = self._db.all(
            _READ.format(found=f"SELECT * FROM receipts WHERE {condition}"), *values
        )
        made = (_receipt(list(rows)) for _, rows in groupby(found, key=itemgetter(0)))
        return [one for one in made if one is not None]


def _condition(where: ReceiptFilter) -> tuple[str, list[str]]:
    parts = {
        "tenant = ?": where.tenant,
        "principal = ?": where.principal,
        "until <= ?": where.ended_by,
    }
    given = {condition: value for condition, value in parts.items() if value is not None}
    return " AND ".join(given) or "1", list(given.values())


def _receipt(rows: Sequence[Sequence[Any]]) -> KeptReceipt | None:
    """Return what rows stand for; None if they are not as they were written, or can be none."""
    _, seal, *row = rows[0][:_KEPT]
    items = [tuple(one[_KEPT + 1 :]) for one in rows if one[_KEPT + 1] is not None]
    if seal is not None and seal != receipt_seal(row, items):
        return None
    tenant, principal, recall_id, verb, at, until, revision, commit_id, *rest = row
    request, digest, tokens_used, degraded, given = rest
    try:
        return KeptReceipt(
            (tenant, principal),
            *(recall_id, verb, at, until, Head(revision, commit_id)),
            *(request, digest, tokens_used, tuple(json.loads(degraded))),
            items=tuple(_given(rows)),
            given=given,
        )
    except (ValueError, TypeError):
        return None


def _given(rows: Sequence[Sequence[Any]]) -> Iterable[Given]:
    for row in rows:
        pak_id, _, _, score, part = row[_KEPT:]
        if pak_id is not None:
            yield Given(pak_id, float(score), part)
