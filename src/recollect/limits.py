"""How long a text may be, and how many of a thing there may be, wherever it enters: one table.

In: the name of a field. Out: the most characters that it may have. What is kept is limited when it
enters and not when it is read: longer texts of older stores stay readable. Whoever asks for more
than a limit is refused, in words that `check` chooses; where an answer weighs a bounded number of
things, those that count are chosen by a rule that stands beside the number. docs/security.md prints
this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = [
    "ALIKE_COMPARED",
    "CHARACTERS",
    "COUNTS",
    "LOOKED_AT",
    "NAME_CHARACTERS",
    "NOVELTY_COMPARED",
    "PEOPLE_NAMED",
    "TIMES_NAMED",
    "VERBATIM_COMPARED",
    "WORDS_ASKED",
    "WORDS_MENDED",
    "most_characters",
]

# What nothing else is said about: a name, an id, a code, a time.
NAME_CHARACTERS = 1_000

CHARACTERS: Mapping[str, int] = MappingProxyType(
    {
        "content": 1_000_000,
        "payload": 8_000_000,
        "query": 100_000,
        "text": 100_000,
        "summary": 1_000_000,
        "value": 10_000,
        "note": 10_000,
        "reason_code": 10_000,
        "risk_flag": 10_000,
        "anchor_id": 10_000,
        "source_path": 10_000,
        "relation_type": 10_000,
        "cursor": 20_000,
        "metadata": 10_000,
        "filter": 10_000,
        "store": 64,
    }
)

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "tags of a memory": 256,
        "tags of a request, patterns and categories of a frame": 256,
        "weights of a selection": 1_000,
        "facts of an ingest": 10_000,
        "ids of a forget": 10_000,
        "top_k": 1_000,
        "values of a metadata or filter": 1_000,
        "levels of a metadata or filter": 16,
        "characters of a metadata as JSON": 65_536,
        "conditions of a filter": 256,
    }
)

# What an answer weighs, and which of more than that count.
WORDS_ASKED = 512  # of those that what may be read holds, the rarest, then in order of the alphabet
WORDS_MENDED = 16  # those that the question has first
TIMES_NAMED = 32  # those that the question names first
PEOPLE_NAMED = 64  # those of whose name the question says most, then in order of the alphabet
ALIKE_COMPARED = 8  # of results that look alike and say something else, the best
LOOKED_AT = 4_000  # of candidates that may say the same, the best
VERBATIM_COMPARED = 4  # of candidates whose text may be the question itself, the most alike
NOVELTY_COMPARED = 2_048  # of candidates that are spread by meaning, the best


def most_characters(field: str) -> int:
    """Return how many characters a field may have."""
    return CHARACTERS.get(field, NAME_CHARACTERS)
