"""What every store must do about uses, as tests; part of `StoreContract`.

Uses are one principal's own: what is counted for one is not read for another.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.ports.store import Edge, Store, Used, UsedLink, Uses
from recollect.ports.uses import MOST_LINK_USES, MOST_USES
from recollect.testing.builders import new_memory
from recollect.testing.commit_contract import committing, standing

__all__ = ["UseContract"]

_ANN, _BOB = ("acme", "ann"), ("acme", "bob")


class UseContract:
    """Tests of the uses of each principal. `opened` gives an empty store."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        raise TypeError("a subclass of UseContract says how to open a store")
        yield

    def test_uses_are_counted_for_one_principal_from_where_a_memory_began(self) -> None:
        with self.opened() as store:
            a, b = _linked(store)
            seen = store.head()
            with committing(store):
                counted = store.uses.count(_ANN, ["b", "a", "nobody"], at=5.0)
            assert counted == Uses([Used(a, 3, 5.0), Used(b, 1, 5.0)], [UsedLink(a, b, 1)])
            assert store.uses.of(_ANN) == counted
            hours = [one.last_reinforced for one in counted.memories]
            assert [type(hour) for hour in hours] == [float, float]
            assert store.uses.of(_BOB) == Uses([], [])
            assert standing(store, "a").reinforced == 2
            changes = list(store.memories.changes(seen))
            assert [batch.rows for batch in changes] == [()]
            assert changes[-1].used == {_ANN: None}
            with committing(store):
                store.uses.count(_ANN, ["a"], at=6.0)
            assert store.uses.of(_ANN).memories == [Used(a, 4, 6.0), Used(b, 1, 5.0)]

    def test_counts_have_an_end(self) -> None:
        with self.opened() as store:
            a, b = _linked(store)
            full = Uses([Used(a, MOST_USES, 1.0)], [UsedLink(a, b, MOST_LINK_USES)])
            with committing(store):
                store.uses.put(_ANN, full)
                store.uses.count(_ANN, ["a", "b"], at=2.0)
            assert store.uses.of(_ANN) == Uses(
                [Used(a, MOST_USES, 2.0), Used(b, 1, 2.0)], full.links
            )

    def test_uses_go_with_what_was_used(self) -> None:
        with self.opened() as store:
            a, b = _linked(store)
            with committing(store):
                store.uses.count(_ANN, ["a", "b"], at=5.0)
            with committing(store):
                store.edges.put([Edge(a, b, 0.7, automatic=False)])
            assert store.uses.of(_ANN).links == []
            with committing(store):
                store.uses.count(_ANN, ["a", "b"], at=6.0)
                store.edges.put([Edge(a, b, 0.0, automatic=False)])
            assert store.uses.of(_ANN).links == []
            with committing(store):
                store.edges.put([Edge(a, b, 0.5, automatic=True)])
                store.uses.count(_ANN, ["a", "b"], at=7.0)
            with committing(store):
                store.memories.erase(["a"])
            assert store.uses.of(_ANN) == Uses([Used(b, 3, 7.0)], [])

    def test_what_a_failed_commit_counted_was_not_used(self) -> None:
        with self.opened() as store:
            _linked(store)
            try:
                with committing(store):
                    store.uses.count(_ANN, ["a", "b"], at=5.0)
                    raise KeyError
            except KeyError:
                assert store.uses.of(_ANN) == Uses([], [])

    def test_uses_are_told_as_records(self) -> None:
        with self.opened() as store:
            _linked(store)
            with committing(store):
                store.uses.count(_BOB, ["a", "b"], at=5.0)
                store.uses.count(_ANN, ["a"], at=6.0)
            told = [dict(one.fields) for one in store.records.page("use", after=None, most=2)]
            assert [(one["pak_id"], one["principal"]) for one in told] == [
                ("a", "ann"),
                ("a", "bob"),
            ]
            assert (told[0]["reinforced"], told[0]["last_reinforced"]) == (3, 6.0)
            (link,) = store.records.page("link_use", after=None, most=9)
            assert dict(link.fields) == {
                "pak_id": "a",
                "other": "b",
                "tenant": "acme",
                "principal": "bob",
                "uses": 1,
            }
            assert (store.records.count()["use"], store.records.count()["link_use"]) == (3, 1)


def _linked(store: Store) -> tuple[int, int]:
    """Write two memories that are linked, one of which was used before; return their rows."""
    with committing(store):
        written = store.memories.write([new_memory("a", reinforced=2), new_memory("b")])
        a, b = (one.row_id for one in written)
        store.edges.put([Edge(a, b, 0.5, automatic=True)])
    return a, b
