"""Text into terms: accents and case folded, split into words, stemmed by their script.

A memory or a question comes in, a list of terms goes out; both take the same way, so that they
meet. Words of Cyrillic letters are stemmed as Russian, all others as English. Scripts that part no
words are cut into what stands side by side (ADR-0040). The stems of words seen lately are
remembered. This room must not know the index.
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
    import re
    from collections.abc import Iterable, Iterator

__all__ = [
    "ASKS",
    "COMMON",
    "GERMAN",
    "LONGEST_TERM",
    "TELLS_TIME",
    "TIME_TERMS",
    "is_unspaced",
    "placed_terms",
    "stem_words",
    "stems_of",
    "term_of",
    "terms",
    "terms_of",
    "words",
]

# What kind of text it is, as bits.
ASKS = 1
TELLS_TIME = 2
GERMAN = 4

# Scripts written without spaces. Of Chinese and Japanese each sign is a term, and each two that
# stand side by side; of Thai, Lao, Burmese and Khmer, whose signs are sounds, each two and three.
# There marks are vowels and tones, so they are kept.
_SIGNS = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_SOUNDS = (
    "\u0e01-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff"
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17d7\u17dc-\u17e9"
)
# Some part words in those scripts by a sign that nobody sees, and most do not.
_UNSEEN = "\u200b"
_RUN = regex(rf"[{_SIGNS}{_SOUNDS}]")
_SOUND = regex(rf"[{_SOUNDS}]")
_OTHER = rf"[^\W_{_SIGNS}{_SOUNDS}]"
# An apostrophe inside a word belongs to it: "don't", "Caroline's".
_WORD = regex(rf"[{_SIGNS}]+|[{_SOUNDS}][{_SOUNDS}{_UNSEEN}]*|{_OTHER}+(?:'{_OTHER}+)*")
# The same for ASCII, and ready at a tenth of the cost.
_ASCII_WORD = regex(r"[a-zA-Z0-9]+(?:'[a-zA-Z0-9]+)*")
_CYRILLIC = ("\u0400", "\u052f")
# Decomposed, a letter of Russian endings would lose what tells it from another one; and a vowel of
# Thai and Lao would be two signs.
_WHOLE = (
    ("\u0438\u0306", "\u0439"),
    ("\u0418\u0306", "\u0419"),
    ("\u0e4d\u0e32", "\u0e33"),
    ("\u0ecd\u0eb2", "\u0eb3"),
)
# What becomes of each ASCII sign: a letter is folded, what parts words becomes a space.
_FOLDED = "".join(
    sign.lower() if sign.isalnum() or sign == "'" else " " for sign in map(chr, range(128))
)
LONGEST_TERM = 64
_MOST_STEMS = 1 << 16


class _WithoutAccents(dict[int, int | None]):
    """A translation table that drops combining marks, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        sign = chr(code)
        is_mark = unicodedata.category(sign).startswith("M") and not _SOUND.match(sign)
        kept = None if is_mark else code
        self[code] = kept
        return kept


class _Stems(dict[str, str]):
    """Word to stem, remembering a bounded number of words."""

    def __init__(self) -> None:
        super().__init__()
        self._english = Stemmer.Stemmer("english", 0)
        self._russian = Stemmer.Stemmer("russian", 0)
        self._lock = Lock()
        fresh_in_child(self, "_lock", Lock)

    def of_many(self, words: list[str]) -> list[str]:
        """Return the stems of words of plain letters, which are not worth remembering."""
        with self._lock:
            found: list[str] = self._english.stemWords(words)
        return found

    def of_each(self, words: list[str]) -> list[str]:
        """Return the stems of whatever words, which are not worth remembering."""
        with self._lock:
            stems: list[str] = self._english.stemWords(words)
        return [
            stem.replace("'", "") if word.isascii() and len(word) <= LONGEST_TERM else self[word]
            for word, stem in zip(words, stems, strict=True)
        ]

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST_TERM:
            return word[:LONGEST_TERM]
        first, last = _CYRILLIC
        stemmer = self._russian if first <= word[:1] <= last else self._english
        with self._lock:  # a stemmer keeps state while it works
            stem: str = stemmer.stemWord(word).replace("'", "")
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
    found = _WORD.findall(_folded(text))
    if not any(map(_RUN.match, found)):
        return found
    return [part for word in found for part in _parts(word)]


def _folded(text: str) -> str:
    decomposed = normalise("NFKD", text)
    for apart, whole in _WHOLE:
        decomposed = decomposed.replace(apart, whole)
    return decomposed.translate(_without_accents).casefold()


def _parts(word: str) -> Iterable[str]:
    return (part for *_, part in _placed_parts(word)) if _RUN.match(word) else (word,)


def _placed_parts(run: str) -> Iterator[tuple[int, int, str]]:
    """Yield the terms of a run of signs or sounds, with where each begins and ends."""
    if _SOUND.match(run):
        run, sizes = run.replace(_UNSEEN, ""), (2, 3)
    else:
        sizes = (1, 2)
    if len(run) < sizes[0]:
        yield 0, len(run), run
    for start in range(len(run)):
        for end in (start + size for size in sizes):
            if end <= len(run):
                yield start, end, run[start:end]


def stems_of(plain: list[str]) -> list[str]:
    """Return the terms that words of plain Latin letters are; nothing of it is remembered."""
    return _stems.of_many(plain)


def is_unspaced(term: str) -> bool:
    """Return whether a term is of a script that parts no words."""
    return _RUN.match(term) is not None


def terms_of(many: list[str]) -> list[str]:
    """Return the term that each of many `words` is; nothing of it is remembered."""
    return _stems.of_each(many)


def term_of(word: str) -> str:
    """Return the term that one of `words` is."""
    return _stems[word]


def placed_terms(text: str) -> list[tuple[int, int, str]]:
    """Return each term of a text with where it begins and ends; none where folding moves them."""
    pattern = _ASCII_WORD if text.isascii() else _WORD
    found = [placed for word in pattern.finditer(text) for placed in _placed(word)]
    return found if [term for *_, term in found] == terms(text) else []


def _placed(word: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    if word[0].isascii() or not _RUN.match(word[0]):
        yield from ((word.start(), word.end(), term) for term in terms(word[0])[:1])
        return
    for start, end, part in _placed_parts(word[0]):
        yield word.start() + start, word.start() + end, _stems[_folded(part)]


def stem_words(written: Iterable[str]) -> list[str]:
    """Return one term for each word: its longest, or "" where a word holds none."""
    return [
        _stems[word] if word.isascii() and word.isalpha() and word.islower() else _longest(word)
        for word in written
    ]


def _longest(word: str) -> str:
    return max(terms(word), key=len, default="")


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
