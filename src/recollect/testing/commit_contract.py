"""What every store must do about commits, revisions and rows, as tests: a part of `StoreContract`.

The rules are those of `recollect.ports`; a store that was written from the port alone passes.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count

from recollect.errors import StoreError
from recollect.model import LOCAL_PRINCIPAL
from recollect.policy import view_of
from recollect.ports.store import (
    START,
    ClockState,
    Commit,
    Head,
    NewMemory,
    RowFilter,
    Standing,
    Store,
    Texts,
)
from recollect.testing.builders import NOW, new_memory

__all__ = ["VIEW", "CommitContract", "committing", "standing", "texts"]

VIEW = view_of(LOCAL_PRINCIPAL, {})
_NUMBERS = count(1)


class CommitContract:
    """Tests of how a store is written."""

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """Open an empty store for the body of a `with`."""
        raise TypeError("a subclass of CommitContract says how to open a store")
        yield

    def test_a_store_at_rest_has_no_connection_open_and_goes_on(self) -> None:
        with self.opened() as store:
            for number in range(3):
                with store.commit(f"commit {number}", at=NOW):
                    store.memories.write([new_memory(f"memory {number}")])
                store.rest()
                assert store.connections() == 0
                assert store.head().revision == number + 1
            with store.snapshot():
                store.rest()
                assert store.head().revision == 3

    def test_a_commit_is_one_revision_whatever_is_in_it(self) -> None:
        with self.opened() as store:
            assert store.head() == Head(0, None)
            with store.commit("first", at=NOW) as first:
                store.memories.write([new_memory(name) for name in "abc"])
                assert store.head() == store.state.read().head == Head(1, "first")
            with store.commit("second", at=NOW) as second:
                store.memories.write([new_memory("a", "another text")])
                store.memories.erase(["b", "c"])
            with store.commit("third", at=NOW):
                pass
            assert store.head() == Head(3, "third")
            assert (first.revision, first.commit_id, first.before.revision) == (1, "first", 0)
            assert (second.revision, second.before.head) == (2, Head(1, "first"))
            names = ("first", "second", "third")
            log = [(number, name, NOW) for number, name in enumerate(names, 1)]
            made = [(one.revision, one.commit_id, one.at) for one in store.state.commits(0)]
            assert made == log
            assert list(store.state.commits(2)) == list(store.state.commits(0))[2:]

    def test_a_store_knows_the_heads_that_it_had_and_no_others(self) -> None:
        with self.opened() as store:
            assert store.state.knows(START)
            assert not store.state.knows(Head(1, "first"))
            with store.commit("first", at=NOW):
                store.memories.write([new_memory("a")])
                assert store.state.knows(START)
                assert not store.state.knows(Head(1, "of another history"))
            with store.commit("second", at=NOW) as second:
                assert store.state.knows(second.before.head)
            for head in (START, Head(1, "first"), Head(2, "second")):
                assert store.state.knows(head), head
            for head in (
                Head(0, "first"),
                Head(1, "second"),
                Head(1, None),
                Head(2, None),
                Head(2, "of another history"),
                Head(3, "third"),
            ):
                assert not store.state.knows(head), head

    def test_a_commit_that_fails_is_not_known(self) -> None:
        with self.opened() as store:
            try:
                with store.commit("lost", at=NOW):
                    store.memories.write([new_memory("a")])
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert not store.state.knows(Head(1, "lost"))
            with store.commit("kept", at=NOW):
                store.memories.write([new_memory("a")])
            assert not store.state.knows(Head(1, "lost"))

    def test_a_commit_that_fails_never_was(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "kept")])
                store.state.set_clock(ClockState(1.0, 2.0))
            before, log = store.state.read(), store.state.commits(0)
            known = texts(store, "a", "b"), store.state.count()
            try:
                with committing(store):
                    store.memories.write([new_memory("a", "lost"), new_memory("b")])
                    store.memories.erase(["a"])
                    store.state.set_clock(ClockState(9.0, 9.0))
                    store.state.fire("lost")
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert (store.state.read(), store.state.commits(0)) == (before, log)
            assert (texts(store, "a", "b"), store.state.count()) == known
            assert store.state.events() == {}
            assert list(store.memories.changes(before.head)) == []

    def test_what_a_tenant_has_is_counted_for_it_alone(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "Käse"), new_memory("b", "kiln")])
            tenant = new_memory("a").memory.place.tenant
            assert store.state.holdings(tenant) == (2, len("Käse".encode()) + 4)
            assert store.state.holdings("another") == (0, 0)
            with committing(store):
                store.memories.erase(["a"])
            assert store.state.holdings(tenant) == (1, 4)

    def test_commits_do_not_nest_and_nothing_is_written_in_a_snapshot(self) -> None:
        with self.opened() as store:
            before = store.head()
            with store.snapshot() as state:
                assert state == store.state.read()
                _refused(lambda: committing(store).__enter__())
            try:
                with committing(store), committing(store):
                    raise AssertionError("a commit began inside of another")
            except StoreError:
                pass
            _refused(lambda: store.memories.write([new_memory("a")]))
            _refused(lambda: store.state.fire("event"))
            assert (store.head(), store.state.count().memories) == (before, 0)

    def test_texts_are_of_the_head_that_they_come_with(self) -> None:
        with self.opened() as store:
            assert texts(store, "a") == Texts(store.head(), {})
            with committing(store):
                store.memories.write([new_memory(f"m{n}") for n in range(1200)])
            found = store.memories.read(RowFilter(), VIEW)
            assert found.head == store.head()
            assert len(found.memories) == 1200
            assert texts(store, *found.memories) == found
            assert store.memories.read(RowFilter(row_ids=()), VIEW) == Texts(store.head(), {})

    def test_a_position_is_for_writers_and_not_for_readers(self) -> None:
        with self.opened() as store:
            assert store.memories.next_position("local", "talk") == 0
            with committing(store):
                turns = [new_memory(f"t{n}", thread="talk", position=n) for n in range(3)]
                store.memories.write([*turns, new_memory("x", thread="mail")])
            assert store.memories.next_position("local", "talk") == 3
            assert store.memories.next_position("acme", "talk") == 0
            assert (standing(store, "t2").thread, standing(store, "t2").position) == ("talk", 2)
            assert texts(store, "t2").memories["t2"].position is None

    def test_the_same_text_keeps_its_vectors_and_another_does_not(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "text", vector=[1, 0])])
            with committing(store):
                store.memories.write([_again("a", "text", same_text=True)])
            assert standing(store, "a").has_vector
            with committing(store):
                store.memories.write([_again("a", "other", same_text=False)])
            assert not standing(store, "a").has_vector

    def test_a_clock_is_kept_as_it_is_given(self) -> None:
        with self.opened() as store:
            for clock in (ClockState(5.0, 50.0), ClockState(3.0, None)):
                with committing(store):
                    store.state.set_clock(clock)
                assert store.state.read().clock == clock

    def test_what_is_gone_is_told_before_what_may_have_its_number(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a"), new_memory("b")])
            seen = store.head()
            gone = standing(store, "b").row_id
            with committing(store):
                store.memories.erase(["b"])
                (new,) = store.memories.write([new_memory("c")])
            assert new.row_id == gone
            first, *others = store.memories.changes(seen)
            assert list(first.gone) == [gone]
            assert [row.memory.pak_id for batch in others for row in batch.rows] == ["c"]

    def test_nothing_is_left_to_be_placed_or_wiped(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a")])
                store.memories.erase(["a"])
            assert store.memories.unplaced() == frozenset()
            due = store.state.wiping_due()
            assert due in (0, store.head().revision)
            assert store.scrub()
            store.state.set_wiped(due)
            assert store.state.wiping_due() == 0
            assert store.check() == ()
            store.close()
            store.close()


def committing(store: Store) -> AbstractContextManager[Commit]:
    """Begin a commit under a name that no other has."""
    return store.commit(f"commit-{next(_NUMBERS)}", at=NOW)


def texts(store: Store, *pak_ids: str) -> Texts:
    """Read some memories as the local principal."""
    return store.memories.read(RowFilter(pak_ids=pak_ids), VIEW)


def standing(store: Store, pak_id: str) -> Standing:
    """Return where one memory stands."""
    return store.memories.standing(RowFilter(pak_ids=(pak_id,)))[pak_id]


def _again(pak_id: str, text: str, *, same_text: bool) -> NewMemory:
    new = new_memory(pak_id, text)
    return NewMemory(new.memory, new.pak, None, pending=False, same_text=same_text)


def _refused(write: Callable[[], object]) -> None:
    try:
        write()
    except StoreError:
        return
    raise AssertionError("it was not refused")
