"""Text into terms: accents and case folded, split into words, stemmed for English.

A Pak or a question comes in, a list of terms goes out; both take the same way, so that they meet.
The stems of words seen lately are remembered. This room must not know the index.
"""

from __future__ import annotations

import re
import unicodedata
from threading import Lock
from typing import TYPE_CHECKING

import Stemmer  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.model import Memory

__all__ = ["indexed_text", "stem_words", "terms"]

# An apostrophe inside a word belongs to it: "don't", "Caroline's".
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# Scripts written without spaces: each sign is a term of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_ANY_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:'[^\W_{_UNSPACED}]+)*")
_LONGEST_TERM = 64
_MOST_STEMS = 1 << 16


class _Marks(dict[int, int | None]):
    """A translation table that drops combining marks, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        kept = None if unicodedata.category(chr(code)).startswith("M") else code
        self[code] = kept
        return kept


class _Stems(dict[str, str]):
    """Word to stem, remembering a bounded number of words."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._lock = Lock()

    def __missing__(self, word: str) -> str:
        if len(word) > _LONGEST_TERM:
            return word[:_LONGEST_TERM]
        with self._lock:  # a stemmer keeps state while it works
            stem: str = self._stemmer.stemWord(word).replace("'", "")
        if len(self) >= _MOST_STEMS:
            self.clear()
        self[word] = stem
        return stem


_marks = _Marks({0x2018: 0x27, 0x2019: 0x27, 0x02BC: 0x27, 0xFF07: 0x27})
_stems = _Stems()


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, repeated as often as they occur."""
    if text.isascii():
        return list(map(_stems.__getitem__, _WORD.findall(text.lower())))
    folded = unicodedata.normalize("NFKD", text).translate(_marks).casefold()
    return list(map(_stems.__getitem__, _ANY_WORD.findall(folded)))


def stem_words(words: Iterable[str]) -> list[str]:
    """Return one term for each word: its longest, or "" where a word holds none."""
    return [max(terms(word), key=len, default="") for word in words]


def indexed_text(memory: Memory) -> str:
    """Return what of a Pak is searched by word: the title and the content.

    A title cut from the content's own beginning says nothing twice.
    """
    opening = memory.title.rstrip("\u2026. ")
    if memory.content.startswith(opening):
        return memory.content
    return f"{memory.title}\n{memory.content}"
