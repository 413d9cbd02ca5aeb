"""`recollect pak inspect`: everything about one Pak, from the catalogue and from the engine.

In: an id. Out: one call of the engine, drawn as a card with the loudest warnings first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from recollect.edge.cli import voice
from recollect.edge.cli.options import Db, Embedder, Json, PakId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from recollect.recall.inspect import Inspection

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Look at one Pak from all sides.")


@app.callback()
def _pak() -> None:
    """Look at one Pak from all sides."""


@app.command(epilog="Example: recollect pak inspect payments-double-charge")
def inspect(
    context: typer.Context,
    pak_id: PakId,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback tells the voice
) -> None:
    """Show everything about one Pak: text, provenance, codes, flags, links, disputes, uses."""
    from recollect.edge import wire
    from recollect.edge.cli import memory as opening

    with opening.existing(db, embedder) as memory:
        found = memory.inspect(pak_id)
        if found is None:
            raise opening.unknown(pak_id, memory.path)

    def draw(console: Console) -> None:
        from recollect.edge.cli import drawing

        known = wire.Dossier(
            found.pak, found.reason_codes, found.risk_flags, found.anchors, found.relations
        )
        console.print(drawing.card(known, *_body(found)))

    voice.of(context).say(wire.inspection(found), draw)


def _body(found: Inspection) -> Iterator[RenderableType]:
    """Yield what the engine knows beside the catalogue."""
    from rich.text import Text

    from recollect.edge.cli import drawing

    memory = found.memory
    if memory is not None:
        yield from drawing.section("Text", Text(drawing.plain(memory.content)), [memory])
        yield from drawing.section("Provenance", drawing.grid(_provenance(found)), [memory])
        yield from drawing.section("Uses", Text(_uses(found)), [memory])
    links = [
        (f"{link.weight:.2f}", link.pak_id, "found alike" if link.automatic else "linked")
        for link in found.links
    ]
    yield from drawing.section("Links", drawing.grid(links), links)
    disputes = [
        (one.second if one.first == found.pak.pak_id else one.first, one.note or "no note")
        for one in found.disputes
    ]
    yield from drawing.section("Contradicted by", drawing.grid(disputes), disputes)


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
        "valid_until": memory.valid_until,
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
