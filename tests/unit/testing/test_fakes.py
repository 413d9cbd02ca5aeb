"""The clock and the embedder that do as they are told, and the suite that tells stores apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.embed import EmbedderUnavailable
from recollect.model import LOCAL_PRINCIPAL
from recollect.policy import view_of
from recollect.ports.store import NewMemory, RowFilter, Store, Written
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.memories import SqliteMemories
from recollect.testing import FakeClock, FakeEmbedder, StoreContract, new_memory
from recollect.testing.commit_contract import committing


def test_the_clock_stands_still_until_it_is_moved() -> None:
    clock = FakeClock(1000.0)
    assert (clock.now(), clock.now()) == (1000.0, 1000.0)
    clock.advance(hours=1, seconds=-600)
    assert clock.now() == 4000.0


def test_vectors_depend_on_the_words_alone() -> None:
    one, other = FakeEmbedder(8), FakeEmbedder(8)
    assert np.array_equal(one.embed_query("b a"), other.embed_query("A b"))
    assert not np.array_equal(one.embed_query("a"), one.embed_query("b"))
    assert np.array_equal(one.embed_documents(["x", "a"])[1], one.embed_query("a"))


def test_texts_that_share_words_are_more_alike() -> None:
    near, asked, far = FakeEmbedder(64).embed_documents(["red fox", "red fox jumps", "blue whale"])

    def cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(near, asked) > 0.6 > cosine(far, asked)


def test_given_vectors_count_and_calls_are_counted() -> None:
    embedder = FakeEmbedder(2, vectors={"x": [3.0, 4.0]}, model_id="mine")
    assert embedder.embed_query("x").tolist() == [3.0, 4.0]
    embedder.embed_documents(["x", "y"])
    assert (embedder.calls, embedder.model_id) == (3, "mine")


def test_an_embedder_told_to_fail_fails() -> None:
    embedder = FakeEmbedder()
    embedder.fail = True
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")
    assert embedder.calls == 0


def test_a_built_memory_is_ready_to_be_stored(tmp_path: Path) -> None:
    new = new_memory("a", vector=[1, -1], tags=("x",), confidence=0.5)
    assert (new.memory.content, new.memory.tags, new.pending) == ("the text of a", ("x",), False)
    assert new.vector is not None
    assert new.vector.tolist() == [127, -127]
    store = SqliteStore.open(tmp_path / "a.db", store_id="test")
    with committing(store):
        store.memories.write([new])
    found = store.memories.read(RowFilter(pak_ids=("a",)), view_of(LOCAL_PRINCIPAL, {}))
    assert found.memories["a"].confidence == 0.5
    store.close()


class Forgetful(SqliteMemories):
    """Says that it kept everything."""

    def write(self, memories: Sequence[NewMemory]) -> list[Written]:
        return super().write(memories[:1]) * len(memories)


class TestOfForgetful(StoreContract):
    """Not collected by its name alone: its tests are called below, and must fail."""

    __test__ = False

    def new_store(self) -> Store:
        store = SqliteStore.open(":memory:", store_id="test")
        store._memories.__class__ = Forgetful
        return store


def test_the_contract_of_stores_finds_a_store_that_forgets() -> None:
    suite = TestOfForgetful()
    suite.test_writing_again_replaces_a_row_and_keeps_its_number()
    with pytest.raises(AssertionError):
        suite.test_changes_tell_a_follower_everything_once()


def test_the_contract_of_stores_asks_for_a_store() -> None:
    with pytest.raises(TypeError, match="make a store"):
        StoreContract().new_store()
