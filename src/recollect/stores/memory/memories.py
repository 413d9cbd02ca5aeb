"""Memories in dictionaries: each row is whole, the catalogue's fields included.

In: values of `recollect.ports.memories`. Out: the same. A read gives only what its view shows. The
catalogue tells of every change of a Pak, so that its fields here are never older.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.model import Memory, Place, name_key
from recollect.model.pak import PakRow
from recollect.policy import View
from recollect.policy.view import HIDDEN_FIELDS
from recollect.ports.memories import (
    Changes,
    Claim,
    Facts,
    Indexed,
    IndexRow,
    NewMemory,
    RowFilter,
    Standing,
    Texts,
    Written,
)
from recollect.ports.state import START, Head
from recollect.stores.memory.catalogue import MemoryCatalogue
from recollect.stores.memory.receipts import let_go_of
from recollect.stores.memory.session import MemoryRow, Session
from recollect.stores.memory.versions import MemoryVersions
from recollect.stores.touched import Touched

__all__ = ["MemoryMemories"]

_HIDDEN: dict[str, Any] = dict.fromkeys(HIDDEN_FIELDS)
_OF_PLACES = frozenset(Place.__dataclass_fields__)


class MemoryMemories:
    """The memories of one store in memory."""

    def __init__(
        self, session: Session, catalogue: MemoryCatalogue, versions: MemoryVersions
    ) -> None:
        self._session = session
        self._catalogue = catalogue
        self._versions = versions

    def read(self, where: RowFilter, view: View) -> Texts:
        """Return those memories that the view shows, with the head that they are of."""
        with self._session.snapshot():
            found = {row.memory.pak_id: row.memory for row in self._rows(where)}
            if where.pak_ids is not None:
                found = {one: found[one] for one in where.pak_ids if one in found}
            shown = {
                pak_id: replace(memory, **_HIDDEN)
                for pak_id, memory in found.items()
                if view.shows(memory)
            }
            return Texts(self._session.state.head, shown)

    def rows(self, where: RowFilter) -> list[int]:
        """Return the row ids of some memories, in ascending order."""
        with self._session.snapshot():
            return sorted(row.row_id for row in self._rows(where))

    def facts(self, names: Sequence[str], row_ids: Sequence[int] | None) -> Facts:
        """Return fields of some rows, or of all."""
        where = RowFilter(row_ids=None if row_ids is None else tuple(row_ids))
        with self._session.snapshot():
            found = [
                (row.row_id, *(_fact(row.memory, name) for name in names))
                for row in self._rows(where)
            ]
            return Facts(self._session.state.head, found)

    def standing(self, where: RowFilter) -> dict[str, Standing]:
        """Return where some memories stand, by id."""
        with self._session.snapshot():
            rows = sorted(self._rows(where), key=lambda row: row.row_id)
            return {row.memory.pak_id: _standing(row) for row in rows}

    def claims(self, tenant: str, about: Sequence[tuple[str, str]]) -> list[Claim]:
        """Return what a tenant's memories say of pairs of entity and relation."""
        wanted, found = set(about), []
        with self._session.snapshot():
            for row in self._session.memories.rows():
                one = row.memory
                if one.place.tenant != tenant or None in (one.entity, one.relation, one.value):
                    continue
                said = (name_key(one.entity or ""), name_key(one.relation or ""))
                if said in wanted:
                    found.append(Claim(row.row_id, *said, name_key(one.value or "")))
        return sorted(found)

    def unplaced(self) -> frozenset[str]:
        """Return the ids of Paks that the catalogue holds and the engine never wrote."""
        with self._session.snapshot():
            known = {pak.pak_id for pak in self._catalogue.iter_paks()}
            return frozenset(known.difference(self._session.memories))

    def unreadable(self) -> frozenset[int]:
        """Return nothing: what is in memory can be read."""
        return frozenset()

    def unreadable_places(self) -> frozenset[Place]:
        """Return nothing either."""
        return frozenset()

    def next_position(self, tenant: str, thread: str) -> int:
        """Return the position after the last one in a tenant's threads of this name."""
        memories = (row.memory for row in self._session.memories.rows())
        positions = (
            one.position for one in memories if (one.place.tenant, one.thread) == (tenant, thread)
        )
        return max((one for one in positions if one is not None), default=-1) + 1

    def changes(self, since: Head) -> Iterator[Changes]:
        """Yield what changed since a head; the last batch holds the new one."""
        with self._session.snapshot():
            tables, head = self._session, self._session.state.head
            if head == since:
                return
            touched = self._everything() if since == START else tables.touched_since(since)
            names = [tables.names[one] for one in sorted(touched.rows) if one in tables.names]
            rows = [_index_row(tables.memories[name]) for name in names]
            edges = [
                (*pair, 0.0 if (edge := tables.edges.get(pair)) is None else edge.weight)
                for pair in sorted(touched.edges)
            ]
        if touched.gone:
            yield Changes(since, (), sorted(touched.gone), ())
        if rows:
            yield Changes(since, rows, (), ())
        yield Changes(head, (), (), edges, dict.fromkeys(touched.users))

    def write(self, memories: Sequence[NewMemory]) -> list[Written]:
        """Add memories, or replace those that exist."""
        tables, touched = self._session, self._session.touched
        known = {new.memory.pak_id: tables.memories.get(new.memory.pak_id) for new in memories}
        paks = self._catalogue.keep_rows(new.pak for new in memories)
        next_row = max(tables.names, default=0) + 1
        written = []
        for new in memories:
            pak_id = new.memory.pak_id
            old = known[pak_id]
            row_id = next_row if old is None else old.row_id
            next_row += old is None
            row = _row(new, old, paks[pak_id], row_id)
            tables.memories.put(pak_id, row)
            tables.names.put(row_id, pak_id)
            if old is not None:
                self._versions.keep(old.memory, row.memory, by=new.by, at=new.memory.updated_at)
            touched.rows.add(row_id)
            written.append(Written(row_id, old is None))
        return written

    def set_standing(self, standing: Iterable[Standing], *, by: str, at: str) -> None:
        """Write where rows stand now."""
        tables, touched = self._session, self._session.touched
        for one in standing:
            pak_id = tables.names.get(one.row_id)
            if pak_id is None:
                continue
            old = tables.memories[pak_id]
            memory = replace(
                old.memory,
                place=one.place,
                status=one.status,
                reinforced=one.reinforced,
                last_reinforced=one.last_reinforced,
            )
            tables.memories.put(pak_id, replace(old, memory=memory))
            touched.rows.add(one.row_id)
            self._versions.keep(old.memory, memory, by=by, at=at)

    def supersede(self, successors: Mapping[str, str | None], *, by: str, at: str) -> None:
        """Name the successor of memories."""
        tables = self._session
        _ = tables.revision  # refuses outside of a commit
        known = {name: row for name in successors if (row := tables.memories.get(name)) is not None}
        paks = self._catalogue.get_paks(list(known))
        self._catalogue.keep_rows(
            pak._replace(superseded_by=successors[name]) for name, pak in paks.items()
        )
        for name, old in known.items():
            self._versions.keep(old.memory, tables.memories[name].memory, by=by, at=at)

    def set_ends(self, ends: Mapping[int, str]) -> None:
        """Write until when rows hold now."""
        tables, touched = self._session, self._session.touched
        for row_id, end in ends.items():
            old = tables.memories[tables.names[row_id]]
            memory = replace(old.memory, valid_until=end)
            tables.memories.put(memory.pak_id, replace(old, memory=memory))
            touched.rows.add(row_id)

    def erase(self, pak_ids: Sequence[str]) -> int:
        """Delete memories and everything that hangs on them; return how many links went along."""
        tables = self._session
        _ = tables.revision  # refuses outside of a commit
        rows = [row.row_id for name in pak_ids if (row := tables.memories.get(name)) is not None]
        edges = len(tables.edges.at(rows))
        for pak_id in pak_ids:
            self._catalogue.delete_pak(pak_id)
        return edges

    def traces(self, pak_ids: Sequence[str]) -> list[str]:
        """Return the names of what still knows any of these memories."""
        known = {
            "catalogue": self._catalogue.get_paks(pak_ids),
            "memories": [one for one in pak_ids if one in self._session.memories],
        }
        return [name for name, found in known.items() if found]

    def take_over(self, pak_id: str, pak: PakRow | None) -> None:
        """Follow a change of the catalogue: a Pak as it is now, None if it is gone."""
        tables, row = self._session, self._session.memories.get(pak_id)
        if pak is None:
            self._versions.forget_successor(pak_id)
        if row is None:
            return
        if pak is not None:
            tables.follow(Touched(rows={row.row_id}))
            tables.memories.put(
                pak_id,
                replace(
                    row,
                    memory=_with_pak(row.memory, pak),
                    content_hash=pak.content_hash,
                    superseded_by=pak.superseded_by,
                ),
            )
            return
        tables.follow(Touched(gone={row.row_id}))
        tables.uses.drop(row.row_id)
        tables.versions.drop(row.row_id)
        for pairs in (tables.edges, tables.link_uses, tables.likenesses, tables.disputes):
            pairs.drop_at([row.row_id])
        for key in [one for one in tables.answer_rows if one[0] == row.row_id]:
            kept = tables.answers[key[1]]
            tables.answers.put(key[1], kept._replace(body=None, answer=None))
            tables.answer_rows.drop(key)
        let_go_of(pak_id, tables)
        tables.memories.drop(pak_id)
        tables.names.drop(row.row_id)

    def _everything(self) -> Touched:
        return Touched(rows=set(self._session.names), edges=set(self._session.edges))

    def _rows(self, where: RowFilter) -> list[MemoryRow]:
        """Return some rows, as `where` names them, or else in the order of their numbers."""
        tables = self._session
        names: Iterable[str | None]
        if where.row_ids is not None:
            names = [tables.names.get(row_id) for row_id in dict.fromkeys(where.row_ids)]
        elif where.pak_ids is not None:
            names = dict.fromkeys(where.pak_ids)
        else:
            names = [tables.names[row_id] for row_id in sorted(tables.names)]
        rows = (None if name is None else tables.memories.get(name) for name in names)
        return [row for row in rows if row is not None and where.fits(row.row_id, row.memory)]


