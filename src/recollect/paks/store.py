"""`RecallStore`: the catalogue of Paks in one SQLite file.

In: metadata of Paks, never their bodies. Out: rows, pages, hits. It stores and finds; it does not
rank for a task, select, or refuse what a flag warns of. Checks are in `validate`, transactions
and error texts in `database`.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from recollect import check
from recollect.errors import InvalidInput, StoreTooNew
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
from recollect.paks import attachments, cursor, fulltext, listing, opening, validate
from recollect.paks.attachments import Attachment
from recollect.paks.database import Translated, connect, connect_read_only, damage, read, write
from recollect.paks.migrations import current_version
from recollect.paks.schema import SCHEMA_VERSION
from recollect.paks.validate import RISK_FLAG_SEVERITIES
from recollect.settings import default_recall_db_path

if TYPE_CHECKING:
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

_log = logging.getLogger(__name__)

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


class RecallStore:
    """A catalogue of Paks. Open one with `RecallStore.open`; use it in a `with` statement."""

    def __init__(
        self,
        conn: sqlite3.Connection,
        path: Path,
        *,
        strict: bool = False,
        refusal: StoreTooNew | None = None,
        any_thread: bool = False,
    ) -> None:
        self._conn = conn
        self._path = path
        self._strict = strict
        self._refusal = refusal
        self._looking = False
        self._records: SqliteRecords | None = None
        self.lock = RLock() if any_thread else None
        self._translated = Translated(path, self.lock)

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        *,
        strict: bool = False,
        read_only: bool = False,
        any_thread: bool = False,
    ) -> RecallStore:
        """Open the catalogue at `path`, making or migrating it as needed.

        Without a path: `RECOLLECT_DB`, `TOKENPAK_RECALL_DB`, or the home directory's. `strict`
        refuses reason codes and risk flags outside the registry. With `any_thread` several threads
        may share the store; they take turns. A database of a newer release opens so that its
        version can be read, and refuses every other call.
        """
        place = opening.resolve(path)
        conn = connect_read_only(place) if read_only else connect(place, any_thread=any_thread)
        try:
            with Translated(place):
                refusal = opening.prepare(conn, place, read_only=read_only)
        except BaseException:
            conn.close()
            raise
        return cls(conn, place, strict=strict, refusal=refusal, any_thread=any_thread)

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection itself: plain tuples, autocommit."""
        return self._conn

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._path

    @property
    def schema_version(self) -> int:
        """The schema version of the database."""
        return current_version(self._conn)

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        self._conn.close()

    def __enter__(self) -> RecallStore:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def upsert_pak(
        self,
        *,
        pak_id: str,
        pak_type: str,
        source_type: str,
        authority: str,
        title: str,
        content_hash: str,
        summary: str | None = "",
        project: str | None = None,
        topic: str | None = None,
        superseded_by: str | None = None,
        now: str | None = None,
    ) -> UpsertResult:
        """Add a Pak, or replace every column but `created_at` of the one with this id."""
        row = validate.pak_row(
            {
                "pak_id": pak_id,
                "pak_type": pak_type,
                "source_type": source_type,
                "authority": authority,
                "title": title,
                "content_hash": content_hash,
                "summary": summary,
                "project": project,
                "topic": topic,
                "superseded_by": superseded_by,
            },
            _stamp(now),
        )
        with self._translated:
            old_hash = _put(self._ready, row)
        return _reported(row, old_hash)

    def upsert_paks(
        self, paks: Iterable[Mapping[str, Any]], *, now: str | None = None, quiet: bool = False
    ) -> list[UpsertResult]:
        """Upsert many Paks in one transaction: all of them, or none.

        Each is a mapping with the arguments of `upsert_pak`, `now` included if it has its own.
        `quiet` logs no warning for bodies that changed: the caller means to change them.
        """
        stamp = _stamp(now)
        rows = [validate.pak_row(pak, stamp) for pak in validate.listed("pak", paks)]
        with self._writing() as conn:
            hashes = _content_hashes(conn, [row.pak_id for row in rows])
            # In the order of the index, so that neighbours are written while their page is at hand.
            _put_all(conn, sorted(rows, key=attrgetter("pak_id")))
        results = []
        for row in rows:
            results.append(_reported(row, hashes.get(row.pak_id), quiet=quiet))
            hashes[row.pak_id] = row.content_hash
        return results

    def delete_pak(self, pak_id: str) -> bool:
        """Delete a Pak and all that hangs on it; return whether there was one."""
        if not check.is_id(pak_id):
            return False
        with self._translated:
            return self._ready.execute("DELETE FROM paks WHERE pak_id = ?", (pak_id,)).rowcount > 0

    def get_pak(self, pak_id: str | None) -> PakRow | None:
        """Return the Pak with this id, or None."""
        return self.get_paks([pak_id]).get(pak_id) if check.is_id(pak_id) else None

    def get_paks(self, pak_ids: Iterable[str | None]) -> dict[str, PakRow]:
        """Return those Paks that exist, by id, in the order asked for."""
        wanted = list(dict.fromkeys(filter(check.is_id, validate.listed("pak_id", pak_ids))))
        with self._translated:
            found = {
                row[0]: PakRow(*row)
                for chunk in _chunks(wanted)
                for row in self._ready.execute(
                    f"SELECT {_COLUMNS} FROM paks WHERE pak_id IN ({_marks(chunk)})", chunk
                )
            }
        return {pak_id: found[pak_id] for pak_id in wanted if pak_id in found}

    def list_paks(self, filters: PakListFilters | None = None) -> PakListResult:
        """Return one page of Paks, newest first."""
        filters = listing.checked(filters)
        limit = listing.page_size(filters.limit)
        where, values = listing.conditions(filters)
        if filters.cursor:
            where.append("(updated_at, pak_id) < (?, ?)")
            values += cursor.decode(filters.cursor, filters)
        sql = f"SELECT {_COLUMNS} FROM paks{listing.where(where)} ORDER BY {_PAGE_ORDER} LIMIT ?"
        with self._translated:
            rows = self._ready.execute(sql, (*values, limit + 1)).fetchall()
        items = [PakRow(*row) for row in rows[:limit]]
        more = len(rows) > limit
        return PakListResult(
            items, cursor.encode(items[-1], filters) if more else None, limit, more
        )

    def iter_paks(self, filters: PakListFilters | None = None) -> Iterator[PakRow]:
        """Walk all matching Paks, newest first, a page at a time.

        Paks added while walking are met at most once. One that is changed meanwhile moves to the
        front, where the walk has been already.
        """
        filters = listing.checked(filters)
        while True:
            page = self.list_paks(filters)
            yield from page.items
            if page.next_cursor is None:
                return
            filters = filters._replace(cursor=page.next_cursor)

    def count_paks(self, filters: PakListFilters | None = None) -> int:
        """Count matching Paks; the filters' limit and cursor play no part."""
        where, values = listing.conditions(listing.checked(filters))
        with self._translated:
            row = self._ready.execute(
                f"SELECT count(*) FROM paks{listing.where(where)}", values
            ).fetchone()
        return int(row[0])

    def search(
        self,
        text: str,
        *,
        project: str | None = None,
        pak_type: str | None = None,
        limit: int = LIST_LIMIT_DEFAULT,
        match: Literal["any", "all"] = "any",
    ) -> list[PakHit]:
        """Find Paks by the words of their title and summary, best first.

        Any text is safe: it is read as words, never as query syntax. `match` says whether a Pak
        must hold any of the words or all of them.
        """
        if match not in ("any", "all"):
            raise InvalidInput(f"match must be any or all, not {match!r}.", hint="use match='any'.")
        if not isinstance(text, str):
            raise InvalidInput(f"text must be a string, not {text!r}.", hint="pass '' for none.")
        where, values = listing.conditions(listing.checked(PakListFilters(project, pak_type)))
        wanted = fulltext.expression(text, match_all=match == "all")
        if wanted is None:
            return []
        columns = ", ".join(f"paks.{column}" for column in PakRow._fields)
        sql = (
            f"SELECT {columns}, -bm25(paks_fts) AS score"
            f" FROM paks_fts JOIN paks ON paks.pak_id = paks_fts.pak_id"
            f"{listing.where(['paks_fts MATCH ?', *where])}"
            f" ORDER BY score DESC, paks.updated_at DESC, paks.pak_id DESC LIMIT ?"
        )
        with self._translated:
            rows = self._ready.execute(sql, (wanted, *values, listing.page_size(limit))).fetchall()
        return [PakHit(PakRow(*row[:-1]), row[-1]) for row in rows]

    def set_pak_reason_codes(
        self, pak_id: str, codes: Sequence[ReasonCodeEntry], *, now: str | None = None
    ) -> None:
        """Make `codes` the whole set of a Pak's reason codes; an empty list clears it."""
        self._replace(attachments.REASON_CODES, pak_id, self._codes(codes), now)

    def get_pak_reason_codes(self, pak_id: str | None) -> list[ReasonCodeEntry]:
        """Return a Pak's reason codes in ascending order; [] for an id that is not there."""
        return self._read(attachments.REASON_CODES, pak_id)

    def add_pak_reason_code(
        self, pak_id: str, code: ReasonCodeEntry, *, now: str | None = None
    ) -> None:
        """Add one reason code, or give it a new weight."""
        self._add(attachments.REASON_CODES, pak_id, self._codes([code]), now)

    def remove_pak_reason_code(self, pak_id: str, reason_code: str) -> bool:
        """Remove one reason code; return whether it was there."""
        return self._remove(attachments.REASON_CODES, pak_id, (reason_code,))

    def set_pak_risk_flags(
        self, pak_id: str, flags: Sequence[RiskFlagEntry], *, now: str | None = None
    ) -> None:
        """Make `flags` the whole set of a Pak's risk flags; an empty list clears it."""
        self._replace(attachments.RISK_FLAGS, pak_id, self._flags(flags), now)

    def get_pak_risk_flags(self, pak_id: str | None) -> list[RiskFlagEntry]:
        """Return a Pak's risk flags in ascending order; [] for an id that is not there."""
        return self._read(attachments.RISK_FLAGS, pak_id)

    def add_pak_risk_flag(
        self, pak_id: str, flag: RiskFlagEntry, *, now: str | None = None
    ) -> None:
        """Add one risk flag, or give it a new severity."""
        self._add(attachments.RISK_FLAGS, pak_id, self._flags([flag]), now)

    def remove_pak_risk_flag(self, pak_id: str, risk_flag: str) -> bool:
        """Remove one risk flag; return whether it was there."""
        return self._remove(attachments.RISK_FLAGS, pak_id, (risk_flag,))

    def set_pak_anchors(self, pak_id: str, anchors: Sequence[PakAnchorEntry]) -> None:
        """Make `anchors` the whole set of a Pak's anchors."""
        self._replace(attachments.ANCHORS, pak_id, validate.anchors(anchors), None)

    def get_pak_anchors(self, pak_id: str | None) -> list[PakAnchorEntry]:
        """Return a Pak's anchors in ascending order of their id."""
        return self._read(attachments.ANCHORS, pak_id)

    def add_pak_anchor(self, pak_id: str, anchor: PakAnchorEntry) -> None:
        """Add one anchor, or move the one with its id."""
        self._add(attachments.ANCHORS, pak_id, validate.anchors([anchor]), None)

    def remove_pak_anchor(self, pak_id: str, anchor_id: str) -> bool:
        """Remove one anchor; return whether it was there."""
        return self._remove(attachments.ANCHORS, pak_id, (anchor_id,))

    def find_paks_by_source(self, source_path: str) -> list[str]:
        """Return the ids of the Paks anchored in a source, ascending."""
        with self._translated:
            rows = self._ready.execute(
                "SELECT DISTINCT pak_id FROM pak_anchors WHERE source_path = ? ORDER BY pak_id",
                (validate.required_text("source_path", source_path),),
            ).fetchall()
        return [row[0] for row in rows]

    def set_pak_relations(
        self, pak_id: str, relations: Sequence[PakRelationEntry], *, now: str | None = None
    ) -> None:
        """Make `relations` the whole set of relations that start at a Pak."""
        self._replace(attachments.RELATIONS, pak_id, validate.relations(relations), now)

    def get_pak_relations(self, pak_id: str | None) -> list[PakRelationEntry]:
        """Return the relations that start at a Pak, in ascending order."""
        return self._read(attachments.RELATIONS, pak_id)

    def add_pak_relation(
        self, pak_id: str, relation: PakRelationEntry, *, now: str | None = None
    ) -> None:
        """Add one relation."""
        self._add(attachments.RELATIONS, pak_id, validate.relations([relation]), now)

    def remove_pak_relation(self, pak_id: str, relation: PakRelationEntry) -> bool:
        """Remove one relation; return whether it was there."""
        (key,) = validate.relations([relation])
        return self._remove(attachments.RELATIONS, pak_id, key)

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Make several writes one: `with store.transaction(): ...` commits all or none."""
        return self._writing()

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """Read in one state: `with store.snapshot(): ...` sees no write that others make meanwhile.

        It yields whether that state is committed; inside a caller's transaction it may not be.
        Snapshots may stand inside one another.
        """
        with self._translated:
            if self._ready.in_transaction:
                yield self._looking
                return
            with read(self._conn):
                self._looking = True
                try:
                    yield True
                finally:
                    self._looking = False

    def records(self) -> SqliteRecords:
        """Return the catalogue by numbers, as selections read it; for use inside a snapshot."""
        if self._records is None:
            # Loads numpy, which a catalogue that nobody selects from can do without.
            from recollect.stores.sqlite.catalogue import SqliteRecords

            self._records = SqliteRecords(self._ready)
        self._records.prepare()
        return self._records

    def check(self) -> CheckReport:
        """Look for damage in the file, dangling references and a stale full-text table."""
        with self._translated:
            found = damage(self._ready) or fulltext.problems(self._ready)
            count = self._ready.execute("SELECT count(*) FROM paks").fetchone()[0]
        return CheckReport(ok=not found, paks=count, problems=tuple(found))

    def repair(self) -> RepairReport:
        """Rebuild the full-text table from the catalogue."""
        with self._writing() as conn:
            return fulltext.rebuild(conn)

    def _codes(self, codes: Sequence[ReasonCodeEntry]) -> list[ReasonCodeEntry]:
        return validate.reason_codes(codes, strict=self._strict)

    def _flags(self, flags: Sequence[RiskFlagEntry]) -> list[RiskFlagEntry]:
        return validate.risk_flags(flags, strict=self._strict)

    def _read(self, kind: Attachment[Entry], pak_id: str | None) -> list[Entry]:
        if not check.is_id(pak_id):
            return []
        with self._translated:
            return attachments.read(self._ready, kind, pak_id)

    def _replace(
        self, kind: Attachment[Entry], pak_id: str, entries: list[Entry], now: str | None
    ) -> None:
        pak_id, stamp = validate.required_text("pak_id", pak_id), _stamp(now)
        with self._writing() as conn:
            attachments.replace(conn, kind, pak_id=pak_id, entries=entries, now=stamp)

    def _add(
        self, kind: Attachment[Entry], pak_id: str, entries: list[Entry], now: str | None
    ) -> None:
        pak_id, stamp = validate.required_text("pak_id", pak_id), _stamp(now)
        with self._writing() as conn:
            attachments.add(conn, kind, pak_id=pak_id, entry=entries[0], now=stamp)

    def _remove(self, kind: Attachment[Entry], pak_id: str, key: tuple[str, ...]) -> bool:
        if not all(check.is_id(part) for part in (pak_id, *key)):
            return False
        with self._writing() as conn:
            return attachments.remove(conn, kind, pak_id=pak_id, key=key)

    @property
    def _ready(self) -> sqlite3.Connection:
        if self._refusal:
            raise self._refusal.with_traceback(None)  # else each call would add to the last one's
        return self._conn

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._translated, write(self._ready):
            yield self._conn


def open_recall_store(path: Path | str | None = None) -> RecallStore:
    """Open the catalogue at `path`, or at the default place."""
    return RecallStore.open(path)


def _stamp(now: str | None) -> str:
    if now is None:
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return validate.timestamp(now)


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
        conn.execute(f"{_INSERT}{', '.join([_ROW] * len(chunk))}{_OR_REPLACE}", values)
    successors = {row.pak_id: row.superseded_by for row in rows}
    conn.executemany(
        "UPDATE paks SET superseded_by = ? WHERE pak_id = ?",
        [(successor, pak_id) for pak_id, successor in successors.items() if successor in late],
    )


def _reported(row: PakRow, old_hash: str | None, *, quiet: bool = False) -> UpsertResult:
    changed = old_hash is not None and old_hash != row.content_hash
    if changed and not quiet:
        _log.warning("content_hash changed for pak_id=%s; its row was replaced", row.pak_id)
    return UpsertResult(row.pak_id, old_hash is None, changed)


def _content_hashes(conn: sqlite3.Connection, pak_ids: list[str]) -> dict[str, str]:
    return {
        pak_id: content_hash
        for chunk in _chunks(pak_ids)
        for pak_id, content_hash in conn.execute(
            f"SELECT pak_id, content_hash FROM paks WHERE pak_id IN ({_marks(chunk)})", chunk
        )
    }


def _chunks(values: list[Value], size: int = 500) -> Iterator[list[Value]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
