"""`RecallStore`: the catalogue of Paks in one SQLite file.

How rows are written and read, as SQL. What the calls are and what they refuse is in `catalogue`,
transactions and error texts are in `database`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.model.pak import (
    LIST_LIMIT_DEFAULT,
    LIST_LIMIT_MAX,
    CheckReport,
    PakAnchorEntry,
    PakHit,
    PakListFilters,
    PakListResult,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RepairReport,
    RiskFlagEntry,
    UpsertResult,
)
from recollect.paks import attachments, fulltext, listing, opening
from recollect.paks.alone import Alone
from recollect.paks.catalogue import PakCatalogue
from recollect.paks.database import damage, write
from recollect.paks.migrations import current_version
from recollect.paks.schema import SCHEMA_VERSION
from recollect.paks.tolerant import fetch_all, shown
from recollect.paks.validate import RISK_FLAG_SEVERITIES
from recollect.settings import default_recall_db_path

if TYPE_CHECKING:
    from recollect.errors import StoreTooNew
    from recollect.paks.catalogue import Match
    from recollect.paks.connections import Connections
    from recollect.paks.cursor import Position
    from recollect.paks.database import PakConnection
    from recollect.paks.entries import Attachment
    from recollect.stores.sqlite.catalogue import SqliteRecords

__all__ = [
    "LIST_LIMIT_DEFAULT",
    "LIST_LIMIT_MAX",
    "RISK_FLAG_SEVERITIES",
    "SCHEMA_VERSION",
    "CheckReport",
    "PakAnchorEntry",
    "PakHit",
    "PakListFilters",
    "PakListResult",
    "PakRelationEntry",
    "PakRow",
    "ReasonCodeEntry",
    "RecallStore",
    "RepairReport",
    "RiskFlagEntry",
    "UpsertResult",
    "default_recall_db_path",
    "open_recall_store",
]

_COLUMNS = ", ".join(PakRow._fields)
_PAGE_ORDER = "updated_at DESC, pak_id DESC"

# created_at is the one column that an upsert of an existing Pak keeps.
_REPLACED = tuple(column for column in PakRow._fields if column not in ("pak_id", "created_at"))
_replaced = attrgetter(*_REPLACED)
_INSERT = f"INSERT INTO paks ({_COLUMNS}) VALUES "
_ROW = f"({', '.join('?' * len(PakRow._fields))})"
_INSERT_NEW = f"{_INSERT}{_ROW} ON CONFLICT (pak_id) DO NOTHING"
_HASH_OF = "SELECT content_hash FROM paks WHERE pak_id = ?"
_UPDATE = (
    f"UPDATE paks SET {', '.join(f'{column} = ?' for column in _REPLACED)}"
    " WHERE pak_id = ? AND content_hash = ?"
)
_OR_REPLACE = " ON CONFLICT (pak_id) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in _REPLACED
)

# Twelve values a row, and SQLite binds 32,766 in one statement. The more the better: FTS5 writes
# what it gathered to disk at the start of every statement.
_ROWS_A_STATEMENT = 2500

Entry = TypeVar("Entry", bound=tuple[object, ...])
Value = TypeVar("Value")


class RecallStore(PakCatalogue):
    """A catalogue of Paks. Open one with `RecallStore.open`; use it in a `with` statement."""

    def __init__(
        self,
        connections: Alone | Connections,
        path: Path,
        *,
        strict: bool = False,
        refusal: StoreTooNew | None = None,
    ) -> None:
        self._path = path
        super().__init__(strict=strict)
        self._refusal = refusal
        self._use = connections

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        *,
        strict: bool = False,
        read_only: bool = False,
    ) -> RecallStore:
        """Open the catalogue at `path`, making or migrating it as needed.

        Without a path: `RECOLLECT_DB`, `TOKENPAK_RECALL_DB`, or the home directory's. `strict`
        refuses reason codes and risk flags outside the registry. A database of a newer
        release opens so that its version can be read, and refuses every other call.
        """
        place = opening.resolve(path)
        conn, refusal = opening.opened(place, read_only=read_only)
        return cls(Alone(conn, place), place, strict=strict, refusal=refusal)

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection itself: plain tuples, autocommit."""
        return self._use.writer

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._path

    @property
    def schema_version(self) -> int:
        """The schema version of the database."""
        with self._use.reading() as conn:
            return current_version(conn)

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        self._use.close()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Make several writes one: `with store.transaction(): ...` commits all or none."""
        return self._writing()

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """Read in one state: `with store.snapshot(): ...` sees no write that others make meanwhile.

        It yields whether that state is committed; inside a caller's transaction it may not be.
        Snapshots may stand inside one another.
        """
        self._refuse()
        with self._use.looking() as committed:
            yield committed

    def records(self) -> SqliteRecords:
        """Return the catalogue by numbers, as selections read it; for use inside a snapshot."""
        with self._reading() as conn:
            if conn.records is None:
                # Loads numpy, which a catalogue that nobody selects from can do without.
                from recollect.stores.sqlite.catalogue import SqliteRecords

                conn.records = SqliteRecords(conn)
            records: SqliteRecords = conn.records
            records.prepare()
        return records

    def check(self) -> CheckReport:
        """Look for damage in the file, dangling references and a stale full-text table."""
        with self._writing_alone() as conn:
            found = damage(conn) or fulltext.problems(conn)
            count = conn.execute("SELECT count(*) FROM paks").fetchone()[0]
        return CheckReport(ok=not found, paks=count, problems=tuple(found))

    def repair(self) -> RepairReport:
        """Rebuild the full-text table from the catalogue."""
        with self._writing() as conn:
            return fulltext.rebuild(conn)

    def _put(self, row: PakRow) -> str | None:
        with self._writing_alone() as conn:
            return _put(conn, row)

    def _put_all(self, rows: list[PakRow]) -> dict[str, str]:
        with self._writing() as conn:
            hashes = _content_hashes(conn, [row.pak_id for row in rows])
            # In the order of the index, so that neighbours are written while their page is at hand.
            _put_all(conn, sorted(rows, key=attrgetter("pak_id")))
        return hashes

    def _keep_all(self, rows: list[PakRow]) -> dict[str, PakRow]:
        ordered = sorted(rows, key=attrgetter("pak_id"))
        if len(rows) > _ROWS_A_STATEMENT:
            with self._writing() as conn:
                _put_all(conn, ordered)
                return self._rows([row.pak_id for row in rows])
        # One statement is all or nothing by itself, also inside of what the caller has begun.
        with self._writing_alone() as conn:
            sql, values = f"{_upsert(len(rows))} RETURNING {_COLUMNS}", chain.from_iterable(ordered)
            stand = _fetch(conn, sql, list(values)) if rows else []
        return {row[0]: PakRow(*row) for row in stand}

    def _delete(self, pak_id: str) -> bool:
        with self._writing_alone() as conn:
            return conn.execute("DELETE FROM paks WHERE pak_id = ?", (pak_id,)).rowcount > 0

    def _rows(self, pak_ids: list[str]) -> dict[str, PakRow]:
        with self._reading() as conn:
            return {
                row[0]: PakRow(*row)
                for chunk in _chunks(pak_ids)
                for row in _fetch(
                    conn, f"SELECT {_COLUMNS} FROM paks WHERE pak_id IN ({_marks(chunk)})", chunk
                )
            }

    def _page(self, filters: PakListFilters, after: Position | None, count: int) -> list[PakRow]:
        where, values = listing.conditions(filters)
        if after is not None:
            where.append("(updated_at, pak_id) < (?, ?)")
            values += after
        sql = f"SELECT {_COLUMNS} FROM paks{listing.where(where)} ORDER BY {_PAGE_ORDER} LIMIT ?"
        with self._reading() as conn:
            return [PakRow(*row) for row in _fetch(conn, sql, (*values, count))]

    def _count(self, filters: PakListFilters) -> int:
        where, values = listing.conditions(filters)
        sql = f"SELECT count(*) FROM paks{listing.where(where)}"
        with self._reading() as conn:
            return int(conn.execute(sql, values).fetchone()[0])

    def _search(
        self, words: list[str], match: Match, filters: PakListFilters, count: int
    ) -> list[PakHit]:
        where, values = listing.conditions(filters)
        columns = ", ".join(f"paks.{column}" for column in PakRow._fields)
        sql = (
            f"SELECT {columns}, -bm25(paks_fts) AS score"
            f" FROM paks_fts JOIN paks ON paks.pak_id = paks_fts.pak_id"
            f"{listing.where(['paks_fts MATCH ?', *where])}"
            f" ORDER BY score DESC, paks.updated_at DESC, paks.pak_id DESC LIMIT ?"
        )
        wanted = fulltext.expression(words, match_all=match == "all")
        with self._reading() as conn:
            rows = _fetch(conn, sql, (wanted, *values, count))
        return [PakHit(PakRow(*row[:-1]), row[-1]) for row in rows]

    def _anchored_in(self, source_path: str) -> list[str]:
        sql = "SELECT DISTINCT pak_id FROM pak_anchors WHERE source_path = ? ORDER BY pak_id"
        with self._reading() as conn:
            return [row[0] for row in _fetch(conn, sql, (source_path,))]

    def _flagged(self) -> dict[str, list[str]]:
        sql = "SELECT risk_flag, pak_id FROM pak_risk_flags ORDER BY risk_flag, pak_id"
        found: dict[str, list[str]] = {}
        with self._reading() as conn:
            for flag, pak_id in _fetch(conn, sql, ()):
                found.setdefault(flag, []).append(pak_id)
        return found

    def _entries(self, kind: Attachment[Entry], pak_ids: list[str]) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        with self._reading() as conn:
            for chunk in _chunks(pak_ids):
                found |= attachments.read(conn, kind, chunk)
        return found

    def _replace_entries(
        self, kind: Attachment[Entry], pak_id: str, new: list[Entry], now: str
    ) -> None:
        with self._writing() as conn:
            attachments.replace(conn, kind, pak_id=pak_id, entries=new, now=now)

    def _add_entry(self, kind: Attachment[Entry], pak_id: str, entry: Entry, now: str) -> None:
        with self._writing() as conn:
            attachments.add(conn, kind, pak_id=pak_id, entry=entry, now=now)

    def _remove_entry(self, kind: Attachment[Entry], pak_id: str, key: tuple[str, ...]) -> bool:
        with self._writing() as conn:
            return attachments.remove(conn, kind, pak_id=pak_id, key=key)

    def _refuse(self) -> None:
        if self._refusal:
            raise self._refusal.with_traceback(None)  # else each call would add to the last one's

    def _reading(self) -> AbstractContextManager[PakConnection]:
        self._refuse()
        return self._use.reading()

    def _writing_alone(self) -> AbstractContextManager[sqlite3.Connection]:
        """Give the connection that writes, for a statement that is a transaction by itself."""
        self._refuse()
        return self._use.writing()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._writing_alone() as conn, write(conn):
            yield conn
            self._use.check_files()


def open_recall_store(path: Path | str | None = None) -> RecallStore:
    """Open the catalogue at `path`, or at the default place."""
    return RecallStore.open(path)


def _put(conn: sqlite3.Connection, row: PakRow) -> str | None:
    """Write `row`; return the content hash that stood there before, None if nothing did.

    One statement, so SQLite needs neither an explicit transaction nor a copy of every page it
    touches. The condition on the old hash makes it safe: a write of another process in between
    leaves nothing to change, and the next round sees what that process wrote.
    """
    while conn.execute(_INSERT_NEW, row).rowcount == 0:
        found = conn.execute(_HASH_OF, (row.pak_id,)).fetchone()
        if found and conn.execute(_UPDATE, (*_replaced(row), row.pak_id, found[0])).rowcount:
            return str(found[0])
    return None


def _put_all(conn: sqlite3.Connection, rows: list[PakRow]) -> None:
    """Write `rows` in a few statements. Any of them may name any other as its successor."""
    # A successor may come only with a later statement; then it is named once all rows are there.
    late = {row.pak_id for row in rows} if len(rows) > _ROWS_A_STATEMENT else set()
    for chunk in _chunks(rows, _ROWS_A_STATEMENT):
        values = [
            value
            for row in chunk
            for value in (row._replace(superseded_by=None) if row.superseded_by in late else row)
        ]
        conn.execute(_upsert(len(chunk)), values)
    successors = {row.pak_id: row.superseded_by for row in rows}
    conn.executemany(
        "UPDATE paks SET superseded_by = ? WHERE pak_id = ?",
        [(successor, pak_id) for pak_id, successor in successors.items() if successor in late],
    )


def _upsert(count: int) -> str:
    return f"{_INSERT}{', '.join([_ROW] * count)}{_OR_REPLACE}"


def _content_hashes(conn: sqlite3.Connection, pak_ids: list[str]) -> dict[str, str]:
    return {
        pak_id: content_hash
        for chunk in _chunks(pak_ids)
        for pak_id, content_hash in _fetch(
            conn, f"SELECT pak_id, content_hash FROM paks WHERE pak_id IN ({_marks(chunk)})", chunk
        )
    }


def _fetch(conn: sqlite3.Connection, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return rows; what is left of a damaged text stands in its place."""
    return fetch_all(conn, sql, values, otherwise=shown)


def _chunks(values: list[Value], size: int = 500) -> Iterator[list[Value]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
