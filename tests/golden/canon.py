"""The canonical answers: fixed questions to the sample shop's memory, asked at a fixed time.

`python -m tests.golden.canon PATH` asks the store at PATH and prints the answers. `python -m
tests.golden.canon --write` asks a new store and keeps the answers in `answers.json`; the digest it
prints goes into an entry of CHANGELOG.md that says what changed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recollect import Recollect
from recollect.edge.cli.demo_memory import fill
from recollect.paks import RecallStore
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock

GOLDEN = Path(__file__).with_name("answers.json")

ASKED_AT = 1_790_000_000.0
NOW = "2026-09-21T14:13:20Z"

RECALLS: tuple[dict[str, Any], ...] = (
    {"query": "Card payment timed out: send it again?"},
    {"query": "how do we deploy", "frame": "attention", "top_k": 3},
    {"query": "Wer darf an den Preisen etwas ändern?", "frame": "task", "token_budget": 120},
    {"query": None, "frame": "self"},
    {"query": "refund", "project": "payments", "top_k": 10},
)
FRAMES: tuple[dict[str, Any], ...] = (
    {"name": "self"},
    {"name": "task", "query": "ship the release", "token_budget": 200},
    {"name": "attention", "query": "queue", "top_k": 4},
)
SELECTIONS = (
    SelectQuery("card payment timed out", now=NOW),
    SelectQuery(project="payments", limit=4, now="2026-04-01T00:00:00Z"),
    SelectQuery("refund twice", project="payments", pak_type="decision", now=NOW, limit=5),
    SelectQuery("storefront", include_superseded=True, exclude="skip", now=NOW, token_budget=90),
    SelectQuery(limit=3, now=NOW),
    SelectQuery("elephant", now=NOW),
)
EXPLAINED = ("payments-double-charge", "storefront-spa-trial", "nobody")


def build(path: Path) -> None:
    """Make the store that is asked; its rows are not numbered from 1 as those of a copy are."""
    with RecallStore.open(path) as catalogue:
        catalogue.upsert_pak(
            pak_id="gone",
            pak_type="note",
            source_type="doc",
            authority="human",
            title="gone",
            content_hash="gone",
            now="2026-01-01T00:00:00Z",
        )
    with fill(path) as memory:
        memory.paks.delete_pak("gone")


def answers(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each question with its answer; frames come last, for they count uses."""
    with Recollect.open(path, clock=FakeClock(ASKED_AT)) as memory:
        for asked in RECALLS:
            yield {"recall": asked, "answer": memory.recall(**asked).to_dict()}
        for query in SELECTIONS:
            yield {"select": query.to_dict(), "answer": memory.select(query).to_dict()}
        for pak_id in EXPLAINED:
            for text in ("Card payment timed out: send it again?", None):
                told = memory.explain(pak_id, text)
                yield {"explain": [pak_id, text], "answer": told.to_dict()}
            told = memory.explain(pak_id, SELECTIONS[0])
            yield {"explain": [pak_id, "select"], "answer": told.to_dict()}
        for asked in FRAMES:
            yield {"frame": asked, "answer": memory.frame(**asked).to_dict()}


def canonical(path: Path) -> str:
    """Return all answers as text with one spelling."""
    return json.dumps(list(answers(path)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def digest(text: str) -> str:
    """Return the name of a set of answers."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main(argument: str) -> None:
    if argument != "--write":
        sys.stdout.buffer.write(canonical(Path(argument)).encode())
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shop.db"
        build(path)
        text = canonical(path)
    GOLDEN.write_text(text, encoding="utf-8")
    print(f"canonical answers {digest(text)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
