"""What every store must do about its log of commits, as tests: a part of `StoreContract`.

The log says what each change touched, leads whoever follows from any head that it has to the
present one, and is as long as its rule says. It holds no texts.
"""

# Test methods are sentences and need no docstring of their own.
from __future__ import annotations

from contextlib import closing

from recollect.errors import StoreError
from recollect.ports.store import START, Changes, CommitRecord, Edge, Head, KeptAnswer, Store
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import CommitContract, committing, standing, texts

__all__ = ["CopiedLogContract", "LogContract", "told"]

_KEPT = 10_000
# A log is trimmed now and then: it may be longer by so many.
_SLACK = 256


class LogContract(CommitContract):
    """Tests of how a store tells what changed."""

    def test_a_commit_says_what_it_touched(self) -> None:
        with self.opened() as store:
            with store.commit("first", at=NOW):
                new = [new_memory(name) for name in "abc"]
                a, b, c = (one.row_id for one in store.memories.write(new))
                store.edges.put([Edge(a, b, 0.5, automatic=False)])
            with store.commit("second", at=NOW):
                store.memories.set_standing(
                    [standing(store, "a")._replace(reinforced=3)], by="ann", at=NOW
                )
                store.edges.put([Edge(a, b, 0.0, automatic=False)])
                store.state.fire("curate_complete")
            with store.commit("third", at=NOW):
                store.memories.erase(["c"])
            with store.commit("fourth", at=NOW):
                pass
            assert list(store.state.commits(0)) == [
                CommitRecord(1, "first", NOW, rows=(a, b, c), edges=((a, b),)),
                CommitRecord(
                    2, "second", NOW, rows=(a,), edges=((a, b),), events=("curate_complete",)
                ),
                CommitRecord(3, "third", NOW, gone=(c,)),
                CommitRecord(4, "fourth", NOW),
            ]

    def test_changes_since_any_head_are_what_was_touched_as_it_is_now(self) -> None:
        with self.opened() as store:
            with committing(store) as first:
                new = [new_memory(name) for name in "abcd"]
                a, b, c, d = (one.row_id for one in store.memories.write(new))
                store.edges.put([Edge(a, b, 0.5, automatic=True), Edge(c, d, 0.5, automatic=True)])
            with committing(store) as second:
                store.memories.write([new_memory("b", "another text")])
                store.edges.put([Edge(a, b, 0.0, automatic=True)])
            with committing(store):
                store.memories.write([new_memory("b", "a third text")])
                store.memories.erase(["d"])
            assert told(store, first.head) == ({b: "a third text"}, {d}, {(a, b): 0.0})
            assert told(store, second.head) == ({b: "a third text"}, {d}, {})
            assert told(store, store.head()) == ({}, set(), {})
            rows, gone, edges = told(store, START)
            assert (set(rows), gone, edges) == ({a, b, c}, set(), {})

    def test_a_commit_under_way_sees_its_own_changes(self) -> None:
        with self.opened() as store:
            with committing(store):
                (a,) = store.memories.write([new_memory("a")])
            with committing(store) as commit:
                (b,) = store.memories.write([new_memory("b")])
                store.memories.erase(["a"])
                changes = list(store.memories.changes(commit.before.head))
                assert told(store, commit.before.head) == (
                    {b.row_id: "the text of b"},
                    {a.row_id},
                    {},
                )
                assert changes[-1].head == commit.head == store.head()
                assert store.state.knows(commit.head)

    def test_nothing_is_told_since_a_head_of_another_history(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a")])
            for head in (Head(1, "of another history"), Head(7, "of a time to come")):
                try:
                    list(store.memories.changes(head))
                except StoreError:
                    continue
                raise AssertionError(f"changes were told since {head}")

    def test_the_log_keeps_the_last_ten_thousand_commits(self) -> None:
        with self.opened() as store:
            heads = []
            for number in range(_KEPT + 2 * _SLACK):
                with store.commit(f"number {number}", at=NOW) as commit:
                    heads.append(commit.head)
            assert all(map(store.state.knows, heads[-_KEPT:]))
            assert not store.state.knows(heads[0])
            assert len(store.state.commits(0)) <= _KEPT + _SLACK

    def test_a_commit_that_fails_takes_its_trimming_back(self) -> None:
        with self.opened() as store:
            with committing(store) as kept:
                store.memories.write([new_memory("a")])
            log = list(store.state.commits(0))
            try:
                with committing(store):
                    store.state.tidy()
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert store.state.knows(kept.head)
            assert list(store.state.commits(0)) == log

    def test_what_was_forgotten_is_not_in_the_log(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("an id", "a secret")])
            with committing(store):
                store.memories.erase(["an id"])
            log = repr(store.state.commits(0))
            assert "an id" not in log
            assert "secret" not in log

    def test_an_answer_is_kept_with_the_commit_and_goes_with_a_memory_that_it_names(self) -> None:
        kept = KeptAnswer("r", NOW, "digest", '["a"]')
        with self.opened() as store:
            assert store.state.answer("r") is None
            with committing(store):
                store.memories.write([new_memory("a"), new_memory("b")])
                store.state.keep_answer(kept, names=["a", "b", "nobody"], since=NOW)
                assert store.state.answer("r") == kept
            try:
                with committing(store):
                    store.state.keep_answer(kept._replace(request="lost"), names=[], since=NOW)
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert store.state.answer("lost") is None
            with committing(store):
                store.memories.erase(["b"])
            assert store.state.answer("r") == kept._replace(body=None, answer=None)

    def test_answers_that_are_too_old_are_dropped_with_the_next_one(self) -> None:
        old, later = KeptAnswer("old", NOW, "x", "[]"), "2026-02-01T00:00:00Z"
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a")])
                store.state.keep_answer(old, names=["a"], since=NOW)
            with committing(store):
                store.state.keep_answer(old._replace(request="new", at=later), names=[], since=NOW)
            assert store.state.answer("old") == old
            with committing(store):
                store.state.keep_answer(old._replace(request="r", at=later), names=[], since=later)
            assert store.state.answer("old") is None
            with committing(store):
                store.state.keep_answer(old._replace(at=later), names=["a"], since=later)
                store.memories.erase(["a"])
            assert store.state.answer("old") == KeptAnswer("old", later, None, None)


