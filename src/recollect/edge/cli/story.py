"""The story that `recollect demo` tells: remember, search, explain, list, check.

In: a path for a new database. Out: text for a newcomer, made with the real store, the sample
memories of `recollect.samples`, and the drawings that the other commands use.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import sys
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.text import Text

from recollect.edge.cli import catalogue, drawing, voice
from recollect.paks import (
    PakAnchorEntry,
    PakListFilters,
    PakRelationEntry,
    ReasonCodeEntry,
    RecallStore,
    RiskFlagEntry,
)
from recollect.samples import SampleMemory, load_shop

__all__ = ["tell"]

_QUESTION = "card payment retry"
_EXPLAINED = "payments-double-charge"


def tell(path: Path, *, kept: bool) -> None:
    """Tell the story with a new database at `path`."""
    console = voice.console()
    console.print(
        "Agents learn things. Recollect keeps them in one file, finds them again, and\n"
        "says why each matters and what to be careful of. Here is what the team of a\n"
        "small web shop for tea and teapots has learnt."
    )
    with RecallStore.open(path, strict=True) as store:
        _remember(console, store)
        _search(console, store)
        _explain(console, store)
        _list(console, store)
        _check(console, store)
    _what_next(console, path if kept else Path("shop.db"), kept=kept)


def _remember(console: Console, store: RecallStore) -> None:
    started = perf_counter()
    memories = load_shop()
    _write(store, memories)
    took_ms = (perf_counter() - started) * 1000
    projects = ", ".join(sorted({memory.project for memory in memories}))
    _heading(console, f"{len(memories)} memories, written in {took_ms:.0f} ms")
    console.print(f"{store.path}  (projects: {projects})", soft_wrap=True)


def _search(console: Console, store: RecallStore) -> None:
    _heading(console, "An agent is about to change how payments are retried. What is known?")
    _prompt(console, f"recollect paks search {_QUESTION} --limit 4")
    found = store.search(_QUESTION, limit=4)
    console.print(drawing.hits(found, catalogue.flags_of(store, [hit.pak for hit in found])))


def _explain(console: Console, store: RecallStore) -> None:
    _heading(console, "Why does that incident matter, and what is there to be careful of?")
    _prompt(console, f"recollect paks show {_EXPLAINED}")
    console.print()
    console.print(drawing.card(catalogue.dossier(store, _EXPLAINED)))


def _list(console: Console, store: RecallStore) -> None:
    _heading(console, "What was decided lately?")
    _prompt(console, "recollect paks list --type decision --limit 3")
    page = store.list_paks(PakListFilters(pak_type="decision", limit=3))
    console.print(drawing.paks(page.items, catalogue.flags_of(store, page.items)))


def _check(console: Console, store: RecallStore) -> None:
    _heading(console, "Is the file sound?")
    _prompt(console, "recollect paks check")
    console.print(drawing.verdict(store.check(), store.path.name))


def _what_next(console: Console, db: Path, *, kept: bool) -> None:
    _heading(console, "Your turn")
    # From a fresh clone the command is in .venv/bin, where the shell does not look.
    recollect = "recollect" if shutil.which("recollect") else shlex.quote(sys.argv[0])
    place = shlex.quote(str(db))
    if not kept:
        _prompt(console, f"{recollect} demo --keep {place}")
    _prompt(console, f"{recollect} paks search teapot --db {place}")
    _prompt(console, f"{recollect} paks show payments-card-rules --db {place}")
    _prompt(console, f"{recollect} --help")


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold cyan"))


def _prompt(console: Console, command: str) -> None:
    console.print(Text.assemble(("$ ", "dim"), (command, "green")), soft_wrap=True)


def _write(store: RecallStore, memories: tuple[SampleMemory, ...]) -> None:
    with store.transaction():
        store.upsert_paks([_fields(memory) for memory in memories])
        for memory in memories:
            _attach(store, memory)


def _fields(memory: SampleMemory) -> dict[str, str | None]:
    return {
        "pak_id": memory.pak_id,
        "pak_type": memory.pak_type,
        "project": memory.project,
        "topic": memory.topic,
        "source_type": memory.source_type,
        "authority": memory.authority,
        "title": memory.title,
        "summary": memory.summary,
        "content_hash": hashlib.sha256(memory.content.encode()).hexdigest(),
        "superseded_by": memory.superseded_by,
        "now": memory.remembered_at,
    }


def _attach(store: RecallStore, memory: SampleMemory) -> None:
    reasons = [ReasonCodeEntry(code, weight) for code, weight in memory.reason_codes.items()]
    risks = [RiskFlagEntry(flag, severity) for flag, severity in memory.risk_flags.items()]
    anchors = [
        PakAnchorEntry(anchor.anchor_id, anchor.source_path, anchor.kind)
        for anchor in memory.anchors
    ]
    relations = [
        PakRelationEntry(relation.related_pak_id, relation.relation_type)
        for relation in memory.relations
    ]
    store.set_pak_reason_codes(memory.pak_id, reasons, now=memory.remembered_at)
    store.set_pak_risk_flags(memory.pak_id, risks, now=memory.remembered_at)
    store.set_pak_anchors(memory.pak_id, anchors)
    store.set_pak_relations(memory.pak_id, relations, now=memory.remembered_at)
