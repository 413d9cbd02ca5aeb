"""What of a question a memory holds, as the asker wrote it.

In: matched terms, the word of the question that each is part of, and the terms that were looked
for. Out: each word once, or the piece of it that was matched: of `get_user_name` the `user`, of a
sentence without spaces the signs that stand together. Nothing is read here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from recollect.index.analyse import placed_terms

__all__ = ["Spelling"]


class Spelling:
    """The spelling of one question; what is known of a word is found out once."""

    def __init__(self, spoken: Mapping[str, str], wanted: Iterable[str]) -> None:
        self._spoken = spoken
        self._wanted = frozenset(wanted)
        self._words: dict[str, _Word] = {}

    def of(self, found: Sequence[str]) -> list[str]:
        """Return matched terms as words and pieces of words, each once, in the order of terms."""
        by_word: defaultdict[str, list[str]] = defaultdict(list)
        for term in found:
            by_word[self._spoken.get(term, term)].append(term)
        if len(by_word) == len(found) and all(map(self._is_simple, by_word)):
            return list(by_word)
        pieces = {word: self._word(word).pieces(held) for word, held in by_word.items()}
        shown = (pieces[word].get(term, word) for word, held in by_word.items() for term in held)
        return list(dict.fromkeys(shown))

    def _is_simple(self, word: str) -> bool:
        # Letters of the alphabet alone are one term: nothing needs to be taken apart.
        return (word.isascii() and word.isalpha()) or len(self._word(word).places) < 2

    def _word(self, word: str) -> _Word:
        known = self._words.get(word)
        if known is None:
            known = self._words[word] = _Word(word, self._wanted)
        return known


class _Word:
    """A word of a question, and where in it the terms stand that were looked for."""

    def __init__(self, word: str, wanted: frozenset[str]) -> None:
        self._word = word
        self._spans = placed_terms(word)
        self.places: dict[str, int] = {}
        for place, (*_, term) in enumerate(self._spans):
            self.places.setdefault(term, place)
        # How many terms up to each place were looked for: between two that were found, "of" and
        # "the" part nothing.
        asked = (term in wanted for *_, term in self._spans)
        self._asked = list(accumulate(asked, initial=0))

    def pieces(self, held: Iterable[str]) -> dict[str, str]:
        """Return for each term the piece of the word that it was matched in."""
        places = sorted((self.places[term], term) for term in held if term in self.places)
        found: dict[str, str] = {}
        for stretch in self._stretches(places):
            start = self._spans[stretch[0][0]][0]
            end = max(self._spans[place][1] for place, _ in stretch)
            found |= dict.fromkeys((term for _, term in stretch), self._word[start:end])
        return found

    def _stretches(self, places: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
        stretch: list[tuple[int, str]] = []
        end = 0
        for place, term in places:
            start, own_end, _ = self._spans[place]
            # Pairs of signs reach into each other: what lies between two of them parts nothing.
            is_apart = (
                start >= end and self._asked[place] - self._asked[stretch[-1][0] + 1]
                if stretch
                else False
            )
            if is_apart:
                yield stretch
                stretch = []
            stretch.append((place, term))
            end = max(end, own_end)
        if stretch:
            yield stretch
