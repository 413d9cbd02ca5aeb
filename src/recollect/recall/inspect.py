"""Everything about one memory: text, provenance, codes, flags, links, disputes, uses.

In: an id, what the principal may read, and the catalogue. Out: an `Inspection`, or None. Other
memories are named only if the principal may read them too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.ports.store import RowFilter
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Memory
    from recollect.model.pak import (
        PakAnchorEntry,
        PakRelationEntry,
        PakRow,
        ReasonCodeEntry,
        RiskFlagEntry,
    )
    from recollect.ports.catalogue import Catalogue
    from recollect.ports.store import Dispute
    from recollect.recall.sight import Sight

__all__ = ["Inspection", "Link", "inspect"]


@dataclass(frozen=True, slots=True)
class Link:
    """Another memory that recall follows to, and how strongly; `automatic`: found to be alike."""

    pak_id: str
    weight: float
    automatic: bool


@dataclass(frozen=True, slots=True)
class Inspection:
    """One memory. `memory` is None for one that only the catalogue knows."""

    pak: PakRow
    memory: Memory | None
    reason_codes: tuple[ReasonCodeEntry, ...]
    risk_flags: tuple[RiskFlagEntry, ...]
    anchors: tuple[PakAnchorEntry, ...]
    relations: tuple[PakRelationEntry, ...]
    links: tuple[Link, ...]
    disputes: tuple[Dispute, ...]
    active_hours: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        entries = ("reason_codes", "risk_flags", "anchors", "relations")
        return {
            "pak": self.pak._asdict(),
            "memory": None if self.memory is None else asdict(self.memory),
            **{name: [entry._asdict() for entry in getattr(self, name)] for name in entries},
            "links": [asdict(link) for link in self.links],
            "disputes": [asdict(dispute) for dispute in self.disputes],
            "active_hours": self.active_hours,
        }


def inspect(
    pak_id: str,
    sight: Sight,
    catalogue: Catalogue,
    *,
    may_read: Callable[[str], bool],
    active_hours: float,
) -> Inspection | None:
    """Return all that there is to know about one memory, or None if there is none to be read."""
    pak = catalogue.get_pak(pak_id) if may_read(pak_id) else None
    if pak is None:
        return None
    if pak.superseded_by is not None and not may_read(pak.superseded_by):
        pak = pak._replace(superseded_by=None)
    relations = catalogue.get_pak_relations(pak_id)
    return Inspection(
        pak=pak,
        memory=sight.memories([pak_id]).get(pak_id),
        reason_codes=tuple(catalogue.get_pak_reason_codes(pak_id)),
        risk_flags=tuple(catalogue.get_pak_risk_flags(pak_id)),
        anchors=tuple(catalogue.get_pak_anchors(pak_id)),
        relations=tuple(one for one in relations if may_read(one.related_pak_id)),
        links=_links(pak_id, sight),
        disputes=tuple(one for one in sight.disputes() if pak_id in (one.first, one.second)),
        active_hours=active_hours,
    )


def _links(pak_id: str, sight: Sight) -> tuple[Link, ...]:
    """Return the links of a memory to others that may be read, the strongest first."""
    rows = sight.store.memories.rows(RowFilter(pak_ids=(pak_id,)))
    if not rows:
        return ()
    own, mask = rows[0], sight.select().mask
    found = []
    for edge in sight.store.edges.touching([own]):
        slots = sight.index.slots_of_rows([edge.high if edge.low == own else edge.low])
        if edge.weight > 0 and mask[slots].any():
            name = sight.index.pak_ids(slots)[0]
            found.append(Link(name, sight.weight(edge), edge.automatic))
    return tuple(sorted(found, key=lambda link: (-link.weight, link.pak_id)))