class CopiedLogContract(LogContract):
    """Tests of a store of which a copy can be made."""

    def copy_of(self, store: Store) -> Store:
        """Return another store that holds all that this one does, its log included."""
        raise TypeError(f"a subclass of CopiedLogContract says how to copy {store}")

    def test_copies_that_go_on_by_themselves_do_not_know_each_other(self) -> None:
        with self.opened() as store:
            with committing(store) as common:
                store.memories.write([new_memory("a")])
            with closing(self.copy_of(store)) as copy:
                assert copy.head() == common.head
                for _ in range(3):
                    with committing(store):
                        store.memories.write([new_memory("b")])
                    with committing(copy):
                        copy.memories.write([new_memory("c")])
                assert store.head().revision == copy.head().revision
                for one, other in ((store, copy), (copy, store)):
                    assert one.state.knows(common.head)
                    for made in other.state.commits(common.revision):
                        assert not one.state.knows(Head(made.revision, made.commit_id))

    def test_an_older_copy_that_was_written_past_a_head_does_not_know_it(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a")])
            with closing(self.copy_of(store)) as copy:
                with committing(store) as lost:
                    store.memories.write([new_memory("b")])
                assert not copy.state.knows(lost.head)
                for name in "cd":
                    with committing(copy):
                        copy.memories.write([new_memory(name)])
                assert copy.head().revision > lost.revision
                assert not copy.state.knows(lost.head)
                assert "b" not in texts(copy, "b").memories


def told(
    store: Store, since: Head
) -> tuple[dict[int, str], set[int], dict[tuple[int, int], float]]:
    """Return what a store tells since a head: texts by row, rows that are gone, weights."""
    batches: list[Changes] = list(store.memories.changes(since))
    rows = {row.row_id: row.memory.content for batch in batches for row in batch.rows}
    gone = {row_id for batch in batches for row_id in batch.gone}
    return rows, gone, {(low, high): w for batch in batches for low, high, w in batch.edges}
