"""Look for damage in a file, without a lock that anybody waits for and whatever is in it.

In: a connection that nobody else uses. Out: an `Examination`: what is wrong, in words; which
memories it costs; what is worth knowing. Rows are read a slice at a time, each a read of its own.
Nothing is written, and nothing that stands in the file makes this raise.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from recollect.model import Examination
from recollect.paks import fulltext
from recollect.paks.database import connect_read_only
from recollect.paks.schema import TRIGGERS
from recollect.paks.tolerant import text_or_bytes
from recollect.stores.sqlite import rows
from recollect.stores.sqlite.commits import LOGGED, log_seal
from recollect.stores.sqlite.migrations import ENGINE_MIGRATIONS
from recollect.stores.sqlite.seals import (
    RECEIPT_COLUMNS,
    RECEIPT_ITEM_COLUMNS,
    SEALED_COLUMNS,
    VERSION_COLUMNS,
    receipt_seal,
    row_seal,
    vector_seal,
    version_seal,
)
from recollect.stores.sqlite.twins import TWIN_INDEXES, itself, twin_where
from recollect.values import dataclass

__all__ = ["Findings", "Unlike", "examine", "expected_triggers", "find"]

_SLICE = 1000
_DROPPED = re.compile(r"DROP TRIGGER (?:IF EXISTS )?(\w+)")
_MADE = re.compile(r"CREATE TRIGGER (\w+)")
_SHOWN_LINES = 20
# How the two halves of a pair, or a memory itself, are named in the tables that have twins.
_NAMES = ("pak_id", "row_id", "low", "high", "other")
_BESIDE = ("memory_uses", "link_uses", "memory_versions")


@dataclass(frozen=True, slots=True)
class Unlike:
    """A row that its second copy does not bear out, or the copy (`stands` is false)."""

    table: str
    columns: tuple[str, ...]
    row: tuple[Any, ...]
    stands: bool


@dataclass(slots=True)
class Findings:
    """What was found so far. `rows` and `vectors` are of memories, by their ids."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: dict[str, int | None] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)
    memories: int = 0
    unsealed: int = 0
    twins: bool = False
    unlike: list[Unlike] = field(default_factory=list)
    sealed_wrong: set[str] = field(default_factory=set)
    illegible: set[str] = field(default_factory=set)
    # By the number of their row; of which memory.
    versions: dict[int, str] = field(default_factory=dict)
    # By number; of which answer.
    receipts: dict[int, str] = field(default_factory=dict)

    def report(self) -> Examination:
        """Return it as values."""
        damaged = sorted({*self.rows, *self.vectors})
        return Examination(self.memories, tuple(self.problems), tuple(self.notes), tuple(damaged))


def examine(path: Path) -> Examination:
    """Look at the file at `path` through a connection of its own."""
    with closing(connect_read_only(path)) as conn:
        return find(conn).report()


@contextmanager
def found_before(path: Path) -> Iterator[Callable[[], Findings | None]]:
    """Look at a file before a commit keeps others from writing to it.

    Inside of the commit the body asks what was found: None, if anybody has written since.
    """
    with closing(connect_read_only(path)) as conn:
        before = _version(conn)
        found = find(conn)
        yield lambda: found if _version(conn) == before else None


def _version(conn: sqlite3.Connection) -> int:
    """Return a number that is another one once another connection has committed."""
    return int(conn.execute("PRAGMA data_version").fetchone()[0])


def find(conn: sqlite3.Connection) -> Findings:
    """Look at everything, step by step; what a step cannot read is a problem too."""
    found, strict = Findings(), conn.text_factory
    conn.text_factory = text_or_bytes
    try:
        for what, step in _STEPS.items():
            try:
                step(conn, found)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                found.problems.append(f"{what} cannot be read: {_words(error)}")
    finally:
        conn.text_factory = strict
    _tell(found)
    return found


def _structure(conn: sqlite3.Connection, found: Findings) -> None:
    lines = [_words(row[0]) for row in conn.execute("PRAGMA integrity_check(1000)")]
    wrong = [line for line in lines if line != "ok"]
    found.twins = bool(wrong)
    found.problems += wrong[:_SHOWN_LINES]
    if len(wrong) > _SHOWN_LINES:
        found.problems.append(f"and {len(wrong) - _SHOWN_LINES} more of the file itself")


def _references(conn: sqlite3.Connection, found: Findings) -> None:
    dangling = len(conn.execute("PRAGMA foreign_key_check").fetchall())
    if dangling:
        found.problems.append(f"{dangling} rows refer to memories that do not exist")


