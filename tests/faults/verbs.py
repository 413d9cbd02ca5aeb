"""Every verb that writes, as a call on a memory that holds something of everything.

The key is the verb's name as callers know it, then how it is called. `seeded` makes the memory that
a call is about.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from recollect import Recollect
from recollect.model import LOCAL_PRINCIPAL, RecallRequest
from recollect.paks import (
    PakAnchorEntry,
    PakRelationEntry,
    PakRow,
    ReasonCodeEntry,
    RiskFlagEntry,
)
from recollect.testing import FakeClock, FakeEmbedder

Verb = Callable[[Recollect], object]

LINES = [
    '{"kind": "memory", "pak_id": "imported", "content": "an imported note about jobs"}',
    '{"kind": "memory", "pak_id": "imported-too", "content": "another imported note"}',
]
NOW = "2026-01-01T00:00:00Z"
PAK: dict[str, Any] = {
    "pak_id": "plain",
    "pak_type": "note",
    "source_type": "file",
    "authority": "user_approved",
    "title": "a plain Pak about jobs",
    "content_hash": "0" * 64,
    "now": NOW,
}
ROW = PakRow(
    pak_id="plain",
    pak_type="note",
    source_type="file",
    authority="user_approved",
    project=None,
    topic=None,
    title="a plain Pak about jobs",
    summary="",
    content_hash="0" * 64,
    created_at=NOW,
    updated_at=NOW,
    superseded_by=None,
)
CODE = ReasonCodeEntry("stable_context", 0.5)
FLAG = RiskFlagEntry("stale", "warn")
ANCHOR = PakAnchorEntry("an-anchor", "notes/jobs.md", "file")
RELATION = PakRelationEntry("ada", "supports")


def two_writes_in_one(memory: Recollect) -> None:
    """Write to the catalogue twice in a transaction of the caller's own."""
    with memory.paks.transaction():
        memory.paks.upsert_pak(**PAK)
        memory.paks.delete_pak("friday")


def with_receipts(memory: Recollect, ask: Callable[[], object]) -> object:
    """Keep a receipt of one answer."""
    memory._open_store.receipt_days = 30.0
    try:
        return ask()
    finally:
        memory._open_store.receipt_days = None


@functools.cache
def whole_store() -> tuple[str, ...]:
    """Return the export of a store that holds something of everything."""
    memory = Recollect.open("memory://", clock=FakeClock(), embedder=FakeEmbedder(8))
    fill(memory)
    for besides in dict.fromkeys(BESIDES.values()):
        besides(memory)
    return tuple(memory.export(everything=True))


