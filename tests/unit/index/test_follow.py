from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from recollect.index.follow import Follower
from recollect.ports.store import Changes, Commit, Store
from recollect.stores.sqlite import SqliteStore
from recollect.testing import new_memory
from recollect.testing.commit_contract import committing
from recollect.write.reinforce import reinforce

ANN = ("acme", "ann")


def use(store: Store, pak_id: str) -> tuple[Changes, Commit]:
    with committing(store) as commit:
        return reinforce(store, ANN, [pak_id], active_hours=5.0, commit=commit), commit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(SqliteStore.open(tmp_path / "a.db", store_id="here")) as store:
        with committing(store):
            store.memories.write([new_memory("a"), new_memory("b")])
        yield store


def uses(follower: Follower) -> dict[str, tuple[int, float]]:
    index = follower.current().index
    if not index.knows_uses(ANN):
        index.learn_uses(ANN, follower._store.uses.of(ANN))
    own = index.uses_of(ANN)
    slots = index.slots_of(["a", "b"])
    columns = {
        name: (index.column(name) if own is None else own.columns[name])[slots].tolist()
        for name in ("reinforced", "last_reinforced")
    }
    return dict(zip(index.pak_ids(slots), zip(*columns.values(), strict=True), strict=True))


def test_what_this_process_counted_need_not_be_read_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower(store, None)
    assert uses(follower) == {"a": (0, 0.0), "b": (0, 0.0)}

    assert follower.take(*use(store, "a"))[1]

    monkeypatch.setattr(store.uses, "of", lambda _: pytest.fail("it was read again"))
    monkeypatch.setattr(store.memories, "changes", lambda _: pytest.fail("it was read again"))
    assert uses(follower) == {"a": (1, 5.0), "b": (0, 0.0)}


def test_a_change_that_was_missed_is_read_with_the_uses(store: Store) -> None:
    follower = Follower(store, None)
    uses(follower)
    use(store, "b")

    assert not follower.take(*use(store, "a"))[1]

    assert uses(follower) == {"a": (1, 5.0), "b": (1, 5.0)}


def test_without_an_index_there_is_nothing_to_bring_up_to_date(store: Store) -> None:
    follower = Follower(store, None)

    assert not follower.take(*use(store, "a"))[1]

    assert uses(follower) == {"a": (1, 5.0), "b": (0, 0.0)}


class _Broken(Exception):
    """Ends a transaction."""


def test_from_inside_a_transaction_the_index_is_as_of_when_it_began(tmp_path: Path) -> None:
    with (
        closing(SqliteStore.open(tmp_path / "a.db", store_id="here")) as store,
        closing(SqliteStore.open(tmp_path / "a.db", store_id="here")) as other,
    ):
        follower = Follower(store, None)
        assert len(follower.current().index) == 0
        with committing(other):
            other.memories.write([new_memory("a")])
        with pytest.raises(_Broken), committing(store) as commit:
            index = follower.before(commit)
            assert (len(index), index.revision) == (1, commit.revision - 1)
            store.memories.write([new_memory("b")])
            assert follower.before(commit) is index
            assert len(index) == 1
            raise _Broken
        # The revision that came to nothing is given to the next, and is not taken for known.
        with committing(other):
            other.memories.write([new_memory("c")])
        index = follower.current().index
        assert sorted(index.pak_ids(index.select().slots)) == ["a", "c"]


def names(follower: Follower) -> list[str]:
    index = follower.current().index
    return sorted(index.pak_ids(index.select().slots))


def test_what_is_made_ahead_of_a_commit_is_seen_with_it_and_need_not_be_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower(store, None)
    before = follower.current().index
    with ExitStack() as when_committed, committing(store) as commit:
        store.memories.write([new_memory("c")])
        when_committed.enter_context(follower.ahead_of(commit))
        assert follower._index is before
    with monkeypatch.context() as patch:
        patch.setattr(store.memories, "changes", lambda _: pytest.fail("it was read again"))
        assert names(follower) == ["a", "b", "c"]
    assert follower.current().index.head == commit.head


def test_a_commit_that_comes_to_nothing_leaves_nothing_of_what_was_made_ahead(store: Store) -> None:
    follower = Follower(store, None)
    before = follower.current().index
    with pytest.raises(_Broken), ExitStack() as when_committed, committing(store) as commit:
        store.memories.write([new_memory("c")])
        when_committed.enter_context(follower.ahead_of(commit))
        raise _Broken
    assert follower.current().index is before
    with committing(store):
        store.memories.write([new_memory("d", content="another text")])
    index = follower.current().index
    assert names(follower) == ["a", "b", "d"]
    fresh = Follower(store, None).current().index
    terms = ["anoth", "text"]
    found = [one.document_frequencies(terms, one.select()) for one in (index, fresh)]
    assert found[0] == found[1]


def test_an_index_that_nobody_asked_for_since_is_not_made_ahead(store: Store) -> None:
    follower = Follower(store, None)
    follower.current()
    for name in ("c", "d"):
        with ExitStack() as when_committed, committing(store) as commit:
            store.memories.write([new_memory(name)])
            when_committed.enter_context(follower.ahead_of(commit))
        assert follower._index is not None
        assert (follower._index.head == commit.head) is (name == "c")
    assert names(follower) == ["a", "b", "c", "d"]


def test_what_others_wrote_before_a_commit_is_not_missed_by_what_is_made_ahead(
    store: Store,
) -> None:
    follower = Follower(store, None)
    follower.current()
    with committing(store):
        store.memories.write([new_memory("c")])
    with ExitStack() as when_committed, committing(store) as commit:
        store.memories.write([new_memory("d")])
        when_committed.enter_context(follower.ahead_of(commit))
    assert names(follower) == ["a", "b", "c", "d"]


def test_who_waits_for_an_index_to_be_built_is_told_how_far_it_is(store: Store) -> None:
    heard: list[tuple[int, int]] = []
    follower = Follower(store, None, progress=lambda *far: heard.append(far))

    follower.current()
    assert heard == [(2, 2), (2, 2)]

    with committing(store):
        store.memories.write([new_memory("c")])
    follower.current()
    assert len(heard) == 2

    follower.renew()
    assert heard[2:] == [(3, 3), (3, 3)]


def test_an_index_that_is_made_anew_lets_others_come_first_again_and_again(store: Store) -> None:
    with committing(store):
        store.memories.write([new_memory(f"m{number}") for number in range(2_000)])
    pauses: list[int] = []
    follower = Follower(store, None, pause=lambda: pauses.append(1))
    before = follower.current().index
    assert not pauses, "whoever asked waits for this one"

    follower.renew()

    assert len(pauses) >= 2_000 // 256
    assert follower.current().index.pak_ids(before.slots_of(["m7"])) == ["m7"]
