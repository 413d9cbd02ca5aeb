"""The shapes that leave through a door, as plain dictionaries ready for JSON.

In: values of the catalogue and the engine. Out: objects whose keys are promised in `docs/cli.md`;
keys are added, never renamed. Nothing here reads a store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.evaluation import Comparison, Miss, Summary
    from recollect.index.evidence import Searched
    from recollect.model import (
        BackedUp,
        Examination,
        Explanation,
        Forgotten,
        FrameDefinition,
        FrameResult,
        Garden,
        Ingested,
        Member,
        Memory,
        RecallResponse,
        Receipt,
        ReceiptPage,
        Remembered,
        Repaired,
        Restored,
        Salvaged,
        Version,
    )
    from recollect.paks import (
        CheckReport,
        PakAnchorEntry,
        PakHit,
        PakListResult,
        PakRelationEntry,
        PakRow,
        ReasonCodeEntry,
        RiskFlagEntry,
    )
    from recollect.policy import IssuedKey, KeyRow
    from recollect.ports.access import Act
    from recollect.recall.inspect import Inspection
    from recollect.recall.listing import MemoryCounts, MemoryPage
    from recollect.recall.select import SelectResult
    from recollect.verbs.quarantine import Held

    Flags = dict[str, list[RiskFlagEntry]]

__all__ = [
    "Dossier",
    "Object",
    "acts",
    "answer",
    "backed_up",
    "batch",
    "check",
    "comparison",
    "condition",
    "dossier",
    "error",
    "evaluation",
    "evidence",
    "explanation",
    "forgotten",
    "frame",
    "framed",
    "frames",
    "gardens",
    "held",
    "hits",
    "imported",
    "ingested",
    "inspection",
    "issued",
    "keys",
    "listing",
    "members",
    "memory",
    "page",
    "receipt",
    "receipts",
    "remembered",
    "restored",
    "selection",
    "versions",
]

Object = dict[str, Any]


class Dossier(NamedTuple):
    """All that the catalogue knows of one Pak."""

    pak: PakRow
    reason_codes: Sequence[ReasonCodeEntry]
    risk_flags: Sequence[RiskFlagEntry]
    anchors: Sequence[PakAnchorEntry]
    relations: Sequence[PakRelationEntry]


def page(result: PakListResult, flags: Flags) -> Object:
    """Return one page of a listing."""
    return {
        "items": [_row(pak, flags) for pak in result.items],
        "next_cursor": result.next_cursor,
        "limit": result.limit,
        "truncated": result.truncated,
    }


def hits(found: Sequence[PakHit], flags: Flags) -> Object:
    """Return what a search found, best first."""
    return {"hits": [{"score": hit.score, "pak": _row(hit.pak, flags)} for hit in found]}


def dossier(known: Dossier) -> Object:
    """Return everything about one Pak of the catalogue."""
    return {
        "pak": {
            **known.pak._asdict(),
            "reason_codes": _objects(known.reason_codes),
            "risk_flags": _objects(known.risk_flags),
            "anchors": _objects(known.anchors),
            "relations": _objects(known.relations),
        }
    }


def listing(one: MemoryPage) -> Object:
    """Return one page of memories."""
    return {
        "items": [asdict(memory) for memory in one.items],
        "next_cursor": one.next_cursor,
        "counts": None if one.counts is None else _counts(one.counts),
    }


def _counts(there: MemoryCounts) -> Object:
    names = ("project", "tag", "thread", "speaker")
    return {name: dict(getattr(there, name)) for name in names}


def gardens(found: Sequence[Garden]) -> Object:
    """Return gardens."""
    return {"gardens": [asdict(garden) for garden in found]}


def members(slug: str, found: Sequence[Member]) -> Object:
    """Return who is in a garden."""
    return {"garden": slug, "members": [asdict(member) for member in found]}


def held(found: Sequence[Held]) -> Object:
    """Return what waits for a moderator, without what it says."""
    return {"waiting": [asdict(one) for one in found]}


def versions(found: Sequence[Version]) -> Object:
    """Return what a memory was, version by version."""
    return {"versions": [asdict(one) for one in found]}


def acts(found: Sequence[Act]) -> Object:
    """Return who did what, latest first."""
    return {"acts": [asdict(act) for act in found]}


def receipt(told: Receipt) -> Object:
    """Return what was asked and answered, and what became of it."""
    return told.to_dict()


def receipts(page: ReceiptPage) -> Object:
    """Return one page of receipts."""
    return {"items": [one.to_dict() for one in page.items], "next_cursor": page.next_cursor}


def ingested(done: Ingested) -> Object:
    """Return what became of facts from outside."""
    counts = {name: getattr(done, name) for name in ("accepted", "quarantined", "refused")}
    return {**counts, "items": [asdict(item) for item in done.items]}


def check(report: CheckReport) -> Object:
    """Return what a check found."""
    return {"ok": report.ok, "paks": report.paks, "problems": list(report.problems)}


def remembered(one: Remembered) -> Object:
    """Return what became of one text; `meta` only when a hook had a part in it."""
    return {name: value for name, value in asdict(one).items() if name != "meta" or value}


def batch(many: Sequence[Remembered]) -> Object:
    """Return what became of many texts: how many, how many of them new, how many pending."""
    return {
        "remembered": len(many),
        "created": sum(one.created for one in many),
        "pending": sum(one.state == "pending" for one in many),
    }


def imported(many: Sequence[Remembered]) -> Object:
    """Return what became of an export that was taken back."""
    tally = batch(many)
    return {"imported": tally.pop("remembered"), **tally}


def forgotten(target: str, gone: Forgotten) -> Object:
    """Return what was erased when somebody asked to forget `target`, an id or an entity."""
    return {"forgotten": target, **asdict(gone)}


def evidence(searched: Sequence[Searched]) -> Object:
    """Return which files hold which words, by the numbers of the lines on which they came."""
    return {
        "clean": not any(one.found for one in searched),
        "files": [
            {"name": one.name, "bytes": one.size, "lines": list(one.found)} for one in searched
        ],
    }


def issued(key: IssuedKey) -> Object:
    """Return a new key; this is the only time that its secret is anywhere."""
    return {"secret": key.secret, "key": _key(key.row)}


def keys(rows: Sequence[KeyRow]) -> Object:
    """Return keys without what would let anybody use them."""
    return {"keys": [_key(row) for row in rows]}


def answer(given: RecallResponse) -> Object:
    """Return what a recall found, why, and what it left out."""
    return given.to_dict()


def framed(given: FrameResult) -> Object:
    """Return a prompt's text and the blocks behind it."""
    return given.to_dict()


