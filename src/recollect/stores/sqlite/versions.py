"""Versions in SQLite: a row for each that a memory had, once it has changed; sealed, like memories.

In: rows before and after a write, and who writes. Out: values of `recollect.ports.versions`. The
version that stands has a row without fields: who wrote it, and when. A row that is not as it was
written is shown to nobody; `examine` tells of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.stores.sqlite import rows
from recollect.stores.sqlite.seals import VERSION_COLUMNS, version_seal
from recollect.stores.sqlite.session import chunks, marks

if TYPE_CHECKING:
    from recollect.model import Memory
    from recollect.policy import View
    from recollect.ports.versions import KeptVersion
    from recollect.stores.sqlite.session import Session

__all__ = ["Author", "SqliteVersions"]

# Stands for a damaged row's seal when that row is written again: it goes on being told of.
_BROKEN = b"broken"
_LISTED = ", ".join(f"memory_versions.{column}" for column in VERSION_COLUMNS)


class Author(NamedTuple):
    """Who changes a memory, None for its owner, and when."""

    by: str | None
    at: str


class _Row(NamedTuple):
    """A row in the order of `VERSION_COLUMNS`."""

    row_id: int
    number: int
    revision: int | None
    at: str
    principal: str
    superseded_by: str | None
    fields: str | None


class SqliteVersions:
    """The versions of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def read(self, pak_ids: Sequence[str], view: View) -> dict[str, list[KeptVersion]]:
        """Return the versions of some memories that a view shows, the oldest first."""
        found: dict[str, list[KeptVersion]] = {}
        for chunk in chunks(pak_ids):
            for pak_id, seal, *values in self._db.all(
                f"SELECT pak_id, memory_versions.seal, {_LISTED}"
                " FROM memory_versions JOIN memories USING (row_id)"
                f" WHERE pak_id IN ({marks(chunk)}) ORDER BY row_id, number",
                *chunk,
            ):
                version = _version(pak_id, seal, _Row(*values))
                if version is not None and (version.memory is None or view.shows(version.memory)):
                    found.setdefault(pak_id, []).append(version)
        return found

    def put(self, versions: Mapping[str, Sequence[KeptVersion]]) -> None:
        """Keep versions as given, in the place of those that there are."""
        for chunk in chunks(list(versions)):
            known = self._db.all(
                f"SELECT pak_id, row_id FROM memories WHERE pak_id IN ({marks(chunk)})", *chunk
            )
            self._db.run_each(
                "DELETE FROM memory_versions WHERE row_id = ?", [(row_id,) for _, row_id in known]
            )
            self._write(
                _sealed(_row(row_id, one, self._db.revision))
                for pak_id, row_id in known
                for one in versions[pak_id]
            )

    def where(self, tenant: str, fits: Callable[[Memory], bool]) -> dict[str, list[int]]:
        """Return the numbers of earlier versions of a tenant that fit, by memory."""
        found: dict[str, list[int]] = {}
        for pak_id, seal, *values in self._db.all(
            f"SELECT pak_id, memory_versions.seal, {_LISTED}"
            " FROM memory_versions JOIN memories USING (row_id)"
            " WHERE tenant = ? AND fields IS NOT NULL ORDER BY row_id, number",
            tenant,
        ):
            one = _version(pak_id, seal, _Row(*values))
            if one is not None and one.memory is not None and fits(one.memory):
                found.setdefault(pak_id, []).append(one.number)
        return found

    def erase(self, versions: Mapping[str, Sequence[int]]) -> None:
        """Delete earlier versions, by memory and number."""
        # As with memories: who is killed before the bytes are wiped is made up for.
        self._db.run("UPDATE engine_state SET unwiped = ?", self._db.revision)
        self._db.run_each(
            "DELETE FROM memory_versions WHERE number = ? AND fields IS NOT NULL"
            " AND row_id = (SELECT row_id FROM memories WHERE pak_id = ?)",
            [(number, pak_id) for pak_id, numbers in versions.items() for number in numbers],
        )

    def prune(self, before: str) -> int:
        """Let go of versions that were replaced before a time."""
        gone = self._db.run(
            "DELETE FROM memory_versions WHERE fields IS NOT NULL AND EXISTS (SELECT 1 FROM"
            " memory_versions AS later WHERE later.row_id = memory_versions.row_id"
            " AND later.number > memory_versions.number AND later.at < ?)",
            before,
        ).rowcount
        if gone:
            self._db.run("UPDATE engine_state SET unwiped = ?", self._db.revision)
        return gone

    def before(self, row_ids: Sequence[int]) -> dict[int, Memory]:
        """Return rows as they are before somebody changes them; what is no memory is left out."""
        found: dict[int, Memory] = {}
        for chunk in chunks(row_ids):
            for row_id, *row in self._db.all(
                f"SELECT row_id, {rows.WHOLE_COLUMNS} FROM memories JOIN paks USING (pak_id)"
                f" WHERE row_id IN ({marks(chunk)})",
                *chunk,
            ):
                memory = _legible(row)
                if memory is not None:
                    found[row_id] = memory
        return found

    def keep(self, before: Mapping[int, Memory], authors: Mapping[int, Author]) -> None:
        """Keep what rows were, of those that say something else by now."""
        from recollect.model import changed_fields

        after = self.before(list(before))
        changed = [
            row_id
            for row_id, memory in before.items()
            if row_id in after and changed_fields(memory, after[row_id])
        ]
        for chunk in chunks(changed):
            standing = self._standing(chunk)
            for row_id in chunk:
                by, at = authors[row_id]
                owner = after[row_id].place.owner
                new = _Row(row_id, 0, self._db.revision, at, by or owner, None, None)
                self._write(_replaced(standing.get(row_id), before[row_id], new))

    def _standing(self, row_ids: Sequence[int]) -> dict[int, tuple[_Row, bytes | None]]:
        """Return the row of the version that stands, with its seal."""
        found = self._db.all(
            f"SELECT max(number), seal, {_LISTED} FROM memory_versions"
            f" WHERE row_id IN ({marks(row_ids)}) GROUP BY row_id",
            *row_ids,
        )
        return {row[2]: (_Row(*row[2:]), row[1]) for row in found}

    def _write(self, written: Iterable[tuple[Any, ...]]) -> None:
        columns = (*VERSION_COLUMNS, "seal")
        self._db.run_each(
            f"INSERT OR REPLACE INTO memory_versions ({', '.join(columns)})"
            f" VALUES ({marks(columns)})",
            written,
        )


