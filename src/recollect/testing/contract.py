"""`StoreContract`: what every store must do, as tests. Subclass it and say how to open one.

class TestMyStore(StoreContract):
    def open_store(self, path):
        return MyStore.open(path)
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recollect.model import (
    LOCAL_PRINCIPAL,
    FrameDefinition,
    Garden,
    Place,
    Principal,
    Weights,
)
from recollect.policy import view_of
from recollect.policy.keys import KeyRow
from recollect.ports.access import Act
from recollect.ports.likenesses import Likeness
from recollect.ports.store import ClockState, Edge, Indexed, MemoryStore
from recollect.testing.builders import new_memory

__all__ = ["StoreContract"]

_NOW = "2026-01-01T00:00:00Z"
_VIEW = view_of(LOCAL_PRINCIPAL, {})


class StoreContract:
    """Tests of the store port. `open_store` opens, or opens again, the store of one path."""

    def open_store(self, path: Path) -> MemoryStore:
        """Return the store to test."""
        raise TypeError(f"a subclass of StoreContract says how to open a store at {path}")

    @contextmanager
    def opened(self, path: Path) -> Iterator[MemoryStore]:
        """Open the store for the body of a `with`."""
        with closing(self.open_store(path)) as store:
            yield store

    def test_what_was_written_is_there_after_opening_again(self, tmp_path: Path) -> None:
        new = new_memory("a", "Use Celery.", tags=("django",), confidence=0.5, project="shop")
        with self.opened(tmp_path) as store, store.transaction():
            (written,) = store.write([new], now=_NOW)
        with self.opened(tmp_path) as store:
            found = store.memories(["a"], _VIEW)["a"]
        assert written.created
        assert (found.content, found.tags, found.confidence, found.project) == (
            "Use Celery.",
            ("django",),
            0.5,
            "shop",
        )
        assert (found.created_at, found.updated_at) == (_NOW, _NOW)

    def test_writing_again_replaces_but_keeps_what_was_lived_through(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new_memory("a", "first")], now=_NOW)
                store.reinforce(["a"], active_hours=7.0)
            with store.transaction():
                (written,) = store.write([new_memory("a", "second")], now=_NOW)
            found = store.memories(["a"], _VIEW)["a"]
        assert not written.created
        assert (found.content, found.reinforced, found.last_reinforced) == ("second", 1, 7.0)

    def test_counting_uses_says_what_became_of_whom(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                written = store.write([new_memory("a"), new_memory("b")], now=_NOW)
                store.reinforce(["b"], active_hours=1.0)
            with store.transaction() as revision:
                used = store.reinforce(["a", "b", "unknown"], active_hours=7.0)
            assert store.state().revision == revision
        rows = [one.row_id for one in written]
        assert sorted((one.row_id, one.reinforced) for one in used) == [(rows[0], 1), (rows[1], 2)]
        assert {one.last_reinforced for one in used} == {7.0}

    def test_a_failed_transaction_leaves_nothing(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            before = store.state().revision
            try:
                with store.transaction():
                    store.write([new_memory("a")], now=_NOW)
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert store.memories(["a"], _VIEW) == {}
            assert store.state().revision == before

    def test_changes_tell_a_follower_everything_once(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                written = store.write([new_memory("a", vector=[1, 0]), new_memory("b")], now=_NOW)
            first = list(store.changes(0))
            rows = {row.memory.pak_id: row for batch in first for row in batch.rows}
            assert rows.keys() == {"a", "b"}
            assert rows["b"].vector is None
            assert list(rows["a"].vector) == [127, 0]  # type: ignore[arg-type]
            revision = first[-1].revision
            assert list(store.changes(revision)) == []
            with store.transaction():
                store.erase(["a"])
            later = list(store.changes(revision))
            assert [row for batch in later for row in batch.gone] == [written[0].row_id]
            assert [row for batch in later for row in batch.rows] == []

    def test_changes_hold_all_that_an_index_reads(self, tmp_path: Path) -> None:
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
            valid_until="2027-01-01T00:00:00Z",
            updated_at=_NOW,
            status="quarantined",
            decay=0.25,
            reinforced=2,
            last_reinforced=9.0,
            risks=("imperative", "role"),
            place=Place("acme", "ann", "team", "red", "roses"),
            pending=True,
        )
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new], now=_NOW)
            (row,) = (row for batch in store.changes(0) for row in batch.rows)
        for name in Indexed._fields:
            assert getattr(row.memory, name) == getattr(new.memory, name), name
        assert row.pending

    def test_edges_are_kept_changed_and_removed(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                low, high = (
                    one.row_id for one in store.write([new_memory("a"), new_memory("b")], now=_NOW)
                )
                store.put_edges([Edge(low, high, 0.65, automatic=True)])
            assert store.edges([low]) == [Edge(low, high, 0.65, automatic=True)]
            revision = store.state().revision
            with store.transaction():
                store.put_edges([Edge(low, high, 0.0, automatic=True)])
            assert store.edges([high]) == []
            edges = [edge for batch in store.changes(revision) for edge in batch.edges]
            assert edges == [(low, high, 0.0)]

    def test_lists_of_the_most_alike_are_kept_and_changed(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                new = [new_memory(name) for name in "abcd"]
                a, b, c, d = (one.row_id for one in store.write(new, now=_NOW))
                lists = store.likenesses
                lists.put(
                    [
                        Likeness(a, b, 0.7),
                        Likeness(a, c, 0.9),
                        Likeness(b, a, 0.7),
                        Likeness(c, d, 0.8),
                    ]
                )
            assert _ordered(lists.lists([a, c])) == [
                Likeness(a, b, 0.7),
                Likeness(a, c, 0.9),
                Likeness(c, d, 0.8),
            ]
            assert lists.last_of_full([a, b, c, d], 2) == {a: 0.7}
            assert lists.full_lists_with([c], 2) == [a]
            assert lists.full_lists_with([b, d], 1) == [a, c]
            assert lists.full_lists_with([a, b], 1) == []
            with store.transaction():
                lists.drop([Likeness(a, b, 0.7)])
            assert lists.lists([a]) == [Likeness(a, c, 0.9)]

    def test_who_is_taken_out_is_in_no_list_and_has_no_automatic_edge(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                new = [new_memory(name) for name in "abc"]
                a, b, c = (one.row_id for one in store.write(new, now=_NOW))
                store.likenesses.put(
                    [Likeness(a, b, 0.7), Likeness(b, a, 0.7), Likeness(b, c, 0.8)]
                )
                store.put_edges([Edge(a, b, 0.7, automatic=True), Edge(a, c, 0.5, automatic=False)])
            revision = store.state().revision
            with store.transaction():
                store.likenesses.take_out([a])
            assert store.likenesses.lists([a, b, c]) == [Likeness(b, c, 0.8)]
            assert store.edges([a, b, c]) == [Edge(a, c, 0.5, automatic=False)]
            edges = [edge for batch in store.changes(revision) for edge in batch.edges]
            assert edges == [(a, b, 0.0)]
            with store.transaction():
                store.erase(["c"])
            assert store.likenesses.lists([a, b]) == []

    def test_disputes_open_and_close(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new_memory("a"), new_memory("b")], now=_NOW)
                store.dispute("b", "a", note="which?", now=_NOW)
            (dispute,) = store.disputes()
            assert {dispute.first, dispute.second} == {"a", "b"}
            with store.transaction():
                assert store.resolve("a", "b")
            assert store.disputes() == []

    def test_what_hangs_on_a_forgotten_memory_goes_with_it(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                low, high = (
                    one.row_id for one in store.write([new_memory("a"), new_memory("b")], now=_NOW)
                )
                store.put_edges([Edge(low, high, 0.5, automatic=False)])
                store.dispute("a", "b", note="", now=_NOW)
            with store.transaction():
                assert store.erase(["a"]) == 1
                assert store.erase(["a"]) == 0
            assert store.traces(["a"]) == []
            assert store.traces(["b"])
            assert store.edges([high]) == []
            assert store.disputes() == []

    def test_the_clock_the_model_and_frames_are_kept(self, tmp_path: Path) -> None:
        frame = FrameDefinition("mine", Weights(0.4, 0.4, 0.1, 0.05, 0.05))
        with self.opened(tmp_path) as store, store.transaction():
            store.set_clock(ClockState(3.5, 1000.0))
            store.set_model("m", 2)
            store.put_frame("acme", frame, "attention")
        with self.opened(tmp_path) as store:
            state = store.state()
            assert state.clock == ClockState(3.5, 1000.0)
            assert (state.model_id, state.dimension) == ("m", 2)
            assert store.frames("acme") == {"mine": (frame, "attention")}
            assert store.frames("other") == {}

    def test_pending_vectors_are_filled(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new_memory("a", "text", pending=True)], now=_NOW)
            assert store.pending(10) == [("a", "text")]
            vector = new_memory("x", vector=[1, 1]).vector
            with store.transaction():
                store.set_vectors({"a": vector})
            assert store.pending(10) == []
            (row,) = (row for batch in store.changes(0) for row in batch.rows)
            assert list(row.vector) == [127, 127]  # type: ignore[arg-type]

    def test_events_name_the_revision_they_fired_at(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            assert store.events() == {}
            with store.transaction():
                store.fire("curate_complete")
            fired = store.events()["curate_complete"]
            assert fired == store.state().revision
            with store.transaction():
                store.fire("curate_complete")
            assert store.events()["curate_complete"] > fired

    def test_memories_are_found_by_their_rows_as_well(self, tmp_path: Path) -> None:
        theirs = new_memory("theirs", place=Place(owner="bob"))
        with self.opened(tmp_path) as store:
            with store.transaction():
                written = store.write([new_memory("a"), theirs, new_memory("b")], now=_NOW)
            rows = [one.row_id for one in written]
            found = store.memories_at([*reversed(rows), max(rows) + 1, rows[0]], _VIEW)
            assert list(found.items()) == list(store.memories(["b", "a"], _VIEW).items())

    def test_a_view_hides_what_it_does_not_allow(self, tmp_path: Path) -> None:
        theirs = new_memory("theirs", place=Place(owner="bob"))
        held = new_memory("held", status="quarantined")
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new_memory("mine"), theirs, held], now=_NOW)
            assert list(store.memories(["mine", "theirs", "held"], _VIEW)) == ["mine"]
            standing = store.standing(["theirs", "nobody"])
        assert standing["theirs"].place == Place(owner="bob")
        assert standing.keys() == {"theirs"}

    def test_gardens_have_members_and_leave_paks_to_their_owners(self, tmp_path: Path) -> None:
        garden = Garden("acme", "ops", "Operations", "team", "red", 0.5, _NOW)
        inside = Place("acme", "ann", "team", "red", "ops")
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.access.put_garden(garden)
                store.access.put_member("acme", "ops", "ann", "admin")
                store.access.put_member("acme", "ops", "bob", "reader")
                store.write([new_memory("a", place=inside)], now=_NOW)
            assert store.access.gardens("acme") == {"ops": garden}
            assert store.access.gardens("other") == {}
            assert store.access.garden("acme", "ops") == garden
            assert store.access.garden("other", "ops") is None
            assert store.access.members("acme", "ops") == {"ann": "admin", "bob": "reader"}
            assert store.access.roles_of("acme", "bob") == {"ops": "reader"}
            with store.transaction():
                assert store.access.delete_garden("acme", "ops") == 1
            assert store.access.roles_of("acme", "bob") == {}
            assert store.standing(["a"])["a"].place == Place("acme", "ann", "local")

    def test_trust_keys_and_acts_belong_to_a_tenant(self, tmp_path: Path) -> None:
        key = KeyRow("ab12", "digest", Principal("acme", "ann"), "laptop", _NOW)
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.access.set_trust("acme", "peer", 0.4)
                store.access.put_key(key)
                store.access.note(Act(_NOW, "acme", "ann", "trust.set", "peer"))
            assert store.access.trusts("acme") == {"peer": 0.4}
            assert store.access.trusts("other") == {}
            assert store.access.key("ab12") == key
            assert store.access.keys("other") == []
            assert store.access.keys("acme") == store.access.keys(None) == [key]
            with store.transaction():
                assert not store.access.revoke_key("other", "ab12", now=_NOW)
                assert store.access.revoke_key("acme", "ab12", now=_NOW)
            revoked = store.access.key("ab12")
            assert revoked is not None
            assert revoked.revoked_at == _NOW
            (act,) = store.access.acts("acme", limit=10, before=None)
            assert (act.principal, act.act, act.target) == ("ann", "trust.set", "peer")
            assert store.access.acts("other", limit=10, before=None) == []

    def test_paks_are_found_by_what_they_are_about(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                written = store.write(
                    [
                        new_memory("a", entity="Ann  Lee", relation="likes", value="tea"),
                        new_memory("b", entity="Bob", relation="knows", value="ann lee"),
                        new_memory("c", entity="Cid", source="peer"),
                    ],
                    now=_NOW,
                )
            assert store.about("local", "ANN LEE") == ["a", "b"]
            assert store.about("other", "ANN LEE") == []
            assert store.rows_with(source="peer") == [written[2].row_id]
            assert store.rows_with(entity="ann lee", relation="likes") == [written[0].row_id]

    def test_a_snapshot_is_one_state_whatever_others_write(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store, self.opened(tmp_path) as other:
            with store.snapshot():
                before = store.state()
                with other.transaction():
                    other.write([new_memory("a")], now=_NOW)
                assert store.state() == before
                assert store.memories(["a"], _VIEW) == {}
                assert list(store.changes(before.revision)) == []
            assert store.state().revision > before.revision
            assert "a" in store.memories(["a"], _VIEW)

    def test_tidying_tells_older_followers_to_start_anew(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.write([new_memory("a")], now=_NOW)
            seen = store.state().revision
            with store.transaction():
                store.erase(["a"])
            with store.transaction():
                store.tidy()
            assert store.state().oldest_change > seen
            assert [row for batch in store.changes(0) for row in batch.rows] == []
            assert store.check() == ()

    def test_reembedding_counts_how_far_it_is(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.set_model("old", 2)
                store.write([new_memory(f"p{n}", vector=[1, 0]) for n in range(3)], now=_NOW)
            with store.transaction():
                store.begin_reembedding("new", 2)
            assert (store.count()["memories"], store.count()["reembedded"]) == (3, 0)
            vector = new_memory("x", vector=[0, 1]).vector
            assert vector is not None
            with store.transaction():
                store.set_next_vectors({store.without_next_vector(0, 1)[0][0]: vector})
            assert store.count()["reembedded"] == 1
            with store.transaction():
                store.begin_reembedding("new", 2)
            assert store.count()["reembedded"] == 1
            with store.transaction():
                store.begin_reembedding("another", 2)
            assert store.count()["reembedded"] == 0

    def test_reembedding_serves_the_old_until_the_new_are_complete(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as store:
            with store.transaction():
                store.set_model("old", 2)
                (written,) = store.write([new_memory("a", "text", vector=[1, 0])], now=_NOW)
            with store.transaction():
                store.begin_reembedding("new", 3)
            assert store.without_next_vector(0, 10) == [(written.row_id, "text")]
            new = new_memory("x", vector=[0, 0, 1]).vector
            assert new is not None
            with store.transaction():
                store.set_next_vectors({written.row_id: new})
            assert store.without_next_vector(0, 10) == []
            assert store.state().model_id == "old"
            with store.transaction():
                store.finish_reembedding()
            state = store.state()
            assert (state.model_id, state.dimension) == ("new", 3)
            (row,) = (row for batch in store.changes(0) for row in batch.rows)
            assert list(row.vector) == [0, 0, 127]  # type: ignore[arg-type]


def _ordered(near: list[Likeness]) -> list[Likeness]:
    return sorted(near, key=lambda one: (one.row_id, one.other))
