"""Versions in memory: those that a memory had, once it has changed.

In: values of `recollect.ports.versions`. Out: the same. Nothing here can be damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from recollect.model import Memory, changed_fields
from recollect.policy import View
from recollect.ports.versions import KeptVersion
from recollect.stores.memory.session import Session

__all__ = ["MemoryVersions"]


class MemoryVersions:
    """The versions of one store in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, pak_ids: Sequence[str], view: View) -> dict[str, list[KeptVersion]]:
        """Return the versions of some memories that a view shows, the oldest first."""
        tables = self._session
        with tables.snapshot():
            known = {name: tables.memories.get(name) for name in dict.fromkeys(pak_ids)}
            kept = {
                name: tables.versions.get(row.row_id) or ()
                for name, row in known.items()
                if row is not None
            }
        return {
            name: shown
            for name, versions in kept.items()
            if (shown := [o for o in versions if o.memory is None or view.shows(o.memory)])
        }

    def put(self, versions: Mapping[str, Sequence[KeptVersion]]) -> None:
        """Keep versions as given, in the place of those that there are."""
        tables, revision = self._session, self._session.revision
        for name, some in versions.items():
            row = tables.memories.get(name)
            if row is not None:
                kept = tuple(replace(one, revision=revision) for one in some)
                tables.versions.put(row.row_id, kept)

    def where(self, tenant: str, fits: Callable[[Memory], bool]) -> dict[str, list[int]]:
        """Return the numbers of earlier versions of a tenant that fit, by memory."""
        tables = self._session
        found: dict[str, list[int]] = {}
        with tables.snapshot():
            for row_id in sorted(tables.versions):
                name = tables.names[row_id]
                numbers = [
                    one.number
                    for one in tables.versions[row_id]
                    if one.memory is not None and fits(one.memory)
                ]
                if numbers and tables.memories[name].memory.place.tenant == tenant:
                    found[name] = numbers
        return found

    def erase(self, versions: Mapping[str, Sequence[int]]) -> None:
        """Delete earlier versions, by memory and number."""
        tables = self._session
        _ = tables.revision  # refuses outside of a commit
        for name, numbers in versions.items():
            row = tables.memories.get(name)
            known = () if row is None else tables.versions.get(row.row_id) or ()
            left = tuple(one for one in known if one.memory is None or one.number not in numbers)
            if row is not None and left:
                tables.versions.put(row.row_id, left)

    def prune(self, before: str) -> int:
        """Let go of versions that were replaced before a time."""
        tables, gone = self._session, 0
        for row_id in list(tables.versions):
            versions = tables.versions[row_id]
            kept = tuple(
                one
                for place, one in enumerate(versions, 1)
                if not any(later.at < before for later in versions[place:])
            )
            gone += len(versions) - len(kept)
            tables.versions.put(row_id, kept)
        return gone

    def keep(self, before: Memory, after: Memory, *, by: str | None, at: str) -> None:
        """Keep what a memory was, if it says something else by now."""
        if not changed_fields(before, after):
            return
        tables = self._session
        row_id = tables.memories[after.pak_id].row_id
        known = tables.versions.get(row_id)
        if known is None:
            known = (KeptVersion(1, before.updated_at, before.place.owner, None),)
        *older, standing = known
        was = replace(standing, memory=_without_uses(before))
        new = KeptVersion(standing.number + 1, at, by or after.place.owner, None, tables.revision)
        tables.versions.put(row_id, (*older, was, new))

    def forget_successor(self, pak_id: str) -> None:
        """Let no version name what is gone."""
        tables = self._session
        for row_id in list(tables.versions):
            kept = tuple(_without(one, pak_id) for one in tables.versions[row_id])
            if kept != tables.versions[row_id]:
                tables.versions.put(row_id, kept)


def _without_uses(memory: Memory) -> Memory:
    """Return what a version keeps of a memory: neither what is derived nor what is counted."""
    plain = Memory("", "", "")
    return replace(
        memory,
        decay=plain.decay,
        risks=plain.risks,
        reinforced=plain.reinforced,
        last_reinforced=plain.last_reinforced,
    )


def _without(one: KeptVersion, pak_id: str) -> KeptVersion:
    if one.memory is None or one.memory.superseded_by != pak_id:
        return one
    return replace(one, memory=replace(one.memory, superseded_by=None))
