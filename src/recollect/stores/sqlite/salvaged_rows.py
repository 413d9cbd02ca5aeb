"""From the tables of a damaged file to those of a new one.

In: a copy of the damaged pages, and a new store. Out: all rows that can be read or put together
from indexes, in the new store; which memories cannot. What two copies say two things of is put
aside, as a repair would: in the new file both would be the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.errors import StoreOutdated
from recollect.stores.sqlite.leaf_pages import leaf_rows
from recollect.stores.sqlite.legible import is_state
from recollect.stores.sqlite.migrations import ENGINE_VERSION
from recollect.stores.sqlite.repair import FACTS, USES, as_json
from recollect.stores.sqlite.rescue import Shape, pieces, rows, shapes
from recollect.stores.sqlite.twins import TWIN_INDEXES
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.stores.sqlite.rescue import Key, Row

__all__ = ["Copied", "copy_rows", "mend_schema"]

_TEXTS = Shape("paks_fts_content", ("c0", "c1", "c2"), ("rowid",), ())
_LINKS = ("memory_edges", "memory_likenesses")
# Of these both versions may be used, or a seal decides.
_GO_ON = frozenset({"memory_events", "commits", "engine_state", "paks"})
# Facts that hold for a file alone, or for a commit.
_OF_THE_FILE = ("committing", "unlooked")
# Tables whose rows are known by how many columns they have, wherever they are in the file.
_KNOWN_BY_WIDTH = frozenset({"memories", "paks", "engine_state", "audit_log"})
_TWIN_COLUMNS = {table: frozenset(columns) for table, columns in TWIN_INDEXES.values()}


@dataclass(frozen=True, slots=True)
class Copied:
    """What could not be read: memories by name, tables that may lack rows, links."""

    lost: tuple[str, ...]
    tables: tuple[str, ...]
    all_links: bool


def mend_schema(pages: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Make the lines of a damaged schema say what those of a whole one say."""
    expected = new.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    try:
        found = pages.execute(
            "SELECT rowid, type, name, tbl_name, sql FROM sqlite_master"
        ).fetchall()
        stands = {row[1:] for row in found}
        for line in (line for line in expected if line not in stands):
            for number, _, name, _, sql in found:
                if name == line[1] or (sql == line[3] and sql is not None):
                    pages.execute(
                        "UPDATE sqlite_master SET type = ?, name = ?, tbl_name = ?, sql = ?"
                        " WHERE rowid = ?",
                        (*line, number),
                    )
    except sqlite3.DatabaseError:
        return  # tables that are not known are not read, and said to be missing


def copy_rows(
    pages: sqlite3.Connection, new: sqlite3.Connection, at: str, *, read: Callable[[], bytes]
) -> Copied:
    """Copy what can be read, table by table, as one change of the new store.

    `read` gives the bytes of the damaged file: on pages that no tree leads to there may be rows.
    """
    triggers = new.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    new.execute("PRAGMA ignore_check_constraints = ON")
    new.execute("BEGIN")
    for name, _ in triggers:
        new.execute(f"DROP TRIGGER {name}")
    copied = _Copy(pages, new, at, read).run()
    for _, sql in triggers:
        new.execute(sql)
    new.execute("COMMIT")
    return copied


