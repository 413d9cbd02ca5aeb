"""The words of a text as SQLite's `unicode61 remove_diacritics 2` reads them, without SQLite.

In: any text. Out: its words, in their order. What separates words and what a letter is folded to
was asked of FTS5, code point by code point, and is kept in `unicode61.json`; a test asks again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

__all__ = ["words_of"]

# FTS5 keeps so many bytes of a word.
_MOST_BYTES = 32_768


def words_of(text: str) -> list[str]:
    """Return the words of a text."""
    return [_cut(word) for word in text.translate(_table()).split(" ") if word]


@cache
def _table() -> dict[int, str]:
    """Return what each code point becomes that does not stay what it is.

    An accent becomes nothing: inside of a word it is left out, and alone it makes none.
    """
    data = json.loads(Path(__file__).with_name("unicode61.json").read_text(encoding="utf-8"))
    table: dict[int, str] = {}
    for span in data["separators"].split():
        first, _, last = span.partition("-")
        table |= dict.fromkeys(range(int(first, 16), int(last or first, 16) + 1), " ")
    for folded, letters in data["folds"].items():
        table |= dict.fromkeys(map(ord, letters), folded)
    return table


def _cut(word: str) -> str:
    if len(word) * 4 <= _MOST_BYTES:
        return word
    return word.encode()[:_MOST_BYTES].decode(errors="surrogateescape")
