"""A snapshot is one state of the catalogue, and says whether it is committed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.paks.samples import pak

from recollect.paks import RecallStore

pytestmark = pytest.mark.sql


def test_a_snapshot_sees_no_write_that_others_make_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    with RecallStore.open(path) as store, RecallStore.open(path) as other:
        store.upsert_pak(**pak("a"))
        with store.snapshot() as committed:
            assert committed
            assert store.count_paks() == 1
            other.upsert_pak(**pak("b"))
            assert store.count_paks() == 1
            with store.snapshot() as inner:
                assert inner
        assert not store.conn.in_transaction
        assert store.count_paks() == 2


def test_inside_a_transaction_of_the_caller_the_state_is_not_committed() -> None:
    with RecallStore.open(":memory:") as store:
        with store.transaction(), store.snapshot() as committed:
            assert not committed
        store.conn.execute("BEGIN")
        store.upsert_pak(**pak("a"))
        with store.snapshot() as committed:
            assert not committed
            assert store.count_paks() == 1
        assert store.conn.in_transaction
        store.conn.execute("ROLLBACK")
        assert store.count_paks() == 0


def test_a_failure_inside_leaves_no_transaction_open() -> None:
    with RecallStore.open(":memory:") as store:
        with pytest.raises(ZeroDivisionError), store.snapshot():
            _ = 1 / 0
        assert not store.conn.in_transaction
        with store.snapshot() as committed:
            assert committed