def _twins(conn: sqlite3.Connection, found: Findings) -> None:
    """Name the memories whose rows differ from their second copies."""
    if not found.twins:
        return
    for index, (table, columns) in TWIN_INDEXES.items():
        # Uses and versions are no part of a memory: what is wrong with them costs nobody its text.
        names = [] if table in _BESIDE else [column for column in columns if column in _NAMES]
        for unlike in _unlike(conn, table, index, columns):
            found.unlike.append(unlike)
            for column in names:
                _name(conn, found, table, (column, unlike.row[columns.index(column)]))


def _unlike(
    conn: sqlite3.Connection, table: str, index: str, columns: tuple[str, ...]
) -> Iterator[Unlike]:
    listed = ", ".join(columns)
    one, other = (
        f"SELECT {listed} FROM {table} {itself(table)}{twin_where(index)}",
        f"SELECT {listed} FROM {table} INDEXED BY {index}{twin_where(index)}",
    )
    try:
        for first, second, stands in ((one, other, True), (other, one, False)):
            for row in conn.execute(f"{first} EXCEPT {second}").fetchall():
                yield Unlike(table, columns, row, stands)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return  # too damaged to be compared; the file's own check has said so


def _name(conn: sqlite3.Connection, found: Findings, table: str, where: tuple[str, object]) -> None:
    """Name a memory; only if its own row differs it is that row which cannot be trusted."""
    column, value = where
    if column == "pak_id":
        found.rows.setdefault(_words(value), None)
        return
    for row_id, pak_id in conn.execute(
        "SELECT row_id, pak_id FROM memories WHERE row_id = ?", (value,)
    ):
        if table == "memories":
            found.rows[_words(pak_id)] = row_id
        elif column == "row_id":
            found.rows.setdefault(_words(pak_id), None)


def _memories(conn: sqlite3.Connection, found: Findings) -> None:
    """Compare each memory with its seals, and see whether it can be read at all."""
    slot, dimension = conn.execute("SELECT vector_slot, dimension FROM engine_state").fetchone()
    serving = f"vector_{slot}" if slot in (0, 1) else "NULL"
    for row in _slices(
        conn,
        f"SELECT memories.row_id, seal, vector_0, vector_seal_0, vector_1, vector_seal_1,"
        f" {SEALED_COLUMNS} FROM memories LEFT JOIN paks USING (pak_id)",
    ):
        found.memories += 1
        row_id, seal, *vectors = row[:6]
        name = _words(row[6])
        found.unsealed += seal is None
        if seal is not None and seal != row_seal(*row[6:]):
            found.rows[name] = row_id
            found.sealed_wrong.add(name)
        for data, data_seal in (vectors[:2], vectors[2:]):
            if data is not None and data_seal is not None and _crc(data) != data_seal:
                found.vectors[name] = row_id
    _illegible(conn, found, serving, dimension)


def _illegible(
    conn: sqlite3.Connection, found: Findings, serving: str, dimension: int | None
) -> None:
    """Note what cannot be read as a memory, and vectors that are not of the model's size."""
    for row in _slices(
        conn,
        f"SELECT memories.row_id, {', '.join(rows.INDEX_COLUMNS)}, {serving}"
        " FROM memories JOIN paks USING (pak_id)",
    ):
        row_id, *values = row
        try:
            vector = rows.index_row(tuple(values)).vector
        except ValueError:
            found.rows[_words(values[0])] = row_id
            found.illegible.add(_words(values[0]))
            continue
        if dimension and vector is not None and len(vector) != dimension:
            found.vectors[_words(values[0])] = row_id


def _versions(conn: sqlite3.Connection, found: Findings) -> None:
    """Compare what memories were before a change with the seals of that."""
    listed = ", ".join(VERSION_COLUMNS)
    for row_number, pak_id, seal, *row in conn.execute(
        f"SELECT memory_versions.rowid, pak_id, memory_versions.seal, {listed}"
        " FROM memory_versions LEFT JOIN memories USING (row_id)"
        " WHERE memory_versions.seal IS NOT NULL"
    ):
        if seal != version_seal(row):
            found.versions[row_number] = _words(pak_id)


