"""Whom a question names: from a word to the speakers who are called so.

The index's vocabulary of speakers and the terms of a question come in, speakers go out. Names of
several words are known by the first as well as by all. Who of them may be known to the caller comes
in too.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.analyse import COMMON, is_unspaced, terms
from recollect.index.arrays import distinct
from recollect.limits import PEOPLE_NAMED
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from numpy.typing import NDArray

    from recollect.index.columns import Vocabulary

__all__ = ["Speaker", "Speakers"]

# A shorter word is an initial or a title at best.
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Speaker:
    """A speaker that was named: the number in the column, the name, and the terms that named it."""

    code: int
    name: str
    terms: tuple[str, ...]


class Speakers:
    """First terms of names to the speakers of a vocabulary, filled as it grows."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._read = 0
        self._terms: dict[int, tuple[str, ...]] = {}
        self._by_term: dict[str, array[int]] = {}

    def find_named(self, spellings: Mapping[str, str], heard: NDArray[np.bool_]) -> list[Speaker]:
        """Return the speakers whose first name, or whole name, is among the terms.

        `heard` says of each code whether it is one of those to choose from: however many others
        are called alike, they are not looked at.
        """
        self._catch_up()
        if not self._by_term:
            return []
        called = sorted(term for term in spellings if term in self._by_term)
        capitals = any(word[:1].isupper() for word in list(spellings.values())[1:])
        found = [
            Speaker(code, name, tuple(one for one in self._terms[code] if one in spellings))
            for term in called
            for code in self._heard(term, heard)
            if (name := self._vocabulary.in_order[code]) is not None
            and (term.isascii() or not is_unspaced(term) or _is_whole(self._terms[code], spellings))
            and _is_spelt_as_name(spellings[term], name, capitals=capitals)
        ]
        if len(found) <= PEOPLE_NAMED:
            return found
        return sorted(found, key=lambda one: (-len(one.terms), one.name))[:PEOPLE_NAMED]

    def _heard(self, term: str, heard: NDArray[np.bool_]) -> list[int]:
        # Copied as bytes: an array that numpy looks at cannot be appended to meanwhile.
        codes = distinct(np.frombuffer(self._by_term[term].tobytes(), dtype=np.intc))
        codes = codes[codes < len(heard)]
        known: list[int] = codes[heard[codes]].tolist()
        return known

    def _catch_up(self) -> None:
        names = self._vocabulary.in_order
        # To be told of one twice, by two threads or after an exception, is no harm.
        for code in range(self._read, len(names)):
            self._add(code, names[code])
            self._read = code + 1

    def _add(self, code: int, name: str | None) -> None:
        found = tuple(dict.fromkeys(terms(name or "")))
        first = next((term for term in found if len(term) >= _SHORTEST), None)
        if name is not None and first is not None:
            self._terms[code] = found
            self._by_term.setdefault(first, array("i")).append(code)


def _is_whole(name: Iterable[str], spellings: Container[str]) -> bool:
    """Whether all of a name is there: two signs of it stand in many other words."""
    return all(term in spellings for term in name)


def _is_spelt_as_name(word: str, name: str, *, capitals: bool) -> bool:
    """Whether "Will" is meant and not "will": by its capital, where capitals are used at all.

    Every question may begin with a capital; `capitals` is whether there are others.
    """
    if not name[:1].isupper() or word[:1].isupper():
        return True
    return not capitals and COMMON.isdisjoint(terms(word))
