"""All that a store in memory keeps of its own, as records.

In: a kind and where to go on. Out: values of `recollect.ports.records`, as SQLite would give them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from heapq import nsmallest
from typing import Any, NamedTuple

from recollect.model import kept_fields
from recollect.paks.entries import ANCHORS, REASON_CODES, RELATIONS, RISK_FLAGS, Attachment
from recollect.ports.records import RECORD_KINDS, Record, RecordKey, RecordKind
from recollect.stores.memory.catalogue import MemoryCatalogue
from recollect.stores.memory.session import Session

__all__ = ["MemoryRecords"]


class _Kind(NamedTuple):
    """How a kind is read: the keys that there are, and what the record of one says."""

    found: Callable[[], Iterable[Any]]
    fields: Callable[..., Mapping[str, Any]]


class MemoryRecords:
    """The records of one store in memory."""

    def __init__(self, session: Session, catalogue: MemoryCatalogue) -> None:
        self._session = session
        self._catalogue = catalogue
        self._kinds: dict[RecordKind, _Kind] = {
            "garden": _Kind(lambda: session.gardens, lambda *key: asdict(session.gardens[key])),
            "member": _Kind(lambda: session.members, self._member),
            "trust": _Kind(lambda: session.trusts, self._trust),
            "frame": _Kind(lambda: session.frames, self._frame),
            "memory": _Kind(lambda: ((row_id,) for row_id in session.names), self._memory),
            "pak": _Kind(self._unplaced, self._pak),
            "successor": _Kind(self._superseded, self._successor),
            "reason": self._attached(REASON_CODES),
            "flag": self._attached(RISK_FLAGS),
            "anchor": self._attached(ANCHORS),
            "relation": self._attached(RELATIONS),
            "link": _Kind(self._linked, self._link),
            "likeness": _Kind(lambda: session.likenesses, self._likeness),
            "dispute": _Kind(lambda: session.disputes, self._dispute),
            "use": _Kind(self._used, self._use),
            "link_use": _Kind(self._used_links, self._link_use),
            "version": _Kind(self._kept, self._version),
        }

    def page(self, kind: RecordKind, *, after: RecordKey | None, most: int) -> Sequence[Record]:
        """Return the first records of a kind, or those after one of them."""
        found, fields = self._kinds[kind]
        with self._session.snapshot():
            left = nsmallest(most, (key for key in found() if after is None or key > after))
            return [Record(key, fields(*key)) for key in left]

    def count(self) -> Mapping[RecordKind, int]:
        """Return how many records there are of each kind."""
        with self._session.snapshot():
            return {kind: sum(1 for _ in self._kinds[kind].found()) for kind in RECORD_KINDS}

    def tenants(self) -> Mapping[str, int]:
        """Return how many memories each tenant has."""
        with self._session.snapshot():
            rows = self._session.memories.rows()
            return dict(sorted(Counter(row.memory.place.tenant for row in rows).items()))

    def _member(self, tenant: str, slug: str, principal: str) -> dict[str, Any]:
        role = self._session.members[tenant, slug, principal]
        return {"tenant": tenant, "garden": slug, "principal": principal, "role": role}

    def _trust(self, tenant: str, source: str) -> dict[str, Any]:
        trust = self._session.trusts[tenant, source]
        return {"tenant": tenant, "source": source, "trust": trust}

    def _frame(self, tenant: str, name: str) -> dict[str, Any]:
        row = self._session.frames[tenant, name]
        definition = row.definition.to_dict()
        return {"tenant": tenant, "name": name, "definition": definition, "extends": row.extends}

    def _memory(self, row_id: int) -> dict[str, Any]:
        row = self._session.memories[self._session.names[row_id]]
        pak = self._catalogue.get_paks([row.memory.pak_id])[row.memory.pak_id]
        fields = asdict(row.memory)
        for elsewhere in ("decay", "risks", "superseded_by"):
            del fields[elsewhere]
        return {
            **fields,
            "tags": list(row.memory.tags),
            "pending": row.pending,
            "source_type": pak.source_type,
            "content_hash": pak.content_hash,
        }

    def _unplaced(self) -> Iterable[RecordKey]:
        known = self._session.memories
        return ((pak.pak_id,) for pak in self._catalogue.iter_paks() if pak.pak_id not in known)

    def _pak(self, pak_id: str) -> dict[str, Any]:
        fields = self._catalogue.get_paks([pak_id])[pak_id]._asdict()
        del fields["superseded_by"]
        return fields

    def _superseded(self) -> Iterable[RecordKey]:
        return ((pak.pak_id,) for pak in self._catalogue.iter_paks() if pak.superseded_by)

    def _successor(self, pak_id: str) -> dict[str, Any]:
        successor = self._catalogue.get_paks([pak_id])[pak_id].superseded_by
        return {"pak_id": pak_id, "successor": successor}

    def _attached(self, kind: Attachment[Any]) -> _Kind:
        return _Kind(partial(self._catalogue.hanging_keys, kind), partial(self._hanging, kind))

    def _hanging(self, kind: Attachment[Any], pak_id: str, *key: str) -> dict[str, Any]:
        entry, at = self._catalogue.hanging(kind, pak_id, key)
        fields = {"pak_id": pak_id, **entry._asdict()}
        if kind.dated:
            fields["created_at"] = at
        if kind is ANCHORS:
            fields["anchor_kind"] = fields.pop("kind")
        return fields

    def _linked(self) -> Iterable[RecordKey]:
        edges = self._session.edges
        return (pair for pair in edges if edges[pair].weight > 0)

    def _link(self, low: int, high: int) -> dict[str, Any]:
        edge = self._session.edges[low, high]
        return {**self._ends(low, high), "weight": edge.weight, "automatic": edge.automatic}

    def _likeness(self, row_id: int, other: int) -> dict[str, Any]:
        closeness = self._session.likenesses[row_id, other]
        return {**self._ends(row_id, other), "closeness": closeness}

    def _dispute(self, low: int, high: int) -> dict[str, Any]:
        return {**self._ends(low, high), **asdict(self._session.disputes[low, high])}

    def _used(self) -> Iterable[RecordKey]:
        uses = self._session.uses
        return ((row_id, *who) for row_id in uses for who in uses[row_id])

    def _use(self, row_id: int, *who: str) -> dict[str, Any]:
        tenant, principal = who
        one = self._session.uses[row_id][tenant, principal]
        return {
            "pak_id": self._session.names[row_id],
            "tenant": tenant,
            "principal": principal,
            "reinforced": one.reinforced,
            "last_reinforced": one.last_reinforced,
        }

    def _used_links(self) -> Iterable[RecordKey]:
        links = self._session.link_uses
        return ((*pair, *who) for pair in links for who in links[pair])

    def _link_use(self, low: int, high: int, *who: str) -> dict[str, Any]:
        tenant, principal = who
        uses = self._session.link_uses[low, high][tenant, principal].uses
        return {
            **self._ends(low, high),
            "tenant": tenant,
            "principal": principal,
            "uses": uses,
        }

    def _kept(self) -> Iterable[RecordKey]:
        versions = self._session.versions
        return ((row_id, one.number) for row_id in versions for one in versions[row_id])

    def _version(self, row_id: int, number: int) -> dict[str, Any]:
        (one,) = (one for one in self._session.versions[row_id] if one.number == number)
        memory = one.memory
        return {
            "pak_id": self._session.names[row_id],
            "number": one.number,
            "at": one.at,
            "by": one.by,
            "superseded_by": None if memory is None else memory.superseded_by,
            "fields": None if memory is None else kept_fields(memory),
        }

    def _ends(self, one: int, two: int) -> dict[str, str]:
        names = self._session.names
        return {"pak_id": names[one], "other": names[two]}
