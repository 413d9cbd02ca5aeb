"""Words to the numbers of their terms, for the texts that an index takes in.

The words of a text come in, the numbers of its terms go out. What was found out about a word is
remembered: texts repeat their words, and two steps (to the term, to its number) become one.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from recollect.index.analyse import LONGEST_TERM, TIME_TERMS, term_of
from recollect.index.german import german_stem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.index.names import Names

__all__ = ["Lexicon"]

_MOST_WORDS = 1 << 16


class Lexicon(dict[str, int]):
    """The number of each word's term, for a bounded number of words; it lives with the names."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names
        self._time_numbers: set[int] = set()

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

    def tells_time(self, numbers: Iterable[int]) -> bool:
        """Return whether any of a text's numbers, as given here, is that of a time."""
        return not self._time_numbers.isdisjoint(numbers)