class _Copy:
    """One copy from damaged pages to a new file."""

    def __init__(
        self, pages: sqlite3.Connection, new: sqlite3.Connection, at: str, read: Callable[[], bytes]
    ) -> None:
        self._pages = pages
        self._read = read
        self._new = new
        self._at = at
        self._tables: list[str] = []
        self._in_doubt: set[str] = set()
        self._lost: dict[int, str] = {}
        self._without_model = False

    def run(self) -> Copied:
        """Copy all tables; what was put aside earlier comes along."""
        for shape in shapes(self._new):
            if shape.name == "engine_state":
                self._facts(shape)
            else:
                self._table(shape)
        if self._without_model:
            self._new.execute(
                "UPDATE memories SET pending = 1, vector_0 = NULL, vector_seal_0 = NULL,"
                " vector_1 = NULL, vector_seal_1 = NULL"
            )
            self._new.execute(
                "UPDATE engine_state SET revision = (SELECT ifnull(max(revision), 0) FROM commits)"
            )
        for name in self._lost.values():
            self._aside_what_has_no_text(name)
        in_doubt = bool(self._lost) or not self._in_doubt.isdisjoint(_LINKS)
        return Copied(tuple(sorted(self._lost.values())), tuple(self._tables), in_doubt)

    def _table(self, shape: Shape) -> None:
        found, is_whole = self._rows(shape)
        known = pieces(self._pages, shape)
        if shape.name == "paks":
            self._add_texts(known)
        missing = {key: said for key, said in known.items() if key not in found}
        restored = {
            key: tuple(said.get(column) for column in shape.columns)
            for key, said in missing.items()
            if set(said) >= set(shape.columns) - shape.optional
        }
        if shape.name == "memories":
            self._lost = {
                key[0]: str(said.get("pak_id", f"row {key[0]}")) for key, said in missing.items()
            }
        if not is_whole:
            self._in_doubt.add(shape.name)
            if len(restored) < len(missing) or not known:
                self._tables.append(shape.name)
        for key, row in (found | restored).items():
            self._keep(shape, key, row, known.get(key, {}))

    def _rows(self, shape: Shape) -> tuple[dict[Key, Row], bool]:
        """Return the rows of a table, also those on pages that nothing leads to any more."""
        found, is_whole = rows(self._pages, shape)
        if not is_whole and shape.name in _KNOWN_BY_WIDTH:
            for number, row in leaf_rows(self._read(), len(shape.columns)):
                # The column that is the row's number is not written with it.
                whole = (number, *row[1:]) if shape.is_numbered else row
                found.setdefault((number,), whole)
        return found, is_whole

    def _keep(self, shape: Shape, key: Key, row: Row, said: Mapping[str, Any]) -> None:
        stood = dict(zip(shape.columns, row, strict=True))
        if self._differs(shape, stood, said):
            self._in_doubt.add(shape.name)
            if shape.name not in _LINKS or stood.get("automatic") == 0:
                self._aside(shape.name, stood, "its second copy says otherwise")
            return
        if not shape.is_numbered:
            stood = {**stood, **dict(zip(shape.key, key, strict=True))}
        try:
            self._new.execute(
                f"INSERT INTO {shape.name} ({', '.join(stood)})"
                f" VALUES ({', '.join('?' * len(stood))})",
                list(stood.values()),
            )
        except sqlite3.IntegrityError as error:
            otherwise = {**stood, **said}
            if otherwise != stood:
                # It says that it is another row; what indexes say of it may be what it was.
                self._keep(shape, key, tuple(otherwise[one] for one in shape.columns), {})
                return
            self._aside(shape.name, stood, str(error))
            if shape.name == "memories":
                self._lost[key[0]] = str(stood["pak_id"])

    def _differs(self, shape: Shape, stood: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
        if shape.name in _GO_ON:
            return False
        compared = _TWIN_COLUMNS.get(shape.name, frozenset()) - set(USES)
        return any(said[column] != stood[column] for column in compared if column in said)

    def _add_texts(self, known: dict[Key, dict[str, Any]]) -> None:
        """Full text keeps its own copy of titles and summaries."""
        texts, _ = rows(self._pages, _TEXTS)
        titles = {pak_id: (title, summary) for pak_id, title, summary in texts.values()}
        for said in known.values():
            if said.get("pak_id") in titles:
                said["title"], said["summary"] = titles[said["pak_id"]]

    def _facts(self, shape: Shape) -> None:
        """Take the row of facts from where it is legible; without one vectors mean nothing."""
        found, _ = self._rows(shape)
        known = pieces(self._pages, shape)
        told = [dict(zip(shape.columns, row, strict=True)) for row in found.values()]
        for facts in (*told, *known.values()):
            if facts.get("version") in range(1, ENGINE_VERSION):
                raise StoreOutdated(
                    f"the file is of engine version {facts['version']}; this release salvages"
                    f" files of version {ENGINE_VERSION}.",
                    hint="salvage it with the release that wrote it, or restore a backup.",
                )
            if is_state([facts.get(name) for name in FACTS.split(", ")]):
                kept = {name: value for name, value in facts.items() if name not in _OF_THE_FILE}
                self._new.execute(
                    f"UPDATE engine_state SET {', '.join(f'{name} = ?' for name in kept)}",
                    list(kept.values()),
                )
                return
        # Nobody knows of which model its vectors are.
        self._tables.append(shape.name)
        self._without_model = True

    def _aside_what_has_no_text(self, name: str) -> None:
        cursor = self._new.execute("SELECT * FROM paks WHERE pak_id = ?", (name,))
        columns = [column[0] for column in cursor.description]
        for row in cursor.fetchall():
            self._aside("paks", dict(zip(columns, row, strict=True)), "its text could not be read")
        self._new.execute("DELETE FROM paks WHERE pak_id = ?", (name,))

    def _aside(self, table: str, stood: Mapping[str, Any], why: str) -> None:
        name = str(stood.get("pak_id", next(iter(stood.values()))))
        self._new.execute(
            "INSERT INTO damaged (at, stood_in, name, why, stood) VALUES (?, ?, ?, ?, ?)",
            (self._at, table, name, why, as_json(stood)),
        )
