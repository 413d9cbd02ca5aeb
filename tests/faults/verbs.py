"""Every verb that writes, as a call on a memory that holds something of everything."""

from __future__ import annotations

from collections.abc import Callable

from recollect import Recollect
from recollect.model import LOCAL_PRINCIPAL
from recollect.testing import FakeEmbedder

Verb = Callable[[Recollect], object]

LINES = [
    '{"kind": "memory", "pak_id": "imported", "content": "an imported note about jobs"}',
    '{"kind": "memory", "pak_id": "imported-too", "content": "another imported note"}',
]
VERBS: dict[str, Verb] = {
    "remember": lambda m: m.remember("Ada deploys on friday", pak_id="new"),
    "remember again": lambda m: m.remember("Celery runs other jobs", pak_id="celery"),
    "remember instead": lambda m: m.remember("Ada never deploys", supersedes="ada"),
    "update": lambda m: m.update("celery", content="Celery runs no jobs"),
    "supersede": lambda m: m.supersede("ada", "friday"),
    "remember_many": lambda m: m.remember_many(["one more job", "and one more deploy"]),
    "link": lambda m: m.link("celery", "ada"),
    "dispute": lambda m: m.dispute("celery", "friday", note="which?"),
    "resolve": lambda m: m.resolve("ada", "friday"),
    "forget": lambda m: m.forget("celery"),
    "archive": lambda m: m.archive("ada"),
    "unarchive": lambda m: m.unarchive("old"),
    "ingest": lambda m: m.ingest([{"content": "a peer tells of jobs"}], source="peer"),
    "import_": lambda m: m.import_(LINES),
    "reembed": lambda m: m.reembed(FakeEmbedder(4, model_id="another")),
    "reindex": lambda m: m.reindex(),
    "frame": lambda m: m.frame("attention", "celery jobs"),
    "gardens.create": lambda m: m.gardens.create("shared", name="Shared"),
    "gardens.add": lambda m: m.gardens.add("herbs", "bob"),
    "gardens.delete": lambda m: m.gardens.delete("herbs"),
    "keys.create": lambda m: m.keys.create(LOCAL_PRINCIPAL, name="a key"),
    "trust.set": lambda m: m.trust.set("peer", 0.9),
    "quarantine.promote": lambda m: m.quarantine.promote(m.quarantine.list()[0].pak_id),
    "frames.register": lambda m: m.frames.register("own", extends="task"),
    "paks.upsert_pak": lambda m: m.paks.upsert_pak(
        pak_id="plain",
        pak_type="note",
        source_type="file",
        authority="user_approved",
        title="a plain Pak about jobs",
        content_hash="0" * 64,
        now="2026-01-01T00:00:00Z",
    ),
    "close": lambda m: m.close(),
}


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
