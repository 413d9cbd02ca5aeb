"""The log of commits in SQLite: one row for each change of the store, with what it touched.

In: what a commit touched. Out: what all commits since a head touched. Lists are JSON, so that a
trigger can write them too. Which rows these are is read elsewhere, as they are now.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any
from zlib import crc32

from recollect.errors import StoreDamaged, StoreError
from recollect.ports.state import START, CommitRecord
from recollect.stores.touched import Touched, first_kept, is_time_to_trim

if TYPE_CHECKING:
    from recollect.ports.state import Commit, Head
    from recollect.stores.sqlite.session import Session

__all__ = ["LOGGED", "keep", "knows", "log_seal", "records", "touched_since"]

_COLUMNS = "revision, commit_id, at, touched, gone, edges, events"
# What a row's seal is of.
LOGGED = f"{_COLUMNS}, size"
_INSERT = f"INSERT INTO commits ({LOGGED}, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SIZES = "SELECT revision, size FROM commits ORDER BY revision DESC"
_NOTED = "SELECT row_id, gone FROM commit_notes"


def keep(conn: sqlite3.Connection, commit: Commit, at: str, touched: Touched) -> None:
    """Leave the row of a commit, with what triggers noted; drop what the log need not hold."""
    if noted := conn.execute(_NOTED).fetchall():
        _add_noted(noted, touched)
        conn.execute("DELETE FROM commit_notes")
    made = touched.record(commit.revision, commit.commit_id, at)
    numbers = map(_listed, (made.rows, made.gone, chain.from_iterable(made.edges)))
    row = (made.revision, made.commit_id, at, *numbers, json.dumps(made.events), made.size)
    conn.execute(_INSERT, (*row, log_seal(row)))
    if touched.begins_log:
        _trim(conn, commit.revision)
    elif is_time_to_trim(made.revision, made.size):
        _trim(conn, first_kept(conn.execute(_SIZES)))


def log_seal(row: Sequence[Any]) -> int:
    """Return the seal of a row of `LOGGED`."""
    return crc32(repr(tuple(row)).encode("utf-8", "backslashreplace"))


def knows(db: Session, head: Head) -> bool:
    """Return whether a head is the present one, or one that the log still has."""
    if head in (START, db.head()):
        return True
    return bool(
        db.all(
            "SELECT 1 FROM commits WHERE revision = ? AND commit_id = ?",
            head.revision,
            head.commit_id,
        )
    )


def records(db: Session, since: int) -> list[CommitRecord]:
    """Return the commits after a revision that the log still has, oldest first."""
    return [_record(row) for row in _rows(db, since)]


def touched_since(db: Session, head: Head) -> Touched:
    """Return what was touched since a head that the log has; a commit under way counts."""
    before, *since = _rows(db, head.revision - 1) or [(None, None)]
    if (before[0], before[1]) != (head.revision, head.commit_id):
        raise StoreError(
            f"the log holds no commit {head.commit_id} at revision {head.revision}.",
            hint="ask `knows` first; what the log does not hold has to be read anew.",
        )
    try:
        found = Touched.by(map(_record, since))
    except (ValueError, TypeError) as error:
        raise StoreDamaged(
            "The log of commits is damaged.", hint="run `recollect repair`: it begins anew."
        ) from error
    if db.is_committing:
        _add_noted(db.all(_NOTED), db.touched)
        found.add(db.touched)
    return found


def _trim(conn: sqlite3.Connection, first: int) -> None:
    conn.execute("DELETE FROM commits WHERE revision < ?", (first,))


def _add_noted(noted: Sequence[Sequence[int]], touched: Touched) -> None:
    """Add what triggers saw while a commit is written."""
    for row_id, gone in noted:
        (touched.gone if gone else touched.rows).add(row_id)


def _rows(db: Session, since: int) -> list[tuple[Any, ...]]:
    return db.all(f"SELECT {_COLUMNS} FROM commits WHERE revision > ? ORDER BY revision", since)


def _record(row: Sequence[Any]) -> CommitRecord:
    rows, gone, edges, events = map(json.loads, row[3:])
    pairs = tuple(zip(edges[::2], edges[1::2], strict=True))
    revision, commit_id, at = row[:3]
    return CommitRecord(revision, commit_id, at, tuple(rows), tuple(gone), pairs, tuple(events))


def _listed(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
