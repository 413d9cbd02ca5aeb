"""The Paks of the catalogue's benchmark: the same for every library, run and machine.

In: a number. Out: the arguments of `upsert_pak`. Standard library only: it also runs inside the
environments of the peers.
"""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime, timedelta

__all__ = ["PROJECTS", "ids_in_random_order", "pak", "pak_id"]

PROJECTS = tuple(f"project-{letter}" for letter in "abcdefgh")
TYPES = ("decision", "note", "failure")
PAKS_A_SECOND = 50
TITLE_WORDS = 6
SUMMARY_WORDS = 24
START = datetime(2026, 1, 1, tzinfo=UTC)


def _vocabulary(size: int) -> list[str]:
    chance = random.Random(20260101)
    words: set[str] = set()
    while len(words) < size:
        words.add("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 10))))
    return sorted(words)


VOCABULARY = _vocabulary(5000)


def pak_id(number: int) -> str:
    """Return the id of a Pak; neighbours in time are strangers in the key."""
    return "pak-" + hashlib.sha256(str(number).encode()).hexdigest()[:24]


def pak(number: int, *, revision: int = 0, at: int | None = None) -> dict[str, str]:
    """Return a Pak's arguments; another revision has another text, `at` another time."""
    chance = random.Random(number * 1_000_003 + revision)
    words = chance.choices(VOCABULARY, k=TITLE_WORDS + SUMMARY_WORDS)
    text = " ".join(words)
    written = START + timedelta(seconds=(number if at is None else at) // PAKS_A_SECOND)
    return {
        "pak_id": pak_id(number),
        "pak_type": TYPES[number % len(TYPES)],
        "source_type": "session",
        "authority": "working",
        "title": " ".join(words[:TITLE_WORDS]),
        "summary": " ".join(words[TITLE_WORDS:]),
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        "project": random.Random(number).choice(PROJECTS),
        "topic": f"topic-{number % 40}",
        "now": written.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def ids_in_random_order(position: int, *, size: int, step: int) -> int:
    """Return the number at a position of a fixed shuffle; `step` shares no factor with `size`."""
    return position * step % size
