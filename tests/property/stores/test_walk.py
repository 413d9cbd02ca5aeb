"""All rows that are walked over for an index are what each of them is by itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from recollect.model import Place
from recollect.ports.memories import IndexColumns
from recollect.ports.store import START, IndexRow, NewMemory
from recollect.stores.sqlite import SqliteStore, memories, walk
from recollect.testing.builders import new_memory
from recollect.testing.commit_contract import committing

FEW = {
    "title": st.sampled_from(["", "one title", "größer \U0001f4e6"]),
    "project": st.sampled_from([None, "", "kiln"]),
    "thread": st.sampled_from([None, "talk"]),
    "position": st.sampled_from([None, 0, 7]),
    "speaker": st.sampled_from([None, "Ann"]),
    "valid_until": st.sampled_from([None, "2027-01-01T00:00:00Z"]),
    "status": st.sampled_from(["active", "archived"]),
    "decay": st.sampled_from([0.0, 0.5]),
    "reinforced": st.sampled_from([0, 1]),
    "tags": st.sampled_from([(), ("a",), ("a", "b")]),
    "place": st.sampled_from(
        [Place("local", "local", "local"), Place("acme", "ann", "team", "red", None)]
    ),
}
# What a fault may leave in a row, or in all, past all checks.
FAULTS = [
    "UPDATE memories SET content = CAST(x'66c3' AS TEXT)",
    "UPDATE memories SET tags = '7'",
    "UPDATE memories SET category = x'00'",
    "UPDATE memories SET status = 'actiwe'",
    "UPDATE memories SET confidence = 7.5",
    "UPDATE memories SET vector_0 = 'text'",
    "UPDATE memories SET position = 'x'",
    "UPDATE paks SET title = CAST(x'ff' AS TEXT)",
    "UPDATE paks SET project = x'6b'",
]


@st.composite
def written(draw: st.DrawFn) -> list[NewMemory]:
    """Draw some memories of which most say the same as the one before."""
    made, fields = list[NewMemory](), dict[str, Any]()
    for number in range(draw(st.integers(0, 12))):
        for name in FEW if not fields else draw(st.lists(st.sampled_from([*FEW]), max_size=1)):
            fields[name] = draw(FEW[name])
        vector = draw(st.sampled_from([None, (1.0, -2.0, 3.0)]))
        made.append(new_memory(f"pak_{number}", f"note {number}", vector=vector, **fields))
    return made


faults = st.lists(
    st.tuples(st.sampled_from(FAULTS), st.sampled_from(["", "%1", "%7", "%"])), max_size=2
)


@settings(max_examples=examples(40), deadline=None)
@given(
    written(),
    faults,
    st.sampled_from([1, 2, 3, 5]),
    st.sampled_from([1, 4, 100]),
    st.sampled_from([0, 8]),
)
def test_a_walk_over_all_rows_finds_what_each_of_them_is(
    new: list[NewMemory], faults: list[tuple[str, str]], part: int, batch: int, few: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_PART", part)
        patch.setattr(memories, "_BATCH_ROWS", batch)
        patch.setattr(memories, "_FEW_ROWS", few)
        path = Path(folder) / "a.db"
        with closing(SqliteStore.open(path, store_id="test")) as store, committing(store):
            store.memories.write(new)
        damage(path, faults)
        with closing(SqliteStore.open(path, store_id="test")) as store:
            walked, unreadable = rows_of(store, few), store.memories.unreadable()
            one_by_one(patch)
            assert rows_of(store, few) == walked
            assert store.memories.unreadable() == unreadable
    assert len(walked) + len(unreadable) == len(new)


def damage(path: Path, faults: Sequence[tuple[str, str]]) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA ignore_check_constraints = ON")
        for fault, which in faults:
            conn.execute(f"{fault} WHERE pak_id LIKE 'pak_{which}'")
        conn.commit()


def rows_of(store: SqliteStore, few: int) -> IndexColumns:
    batches = [batch for batch in store.memories.changes(START) if batch.rows]
    left = sum(len(batch.rows) for batch in batches)
    for batch in batches:
        left -= len(batch.rows)
        # Of few, which are read at once, nobody is told.
        assert few or batch.to_come >= left
    rows: list[IndexRow] = [row for batch in batches for row in batch.rows]
    return IndexColumns.of(rows)


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    """Look at each row by itself, with all that it says."""

    def refuse(columns: object, **_: object) -> IndexColumns:
        raise ValueError(columns)

    patch.setattr("recollect.stores.sqlite.rows.index_columns", refuse)
