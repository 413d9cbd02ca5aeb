"""`StoreContract`: what every store must do, as tests. Subclass it and say how to make one.

class TestMyStore(StoreContract):
    def new_store(self):
        return MyStore()

A store that outlives its handle keeps `LastingStoreContract` too, and says how to open it again and
how to copy it.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from recollect.model import (
    FrameDefinition,
    Garden,
    Place,
    Principal,
    Repaired,
    Weights,
)
from recollect.model.plain import metadata_of
from recollect.policy.keys import KeyRow
from recollect.ports.access import Act
from recollect.ports.edges import Likeness
from recollect.ports.store import (
    START,
    ClockState,
    Edge,
    FrameRow,
    Indexed,
    LostLinks,
    RowFilter,
    Store,
    Waiting,
)
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import VIEW, committing, standing, texts
from recollect.testing.log_contract import CopiedLogContract, LogContract
from recollect.testing.receipt_contract import ReceiptContract
from recollect.testing.record_contract import RecordContract
from recollect.testing.tenant_contract import TenantContract
from recollect.testing.use_contract import UseContract
from recollect.testing.version_contract import VersionContract

__all__ = ["LastingStoreContract", "StoreContract"]

_LATER = "2026-01-02T00:00:00Z"


class StoreContract(
    LogContract, ReceiptContract, RecordContract, TenantContract, UseContract, VersionContract
):
    """Tests of the store port. `new_store` gives an empty store, another one each time."""

    def new_store(self) -> Store:
        """Return the store to test."""
        raise TypeError("a subclass of StoreContract says how to make a store")

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        with closing(self.new_store()) as store:
            yield store

    def test_writing_again_replaces_a_row_and_keeps_its_number(self) -> None:
        with self.opened() as store:
            with committing(store):
                (first,) = store.memories.write([new_memory("a", "first", position=1)])
            with committing(store):
                (second,) = store.memories.write([new_memory("a", "second", updated_at=_LATER)])
            found = texts(store, "a").memories["a"]
        assert (first.created, second.created) == (True, False)
        assert first.row_id == second.row_id
        assert (found.content, found.created_at, found.updated_at) == ("second", NOW, _LATER)

    def test_where_a_memory_stands_is_written_as_given(self) -> None:
        place = Place("acme", "ann", "team", "red", "ops")
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a"), new_memory("b")])
            old = standing(store, "a")
            stands = old._replace(place=place, status="archived", reinforced=3, last_reinforced=7.0)
            with committing(store) as commit:
                store.memories.set_standing([stands], by="ann", at=NOW)
            assert standing(store, "a") == stands
            assert standing(store, "b").place == Place()
            (row,) = (
                row for batch in store.memories.changes(commit.before.head) for row in batch.rows
            )
            assert (row.memory.place, row.memory.reinforced) == (place, 3)

    def test_changes_tell_a_follower_everything_once(self) -> None:
        with self.opened() as store:
            with committing(store):
                written = store.memories.write([new_memory("a", vector=[1, 0]), new_memory("b")])
            first = list(store.memories.changes(START))
            rows = {row.memory.pak_id: row for batch in first for row in batch.rows}
            assert rows.keys() == {"a", "b"}
            assert rows["b"].vector is None
            assert list(rows["a"].vector) == [127, 0]  # type: ignore[arg-type]
            seen = first[-1].head
            assert seen == store.head()
            assert list(store.memories.changes(seen)) == []
            with committing(store):
                store.memories.erase(["a"])
            later = list(store.memories.changes(seen))
            assert [row for batch in later for row in batch.gone] == [written[0].row_id]
            assert [row for batch in later for row in batch.rows] == []

    def test_changes_hold_all_that_an_index_reads(self) -> None:
        new = new_memory(
            "a",
            "Use Celery.",
            title="Queues",
            tags=("django",),
            category="instruction",
            project="shop",
            confidence=0.5,
            thread="talk",
            position=3,
            speaker="Ann",
            occurred_at="2025-05-05",
            valid_from="2025-01-01T00:00:00Z",
            valid_until="2027-01-01T00:00:00Z",
            updated_at=NOW,
            status="quarantined",
            decay=0.25,
            reinforced=2,
            last_reinforced=9.0,
            risks=("imperative", "role"),
            place=Place("acme", "ann", "team", "red", "roses"),
            pending=True,
        )
        with self.opened() as store:
            with committing(store):
                store.memories.write([new])
            (row,) = (row for batch in store.memories.changes(START) for row in batch.rows)
        for name in Indexed._fields:
            assert getattr(row.memory, name) == getattr(new.memory, name), name
        assert row.pending

    def test_facts_are_the_fields_asked_for_with_their_head(self) -> None:
        place = Place("acme", "ann", "team", "red", "roses")
        said = metadata_of({"a": [1, {"b": None}]})
        fields: dict[str, Any] = {"thread": "talk", "entity": "Ann", "tags": ("x", "y")}
        fields |= {"metadata": said}
        with self.opened() as store:
            with committing(store):
                one, other = store.memories.write(
                    [new_memory("a", title="A", place=place, **fields), new_memory("b", title="B")]
                )
            names = ("title", "thread", "tags", "team", "pak_id", "metadata")
            found = store.memories.facts(names, None)
            assert found.head == store.head()
            rows = sorted(tuple(row) for row in found.rows)
            assert rows == [
                (one.row_id, "A", "talk", ("x", "y"), "red", "a", said),
                (other.row_id, "B", None, (), None, "b", {}),
            ]
            named = store.memories.facts(("entity",), [other.row_id, one.row_id, 10**6])
            assert sorted(named.rows) == [(one.row_id, "Ann"), (other.row_id, None)]
            assert store.memories.facts(("entity",), []).rows == []

    def test_an_end_is_moved_and_nothing_else(self) -> None:
        with self.opened() as store:
            with committing(store):
                new = new_memory("a", ttl=60.0, valid_until="2027-01-01T00:00:00Z")
                (one,) = store.memories.write([new])
            seen = store.head()
            with committing(store):
                store.memories.set_ends({one.row_id: "2028-01-01T00:00:00Z"})
            (row,) = (row for batch in store.memories.changes(seen) for row in batch.rows)
            assert row.memory.valid_until == "2028-01-01T00:00:00Z"
            assert row.memory.updated_at == new.memory.updated_at
            assert store.examine().problems == ()

    def test_edges_are_kept_changed_and_removed(self) -> None:
        with self.opened() as store:
            with committing(store):
                low, high = (
                    one.row_id for one in store.memories.write([new_memory("a"), new_memory("b")])
                )
                store.edges.put([Edge(low, high, 0.65, automatic=True)])
            assert store.edges.touching([low]) == [Edge(low, high, 0.65, automatic=True)]
            pairs = [(low, high), (low, high + 1), (low - 1, high)]
            assert store.edges.between(pairs) == [Edge(low, high, 0.65, automatic=True)]
            seen = store.head()
            with committing(store):
                store.edges.put([Edge(low, high, 0.0, automatic=True)])
            assert store.edges.touching([high]) == []
            edges = [edge for batch in store.memories.changes(seen) for edge in batch.edges]
            assert edges == [(low, high, 0.0)]

    def test_lists_of_the_most_alike_are_kept_and_changed(self) -> None:
        with self.opened() as store:
            with committing(store):
                new = [new_memory(name) for name in "abcd"]
                a, b, c, d = (one.row_id for one in store.memories.write(new))
                store.edges.change_lists(
                    [
                        Likeness(a, b, 0.7),
                        Likeness(a, c, 0.9),
                        Likeness(b, a, 0.7),
                        Likeness(c, d, 0.8),
                    ],
                    [],
                )
            assert sorted(store.edges.lists([a, c])) == [
                Likeness(a, b, 0.7),
                Likeness(a, c, 0.9),
                Likeness(c, d, 0.8),
            ]
            assert store.edges.last_of_full([a, b, c, d], 2) == {a: 0.7}
            assert store.edges.full_lists_with([c], 2) == [a]
            assert store.edges.full_lists_with([b, d], 1) == [a, c]
            assert store.edges.full_lists_with([a, b], 1) == []
            with committing(store):
                store.edges.change_lists([], [Likeness(a, b, 0.7)])
            assert list(store.edges.lists([a])) == [Likeness(a, c, 0.9)]

    def test_who_is_taken_out_is_in_no_list_and_has_no_automatic_edge(self) -> None:
        with self.opened() as store:
            with committing(store):
                new = [new_memory(name) for name in "abc"]
                a, b, c = (one.row_id for one in store.memories.write(new))
                store.edges.change_lists(
                    [Likeness(a, b, 0.7), Likeness(b, a, 0.7), Likeness(b, c, 0.8)], []
                )
                store.edges.put([Edge(a, b, 0.7, automatic=True), Edge(a, c, 0.5, automatic=False)])
            seen = store.head()
            with committing(store):
                store.edges.take_out([a])
            assert list(store.edges.lists([a, b, c])) == [Likeness(b, c, 0.8)]
            assert store.edges.touching([a, b, c]) == [Edge(a, c, 0.5, automatic=False)]
            edges = [edge for batch in store.memories.changes(seen) for edge in batch.edges]
            assert edges == [(a, b, 0.0)]
            with committing(store):
                store.memories.erase(["c"])
            assert list(store.edges.lists([a, b])) == []

    def test_disputes_open_and_close(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a"), new_memory("b")])
                store.edges.dispute(("b", "a"), note="which?", now=NOW)
            (dispute,) = store.edges.disputes()
            assert {dispute.first, dispute.second} == {"a", "b"}
            with committing(store):
                assert store.edges.resolve(("a", "b"))
            assert store.edges.disputes() == []

    def test_what_hangs_on_a_forgotten_memory_goes_with_it(self) -> None:
        with self.opened() as store:
            with committing(store):
                low, high = (
                    one.row_id for one in store.memories.write([new_memory("a"), new_memory("b")])
                )
                store.edges.put([Edge(low, high, 0.5, automatic=False)])
                store.edges.dispute(("a", "b"), note="", now=NOW)
            with committing(store):
                assert store.memories.erase(["a"]) == 1
                assert store.memories.erase(["a"]) == 0
            assert store.memories.traces(["a"]) == []
            assert store.memories.traces(["b"])
            assert store.edges.touching([high]) == []
            assert store.edges.disputes() == []

    def test_pending_vectors_are_filled(self) -> None:
        with self.opened() as store:
            with committing(store):
                (written,) = store.memories.write([new_memory("a", "text", pending=True)])
            assert store.vectors.waiting(10) == [Waiting(written.row_id, "a", "text", "text")]
            vector = new_memory("x", vector=[1, 1]).vector
            with committing(store):
                store.vectors.put({written.row_id: vector})
            assert store.vectors.waiting(10) == []
            (row,) = (row for batch in store.memories.changes(START) for row in batch.rows)
            assert list(row.vector) == [127, 127]  # type: ignore[arg-type]

    def test_events_name_the_revision_they_fired_at(self) -> None:
        with self.opened() as store:
            assert store.state.events() == {}
            with committing(store):
                store.state.fire("curate_complete")
            fired = store.state.events()["curate_complete"]
            assert fired == store.state.read().revision
            with committing(store):
                store.state.fire("curate_complete")
            assert store.state.events()["curate_complete"] > fired

    def test_memories_are_found_by_their_rows_as_well(self) -> None:
        theirs = new_memory("theirs", place=Place(owner="bob"))
        with self.opened() as store:
            with committing(store):
                written = store.memories.write([new_memory("a"), theirs, new_memory("b")])
            rows = [one.row_id for one in written]
            wanted = RowFilter(row_ids=(*reversed(rows), max(rows) + 1, rows[0]))
            found = store.memories.read(wanted, VIEW)
            assert list(found.memories) == ["b", "a"]
            assert found == texts(store, "b", "a")

    def test_a_view_hides_what_it_does_not_allow(self) -> None:
        theirs = new_memory("theirs", place=Place(owner="bob"))
        held = new_memory("held", status="quarantined")
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("mine"), theirs, held])
            assert list(texts(store, "mine", "theirs", "held").memories) == ["mine"]
            standing = store.memories.standing(RowFilter(pak_ids=("theirs", "nobody")))
        assert standing["theirs"].place == Place(owner="bob")
        assert standing.keys() == {"theirs"}

    def test_gardens_go_with_their_members_and_leave_memories_alone(self) -> None:
        garden = Garden("acme", "ops", "Operations", "team", "red", 0.5, NOW)
        inside = Place("acme", "ann", "team", "red", "ops")
        with self.opened() as store:
            with committing(store):
                store.access.put_garden(garden)
                store.access.set_role("acme", "ops", "ann", "admin")
                store.access.set_role("acme", "ops", "bob", "reader")
                store.memories.write([new_memory("a", place=inside)])
            assert store.access.gardens("acme") == {"ops": garden}
            assert store.access.gardens("other") == {}
            assert store.access.members("acme", "ops") == {"ann": "admin", "bob": "reader"}
            assert store.access.roles_of("acme", "bob") == {"ops": "reader"}
            with committing(store):
                assert store.access.set_role("acme", "ops", "bob", "writer")
                assert not store.access.set_role("acme", "ops", "cid", None)
            assert store.access.roles_of("acme", "bob") == {"ops": "writer"}
            with committing(store):
                store.access.delete_garden("acme", "ops")
            assert store.access.roles_of("acme", "bob") == {}
            assert store.access.gardens("acme") == {}
            assert standing(store, "a").place == inside

    def test_trust_keys_and_acts_belong_to_a_tenant(self) -> None:
        key = KeyRow("ab12", "digest", Principal("acme", "ann"), "laptop", NOW)
        with self.opened() as store:
            with committing(store):
                store.access.set_trust("acme", "peer", 0.4)
                store.access.put_key(key)
                store.access.note(Act(NOW, "acme", "ann", "trust.set", "peer"))
            assert store.access.trusts("acme") == {"peer": 0.4}
            assert store.access.trusts("other") == {}
            assert store.access.key("ab12") == key
            assert store.access.keys("other") == []
            assert store.access.keys("acme") == store.access.keys(None) == [key]
            with committing(store):
                store.access.put_key(replace(key, revoked_at=NOW))
            assert store.access.keys(None) == [replace(key, revoked_at=NOW)]
            assert store.access.key("cd34") is None
            (act,) = store.access.acts("acme", limit=10, before=None)
            assert (act.principal, act.act, act.target) == ("ann", "trust.set", "peer")
            assert store.access.acts("other", limit=10, before=None) == []

    def test_a_store_is_plain_until_something_beside_memories_counts(self) -> None:
        garden = Garden("acme", "ops", "Operations", "team", "red", 0.5, NOW)
        with self.opened() as store:

            def plain() -> list[bool]:
                asked = (("acme", "ann"), ("acme", "bob"), ("other", "ann"))
                heads = [store.access.plain_at(*who) for who in asked]
                assert {*heads} <= {None, store.head()}
                return [head is not None for head in heads]

            with committing(store):
                store.memories.write([new_memory("a"), new_memory("b")])
            assert plain() == [True, True, True]
            with committing(store):
                store.access.put_garden(garden)
                store.access.set_role("acme", "ops", "ann", "admin")
            assert plain() == [False, False, True]
            with committing(store):
                store.access.delete_garden("acme", "ops")
            assert plain() == [True, True, True]
            with committing(store):
                store.edges.dispute(("a", "b"), note="", now=NOW)
            assert plain() == [False, False, False]
            with committing(store):
                store.edges.resolve(("a", "b"))
                store.access.set_trust("other", "peer", 1.0)
            assert plain() == [True, True, False]

    def test_paks_are_found_by_what_they_are_about(self) -> None:
        with self.opened() as store:
            with committing(store):
                written = store.memories.write(
                    [
                        new_memory("a", entity="Ann  Lee", relation="Likes", value="tea"),
                        new_memory("b", entity="Bob", relation="knows", value="ann lee"),
                        new_memory("c", entity="Cid", source="Peer One"),
                    ]
                )
            a, b, c = (one.row_id for one in written)
            found = {
                RowFilter(tenant="local", about="ANN LEE"): [a, b],
                RowFilter(tenant="other", about="ANN LEE"): [],
                RowFilter(source="  PEER  one"): [c],
                RowFilter(relation="LIKES"): [a],
                RowFilter(entity="ann lee", relation="likes"): [a],
                RowFilter(entity="ann lee", pak_ids=("b", "c")): [],
                RowFilter(pak_ids=()): [],
                RowFilter(): [a, b, c],
            }
            for where, rows in found.items():
                assert store.memories.rows(where) == rows, where

    def test_tidying_tells_older_followers_to_start_anew(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a")])
            seen = store.head()
            with committing(store):
                store.memories.erase(["a"])
            with committing(store):
                store.state.tidy()
            assert not store.state.knows(seen)
            assert store.state.knows(store.head())
            assert [row for batch in store.memories.changes(START) for row in batch.rows] == []
            assert store.check() == store.examine().problems == ()
            assert store.memories.unreadable() == frozenset()
            assert store.memories.unreadable_places() == frozenset()

    def test_a_store_without_damage_has_nothing_to_repair(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", vector=[1, 0])])
            seen, known = store.head(), texts(store, "a").memories
            asked: list[LostLinks] = []
            done = store.repair(
                lambda: store.commit("repair", at=NOW), at=NOW, link_again=asked.append
            )
            assert (done, asked) == (Repaired(), [])
            assert not store.state.knows(seen)
            assert texts(store, "a").memories == known
            with committing(store):
                assert store.discard() == 0

    def test_reembedding_counts_how_far_it_is(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.state.set_model("old", 2)
                store.memories.write([new_memory(f"p{n}", vector=[1, 0]) for n in range(3)])
            with committing(store):
                store.vectors.begin_switch("new", 2)
            assert (store.state.count().memories, store.state.count().reembedded) == (3, 0)
            vector = new_memory("x", vector=[0, 1]).vector
            assert vector is not None
            with committing(store):
                (waiting,) = store.vectors.waiting(1, slot="next")
                store.vectors.put({waiting.row_id: vector}, slot="next")
            assert store.state.count().reembedded == 1
            with committing(store):
                store.vectors.begin_switch("new", 2)
            assert store.state.count().reembedded == 1
            with committing(store):
                store.vectors.begin_switch("another", 2)
            assert store.state.count().reembedded == 0

    def test_reembedding_serves_the_old_until_the_new_are_complete(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.state.set_model("old", 2)
                (written,) = store.memories.write([new_memory("a", "text", vector=[1, 0])])
            with committing(store):
                store.vectors.begin_switch("new", 3)
            assert store.vectors.waiting(10, slot="next") == [
                Waiting(written.row_id, "a", "text", "text")
            ]
            new = new_memory("x", vector=[0, 0, 1]).vector
            assert new is not None
            with committing(store):
                store.vectors.put({written.row_id: new}, slot="next")
            assert store.vectors.waiting(10, slot="next") == []
            assert store.state.read().model_id == "old"
            with committing(store):
                store.vectors.finish_switch()
            state = store.state.read()
            assert (state.model_id, state.dimension) == ("new", 3)
            (row,) = (row for batch in store.memories.changes(START) for row in batch.rows)
            assert list(row.vector) == [0, 0, 127]  # type: ignore[arg-type]


class LastingStoreContract(StoreContract, CopiedLogContract):
    """Tests of a store that outlives its handles, may have several of them, and can be copied."""

    def open_again(self, store: Store) -> Store:
        """Return another handle on the same store, which may be closed by now."""
        raise TypeError(f"a subclass of LastingStoreContract says how to open {store} again")

    def test_what_was_written_is_there_after_opening_again(self) -> None:
        new = new_memory("a", "Use Celery.", tags=("django",), confidence=0.5, project="shop")
        with self.opened() as store, committing(store):
            (written,) = store.memories.write([new])
        with closing(self.open_again(store)) as again:
            found = texts(again, "a").memories["a"]
        assert written.created
        assert (found.content, found.tags, found.confidence, found.project) == (
            "Use Celery.",
            ("django",),
            0.5,
            "shop",
        )
        assert (found.created_at, found.updated_at) == (NOW, NOW)

    def test_the_clock_the_model_and_frames_are_kept(self) -> None:
        frame = FrameDefinition("mine", Weights(0.4, 0.4, 0.1, 0.05, 0.05))
        with self.opened() as store, committing(store):
            store.state.set_clock(ClockState(3.5, 1000.0))
            store.state.set_model("m", 2)
            store.state.put_frame("acme", "mine", FrameRow(frame, "attention"))
        with closing(self.open_again(store)) as again:
            state = again.state.read()
            assert state.clock == ClockState(3.5, 1000.0)
            assert (state.model_id, state.dimension) == ("m", 2)
            assert again.state.frames("acme") == {"mine": FrameRow(frame, "attention")}
            assert again.state.frames("other") == {}

    def test_a_snapshot_is_one_state_whatever_others_write(self) -> None:
        with self.opened() as store, closing(self.open_again(store)) as other:
            with store.snapshot() as before:
                with committing(other):
                    other.memories.write([new_memory("a")])
                assert store.state.read() == before
                assert texts(store, "a").memories == {}
                assert list(store.memories.changes(before.head)) == []
            assert store.state.read().revision == before.revision + 1
            assert "a" in texts(store, "a").memories