def selection(result: SelectResult) -> Object:
    """Return what was selected, with all parts of each score, and what was left out."""
    return result.to_dict()


def inspection(found: Inspection) -> Object:
    """Return everything about one memory, from the catalogue and from the engine."""
    return found.to_dict()


def explanation(told: Explanation) -> Object:
    """Return what became of one memory, and why."""
    return told.to_dict()


def memory(one: Memory) -> Object:
    """Return everything that the engine keeps about one memory."""
    return {"memory": asdict(one)}


def frame(definition: FrameDefinition, extends: str | None) -> Object:
    """Return one frame's recipe."""
    return {"frame": {**definition.to_dict(), "extends": extends}}


def frames(definitions: Sequence[FrameDefinition]) -> Object:
    """Return the recipes there are."""
    return {"frames": [definition.to_dict() for definition in definitions]}


def condition(found: Examination) -> Object:
    """Return what a check of the whole memory found."""
    return found.to_dict()


def repaired(done: Repaired) -> Object:
    """Return what a repair of the whole memory did."""
    return done.to_dict()


def salvaged(done: Salvaged) -> Object:
    """Return what was brought from a damaged file into a new one."""
    return done.to_dict()


def backed_up(done: BackedUp) -> Object:
    """Return where a backup is, and how much is in it."""
    return done.to_dict()


def restored(done: Restored) -> Object:
    """Return what a backup was restored to, and where that is which it replaced."""
    return done.to_dict()


def evaluation(numbers: Summary, missed: Sequence[Miss]) -> Object:
    """Return how good recall was on labelled questions, and which it did not answer."""
    return {**numbers.to_dict(), "misses": [asdict(miss) for miss in missed]}


def comparison(both: Comparison) -> Object:
    """Return two evaluations side by side."""
    return both.to_dict()


def error(problem: RecollectError, *, hint: str | None) -> Object:
    """Return an error as every door gives it; its hint is in the words of that door."""
    return {"error": {"code": problem.code, "message": problem.message, "hint": hint}}


def _key(row: KeyRow) -> Object:
    who = row.principal
    return {
        "prefix": row.prefix,
        "name": row.name,
        "tenant": who.tenant,
        "principal": who.id,
        "teams": list(who.teams),
        "permissions": list(who.permissions),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    }


def _row(pak: PakRow, flags: Flags) -> Object:
    return {**pak._asdict(), "risk_flags": _objects(flags[pak.pak_id])}


def _objects(entries: Sequence[Any]) -> list[Object]:
    return [entry._asdict() for entry in entries]
