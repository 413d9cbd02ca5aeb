"""Slips of a key in a question, read as the words that were meant.

In: a question, which of its stems nothing holds, and who knows which may be found. Out: the
question as it is read, and which words were read as which. A word is mended if nothing that may be
read holds it and a slip away lies one that something holds: a letter too many, too few, another
one, or two that changed places. Only words that the default embedder's tokeniser does not know
whole: whatever it knows was meant. What is tried is made from the question alone, so no text that
the asker may not read lends it a word.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, chain, islice
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
Found = Callable[[Set[str]], Mapping[str, int]]


class Reading(NamedTuple):
    """A question as it is read, and which of its words were read as which others."""

    text: str
    mended: Mapping[str, str]


def read(query: str, *, unknown: Container[str], found: Found) -> Reading:
    """Return a question with its slips mended, among the words whose stems are `unknown`."""
    mended = _mended([*islice(_doubtful(query, unknown), WORDS_MENDED)], found)
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


def _mended(doubtful: Sequence[str], found: Found) -> dict[str, str]:
    """Return for each word that is a slip away from others which of them was meant."""
    slips = [_slips(word) for word in doubtful]
    # All words at once: what is stemmed and looked for one by one costs several times as much.
    stems = stems_of(list(chain.from_iterable(slips)))
    known = found(frozenset(stems))
    if not known:
        return {}
    ends = accumulate(map(len, slips))
    meant = {
        word: _meant(word, zip(near, stems[end - len(near) : end], strict=True), known)
        for word, near, end in zip(doubtful, slips, ends, strict=True)
    }
    return {word: slip for word, slip in meant.items() if slip is not None}


def _meant(word: str, slips: Iterable[tuple[str, str]], known: Mapping[str, int]) -> str | None:
    """Return the word that was meant, of slips with their stems.

    It has the same first letter, then it is the most frequent.
    """
    meant = [
        (slip[0] != word[0], -known[stem], stem, not is_one_piece(slip), slip)
        for slip, stem in slips
        if stem in known and len(slip) >= _SHORTEST and slip != word
    ]
    return min(meant)[-1] if meant else None


def _slips(word: str) -> list[str]:
    """Return what lies one slip away from a word, some of it twice, and the word itself."""
    slips: list[str] = []
    for place in range(len(word) + 1):
        before, after, rest = word[:place], word[place:], word[place + 1 :]
        slips += [f"{before}{letter}{after}" for letter in ascii_lowercase]
        slips += [f"{before}{letter}{rest}" for letter in ascii_lowercase]
        slips += (f"{before}{rest}", f"{before}{rest[:1]}{after[:1]}{rest[1:]}")
    return slips
