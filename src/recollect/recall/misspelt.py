"""Slips of a key in a question, read as the words that were meant.

In: a question, which of its stems nothing holds, and who knows which may be found. Out: the
question as it is read, and which words were read as which. A word is mended if nothing that may be
read holds it and a slip away lies one that something holds: a letter too many, too few, another
one, or two that changed places. Only words that the default embedder's tokeniser does not know
whole: whatever it knows was meant. What is tried is made from the question alone, so no text that
the asker may not read lends it a word.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

from recollect.embed.table import is_one_piece
from recollect.index.analyse import stems_of, term_of, words
from recollect.limits import WORDS_MENDED
from recollect.patterns import regex

if TYPE_CHECKING:
    import re

__all__ = ["Reading", "read"]

# Shorter words are a slip away from too many others; longer ones are no words.
_SHORTEST, _LONGEST = 4, 24
_WRITTEN = regex(r"[^\W\d_]+")

# Of some stems, in how many memories that may be read each stands; those in none are left out.
Found = Callable[[Sequence[str]], Mapping[str, int]]


class Reading(NamedTuple):
    """A question as it is read, and which of its words were read as which others."""

    text: str
    mended: Mapping[str, str]


def read(query: str, *, unknown: Container[str], found: Found) -> Reading:
    """Return a question with its slips mended, among the words whose stems are `unknown`."""
    mended: dict[str, str] = {}
    for word in islice(_doubtful(query, unknown), WORDS_MENDED):
        meant = _meant(word, found)
        if meant is not None:
            mended[word] = meant
    if not mended:
        return Reading(query, mended)

    def put_right(written: re.Match[str]) -> str:
        return mended.get("".join(words(written[0])), written[0])

    return Reading(_WRITTEN.sub(put_right, query), mended)


def _doubtful(query: str, unknown: Container[str]) -> Iterator[str]:
    """Yield the words that nothing holds and that the tokeniser does not know whole."""
    for word in dict.fromkeys(words(query)):
        if _is_plain(word) and term_of(word) in unknown and not _is_known(word):
            yield word


def _is_known(word: str) -> bool:
    """Return whether the tokeniser knows a word, or a name that is spelt so."""
    return is_one_piece(word) or is_one_piece(word.capitalize())


def _is_plain(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()


def _meant(word: str, found: Found) -> str | None:
    """Return the word that was meant: with the same first letter, then the most frequent."""
    slips = sorted({one for one in _slips(word) if len(one) >= _SHORTEST} - {word})
    stems = stems_of(slips)
    known = found(sorted(set(stems)))
    meant = [
        (slip[0] != word[0], -known[stem], stem, not is_one_piece(slip), slip)
        for slip, stem in zip(slips, stems, strict=True)
        if stem in known
    ]
    return min(meant)[-1] if meant else None


def _slips(word: str) -> Iterator[str]:
    """Yield what lies one slip away from a word."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        for letter in ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
