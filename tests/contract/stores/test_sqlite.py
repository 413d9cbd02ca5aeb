"""The SQLite store keeps the contract of every store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import FrozenInstanceError, replace
from itertools import count
from pathlib import Path

import pytest

from recollect.model import LOCAL_PRINCIPAL, Memory
from recollect.paks.database import CACHE_KIB, ROOM_KIB
from recollect.policy.view import view_of
from recollect.ports.edges import Likeness
from recollect.ports.store import Edge, Head, RowFilter, Store
from recollect.stores.sqlite import SqliteStore
from recollect.testing.builders import NOW, new_memory
from recollect.testing.commit_contract import committing
from recollect.testing.contract import LastingStoreContract
from recollect.testing.log_contract import told


class TestSqliteStore(LastingStoreContract):
    @pytest.fixture(autouse=True)
    def _files(self, tmp_path: Path) -> None:
        self._paths = (tmp_path / f"{number}.db" for number in count())

    def new_store(self) -> SqliteStore:
        return SqliteStore.open(next(self._paths), store_id="test")

    def open_again(self, store: Store) -> SqliteStore:
        assert isinstance(store, SqliteStore)
        return SqliteStore.open(store.path, store_id="another")

    def copy_of(self, store: Store) -> SqliteStore:
        assert isinstance(store, SqliteStore)
        path = next(self._paths)
        with closing(sqlite3.connect(store.path)) as source, closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
        return SqliteStore.open(path, store_id="another")

    def test_what_is_read_is_a_memory_like_any_other(self) -> None:
        with self.opened() as store:
            with committing(store):
                store.memories.write([new_memory("a", "Use Celery.")])
            found = store.memories.read(
                RowFilter(pak_ids=("a",)), view_of(LOCAL_PRINCIPAL, {})
            ).memories["a"]

        assert type(found) is Memory
        assert found == replace(found)
        with pytest.raises(FrozenInstanceError):
            found.content = "Use RQ."  # type: ignore[misc]

    def test_a_link_that_the_lists_know_nothing_of_is_found_by_a_check(self) -> None:
        with self.opened() as store:
            with committing(store):
                new = [new_memory("a"), new_memory("b")]
                a, b = (one.row_id for one in store.memories.write(new))
                store.edges.put([Edge(a, b, 0.7, automatic=True)])
                store.edges.change_lists([Likeness(a, b, 0.7)], [])
            assert store.check() == ("1 automatic links join memories that do not hold each other",)
            with committing(store):
                store.edges.change_lists([Likeness(b, a, 0.7)], [])
            assert store.check() == ()

    def test_a_commit_that_changes_many_lists_holds_more_pages_until_it_ends(self) -> None:
        with self.opened() as store:
            assert isinstance(store, SqliteStore)
            pages = "PRAGMA cache_size"
            with committing(store), store._db.writing() as conn:
                assert list(store.edges.lists([1, 2])) == []
                assert conn.execute(pages).fetchone() == (-CACHE_KIB,)
                assert list(store.edges.lists(range(1_000))) == []
                assert conn.execute(pages).fetchone() == (-ROOM_KIB,)
            with store._db.writing() as conn:
                assert conn.execute(pages).fetchone() == (-CACHE_KIB,)
            with pytest.raises(KeyboardInterrupt), committing(store):
                list(store.edges.lists(range(1_000)))
                raise KeyboardInterrupt
            with store._db.writing() as conn:
                assert conn.execute(pages).fetchone() == (-CACHE_KIB,)

    @pytest.mark.parametrize("foreign_keys", ["ON", "OFF"])
    @pytest.mark.parametrize(
        ("edit", "expected"),
        [
            ("UPDATE paks SET title = 'by hand' WHERE pak_id = 'a'", ({1}, set(), set())),
            ("UPDATE memories SET tags = '[]' WHERE pak_id = 'a'", ({1}, set(), set())),
            ("DELETE FROM paks WHERE pak_id = 'a'", (set(), {1}, set())),
            ("DELETE FROM memories WHERE pak_id = 'a'", (set(), {1}, set())),
            ("UPDATE memory_edges SET weight = 0.7", (set(), set(), {(1, 2)})),
            ("DELETE FROM memory_edges", (set(), set(), {(1, 2)})),
            ("INSERT INTO memory_edges VALUES (2, 3, 0.5, 0)", (set(), set(), {(2, 3)})),
            ("INSERT INTO source_trust VALUES ('t', 's', 0.5)", (set(), set(), set())),
            ("UPDATE memory_disputes SET is_open = 0", (set(), set(), set())),
        ],
    )
    def test_an_edit_by_plain_sql_is_told_and_no_copy_shares_its_head(
        self, edit: str, expected: tuple[object, ...], foreign_keys: str
    ) -> None:
        with self.opened() as store:
            with committing(store) as commit:
                store.memories.write([new_memory(name) for name in "abc"])
                store.edges.put([Edge(1, 2, 0.5, automatic=False)])
                store.edges.dispute(("a", "b"), note="", now=NOW)
            copy = self.copy_of(store)
            for one in (store, copy):
                assert isinstance(one, SqliteStore)
                with closing(sqlite3.connect(one.path)) as hand, hand:
                    hand.execute(f"PRAGMA foreign_keys = {foreign_keys}")
                    hand.execute(edit)
            rows, gone, edges = told(store, commit.head)
            assert (set(rows), gone, set(edges)) == expected
            assert store.check() == ()
            for one, other in ((store, copy), (copy, store)):
                assert one.state.knows(commit.head)
                assert one.state.knows(one.head())
                assert not one.state.knows(other.head())
            copy.close()

    def test_an_edit_by_the_catalogue_inside_a_commit_is_a_part_of_it(self) -> None:
        with self.opened() as store:
            assert isinstance(store, SqliteStore)
            with committing(store) as first:
                store.memories.write([new_memory("a")])
            with store.commit("mixed", at=NOW) as mixed:
                store.catalogue.conn.execute("UPDATE paks SET title = 'by hand'")
            assert store.head() == mixed.head == Head(first.revision + 1, "mixed")
            (record,) = store.state.commits(first.revision)
            assert record.rows == (1,)

    def test_a_change_past_any_commit_moves_the_revision(self) -> None:
        with self.opened() as store:
            assert isinstance(store, SqliteStore)
            with committing(store) as commit:
                store.memories.write([new_memory("a"), new_memory("b")])
            store.catalogue.conn.execute("UPDATE paks SET title = 'by hand'")
            moved = store.head()
            assert moved.revision > commit.revision
            assert moved.commit_id not in (None, commit.commit_id)
            rows = [row for batch in store.memories.changes(commit.head) for row in batch.rows]
            assert {row.memory.title for row in rows} == {"by hand"}
            assert {row.memory.pak_id for row in rows} == {"a", "b"}
            with committing(store) as later:
                store.memories.erase(["a", "b"])
            assert later.revision == moved.revision + 1
            assert store.head().revision == later.revision
