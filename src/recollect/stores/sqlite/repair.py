"""Put right what can be derived, and put aside what cannot.

In: a connection inside of a commit. Out: `Repaired`. Evidence comes first: what differs from its
seal or its second copy is found before indexes are built anew from the tables. A row that cannot be
trusted moves to the table `damaged`, as it stood; nothing is deleted that was not put there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.errors import StoreDamaged
from recollect.model import Repaired
from recollect.paks import fulltext
from recollect.paks.tolerant import text_or_bytes
from recollect.stores.sqlite.examine import expected_triggers, find
from recollect.stores.sqlite.legible import is_state
from recollect.stores.sqlite.links import PAIRS, LinksInDoubt
from recollect.stores.sqlite.seals import SEALED_COLUMNS, row_seal
from recollect.stores.sqlite.twins import TWIN_INDEXES

if TYPE_CHECKING:
    from recollect.ports.edges import LinkAgain
    from recollect.stores.sqlite.examine import Findings, Unlike

__all__ = ["FACTS", "USES", "as_json", "mend_state", "repair"]

_HANG_ON = ("pak_reason_codes", "pak_risk_flags", "pak_anchors", "pak_relations")
# Of these both versions may be used: the next use, or the next commit, writes them anew.
_GO_ON = frozenset({"memory_events", "commits", "engine_state", "memory_uses", "link_uses"})
# In the order of `is_state`.
FACTS = (
    "store_id, revision, commit_id, model_id, dimension, next_model_id, next_dimension,"
    " active_hours, seen_at, vector_slot"
)
USES = ("reinforced", "last_reinforced")

_NAME_SUCCESSORS = ("paks", "memory_versions")
_NOT_AS_WRITTEN = "it is not as it was written"

_NOBODY = "row_id NOT IN (SELECT row_id FROM memories)"
# Uses and versions of what is not there, and what was given of it.
_REFER_TO = {
    "memory_versions": _NOBODY,
    "memory_uses": _NOBODY,
    "link_uses": "(low, high) NOT IN (SELECT low, high FROM memory_edges)",
    "receipt_items": f"{_NOBODY} OR receipt NOT IN (SELECT number FROM receipts)",
}


def mend_state(conn: sqlite3.Connection) -> None:
    """Put right what no commit could begin without: triggers, and the row of facts."""
    made = dict(conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    for name, sql in expected_triggers().items():
        if made.get(name) != sql:
            conn.execute(f"DROP TRIGGER IF EXISTS {name}")
            conn.execute(sql)
    table, columns = TWIN_INDEXES["twin_state"]
    listed = ", ".join(columns)
    row = conn.execute(f"SELECT {FACTS} FROM {table} NOT INDEXED").fetchone()
    copy = conn.execute(f"SELECT {listed} FROM {table} INDEXED BY twin_state").fetchone()
    conn.execute("REINDEX twin_state")
    if copy is not None and (row is None or not is_state(row)):
        kept = [column for column in columns if column != "id"]
        conn.execute(
            f"UPDATE {table} SET {', '.join(f'{column} = ?' for column in kept)}",
            [copy[columns.index(column)] for column in kept],
        )


def repair(
    conn: sqlite3.Connection,
    at: str,
    *,
    found: Findings | None,
    link_again: LinkAgain,
    all_links: bool = False,
) -> Repaired:
    """Repair what was found, or is found now; the caller's commit makes it one change."""
    strict = conn.text_factory
    found = found or find(conn)
    conn.text_factory = text_or_bytes
    try:
        _reindex(conn)
        return _Repair(conn, at, found, all_links=all_links).run(link_again)
    finally:
        conn.text_factory = strict


def _reindex(conn: sqlite3.Connection) -> None:
    try:
        conn.execute("REINDEX")
    except sqlite3.IntegrityError as error:
        raise StoreDamaged(
            f"Damage gave a row the name of another: {error}.",
            hint="run `recollect repair --salvage`, which reads around it; the old file is kept.",
        ) from error


