"""Text into terms: accents and case folded, split into words, stemmed for English.

A memory or a question comes in, a list of terms goes out; both take the same way, so that they
meet. The stems of words seen lately are remembered. This room must not know the index.
"""

from __future__ import annotations

import unicodedata
from threading import Lock
from typing import TYPE_CHECKING

import Stemmer  # type: ignore[import-not-found]

from recollect.dates import MONTHS, WEEKDAYS
from recollect.locks import fresh_in_child
from recollect.normalise import normalise
from recollect.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.ports.store import Indexable

__all__ = [
    "ASKS",
    "COMMON",
    "LONGEST_TERM",
    "TELLS_TIME",
    "TIME_TERMS",
    "indexed_text",
    "placed_terms",
    "stem_words",
    "term_of",
    "terms",
    "text_marks",
    "words",
]

# What kind of text it is, as bits.
ASKS = 1
TELLS_TIME = 2

# Scripts written without spaces: each sign is a term of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
# An apostrophe inside a word belongs to it: "don't", "Caroline's".
_WORD = regex(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:'[^\W_{_UNSPACED}]+)*")
# The same for ASCII, and ready at a tenth of the cost.
_ASCII_WORD = regex(r"[a-zA-Z0-9]+(?:'[a-zA-Z0-9]+)*")
# What becomes of each ASCII sign: a letter is folded, what parts words becomes a space.
_FOLDED = "".join(
    sign.lower() if sign.isalnum() or sign == "'" else " " for sign in map(chr, range(128))
)
LONGEST_TERM = 64
_MOST_STEMS = 1 << 16


class _WithoutAccents(dict[int, int | None]):
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
        fresh_in_child(self, "_lock", Lock)

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST_TERM:
            return word[:LONGEST_TERM]
        with self._lock:  # a stemmer keeps state while it works
            stem: str = self._stemmer.stemWord(word).replace("'", "")
        if len(self) >= _MOST_STEMS:
            self.clear()
        self[word] = stem
        return stem


_without_accents = _WithoutAccents({0x2018: 0x27, 0x2019: 0x27, 0x02BC: 0x27, 0xFF07: 0x27})
_stems = _Stems()


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, repeated as often as they occur."""
    return list(map(_stems.__getitem__, words(text)))


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded and not stemmed."""
    if text.isascii():
        return _ascii_words(text)
    folded = normalise("NFKD", text).translate(_without_accents).casefold()
    return _WORD.findall(folded)


def term_of(word: str) -> str:
    """Return the term that one of `words` is."""
    return _stems[word]


def placed_terms(text: str) -> list[tuple[int, int, str]]:
    """Return each term of a text with where it begins and ends; none where folding moves them."""
    word = _ASCII_WORD if text.isascii() else _WORD
    found = [(one.start(), one.end(), terms(one[0])) for one in word.finditer(text)]
    if [term for *_, own in found for term in own] != terms(text):
        return []
    return [(start, end, own[0]) for start, end, own in found if len(own) == 1]


def stem_words(written: Iterable[str]) -> list[str]:
    """Return one term for each word: its longest, or "" where a word holds none."""
    return [max(terms(word), key=len, default="") for word in written]


def indexed_text(memory: Indexable) -> str:
    """Return what of a memory is searched by word: the title and the content.

    A title cut from the content's own beginning says nothing twice.
    """
    opening = memory.title.rstrip("\u2026. ")
    if memory.content.startswith(opening):
        return memory.content
    return f"{memory.title}\n{memory.content}"


def text_marks(text: str, *, tells_time: bool) -> int:
    """Return what kind of text it is: one that asks, one that tells a time."""
    asks = ASKS if text.rstrip().endswith("?") else 0
    return asks | (TELLS_TIME if tells_time else 0)


def _ascii_words(text: str) -> list[str]:
    """Return what the pattern finds, in half the time."""
    folded = text.translate(_FOLDED)
    if "'" in folded:  # only between two letters or digits is it part of a word
        folded = f" {folded} ".replace("''", "  ").replace(" '", "  ").replace("' ", "  ")
    return folded.split()


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


# Words that hold a sentence together: in a question they say how, not what, it asks.
COMMON = _stems_of(
    "a an the this that these those and or but if than then so as of to in on at for from by with "
    "about into is are was were be been being am do does did has have had will would can could "
    "should might not no i you he she it we they me him her us them my your his its our their "
    "what which who whom whose when where why how there"
)
# Words that tell a time.
TIME_TERMS = _stems_of(
    "yesterday today tonight tomorrow ago recently day days week weeks weekend month months year "
    f"years night morning {' '.join(WEEKDAYS)} {' '.join(m for m in MONTHS if m != 'may')} "
    f"{' '.join(map(str, range(1950, 2051)))}"
)
