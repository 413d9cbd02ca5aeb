"""Whom a question names: from a word to the speakers who are called so.

The index's vocabulary of speakers and the terms of a question come in, speakers go out. Names of
several words are known by the first as well as by all. Who of them may be known to the caller is
not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.index.analyse import COMMON, terms

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        self._by_term: dict[str, dict[int, Speaker]] = {}

    def find_named(self, spellings: Mapping[str, str]) -> list[Speaker]:
        """Return the speakers whose first name, or whole name, is among the terms."""
        self._catch_up()
        called = {term for term, word in spellings.items() if term in self._by_term}
        return [
            Speaker(one.code, one.name, tuple(term for term in one.terms if term in spellings))
            for term in sorted(called)
            for one in [*self._by_term[term].values()]
            if _is_spelt_as_name(spellings[term], one.name, spellings)
        ]

    def _catch_up(self) -> None:
        names = self._vocabulary.in_order
        # Known by code: to be told of one twice, by two threads or after an exception, is no harm.
        for code in range(self._read, len(names)):
            self._add(code, names[code])
            self._read = code + 1

    def _add(self, code: int, name: str | None) -> None:
        found = tuple(dict.fromkeys(terms(name or "")))
        first = next((term for term in found if len(term) >= _SHORTEST), None)
        if name is not None and first is not None:
            self._by_term.setdefault(first, {})[code] = Speaker(code, name, found)


def _is_spelt_as_name(word: str, name: str, spellings: Mapping[str, str]) -> bool:
    """Whether "Will" is meant and not "will": by its capital, where capitals are used at all."""
    if not name[:1].isupper() or word[:1].isupper():
        return True
    # Every question may begin with a capital.
    capitals = any(other[:1].isupper() for other in list(spellings.values())[1:])
    return not capitals and COMMON.isdisjoint(terms(word))
