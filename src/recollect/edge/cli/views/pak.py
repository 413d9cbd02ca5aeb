"""What people see of one Pak from all sides: the catalogue's card with what the engine knows.

In: an inspection. Out: drawn text, the loudest warnings first.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from recollect.edge import wire
from recollect.edge.cli.views import paks
from recollect.edge.cli.views.elements import grid, plain, section
from recollect.recall.inspect import Inspection

__all__ = ["card"]


def card(found: Inspection) -> Group:
    """Return everything about one Pak."""
    known = wire.Dossier(
        found.pak, found.reason_codes, found.risk_flags, found.anchors, found.relations
    )
    return paks.card(known, *_body(found))


def _body(found: Inspection) -> Iterator[RenderableType]:
    """Yield what the engine knows beside the catalogue."""
    memory = found.memory
    if memory is not None:
        yield from section("Text", Text(plain(memory.content)), [memory])
        yield from section("Provenance", grid(_provenance(found)), [memory])
        yield from section("Uses", Text(_uses(found)), [memory])
    links = [
        (f"{link.weight:.2f}", link.pak_id, "found alike" if link.automatic else "linked")
        for link in found.links
    ]
    yield from section("Links", grid(links), links)
    disputes = [
        (one.second if one.first == found.pak.pak_id else one.first, one.note or "no note")
        for one in found.disputes
    ]
    yield from section("Contradicted by", grid(disputes), disputes)


def _provenance(found: Inspection) -> Iterator[tuple[str, str]]:
    memory = found.memory
    if memory is None:
        return
    place = memory.place
    known = {
        "source": memory.source,
        "thread": memory.thread,
        "speaker": memory.speaker,
        "occurred_at": memory.occurred_at,
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "superseded_by": memory.superseded_by,
        "tags": ", ".join(memory.tags),
        "category": memory.category,
        "entity": memory.entity,
        "relation": memory.relation,
        "value": memory.value,
        "status": memory.status,
        "confidence": f"{memory.confidence:g}",
        "owner": f"{place.tenant}/{place.owner}",
        "scope": place.scope if place.team is None else f"{place.scope} {place.team}",
        "garden": place.garden,
    }
    yield from ((name, value) for name, value in known.items() if value)


def _uses(found: Inspection) -> str:
    memory = found.memory
    if memory is None:
        return ""
    passed = max(0.0, found.active_hours - memory.last_reinforced)
    count = "once" if memory.reinforced == 1 else f"{memory.reinforced} times"
    used = "never used" if memory.reinforced == 0 else f"used {count}"
    since = "remembered" if memory.reinforced == 0 else "last used"
    return f"{used}; {since} {passed:.1f} active hours ago; fades by {memory.decay:g} an hour"