VERBS: dict[str, Verb] = {
    "remember": lambda m: m.remember("Ada deploys on friday", pak_id="new"),
    "remember again": lambda m: m.remember("Celery runs other jobs", pak_id="celery"),
    "remember instead": lambda m: m.remember("Ada never deploys", supersedes="ada"),
    "remember a conflict": lambda m: m.remember(
        "Bob deploys", entity="Deploys", relation="by", value="bob", on_conflict="supersede"
    ),
    "remember once": lambda m: m.remember("Only once about jobs", request_id="first"),
    "remember and recall": lambda m: (
        m.remember("Ada deploys jobs", pak_id="new"),
        m.recall("ada"),
    ),
    "remember_many": lambda m: m.remember_many(["one more job", "and one more deploy"]),
    "update": lambda m: m.update("celery", content="Celery runs no jobs"),
    "supersede": lambda m: m.supersede("ada", "friday"),
    "link": lambda m: m.link("celery", "ada"),
    "dispute": lambda m: m.dispute("celery", "friday", note="which?"),
    "resolve": lambda m: m.resolve("ada", "friday"),
    "forget": lambda m: m.forget("celery"),
    "forget and recall": lambda m: (m.forget("celery"), m.recall("ada")),
    "forget by filter": lambda m: m.forget(
        tag="deploying", filter={"metadata.by": {"eq": "ada"}}, versions=True
    ),
    "archive": lambda m: m.archive("ada"),
    "unarchive": lambda m: m.unarchive("old"),
    "touch": lambda m: m.touch("lasting"),
    "recall and refresh": lambda m: m.recall("a lasting note", refresh=True),
    "respond and refresh": lambda m: m.respond(RecallRequest("a lasting note", refresh=True)),
    "recall with a receipt": lambda m: with_receipts(m, lambda: m.recall("celery jobs")),
    "respond with a receipt": lambda m: with_receipts(m, lambda: m.respond(RecallRequest("ada"))),
    "tidy": lambda m: m.tidy(),
    "ingest": lambda m: m.ingest([{"content": "a peer tells of jobs"}], source="peer"),
    "import_": lambda m: m.import_(LINES),
    "import_ of a whole store": lambda m: m.import_(whole_store()),
    "retry_pending": lambda m: m.retry_pending(),
    "reembed": lambda m: m.reembed(FakeEmbedder(4, model_id="another")),
    "reindex": lambda m: m.reindex(),
    "prune_versions": lambda m: m.prune_versions(days=0),
    "repair": lambda m: m.repair(),
    "repair and discard": lambda m: m.repair(discard=True),
    "frame": lambda m: m.frame("attention", "celery jobs"),
    "frames.register": lambda m: m.frames.register("own", extends="task"),
    "frames.update": lambda m: m.frames.update("kept", token_budget=77),
    "frames.delete": lambda m: m.frames.delete("kept"),
    "frames.invalidate": lambda m: m.frames.invalidate("kept"),
    "gardens.create": lambda m: m.gardens.create("shared", name="Shared"),
    "gardens.update": lambda m: m.gardens.update("herbs", name="Spices"),
    "gardens.add": lambda m: m.gardens.add("herbs", "bob"),
    "gardens.remove": lambda m: m.gardens.remove("herbs", "carol"),
    "gardens.delete": lambda m: m.gardens.delete("herbs"),
    "keys.create": lambda m: m.keys.create(LOCAL_PRINCIPAL, name="a key"),
    "keys.revoke": lambda m: m.keys.revoke(m.keys.list()[0].prefix),
    "trust.set": lambda m: m.trust.set("peer", 0.9),
    "quarantine.promote": lambda m: m.quarantine.promote(m.quarantine.list()[0].pak_id),
    "quarantine.reject": lambda m: m.quarantine.reject(m.quarantine.list()[0].pak_id),
    "catalogue.set_reason_codes": lambda m: m.catalogue.set_reason_codes("ada", [CODE]),
    "catalogue.set_risk_flags": lambda m: m.catalogue.set_risk_flags("ada", []),
    "paks.upsert_pak": lambda m: m.paks.upsert_pak(**PAK),
    "paks.upsert_paks": lambda m: m.paks.upsert_paks([PAK, {**PAK, "pak_id": "plain-too"}]),
    "paks.keep_rows": lambda m: m.paks.keep_rows([ROW]),
    "paks.delete_pak": lambda m: m.paks.delete_pak("friday"),
    "paks.set_pak_reason_codes": lambda m: m.paks.set_pak_reason_codes("ada", [], now=NOW),
    "paks.add_pak_reason_code": lambda m: m.paks.add_pak_reason_code("celery", CODE, now=NOW),
    "paks.remove_pak_reason_code": lambda m: m.paks.remove_pak_reason_code("ada", CODE.reason_code),
    "paks.set_pak_risk_flags": lambda m: m.paks.set_pak_risk_flags("ada", [], now=NOW),
    "paks.add_pak_risk_flag": lambda m: m.paks.add_pak_risk_flag("celery", FLAG, now=NOW),
    "paks.remove_pak_risk_flag": lambda m: m.paks.remove_pak_risk_flag("ada", FLAG.risk_flag),
    "paks.set_pak_anchors": lambda m: m.paks.set_pak_anchors("ada", []),
    "paks.add_pak_anchor": lambda m: m.paks.add_pak_anchor("celery", ANCHOR),
    "paks.remove_pak_anchor": lambda m: m.paks.remove_pak_anchor("ada", ANCHOR.anchor_id),
    "paks.set_pak_relations": lambda m: m.paks.set_pak_relations("friday", [], now=NOW),
    "paks.add_pak_relation": lambda m: m.paks.add_pak_relation("celery", RELATION, now=NOW),
    "paks.remove_pak_relation": lambda m: m.paks.remove_pak_relation("friday", RELATION),
    "paks.transaction": two_writes_in_one,
    "paks.repair": lambda m: m.paks.repair(),
    "close": lambda m: m.close(),
}
# Called on a handle that has an index, which then takes over what was written.
ASKED_BEFORE = {"remember and recall", "forget and recall"}
# What a verb takes the whole of: it is called on a store that holds nothing.
ON_NOTHING = {"import_ of a whole store"}


