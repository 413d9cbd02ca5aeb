"""A question taken apart: its words, its meaning, whom it names and what time it speaks of.

In: the query's text, the embedder, the time, and the rows that may be read. Out: a frozen
`Question`. What counts as a speaker's name, and how rare a word is, is decided among those rows
and no others. Names and times are known by other means, so meaning is asked for without them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from recollect.embed import EmbedderBadAnswer, EmbedderError
from recollect.embed.ahead import weighs_words
from recollect.embed.quantise import quantise
from recollect.index.analyse import COMMON, stem_words, terms
from recollect.index.index import MemoryIndex
from recollect.index.selection import Selection
from recollect.index.speakers import Speaker
from recollect.limits import WORDS_ASKED
from recollect.ports.embedder import Embedder, WeightedQueryEmbedder
from recollect.recall.ranges import TimeAsked
from recollect.recall.times import Time, asks_when

__all__ = ["Question", "ask"]

_PUNCTUATION = "\"'.,;:!?()[]{}<>…“”\u2018\u2019«»"
# What is quoted holds no opening mark either: a row of those would be searched through for each.
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]+)[\"”»]")


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is looked for. `vector` is None when there is none, or the embedder failed.

    `terms` leave out the words that every question is made of, and the names of `people`, which
    are in `names`; `stressed` are quoted words and proper names among them. `spoken` gives each
    term in the asker's own spelling. `is_of_time`: nothing is left but a range or an order.
    """

    terms: tuple[str, ...]
    vector: NDArray[np.int8] | None
    embedder_failed: bool = False
    spoken: Mapping[str, str] = field(default_factory=dict)
    stressed: frozenset[str] = frozenset()
    people: tuple[Speaker, ...] = ()
    names: tuple[str, ...] = ()
    times: tuple[Time, ...] = ()
    wants_time: bool = False
    is_of_time: bool = False


def ask(
    query: str, *, embedder: Embedder, index: MemoryIndex, selection: Selection, asked: TimeAsked
) -> Question:
    """Take a query apart; what it says about time is known already.

    A failing embedder leaves the words, and says that it failed.
    """
    spoken = _spoken(query)
    people = tuple(index.speakers_named(spoken, selection))
    names = {term for person in people for term in person.terms}
    of_time = {term for words in asked.words for term in terms(words)}
    telling = [term for term in spoken if term not in COMMON and term not in of_time]
    if not telling and not of_time:
        telling = list(spoken)
    wanted = _counting([term for term in telling if term not in names], index, selection)
    times = asked.times if index.any_day(selection) else ()
    vector, failed = None, False
    if index.any_vector(selection):
        apart = names.union(of_time, *(terms(time.words) for time in times))
        try:
            vector = _vector(query, embedder, index, selection, apart)
        except (EmbedderError, OSError):
            failed = True
    return Question(
        terms=tuple(sorted(wanted)),
        vector=vector,
        embedder_failed=failed,
        spoken={term: word.lower() for term, word in spoken.items()},
        stressed=frozenset(_stressed(query, spoken)),
        people=people,
        names=tuple(sorted(names)),
        times=times,
        wants_time=asks_when(query),
        is_of_time=bool(of_time) and not telling,
    )


def _counting(terms: list[str], index: MemoryIndex, selection: Selection) -> list[str]:
    """Return those terms of a long question that count: the rarest of those that are found."""
    if len(terms) <= WORDS_ASKED:
        return terms
    found = dict(zip(terms, index.document_frequencies(terms, selection).tolist(), strict=True))
    return sorted(terms, key=lambda term: (not found[term], found[term], term))[:WORDS_ASKED]


def _spoken(query: str) -> dict[str, str]:
    """Return each term of a query in the spelling it was first used in."""
    spoken: dict[str, str] = {}
    for word in query.split():
        for term in terms(word):
            spoken.setdefault(term, word.strip(_PUNCTUATION))
    return spoken


def _stressed(query: str, spoken: Mapping[str, str]) -> Iterable[str]:
    """Yield the terms of quoted words, and of those with a capital that opens no sentence."""
    for quoted in _QUOTED.findall(query):
        yield from terms(quoted)
    yield from (term for term, word in list(spoken.items())[1:] if word[:1].isupper())


def _vector(
    query: str,
    embedder: Embedder,
    index: MemoryIndex,
    selection: Selection,
    apart: Container[str],
) -> NDArray[np.int8]:
    vector = np.asarray(_meaning(query, embedder, index, selection, apart))
    if vector.shape != (index.dimension,):
        raise EmbedderBadAnswer(
            f"The embedder gave {vector.shape} numbers for a question, not {index.dimension}.",
            hint="check that it serves the model that the store was filled with.",
        )
    return quantise(vector)


def _meaning(
    query: str,
    embedder: Embedder,
    index: MemoryIndex,
    selection: Selection,
    apart: Container[str],
) -> NDArray[np.float32]:
    """Return a query's vector: where words can be weighed, by rarity, and without those `apart`."""
    if not weighs_words(type(embedder)):
        return embedder.embed_query(query)
    weighing = cast("WeightedQueryEmbedder", embedder)
    tokens = weighing.tokenise_query(query)
    stems = stem_words(tokens.words)
    found = index.document_frequencies(stems, selection)
    rarity = np.log1p((selection.count - found + 0.5) / (found + 0.5))
    heard = np.array([stem not in apart for stem in stems], dtype=np.float64)
    # A question of names alone means the names.
    telling = any(stem not in apart and stem not in COMMON for stem in stems)
    return weighing.combine(tokens, rarity * heard if telling else rarity)
