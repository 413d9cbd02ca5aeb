"""The shapes that leave through a door, as plain dictionaries ready for JSON.

In: values of the catalogue and the engine. Out: objects whose keys are promised in `docs/cli.md`;
keys are added, never renamed. Nothing here reads a store.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
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
        Principal,
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
    from recollect.ports.edges import Dispute
    from recollect.recall.inspect import Inspection
    from recollect.recall.listing import MemoryCounts, MemoryPage
    from recollect.recall.select import SelectResult
    from recollect.verbs.catalogue import CatalogueHit, CataloguePage, CatalogueRow
    from recollect.verbs.quarantine import Held

    Flags = dict[str, list[RiskFlagEntry]]

__all__ = [
    "OF_THE_MOMENT",
    "Dossier",
    "Object",
    "acts",
    "after_the_moment",
    "answer",
    "answer_index",
    "archived",
    "backed_up",
    "batch",
    "catalogue_hits",
    "catalogue_page",
    "check",
    "coded",
    "comparison",
    "condition",
    "counted",
    "deleted",
    "disputed",
    "disputes",
    "dossier",
    "encode",
    "encode_apart",
    "error",
    "evaluation",
    "evidence",
    "explanation",
    "flagged",
    "forgotten",
    "frame",
    "framed",
    "framed_index",
    "frames",
    "gardens",
    "held",
    "hits",
    "imported",
    "imported_parts",
    "ingested",
    "inspection",
    "invalidated",
    "issued",
    "judged",
    "keys",
    "linked",
    "listing",
    "listing_index",
    "members",
    "memory",
    "page",
    "principal",
    "recalled_index",
    "receipt",
    "receipts",
    "remembered",
    "removed",
    "repaired",
    "resolved",
    "restored",
    "revoked",
    "salvaged",
    "selection",
    "superseded",
    "touched",
    "trust",
    "trusts",
    "versions",
]

Object = dict[str, Any]


_JSON = json.JSONEncoder(separators=(",", ":"))


def encode(answer: Object | list[Object]) -> bytes:
    """Return an answer as the bytes that leave: JSON in one spelling, ASCII alone."""
    return _JSON.encode(answer).encode("ascii")


def encode_apart(answer: Object, apart: Collection[str]) -> tuple[bytes, bytes]:
    """Return an answer as `encode` does, and the same without the fields `apart`."""
    runs: list[tuple[bool, Object]] = []
    for name, one in answer.items():
        is_apart = name in apart
        if not runs or runs[-1][0] != is_apart:
            runs.append((is_apart, {}))
        runs[-1][1][name] = one
    # Each is an object in braces: its fields as they stand in the whole.
    parts = [(is_apart, encode(run)[1:-1]) for is_apart, run in runs]
    whole = b",".join(part for _, part in parts)
    rest = b",".join(part for is_apart, part in parts if not is_apart)
    return b"{%b}" % whole, b"{%b}" % rest


def after_the_moment(answer: Object) -> Object:
    """Return an answer without what tells when it was given: equal ones are equal then."""
    return {name: one for name, one in answer.items() if name not in OF_THE_MOMENT}


# What tells when an answer was given.
OF_THE_MOMENT = ("generated_at", "recall_id")


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


def catalogue_page(found: CataloguePage) -> Object:
    """Return one page of the catalogue, as far as it may be read."""
    return {
        "items": [_viewed(one) for one in found.items],
        "next_cursor": found.next_cursor,
        "limit": found.limit,
        "truncated": found.next_cursor is not None,
    }


def catalogue_hits(found: Sequence[CatalogueHit]) -> Object:
    """Return what a search of the catalogue found, best first."""
    return {"hits": [{"score": one.score, "pak": _viewed(one)} for one in found]}


def coded(pak_id: str, codes: Sequence[ReasonCodeEntry]) -> Object:
    """Return why a Pak of the catalogue matters from now on."""
    return {"pak_id": pak_id, "reason_codes": _objects(codes)}


def flagged(pak_id: str, flags: Sequence[RiskFlagEntry]) -> Object:
    """Return what to be careful of with a Pak of the catalogue from now on."""
    return {"pak_id": pak_id, "risk_flags": _objects(flags)}


def hits(found: Sequence[PakHit], flags: Flags) -> Object:
    """Return what a search found, best first."""
    return {"hits": [{"score": hit.score, "pak": _row(hit.pak, flags)} for hit in found]}


def dossier(known: Dossier | Inspection) -> Object:
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
    names = ("project", "tag", "thread", "speaker", "pak_type", "risk", "month")
    return {"memories": there.memories, **{name: dict(getattr(there, name)) for name in names}}


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
    """Return what became of many texts: how many, how many new or pending, and of each."""
    return {"remembered": len(many), **counted(many), "items": [remembered(one) for one in many]}


def counted(many: Sequence[Remembered]) -> Object:
    """Return how many of many texts are new, and how many wait for a vector."""
    return {
        "created": sum(one.created for one in many),
        "pending": sum(one.state == "pending" for one in many),
    }


def superseded(pak_id: str, new: str | None) -> Object:
    """Return which memory took the place of another."""
    return {"pak_id": pak_id, "superseded_by": new}


def archived(one: Memory, *, changed: bool) -> Object:
    """Return how a memory stands that was archived, or brought back."""
    return {"pak_id": one.pak_id, "status": one.status, "changed": changed}


def touched(one: Memory, *, is_touched: bool) -> Object:
    """Return until when a memory holds that was touched."""
    return {"pak_id": one.pak_id, "touched": is_touched, "valid_until": one.valid_until}


def linked(pak_id: str, other: str, *, weight: float) -> Object:
    """Return which two were joined, and how strongly."""
    return {"linked": [pak_id, other], "weight": weight}


def disputed(pak_id: str, other: str, *, note: str) -> Object:
    """Return which two contradict each other."""
    return {"disputed": [pak_id, other], "note": note}


def resolved(pak_id: str, other: str, *, was_open: bool) -> Object:
    """Return whether a dispute was settled."""
    return {"pair": [pak_id, other], "resolved": was_open}


def disputes(found: Sequence[Dispute]) -> Object:
    """Return the open disputes."""
    return {"disputes": [asdict(one) for one in found]}


def deleted(name: str, **more: int) -> Object:
    """Return what is no longer there."""
    return {"deleted": name, **more}


def removed(slug: str, *, was_there: bool) -> Object:
    """Return whether somebody was taken out of a garden."""
    return {"garden": slug, "removed": was_there}


def trusts(found: Mapping[str, float]) -> Object:
    """Return how far sources are trusted."""
    return {"trust": dict(found)}


def trust(source: str, share: float) -> Object:
    """Return how far one source is trusted."""
    return {"source": source, "trust": share}


def revoked(prefix: str) -> Object:
    """Return which key was ended."""
    return {"revoked": prefix}


def judged(how: str, pak_id: str) -> Object:
    """Return what became of a fact that waited: promoted or rejected."""
    return {how: pak_id}


def principal(who: Principal) -> Object:
    """Return who asks, and what that may do."""
    return {
        "tenant": who.tenant,
        "principal": who.id,
        "teams": list(who.teams),
        "permissions": list(who.permissions),
    }


def imported(many: Sequence[Remembered]) -> Object:
    """Return what became of an export that was taken back."""
    tally = batch(many)
    return {"imported": tally.pop("remembered"), **tally}


def imported_parts(many: Sequence[Remembered]) -> Iterator[bytes]:
    """Yield what `imported` would be as bytes, a report at a time."""
    head = encode({"imported": len(many), **counted(many), "items": []})
    yield head.removesuffix(b"]}")
    for number, one in enumerate(many):
        yield (b"," if number else b"") + encode(remembered(one))
    yield b"]}"


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


_TOLD_ONCE = (
    "this request was answered before, and the secret was told then; it is kept nowhere."
    " If it was lost, revoke this key and make another."
)


def issued(key: IssuedKey) -> Object:
    """Return a new key; this is the only time that its secret is anywhere.

    Told again, of a request that was repeated, it is without one and says why.
    """
    told = {"secret": key.secret, "key": _key(key.row)}
    return told if key.secret is not None else {**told, "note": _TOLD_ONCE}


def keys(rows: Sequence[KeyRow]) -> Object:
    """Return keys without what would let anybody use them."""
    return {"keys": [_key(row) for row in rows]}


def answer(given: RecallResponse) -> Object:
    """Return what a recall found, why, and what it left out."""
    return given.to_dict()


def answer_index(given: RecallResponse, *, text_budget: int = 0) -> Object:
    """Return a recall's answer with its memories by id, title and first words.

    The best have their whole text beside, while the budget of tokens lasts.
    """
    return recalled_index(answer(given), text_budget=text_budget)


def recalled_index(told: Object, *, text_budget: int = 0) -> Object:
    """Return what `answer` told as an index."""
    entries = [_scored_entry(one, "fact") for one in told["results"]]
    _add_texts(entries, [one["fact"] for one in told["results"]], text_budget)
    orders = [_scored_entry(one, "fact") for one in told["instructions"]]
    return {**told, "results": entries, "instructions": orders}


def framed_index(told: Object) -> Object:
    """Return what `framed` told with the memories behind it by id, title and first words."""
    return {**told, "blocks": [_scored_entry(one, "memory") for one in told["blocks"]]}


def listing_index(told: Object) -> Object:
    """Return what `listing` told with its memories by id, title and first words."""
    return {**told, "items": [_entry(memory) for memory in told["items"]]}


# So much of a text stands for it in an index.
_FIRST_CHARACTERS = 120
_CHARACTERS_PER_TOKEN = 4
_OF_ENTRIES = ("pak_id", "title", "occurred_at", "speaker", "project")
# Whose word it is, and what that counts: what came from outside is no surer than its source.
_PROVENANCE = ("source", "authority", "confidence")


def _scored_entry(result: Object, of: str) -> Object:
    fact = result[of]
    entry = _entry(fact)
    risk = result["risk"] if "risk" in result else fact["risks"]
    kept = {**{name: result[name] for name in ("score", "match", "why")}, "risk": risk}
    named = {name: entry.pop(name) for name in _OF_ENTRIES}
    return {**named, **kept, "beginning": entry.pop("beginning"), **entry}


def _entry(fact: Object) -> Object:
    named = {name: fact[name] for name in _OF_ENTRIES}
    short = beginning(str(fact["content"]))
    return {**named, "beginning": short, **{name: fact[name] for name in _PROVENANCE}}


def beginning(text: str) -> str:
    """Return the first words of a text, as they stand for it in an index."""
    words = " ".join(text[: 4 * _FIRST_CHARACTERS].split())
    return words if len(words) <= _FIRST_CHARACTERS else f"{words[: _FIRST_CHARACTERS - 1]}\u2026"


def _add_texts(entries: list[Object], facts: list[Object], budget: int) -> None:
    """Put whole texts beside the first entries, as many as the budget holds."""
    left = budget * _CHARACTERS_PER_TOKEN
    for entry, fact in zip(entries, facts, strict=True):
        text = str(fact["content"])
        if entry["beginning"] == text:
            continue
        left -= len(text)
        if left < 0:
            return
        entry["content"] = text


def invalidated(name: str) -> Object:
    """Return the frame whose cached answers were let go of."""
    return {"invalidated": name}


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
    return {
        "prefix": row.prefix,
        "name": row.name,
        **principal(row.principal),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    }


def _row(pak: PakRow, flags: Flags) -> Object:
    return {**pak._asdict(), "risk_flags": _objects(flags[pak.pak_id])}


def _viewed(row: CatalogueRow | CatalogueHit) -> Object:
    return {**row.pak._asdict(), "risk_flags": _objects(row.risk_flags)}


def _objects(entries: Sequence[Any]) -> list[Object]:
    return [entry._asdict() for entry in entries]