def _row(new: NewMemory, old: MemoryRow | None, pak: PakRow, row_id: int) -> MemoryRow:
    kept = old if new.same_text else None
    serving = kept.serving if new.vector is None and kept is not None else new.vector
    return MemoryRow(
        row_id=row_id,
        memory=_with_pak(new.memory, pak),
        content_hash=pak.content_hash,
        superseded_by=pak.superseded_by,
        pending=new.pending,
        serving=serving,
        following=None if kept is None else kept.following,
    )


def _with_pak(memory: Memory, pak: PakRow) -> Memory:
    """Return a memory with what the catalogue says of it."""
    return replace(
        memory,
        title=pak.title,
        summary=pak.summary,
        project=pak.project,
        topic=pak.topic,
        pak_type=pak.pak_type,
        authority=pak.authority,
        created_at=pak.created_at,
        updated_at=pak.updated_at,
        superseded_by=pak.superseded_by,
    )


def _fact(memory: Memory, name: str) -> Any:
    return getattr(memory.place if name in _OF_PLACES else memory, name)


def _standing(row: MemoryRow) -> Standing:
    memory = row.memory
    return Standing(
        row_id=row.row_id,
        content_hash=row.content_hash,
        title=memory.title,
        place=memory.place,
        status=memory.status,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        risks=memory.risks,
        thread=memory.thread,
        project=memory.project,
        position=memory.position,
        reinforced=memory.reinforced,
        last_reinforced=memory.last_reinforced,
        superseded_by=row.superseded_by,
        has_vector=row.serving is not None,
    )


def _index_row(row: MemoryRow) -> IndexRow:
    indexed = Indexed._make(getattr(row.memory, name) for name in Indexed._fields)
    return IndexRow(row.row_id, indexed, row.serving, row.pending)
