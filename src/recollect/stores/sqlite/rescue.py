"""Read what can be read of a table whose pages are damaged, row by row if need be.

In: a connection to a damaged file, and what its tables should look like. Out: rows by key, and what
indexes say of rows that cannot be read. Nothing is written, and nothing in the file makes this
raise: what cannot be read is not among what comes out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, TypeAlias

from recollect.stores.sqlite.twins import itself
from recollect.values import dataclass

__all__ = ["Key", "Row", "Shape", "pieces", "rows", "shapes"]

Key: TypeAlias = tuple[Any, ...]
Row: TypeAlias = tuple[Any, ...]

_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError)
# So many reads of a table may raise: a number that is damaged itself may span all there are.
_PATIENCE = 200_000
# FTS5's own tables are built anew; notes are empty between commits; the version is known.
_NOT_COPIED = ("sqlite_%", "paks_fts%", "schema_version", "commit_notes")


@dataclass(frozen=True, slots=True)
class Shape:
    """A table: its columns, those that tell its rows apart, and its indexes with a condition."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    indexes: tuple[tuple[str, tuple[str, ...], str], ...]
    # A column is the number of the row, or its key; and columns that need not be known.
    is_numbered: bool = True
    optional: frozenset[str] = frozenset()

    @property
    def has_rowid(self) -> bool:
        """Whether SQLite numbers its rows."""
        return self.key == ("rowid",)


def shapes(whole: sqlite3.Connection) -> list[Shape]:
    """Return the tables to copy, from a store that is whole; what others refer to comes first."""
    unlike = " AND ".join(f"name NOT LIKE '{pattern}'" for pattern in _NOT_COPIED)
    made = whole.execute(
        f"SELECT name, sql FROM sqlite_master WHERE type = 'table' AND {unlike} ORDER BY rowid"
    ).fetchall()
    return [_shape(whole, name, sql) for name, sql in made]


def _shape(whole: sqlite3.Connection, table: str, sql: str) -> Shape:
    columns = whole.execute(f"PRAGMA table_info ({table})").fetchall()
    numbered = sorted((place, name) for _, name, *_, place in columns if place)
    key = tuple(name for _, name in numbered) if "WITHOUT ROWID" in sql else ("rowid",)
    is_numbered = key != ("rowid",) or any(
        kind == "INTEGER" and place for _, _, kind, *_, place in columns
    )
    listed = []
    for _, index, *_ in whole.execute(f"PRAGMA index_list ({table})").fetchall():
        found = whole.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", (index,)
        ).fetchone()
        if found is None:
            continue  # a table without row ids is its own index
        indexed = tuple(row[2] for row in whole.execute(f"PRAGMA index_info ({index})"))
        listed.append((index, indexed, (found[0] or "").partition(" WHERE ")[2]))
    names = tuple(name for _, name, *_ in columns)
    # Of a column that is indexed where it is not empty, not to be in the index says that it is.
    optional = frozenset(
        column
        for _, of, condition in listed
        for column in of
        if condition == f"{column} IS NOT NULL"
    )
    return Shape(table, names, key, tuple(listed), is_numbered, optional)


def rows(conn: sqlite3.Connection, shape: Shape) -> tuple[dict[Key, Row], bool]:
    """Return all rows that can be read, by key, and whether nothing raised.

    They are read from both ends, then around what raises.
    """
    found: dict[Key, Row] = {}
    if _scan(conn, shape, found, "ASC"):
        return found, True
    first = max(found, default=None)
    _scan(conn, shape, found, "DESC")
    if shape.has_rowid:
        behind = [key for key in found if first is None or key > first]
        known = {key for key, _ in _keys(conn, shape)}
        low = first[0] + 1 if first else min(known, default=(1,))[0]
        high = min(behind)[0] - 1 if behind else max(known, default=(0,))[0]
        if isinstance(low, int) and isinstance(high, int):
            found |= dict(_around(conn, shape, low, high))
    return found, False


def pieces(conn: sqlite3.Connection, shape: Shape) -> dict[Key, dict[str, Any]]:
    """Return what indexes say of each row, as far as they can be read."""
    known: dict[Key, dict[str, Any]] = {}
    for key, said in _keys(conn, shape):
        known.setdefault(key, {}).update(said)
    return known


def _scan(conn: sqlite3.Connection, shape: Shape, found: dict[Key, Row], way: str) -> bool:
    """Read rows in the order of their key until one raises; return whether none did."""
    order = ", ".join(f"{column} {way}" for column in shape.key)
    query = f"SELECT {_listed(shape)} FROM {shape.name} {itself(shape.name)} ORDER BY {order}"
    return _read(conn, query, len(shape.key), found)


def _read(conn: sqlite3.Connection, query: str, width: int, found: dict[Key, Row]) -> bool:
    try:
        for row in conn.execute(query):
            found.setdefault(row[:width], row[width:])
    except _UNREADABLE:
        return False
    return True


def _around(
    conn: sqlite3.Connection, shape: Shape, low: int, high: int
) -> Iterator[tuple[Key, Row]]:
    """Yield the rows with numbers from `low` to `high`, halving where a part cannot be read."""
    waiting, raised = [(low, high)], 0
    while waiting and raised < _PATIENCE:
        low, high = waiting.pop()
        found: dict[Key, Row] = {}
        query = (
            f"SELECT {_listed(shape)} FROM {shape.name} NOT INDEXED"
            f" WHERE rowid BETWEEN {low} AND {high} ORDER BY rowid"
        )
        if low > high:
            continue
        if not _read(conn, query, 1, found) and low < high:
            raised += 1
            # What came before the row that raised is read; the rest is tried by halves.
            low = max(low, *(key[0] + 1 for key in found)) if found else low
            middle = (low + high) // 2
            waiting += [(low, middle), (middle + 1, high)]
        yield from found.items()


def _keys(conn: sqlite3.Connection, shape: Shape) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Yield the keys that indexes hold, with the columns that they hold beside."""
    width = len(shape.key)
    for index, columns, condition in shape.indexes:
        listed = ", ".join((*shape.key, *columns))
        where = f" WHERE {condition}" if condition else ""
        for way in ("ASC", "DESC"):
            order = ", ".join(f"{column} {way}" for column in columns)
            query = f"SELECT {listed} FROM {shape.name} INDEXED BY {index}{where} ORDER BY {order}"
            found: list[Row] = []
            whole = _gather(conn, query, found)
            for row in found:
                yield row[:width], dict(zip(columns, row[width:], strict=True))
            if whole:
                break


def _gather(conn: sqlite3.Connection, query: str, found: list[Row]) -> bool:
    try:
        found.extend(conn.execute(query))
    except _UNREADABLE:
        return False
    return True


def _listed(shape: Shape) -> str:
    return ", ".join((*shape.key, *shape.columns))