class _Repair:
    """One repair, and what it did so far."""

    def __init__(
        self, conn: sqlite3.Connection, at: str, found: Findings, *, all_links: bool
    ) -> None:
        self._conn = conn
        self._at = at
        self._found = found
        self._restored: list[str] = []
        self._aside: list[str] = []
        self._dropped = 0
        self._links = LinksInDoubt(conn, all_links=all_links)

    def run(self, link_again: LinkAgain) -> Repaired:
        """Do all of it, what others depend on first."""
        self._links.look_at(self._found.unlike)
        for name, row_id in self._found.rows.items():
            self._memory(name, row_id)
        for unlike in self._found.unlike:
            self._row(unlike)
        for number, name in self._found.versions.items():
            self._move("memory_versions", "rowid = ?", (number,), name, _NOT_AS_WRITTEN)
            self._aside.append(f"a version of {name}")
        for number, name in self._found.receipts.items():
            self._move("receipts", "number = ?", (number,), name, _NOT_AS_WRITTEN)
            self._aside.append(f"the receipt {name}")
        self._references()
        self._vectors()
        self._dropped += self._links.compute(link_again)
        rebuilt = fulltext.rebuild(self._conn)
        self._seal()
        return Repaired(
            restored=tuple(sorted(self._restored)),
            aside=tuple(sorted(self._aside)),
            vectors=len(self._found.vectors),
            dropped=self._dropped,
            full_text=rebuilt.removed + rebuilt.added,
        )

    def _memory(self, name: str, row_id: int | None) -> None:
        if row_id is None:
            return
        if name in self._found.sealed_wrong:
            if self._restore_from_copies(row_id):
                self._restored.append(name)
                return
        elif self._only_uses_differ(row_id) and name not in self._found.illegible:
            self._restored.append(name)
            return
        self._put_memory_aside(name, row_id)

    def _only_uses_differ(self, row_id: int) -> bool:
        """Return whether how often it was used is all that its second copy says otherwise."""
        both = [
            {c: v for c, v in zip(one.columns, one.row, strict=True) if c not in USES}
            for one in self._found.unlike
            if one.table == "memories" and one.row[0] == row_id
        ]
        return len(both) == 2 and both[0] == both[1]

    def _restore_from_copies(self, row_id: int) -> bool:
        """Take the catalogue's columns from where else they stand, if that is what was sealed."""
        found = self._conn.execute(
            f"SELECT seal, paks.rowid, {SEALED_COLUMNS} FROM memories JOIN paks USING (pak_id)"
            " WHERE row_id = ?",
            (row_id,),
        ).fetchone()
        if found is None:
            return False
        seal, pak_row, *values = found
        names = [column.partition(".")[2] for column in SEALED_COLUMNS.split(", ")]
        for copy in self._copies(values[0]):
            tried = [copy.get(name, value) for name, value in zip(names, values, strict=True)]
            if row_seal(*tried) == seal:
                self._conn.execute(
                    f"UPDATE paks SET {', '.join(f'{name} = ?' for name in copy)} WHERE rowid = ?",
                    (*copy.values(), pak_row),
                )
                self._conn.execute("UPDATE memories SET seal = ? WHERE row_id = ?", (seal, row_id))
                return True
        return False

    def _copies(self, pak_id: str) -> Iterator[dict[str, Any]]:
        for row in self._conn.execute(
            "SELECT c1, c2 FROM paks_fts_content WHERE c0 = ?", (pak_id,)
        ).fetchall():
            yield dict(zip(("title", "summary"), row, strict=True))
        for one in self._found.unlike:
            if one.table == "paks" and pak_id in one.row:
                copy = dict(zip(one.columns, one.row, strict=True))
                del copy["pak_id"]
                yield copy

    def _put_memory_aside(self, name: str, row_id: int) -> None:
        owner = self._conn.execute(
            "SELECT pak_id FROM memories WHERE row_id = ?", (row_id,)
        ).fetchone()
        if owner is None:
            return
        self._links.without(row_id)
        self._move("memory_versions", "row_id = ?", (row_id,), name, "its memory was put aside")
        self._move("memories", "row_id = ?", (row_id,), name, _NOT_AS_WRITTEN)
        for table in _HANG_ON:
            self._move(table, "pak_id = ?", owner, name, "its memory was put aside")
        self._move("paks", "pak_id = ?", owner, name, _NOT_AS_WRITTEN)
        self._aside.append(name)

    def _row(self, unlike: Unlike) -> None:
        """Put aside a row that differs from its second copy: which of the two is right?"""
        if unlike.table in (*_GO_ON, "memories", "paks") or not unlike.stands:
            return
        values = dict(zip(unlike.columns, unlike.row, strict=True))
        condition = " AND ".join(f"{column} IS ?" for column in values)
        name = self._name_of(values)
        if self._links.is_derived(unlike):
            gone = self._conn.execute(
                f"DELETE FROM {unlike.table} WHERE {condition}", list(values.values())
            )
            self._dropped += gone.rowcount
        elif self._move(
            unlike.table, condition, list(values.values()), name, "its second copy says otherwise"
        ):
            self._aside.append(f"{unlike.table} {name}")

    def _name_of(self, values: Mapping[str, Any]) -> str:
        """Return what a row is called where it is put aside: by its memory, if it is of one."""
        found = self._conn.execute(
            "SELECT pak_id FROM memories WHERE row_id = ?", (values.get("row_id"),)
        ).fetchone()
        return str(next(iter(values.values())) if found is None else found[0])

    def _move(self, table: str, condition: str, values: Sequence[Any], name: str, why: str) -> int:
        """Move rows to where a person can look at them; return how many."""
        cursor = self._conn.execute(f"SELECT * FROM {table} WHERE {condition}", values)
        columns = [column[0] for column in cursor.description]
        found = cursor.fetchall()
        for row in found:
            self._conn.execute(
                "INSERT INTO damaged (at, stood_in, name, why, stood) VALUES (?, ?, ?, ?, ?)",
                (
                    self._at,
                    table,
                    name,
                    why,
                    as_json(dict(zip(columns, row, strict=True))),
                ),
            )
        self._conn.execute(f"DELETE FROM {table} WHERE {condition}", values)
        return len(found)

    def _references(self) -> None:
        """Drop what refers to a memory that is not there."""
        for table, row_id, parent, _ in self._conn.execute("PRAGMA foreign_key_check").fetchall():
            if parent == "paks" and table in _NAME_SUCCESSORS:
                # A memory whose successor is lost stands by itself again.
                self._conn.execute(
                    f"UPDATE {table} SET superseded_by = NULL WHERE rowid = ?", (row_id,)
                )
            elif row_id is not None:
                gone = self._conn.execute(f"DELETE FROM {table} WHERE rowid = ?", (row_id,))
                self._dropped += gone.rowcount
        for table, ends in PAIRS.items():
            for one, other in (ends, ends[::-1]):
                dangling = f"{one} NOT IN (SELECT row_id FROM memories)"
                if table == "memory_likenesses":
                    self._links.look_again(f"SELECT {other} FROM {table} WHERE {dangling}")
                gone = self._conn.execute(f"DELETE FROM {table} WHERE {dangling}")
                self._dropped += gone.rowcount
        # As when a memory is deleted: a receipt that named it says no more what was asked.
        self._conn.execute(
            "UPDATE receipts SET request = NULL, digest = NULL, seal = NULL WHERE number IN"
            f" (SELECT receipt FROM receipt_items WHERE {_NOBODY})"
        )
        for table, refers in _REFER_TO.items():
            self._dropped += self._conn.execute(f"DELETE FROM {table} WHERE {refers}").rowcount

    def _vectors(self) -> None:
        """Let damaged vectors go; their memories wait for new ones."""
        self._conn.executemany(
            "UPDATE memories SET pending = 1, vector_0 = NULL, vector_seal_0 = NULL,"
            " vector_1 = NULL, vector_seal_1 = NULL WHERE row_id = ?",
            [(row_id,) for row_id in self._found.vectors.values()],
        )

    def _seal(self) -> None:
        """Seal what was edited past the engine, as it is: from now on that is what was written."""
        unsealed = self._conn.execute(
            f"SELECT {SEALED_COLUMNS}, row_id FROM memories JOIN paks USING (pak_id)"
            " WHERE seal IS NULL"
        ).fetchall()
        self._conn.executemany(
            "UPDATE memories SET seal = ? WHERE row_id = ?",
            [(row_seal(*row[:-1]), row[-1]) for row in unsealed],
        )


def as_json(stood: Mapping[str, Any]) -> str:
    """Return a row as a person can read it; bytes as hexadecimal numbers."""
    return json.dumps(stood, default=_plain)


def _plain(value: object) -> object:
    return {"hex": value.hex()} if isinstance(value, bytes) else repr(value)
