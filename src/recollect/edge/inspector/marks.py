"""Which words of a text are words of a question, as the index takes words for the same.

In: a question, and a text as it is shown. Out: where in the text its words stand, and which of the
question's are among them. Words that hold every sentence together are left out. A misspelt word of
a question is found by the index alone: no mark is set for what it was read as.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from recollect.index.analyse import COMMON, is_unspaced, placed_terms, terms, words
from recollect.index.german import GERMAN_COMMON, german_stem, is_german
from recollect.patterns import regex
from recollect.values import dataclass

__all__ = ["places", "shared"]

_WORD = regex(r"\w+(?:['\u2019]\w+)*")
_MOST_CHARS = 10_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question's words with the terms of each, and whether they are German."""

    words: tuple[tuple[str, frozenset[str]], ...]
    terms: frozenset[str]
    is_german: bool


def places(text: str, question: str | None) -> Iterator[tuple[int, int]]:
    """Yield where the words of a question stand in a text, in order and apart."""
    asked = _asked(question or "")
    if not asked.terms:
        return
    for word in _WORD.finditer(text):
        if not asked.terms.isdisjoint(_terms(word[0], asked.is_german)):
            for start, end in _pieces(word[0], asked.terms):
                yield word.start() + start, word.start() + end


def shared(text: str, question: str | None) -> list[str]:
    """Return the words of a question that a text has, as they are asked."""
    asked = _asked(question or "")
    if not asked.terms:
        return []
    told = _terms(text[:_MOST_CHARS], asked.is_german)
    return [word for word, meant in asked.words if not meant.isdisjoint(told)]


@functools.lru_cache(maxsize=64)
def _asked(question: str) -> _Asked:
    question = question[:_MOST_CHARS]
    german = is_german(words(question))
    spoken = dict.fromkeys(_WORD.findall(question))
    meant = [(word, _telling(_terms(word, german), german)) for word in spoken]
    kept = tuple((word, named) for word, named in meant if named)
    return _Asked(kept, frozenset().union(*(named for _, named in kept)), german)


def _telling(found: Iterable[str], german: bool) -> frozenset[str]:
    """Return terms without those that say how, not what, is asked.

    Where no spaces part words a sign alone says little, if there are two that stand together.
    """
    told = frozenset(found) - (COMMON | GERMAN_COMMON if german else COMMON)
    return frozenset(term for term in told if len(term) > 1 or not is_unspaced(term)) or told


def _terms(text: str, german: bool) -> frozenset[str]:
    stems = filter(None, map(german_stem, words(text))) if german else ()
    return frozenset((*terms(text), *stems))


def _pieces(word: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """Return which pieces of a word were asked for: the whole of it, but in what has several."""
    found: list[tuple[int, int]] = []
    for start, end, term in placed_terms(word):
        if term not in wanted:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found or [(0, len(word))]
