"""The Paks of the selection's benchmark: the catalogue's, with words that hit a known share.

In: a number. Out: rows of the catalogue's tables. Standard library only: it also runs inside the
environments of the peers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from bench import paks_data

__all__ = ["COMMON", "NOW", "RARE", "code_rows", "flag_rows", "pak_row"]

# Words that no other Pak holds: each of these hits every hundredth, or every tenth.
RARE = tuple(f"rareword{letter}" for letter in "abcdefgh")
COMMON = tuple(f"commonword{letter}" for letter in "abcd")
NOW = "2026-01-05T00:00:00Z"

# One Pak in fifty is a copy of nine others.
COPIES_EVERY = 50
COPIES_OF_ONE = 500

CODES = (
    "acceptance_criteria",
    "cache_ordering_candidate",
    "current_task",
    "direct_file_match",
    "duplicate_context",
    "mandatory",
    "stable_context",
    "stale_context",
)
FLAGS = (("governance_applies", "warn"), ("mandatory_context_missing", "block"))


def pak_row(number: int) -> tuple[Any, ...]:
    """Return a Pak as the twelve columns of its row."""
    pak: dict[str, Any] = paks_data.pak(number)
    title, summary = pak["title"], pak["summary"]
    if number % 100 < len(RARE):
        title = f"{title} {RARE[number % 100]}"
    if number % 10 < len(COMMON):
        summary = f"{summary} {COMMON[number % 10]}"
    content_hash = pak["content_hash"]
    if number % COPIES_EVERY == 0:
        content_hash = f"copy {number // COPIES_OF_ONE}"
    return (
        pak["pak_id"],
        pak["pak_type"],
        pak["project"],
        pak["topic"],
        pak["source_type"],
        pak["authority"],
        title,
        summary,
        content_hash,
        pak["now"],
        pak["now"],
        None,
    )


def code_rows(number: int) -> Iterator[tuple[Any, ...]]:
    """Yield the reason codes of a Pak: up to three for two in five."""
    chance = random.Random(number * 31 + 7)
    if chance.random() < 0.4:
        for code in chance.sample(CODES, chance.randint(1, 3)):
            yield paks_data.pak_id(number), code, round(chance.random(), 2), NOW


def flag_rows(number: int) -> Iterator[tuple[Any, ...]]:
    """Yield the risk flags of a Pak: one for one in ten."""
    chance = random.Random(number * 37 + 11)
    if chance.random() < 0.1:
        yield (paks_data.pak_id(number), *chance.choice(FLAGS), NOW)
