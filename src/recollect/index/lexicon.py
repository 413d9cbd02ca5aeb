"""Words to the numbers of their terms, for the texts that an index takes in.

The words of a text come in, the numbers of its terms go out. What was found out about a word is
remembered: texts repeat their words, and two steps (to the term, to its number) become one.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.analyse import LONGEST_TERM, TIME_TERMS, term_of, terms_of
from recollect.index.german import HOLDS_ENGLISH, HOLDS_GERMAN, german_stem, german_stems
from recollect.index.word_table import WordTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from numpy.typing import NDArray

    from recollect.index.names import Names
    from recollect.index.word_table import ManyWords

__all__ = ["KnownWords", "Lexicon"]

_MOST_WORDS = 1 << 16
# So many are known at once while many texts are taken in.
_MOST_KNOWN = 1 << 18
_NONE, _UNKNOWN = -1, -2


class Lexicon(dict[str, int]):
    """The number of each word's term, for a bounded number of words; it lives with the names."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names
        self._time_numbers: set[int] = set()
        self._known: KnownWords | None = None

    def __missing__(self, word: str) -> int:
        term = term_of(word)
        number = self._names[term]
        if term in TIME_TERMS:
            self._time_numbers.add(number)
        if len(self) >= _MOST_WORDS:
            self.clear()
        if len(word) <= LONGEST_TERM:
            self[word] = number
        return number

    def numbers(self, written: Iterable[str]) -> array[int]:
        """Return the numbers of the terms that words are, in order, repeated as often as they."""
        return array("i", map(self.__getitem__, written))

    def german(self, written: Iterable[str]) -> array[int]:
        """Return the numbers of words' German stems, where these are not their terms."""
        stems = map(german_stem, written)
        return array("i", [self._names[stem] for stem in stems if stem is not None])

    def known_words(self) -> KnownWords:
        """Return what is known of words while many texts are taken in."""
        if self._known is None or len(self._known) > _MOST_KNOWN:
            self._known = KnownWords(self._names)
        return self._known

    def rest(self) -> None:
        """Let go of what is known for many texts: that was all of them, or they came to nothing."""
        self._known = None

    def tells_time(self, numbers: Iterable[int]) -> bool:
        """Return whether any of a text's numbers, as given here, is that of a time."""
        return not self._time_numbers.isdisjoint(numbers)


class KnownWords:
    """What an index must know of each word, as arrays over the numbers that words have here."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._table = WordTable()
        self._words: list[str] = []
        self._terms: list[str] = []
        self.terms: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.is_time: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self.holds_german: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self.holds_english: NDArray[np.bool_] = np.empty(0, dtype=np.bool_)
        self._german: NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._words)

    def numbers(self, many: ManyWords) -> NDArray[np.int32]:
        """Return the number of each word here; what is new is looked at, once."""
        numbers, new = self._table.numbers(many)
        if new:
            self._learn(new)
        return numbers

    def german(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the numbers of words' German stems among the names, -1 where there is none."""
        asked = np.zeros(len(self), dtype=np.bool_)
        asked[numbers] = True
        new = np.flatnonzero(asked & (self._german == _UNKNOWN)).tolist()
        stems = german_stems([self._words[one] for one in new], [self._terms[one] for one in new])
        known = iter(self._names.numbers([stem for stem in stems if stem is not None]))
        self._german[new] = [_NONE if stem is None else next(known) for stem in stems]
        return self._german.take(numbers)

    def _learn(self, new: list[str]) -> None:
        terms = terms_of(new)
        self._terms += terms
        numbers = np.array(self._names.numbers(terms), np.int32)
        self.terms = np.concatenate((self.terms, numbers))
        self.is_time = np.concatenate((self.is_time, _among(terms, TIME_TERMS)))
        self.holds_german = np.concatenate((self.holds_german, _among(new, HOLDS_GERMAN)))
        self.holds_english = np.concatenate((self.holds_english, _among(new, HOLDS_ENGLISH)))
        self._german = np.concatenate((self._german, np.full(len(new), _UNKNOWN, np.int32)))
        self._words += new


def _among(words: Sequence[str], some: Set[str]) -> NDArray[np.bool_]:
    return np.fromiter(map(some.__contains__, words), np.bool_, len(words))
