from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recollect.index.follow import Follower
from recollect.ports.store import ClockState, MemoryStore
from recollect.stores.sqlite import SqliteStore
from recollect.testing import new_memory
from recollect.write.reinforce import reinforce

LATER = ClockState(5.0, None)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with closing(SqliteStore.open(tmp_path / "a.db", store_id="here")) as store:
        with store.transaction():
            store.write([new_memory("a"), new_memory("b")], now="2024-01-01T00:00:00Z")
        yield store


def uses(follower: Follower) -> dict[str, tuple[int, float]]:
    index = follower.current()
    slots = index.slots_of(["a", "b"])
    counts, hours = index.column("reinforced")[slots], index.column("last_reinforced")[slots]
    return dict(
        zip(index.pak_ids(slots), zip(counts.tolist(), hours.tolist(), strict=True), strict=True)
    )


def test_what_this_process_counted_need_not_be_read_again(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower(store, None)
    follower.current()

    assert follower.take(reinforce(store, ["a"], clock=LATER))

    monkeypatch.setattr(store, "changes", lambda _: pytest.fail("it was read again"))
    assert uses(follower) == {"a": (1, 5.0), "b": (0, 0.0)}


def test_a_change_that_was_missed_is_read_with_the_uses(store: MemoryStore) -> None:
    follower = Follower(store, None)
    follower.current()
    reinforce(store, ["b"], clock=LATER)

    assert not follower.take(reinforce(store, ["a"], clock=LATER))

    assert uses(follower) == {"a": (1, 5.0), "b": (1, 5.0)}


def test_without_an_index_there_is_nothing_to_bring_up_to_date(store: MemoryStore) -> None:
    follower = Follower(store, None)

    assert not follower.take(reinforce(store, ["a"], clock=LATER))

    assert uses(follower) == {"a": (1, 5.0), "b": (0, 0.0)}