def _receipts(conn: sqlite3.Connection, found: Findings) -> None:
    """Compare what is kept of answers with the seals of that."""
    items: dict[int, list[Any]] = {}
    listed = ", ".join(RECEIPT_ITEM_COLUMNS)
    for receipt, *item in conn.execute(
        f"SELECT receipt, {listed} FROM receipt_items ORDER BY receipt, position"
    ):
        items.setdefault(receipt, []).append(item)
    listed = ", ".join(RECEIPT_COLUMNS)
    for number, seal, *row in conn.execute(
        f"SELECT number, seal, {listed} FROM receipts WHERE seal IS NOT NULL"
    ):
        if seal != receipt_seal(row, items.get(number, ())):
            found.receipts[number] = _words(row[RECEIPT_COLUMNS.index("recall_id")])


def _slices(conn: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query that gives row ids first, reading a slice at a time."""
    last = -(2**63)
    while found := conn.execute(
        f"{query} WHERE memories.row_id > ? ORDER BY memories.row_id LIMIT {_SLICE}", (last,)
    ).fetchall():
        yield from found
        last = found[-1][0]


def _triggers(conn: sqlite3.Connection, found: Findings) -> None:
    """A trigger that says something else would let what is written from now on go unnoticed."""
    made = dict(conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    wrong = sorted(name for name, sql in expected_triggers().items() if made.get(name) != sql)
    if wrong:
        found.problems.append(f"{len(wrong)} triggers are not as they were made: {wrong[0]}")


@cache
def expected_triggers() -> dict[str, str]:
    """Return the triggers that all migrations together leave, as SQLite keeps their text."""
    expected = dict(TRIGGERS)
    for statement in (sql for step in ENGINE_MIGRATIONS for sql in step.statements):
        if gone := _DROPPED.match(statement):
            expected.pop(gone[1], None)
        elif made := _MADE.match(statement):
            expected[made[1]] = statement
    return expected


def _fulltext(conn: sqlite3.Connection, found: Findings) -> None:
    found.problems += fulltext.problems(conn)


def _pairs(conn: sqlite3.Connection, found: Findings) -> None:
    odd = conn.execute(
        "SELECT count(*) FROM memory_edges WHERE automatic = 1 AND NOT ("
        " EXISTS (SELECT 1 FROM memory_likenesses WHERE row_id = low AND other = high)"
        " AND EXISTS (SELECT 1 FROM memory_likenesses WHERE row_id = high AND other = low))"
    ).fetchone()[0]
    if odd:
        found.problems.append(f"{odd} automatic links join memories that do not hold each other")


def _log(conn: sqlite3.Connection, found: Findings) -> None:
    broken = conn.execute(
        "SELECT count(*) FROM engine_state WHERE revision > 0 AND commit_id IS NOT"
        " (SELECT commit_id FROM commits WHERE commits.revision = engine_state.revision"
        "  AND commits.revision = (SELECT max(revision) FROM commits))"
    ).fetchone()[0]
    if broken:
        found.problems.append("the log of commits does not lead to the head of the store")
    rows = conn.execute(f"SELECT seal, {LOGGED} FROM commits WHERE seal IS NOT NULL")
    unlike = sum(seal != log_seal(row) for seal, *row in rows)
    if unlike:
        found.problems.append(f"{unlike} rows of the log of commits are not as they were written")


_STEPS: dict[str, Callable[[sqlite3.Connection, Findings], None]] = {
    "the file": _structure,
    "references": _references,
    "the second copies": _twins,
    "memories": _memories,
    "versions": _versions,
    "receipts": _receipts,
    "triggers": _triggers,
    "full text": _fulltext,
    "links": _pairs,
    "the log of commits": _log,
}


def _tell(found: Findings) -> None:
    if found.rows:
        found.problems.append(
            f"{len(found.rows)} memories are not as they were written: {_listed(found.rows)}"
        )
    if found.vectors:
        found.problems.append(
            f"{len(found.vectors)} memories have a damaged vector: {_listed(found.vectors)}"
        )
    if found.versions:
        named = _listed(dict.fromkeys(found.versions.values()))
        found.problems.append(
            f"{len(found.versions)} versions of memories are not as they were written: {named}"
        )
    if found.receipts:
        named = _listed(dict.fromkeys(found.receipts.values()))
        found.problems.append(
            f"{len(found.receipts)} receipts are not as they were written: {named}"
        )
    if found.unsealed:
        found.notes.append(
            f"{found.unsealed} memories were edited past the engine and carry no seal"
        )


def _listed(names: dict[str, Any]) -> str:
    shown = sorted(names)[:_SHOWN_LINES]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")


def _crc(data: object) -> int | None:
    return vector_seal(data) if isinstance(data, bytes) else None


def _words(value: object) -> str:
    """Return what stands in a file, or an error about it, as a text that can be shown."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value).encode("utf-8", "backslashreplace").decode()