def fill(memory: Recollect) -> None:
    """Store what the verbs are about."""
    memory.remember("Celery runs the jobs", pak_id="celery")
    memory.remember("Ada is the one who deploys", pak_id="ada")
    memory.remember("Never deploy on friday", pak_id="friday")
    memory.remember("An old note on jobs", pak_id="old")
    memory.archive("old")
    memory.dispute("ada", "friday")
    memory.gardens.create("herbs", name="Herbs")
    memory.trust.set("stranger", 0.1)
    memory.ingest([{"content": "held back by a peer"}], source="stranger")


def conflict(memory: Recollect) -> None:
    memory.remember("Ada deploys", entity="Deploys", relation="by", value="ada")


def changed(memory: Recollect) -> None:
    then = "2025-06-01T00:00:00Z"
    memory.remember(
        "Deploys go by train", pak_id="by", tags=["deploying"], metadata={"by": "ada"}, now=then
    )
    memory.update("by", content="Deploys go by night train", now=then)


def lasting(memory: Recollect) -> None:
    memory.remember("A lasting note", pak_id="lasting", ttl=3600)
    memory.remember("Over since a year", pak_id="over", valid_until="2025-01-01")


def pending(memory: Recollect) -> None:
    embedder = memory._open_store.embedder
    embedder.fail = True  # type: ignore[attr-defined]
    memory.remember("Nobody has read this yet", pak_id="waits")
    embedder.fail = False  # type: ignore[attr-defined]


def framed(memory: Recollect) -> None:
    memory.frames.register("kept", extends="task")


def described(memory: Recollect) -> None:
    memory.paks.set_pak_reason_codes("ada", [CODE], now=NOW)
    memory.paks.set_pak_risk_flags("ada", [FLAG], now=NOW)
    memory.paks.set_pak_anchors("ada", [ANCHOR])
    memory.paks.set_pak_relations("friday", [RELATION], now=NOW)


# What is there besides when a verb is called.
BESIDES: dict[str, Verb] = {
    "remember a conflict": conflict,
    "forget by filter": changed,
    "prune_versions": changed,
    "touch": lasting,
    "recall and refresh": lasting,
    "respond and refresh": lasting,
    "tidy": lasting,
    "retry_pending": pending,
    "frames.update": framed,
    "frames.delete": framed,
    "frames.invalidate": framed,
    "gardens.delete": lambda m: m.remember("Basil wants sun", pak_id="basil", garden="herbs"),
    "gardens.remove": lambda m: m.gardens.add("herbs", "carol"),
    "keys.revoke": lambda m: m.keys.create(LOCAL_PRINCIPAL, name="an old key"),
    **{name: described for name in VERBS if name.startswith("paks.")},
}
# What became of the file before a verb is called, as damage would: no trigger and no seal hears.
DAMAGE = {
    "repair": (
        "UPDATE memories SET vector_0 = zeroblob(8) WHERE pak_id = 'celery'",
        "UPDATE paks_fts_content SET c1 = 'other' WHERE c0 = 'ada'",
        "UPDATE memories SET content = 'Deploy each friday' WHERE pak_id = 'friday'",
    ),
    "paks.repair": ("UPDATE paks_fts_content SET c1 = 'other' WHERE c0 = 'ada'",),
}


def seed(verb: str, memory: Recollect) -> None:
    """Store all that a call of the verb is about."""
    if verb not in ON_NOTHING:
        fill(memory)
        if verb in BESIDES:
            BESIDES[verb](memory)
    if verb == "repair and discard" and memory.path.is_file():
        edit(memory.path, *DAMAGE["repair"])
        memory.repair()


def seeded(folder: Path, verb: str) -> Path:
    """Make the file that a verb is called on."""
    path = folder / "memory.db"
    with Recollect.open(path, clock=FakeClock(), embedder=FakeEmbedder(8)) as memory:
        seed(verb, memory)
    edit(path, *DAMAGE.get(verb, ()))
    return path


def edit(path: Path, *statements: str) -> None:
    """Change a file as damage would."""
    with closing(sqlite3.connect(path)) as conn:
        made = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in made:
            conn.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            conn.execute(statement)
        for _, sql in made:
            conn.execute(sql)
        conn.commit()