def _replaced(
    standing: tuple[_Row, bytes | None] | None, memory: Memory, new: _Row
) -> Iterator[tuple[Any, ...]]:
    """Yield the row of the version that was, and that of the one that stands now."""
    from recollect.model import kept_fields

    kept = json.dumps(kept_fields(memory), ensure_ascii=False, sort_keys=True)
    if standing is None:
        first = _Row(new.row_id, 1, None, memory.updated_at, memory.place.owner, None, None)
        standing = first, None
    row, seal = standing
    was = row._replace(superseded_by=memory.superseded_by, fields=kept)
    yield _sealed(was) if _is_whole(row, seal) else (*was, _BROKEN)
    yield _sealed(new._replace(number=row.number + 1))


def _legible(row: Sequence[Any]) -> Memory | None:
    try:
        return rows.whole_from_row(row)
    except ValueError:
        return None


def _version(pak_id: str, seal: bytes | None, row: _Row) -> KeptVersion | None:
    """Return what a row stands for; None if it is not as it was written, or can be no version."""
    from recollect.model import memory_of
    from recollect.ports.versions import KeptVersion

    if not _is_whole(row, seal):
        return None
    memory = None
    if row.fields is not None:
        try:
            memory = memory_of(pak_id, json.loads(row.fields), superseded_by=row.superseded_by)
        except ValueError:
            return None
    return KeptVersion(row.number, row.at, row.principal, memory, row.revision)


def _is_whole(row: _Row, seal: bytes | None) -> bool:
    if seal is not None:
        return seal == version_seal(row)
    texts = (row.at, row.principal) if row.fields is None else (row.at, row.principal, row.fields)
    return type(row.number) is int and all(type(text) is str for text in texts)


def _sealed(row: _Row) -> tuple[Any, ...]:
    return (*row, version_seal(row))


def _row(row_id: int, one: KeptVersion, revision: int) -> _Row:
    from recollect.model import kept_fields

    if one.memory is None:
        return _Row(row_id, one.number, revision, one.at, one.by, None, None)
    kept = json.dumps(kept_fields(one.memory), ensure_ascii=False, sort_keys=True)
    return _Row(row_id, one.number, revision, one.at, one.by, one.memory.superseded_by, kept)
