"""A small store that holds one of everything, and what is asked of it before and after a fault.

Out: the file's bytes, the answers of the whole one, and what became of a copy with a flipped byte.
"""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from recollect import Recollect, RecollectError
from recollect.model.pak import (
    PakAnchorEntry,
    PakRelationEntry,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.policy import Principal
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

__all__ = ["ASKED", "Outcome", "answers", "flips", "full_store", "opened", "outcome_of", "said"]

_TOPICS = ("billing", "shipping", "refund", "login", "search", "backup", "invoice", "garden")
_PEER = Principal("local", "peer", permissions=("read", "write"))


def opened(path: Path, *, cache_file: bool = False) -> Recollect:
    """Open a store as every part of these tests does: nothing in it depends on the machine."""
    return Recollect.open(path, embedder=FakeEmbedder(24), clock=FakeClock(), cache_file=cache_file)


def full_store(path: Path) -> None:
    """Make a store in which every table that answers are made of has rows."""
    clock, embedder = FakeClock(), FakeEmbedder(24)
    with Recollect.open(path, embedder=embedder, clock=clock, cache_file=False) as memory:
        _remember(memory, clock)
        _join(memory)
        _describe(memory)
        memory.archive("pak-04")
        _change(memory)
        embedder.fail = True
        memory.remember("This text waits for its vector", pak_id="pak-waits")
        memory.paks.upsert_pak(
            pak_id="pak-alone",
            pak_type="note",
            source_type="file",
            authority="imported",
            title="Known to the catalogue alone",
            content_hash="cafe",
            summary="billing without a memory",
        )


def _remember(memory: Recollect, clock: FakeClock) -> None:
    memory.gardens.create("team-notes", name="Team notes", tier=0.75)
    memory.gardens.add("team-notes", "peer", "reader")
    for number in range(40):
        clock.advance(hours=0.5)
        topic = _TOPICS[number % len(_TOPICS)]
        memory.remember(
            f"Note {number} says that {topic} was changed by Ärger & Söhne, ticket {number * 37}",
            pak_id=f"pak-{number:02}",
            title=f"{topic.title()} note {number}",
            summary=f"What {topic} does since number {number}",
            tags=[f"area/{topic}", "self/value"] if number % 3 else [f"area/{topic}"],
            project=("shop", "desk", None)[number % 3],
            topic=topic,
            source=("crm", "wiki", None)[number % 3],
            entity=f"Customer {number % 5}" if number % 2 else None,
            relation="ordered" if number % 2 else None,
            value=f"item {number}" if number % 2 else None,
            confidence=0.5 + (number % 5) / 10,
            thread=f"talk-{number % 4}" if number % 4 else None,
            speaker=("Ana", "Bo")[number % 2],
            occurred_at=f"2025-{1 + number % 12:02}-{1 + number % 28:02}",
            valid_until="2031-01-01" if number % 7 == 3 else None,
            garden="team-notes" if number % 6 == 5 else None,
        )


def _join(memory: Recollect) -> None:
    memory.link("pak-00", "pak-09", weight=0.8)
    memory.link("pak-01", "pak-30", weight=0.4)
    memory.dispute("pak-02", "pak-10", note="They name two prices")
    memory.dispute("pak-03", "pak-11", note="settled since")
    memory.resolve("pak-03", "pak-11")
    memory.trust.set("crm", 0.9)
    memory.trust.set("rumours", 0.1)
    memory.ingest(
        [{"content": "A fact about billing from outside", "entity": "Customer 1"}],
        source="rumours",
    )
    memory.ingest([{"content": "Shipping costs four euros"}], source="crm")


def _describe(memory: Recollect) -> None:
    paks = memory.paks
    for number in range(0, 40, 4):
        name, other = f"pak-{number:02}", f"pak-{(number + 1) % 40:02}"
        codes = (("user_pinned", 0.9), ("mandatory", 0.25))
        paks.set_pak_reason_codes(name, [ReasonCodeEntry(*code) for code in codes])
        paks.set_pak_risk_flags(name, [RiskFlagEntry("stale", "warn")])
        paks.set_pak_anchors(name, [PakAnchorEntry("a1", f"docs/{number}.md", "file")])
        paks.set_pak_relations(name, [PakRelationEntry(other, "supports")])
    memory.frames.register("brief", extends="task", token_budget=120)
    memory.frame("task", "billing refund", top_k=4)
    memory.frame("self")


def _change(memory: Recollect) -> None:
    memory.update("pak-07", content="Note 7 says that the backup was changed back", topic="backup")
    memory.update("pak-07", valid_from="2025-03-01")
    memory.supersede("pak-12", "pak-20")
    memory.supersede("pak-12", "pak-28")


def _selected(memory: Recollect, text: str) -> object:
    return memory.select(SelectQuery(text=text, limit=6, now="2026-01-02T00:00:00Z"))


ASKED: dict[str, Callable[[Recollect], Any]] = {
    "recall": lambda m: m.recall("what changed in billing", top_k=8),
    "recall words": lambda m: m.recall("Ärger ticket 37", top_k=5),
    "recall narrow": lambda m: m.recall("note", tags=["area/refund"], project="shop", top_k=5),
    "recall entity": lambda m: m.recall("ordered", entity="customer 1", top_k=5),
    "recall nothing": lambda m: m.recall(None, top_k=6),
    "recall all": lambda m: m.recall("note number says", top_k=45, token_budget=20_000),
    "recall of a peer": lambda m: m.as_principal(_PEER).recall("note", top_k=8),
    "select": lambda m: _selected(m, "billing"),
    "select other": lambda m: _selected(m, "what refund note"),
    "get": lambda m: [m.get(f"pak-{number:02}") for number in range(0, 40, 3)],
    "list": lambda m: m.list(limit=60),
    "inspect": lambda m: [m.inspect(f"pak-{number:02}") for number in range(0, 40, 4)],
    "inspect alone": lambda m: m.inspect("pak-alone"),
    "history": lambda m: [m.history("pak-07"), m.history("pak-28"), m.history("pak-04")],
    "explain": lambda m: [m.explain("pak-08", "billing"), m.explain("pak-02", "refund")],
    "export": lambda m: list(m.export()),
    "disputes": lambda m: m.disputes(),
    "gardens": lambda m: [m.gardens.list(), m.gardens.members("team-notes")],
    "trust": lambda m: dict(m.trust.list()),
    "quarantine": lambda m: m.quarantine.list(),
    "frames": lambda m: [one.to_dict() for one in m.frames.list()],
    "stats": lambda m: {k: v for k, v in m.stats().items() if k != "hooks"},
    "frame": lambda m: m.frame("brief", "refund for shipping", top_k=4),
    "frame self": lambda m: m.frame("self"),
}


def answers(memory: Recollect) -> dict[str, str]:
    """Return what a store says to everything that is asked of it."""
    return {name: said(ask(memory)) for name, ask in ASKED.items()}


def said(answer: object) -> str:
    """Return an answer as a text that two equal answers have in common."""
    return json.dumps(answer, default=_plain, sort_keys=True)


def _plain(value: Any) -> object:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return repr(value)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a store with a fault: the verbs that answered otherwise, and what was said."""

    where: str
    changed: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Return the one word that the fault matrix counts."""
        if self.bare:
            return "bare"
        if self.changed and not self.told:
            return "silent"
        if self.changed:
            return "told"
        return "refused" if self.refused else "same"


def flips(whole: bytes, count: int, *, seed: int = 13) -> Iterator[tuple[str, bytes]]:
    """Yield copies of a file in which one byte differs, and where; all over what is in use.

    Half of them differ in one bit. A byte that is not zero is in use, and some that are zero.
    """
    dice = random.Random(seed)
    used = [place for place, byte in enumerate(whole) if byte or place % 61 == 0]
    for number in range(count):
        start, end = number * len(used) // count, (number + 1) * len(used) // count
        place = used[dice.randrange(start, max(end, start + 1))]
        mask = 1 << dice.randrange(8) if number % 2 else dice.randrange(1, 256)
        flipped = bytearray(whole)
        flipped[place] ^= mask
        yield f"byte {place} ^ {mask:#x}", bytes(flipped)


def outcome_of(where: str, path: Path, whole: dict[str, str]) -> Outcome:
    """Ask a damaged store everything, and sort what it says by what the whole one said."""
    changed, refused, bare, told = [], [], [], []
    try:
        memory = opened(path)
    except RecollectError as error:
        return Outcome(where, refused=(f"open: {error}",))
    except Exception as error:  # noqa: BLE001 - which it is, is what the test is about
        return Outcome(where, bare=(f"open: {error!r}",))
    with contextlib.closing(memory):
        for name, ask in ASKED.items():
            try:
                if said(ask(memory)) != whole[name]:
                    changed.append(name)
            except RecollectError as error:
                refused.append(f"{name}: {error}")
            except Exception as error:  # noqa: BLE001
                bare.append(f"{name}: {error!r}")
        try:
            told = list(memory.check())
        except Exception as error:  # noqa: BLE001 - looking for damage never fails
            bare.append(f"check: {error!r}")
    return Outcome(where, *map(tuple, (changed, refused, bare, told)))
