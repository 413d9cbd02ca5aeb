"""What every store must do about receipts, as tests: a part of `StoreContract`.

The rules are those of `recollect.ports.receipts`.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from recollect.ports.receipts import ENDED_AT_ONCE
from recollect.ports.store import Given, Head, KeptReceipt, ReceiptFilter, Store
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import committing

__all__ = ["ReceiptContract"]

_LATER, _LAST = "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"
_ANN, _BOB = ("acme", "ann"), ("acme", "bob")


def _receipt(name: str = "r1", *pak_ids: str, **changes: object) -> KeptReceipt:
    items = tuple(Given(pak_id, 0.5 + n, "results") for n, pak_id in enumerate(pak_ids))
    made = KeptReceipt(
        *(_ANN, name, "recall", NOW, _LATER, Head(3, "c3"), '{"query": "kiln"}', "sha"),
        *(7, ("vector",), items, len(items)),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


class ReceiptContract:
    """Tests of what is kept of answers."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        raise TypeError("a subclass of ReceiptContract says how to open a store")
        yield

    def test_a_receipt_is_kept_as_given_and_is_no_change_of_the_store(self) -> None:
        with self.opened() as store:
            _fill(store)
            before = store.head()
            kept = _receipt("r1", "b", "a")
            store.receipts.keep(kept)
            assert store.receipts.find("acme", "r1", now=NOW) == [kept]
            assert store.head() == before
            assert list(store.memories.changes(before)) == []

    def test_a_receipt_of_the_same_name_takes_its_place(self) -> None:
        with self.opened() as store:
            _fill(store)
            for names in (("a", "b"), ("b",)):
                store.receipts.keep(_receipt("r1", *names))
            others = _receipt("r1", "a", who=_BOB)
            store.receipts.keep(others)
            assert store.receipts.find("acme", "r1", now=NOW) == [_receipt("r1", "b"), others]
            assert store.receipts.find("globex", "r1", now=NOW) == []
            assert store.receipts.find("acme", "r2", now=NOW) == []

    def test_receipts_are_listed_latest_first_within_a_tenant(self) -> None:
        with self.opened() as store:
            _fill(store)
            one, two = _receipt("r1"), _receipt("r2", "a", at=_LATER, until=_LAST)
            three = replace(two, who=_BOB)
            for receipt in (two, _receipt("r9", who=("globex", "ann")), three, one):
                store.receipts.keep(receipt)
            assert _page(store) == [three, two, one]
            assert _page(store, most=1) == [three]
            assert _page(store, before=three.place) == [two, one]
            assert _page(store, before=one.place) == []
            assert _page(store, principal="ann") == [two, one]
            assert _page(store, now=_LATER) == [three, two]

    def test_what_has_ended_is_absent_and_goes_when_another_is_kept(self) -> None:
        with self.opened() as store:
            for number in range(ENDED_AT_ONCE + 1):
                store.receipts.keep(_receipt(f"r{number}"))
            assert store.receipts.find("acme", "r0", now=_LATER) == []
            ended = ReceiptFilter(ended_by=_LATER)
            assert store.receipts.count(ended) == ENDED_AT_ONCE + 1
            store.receipts.keep(_receipt("new", at=_LAST, until="2026-02-01T00:00:00Z"))
            assert store.receipts.count(ended) == 1
            with committing(store):
                assert store.receipts.erase(ended) == 1
            assert store.receipts.count(ReceiptFilter()) == 1

    def test_a_memory_that_goes_takes_what_was_asked_and_sent_along(self) -> None:
        with self.opened() as store:
            _fill(store)
            other = _receipt("r2", "b")
            for receipt in (_receipt("r1", "b", "a"), other):
                store.receipts.keep(receipt)
            with committing(store):
                store.memories.erase(["a"])
            (left,) = store.receipts.find("acme", "r1", now=NOW)
            assert left == replace(_receipt("r1", "b"), request=None, digest=None, given=2)
            assert store.receipts.find("acme", "r2", now=NOW) == [other]
            with committing(store):
                store.memories.write([new_memory("a")])
            assert store.receipts.find("acme", "r1", now=NOW) == [left]

    def test_nothing_is_kept_of_what_is_gone_already(self) -> None:
        with self.opened() as store:
            _fill(store)
            store.receipts.keep(_receipt("r1", "nobody", "b"))
            (kept,) = store.receipts.find("acme", "r1", now=NOW)
            items = (Given("b", 1.5, "results"),)
            assert kept == _receipt("r1", items=items, request=None, digest=None, given=2)

    def test_receipts_of_one_principal_are_erased_inside_a_commit(self) -> None:
        with self.opened() as store:
            _fill(store)
            for who in (_ANN, _BOB, ("globex", "ann")):
                store.receipts.keep(_receipt("r1", "a", who=who))
            assert store.receipts.count(ReceiptFilter("acme")) == 2
            with committing(store):
                assert store.receipts.erase(ReceiptFilter("acme", "ann")) == 1
            assert [one.who for one in _page(store)] == [_BOB]
            assert store.receipts.count(ReceiptFilter("globex", "ann")) == 1

    def test_what_a_failed_commit_erased_is_still_there(self) -> None:
        with self.opened() as store:
            store.receipts.keep(_receipt("r1"))
            try:
                with committing(store):
                    store.receipts.erase(ReceiptFilter("acme"))
                    raise KeyError
            except KeyError:
                assert _page(store) == [_receipt("r1")]


def _page(
    store: Store,
    *,
    principal: str | None = None,
    now: str = NOW,
    before: tuple[str, str, str] | None = None,
    most: int = 9,
) -> list[KeptReceipt]:
    found = store.receipts.page("acme", principal=principal, now=now, before=before, most=most)
    return list(found)


def _fill(store: Store) -> None:
    with committing(store):
        store.memories.write([new_memory("a"), new_memory("b")])
