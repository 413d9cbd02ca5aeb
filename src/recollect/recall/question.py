"""A question taken apart: its words, its meaning, whom it names and what time it speaks of.

In: the query's text, the embedder, the time, and the rows that may be read. Out: a frozen
`Question`. What counts as a speaker's name, and how rare a word is, is decided among those rows
and no others. Names and times are known by other means, so meaning is asked for without them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from math import fsum, sqrt
from typing import cast

import numpy as np
from numpy.typing import NDArray

from recollect.embed import EmbedderBadAnswer, EmbedderError
from recollect.embed.ahead import reads_whole, weighs_words
from recollect.embed.quantise import quantise
from recollect.index.analyse import COMMON, stem_words, term_of, terms, words
from recollect.index.german import GERMAN_COMMON, german_stem, is_english, is_german
from recollect.index.index import MemoryIndex
from recollect.index.lookup import words_digest
from recollect.index.selection import Selection
from recollect.index.speakers import Speaker
from recollect.limits import WORDS_ASKED
from recollect.ports.embedder import Embedder, SentenceEmbedder, WeightedQueryEmbedder
from recollect.recall.misspelt import read
from recollect.recall.ranges import TimeAsked
from recollect.recall.recipe import RECIPE, Recipe
from recollect.recall.times import Time, asks_when
from recollect.values import dataclass

__all__ = ["Question", "ask"]

_PUNCTUATION = "\"'.,;:!?()[]{}<>…“”\u2018\u2019«»"
# What is quoted holds no opening mark either: a row of those would be searched through for each.
_QUOTED = re.compile(r"[\"“«]([^\"“”«»]+)[\"”»]")
_WRITTEN = re.compile(r"\w+(?:['\u2019]\w+)*")
# Who asks is the user of a chat with an assistant, by whatever of these names turns are kept.
_USER = ("user", "User", "human", "Human")
_ASSISTANT = ("assistant", "Assistant", "ai", "AI", "bot")
_I = frozenset(("i", "me", "my", "mine", "myself"))
_YOU = frozenset(("you", "your", "yours", "yourself"))


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is looked for. `vector` is None when there is none, or the embedder failed.

    `terms` leave out the words that every question is made of, and the names of `people`, which
    are in `names`; `stressed` are quoted words and proper names among them. `spoken` gives each
    term in the asker's own spelling. `is_of_time`: nothing is left but a range or an order.
    `vector` is the mean of the question by rarity and of the question as it stands; `agreement` is
    how long that mean is: cosines are scaled by it, and `base` is taken off. `words` stands for all
    words in their order; None if there are none. `mended` says which words were read as others.
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
    agreement: float = 1.0
    base: float = 0.0
    words: int | None = None
    mended: Mapping[str, str] = field(default_factory=dict)


def ask(
    query: str,
    *,
    embedder: Embedder,
    index: MemoryIndex,
    selection: Selection,
    asked: TimeAsked,
    recipe: Recipe = RECIPE,
) -> Question:
    """Take a query apart; what it says about time is known already.

    A failing embedder leaves the words, and says that it failed.
    """
    written = words(query)
    of_time = {term for said in asked.words for term in terms(said)}
    asked_as = query
    mended: Mapping[str, str] = {}
    spoken = _spoken(query)
    people = tuple(index.speakers_named(spoken, selection))
    in_german = recipe.german and index.any_german(selection) and not is_english(written)
    common = _common(written) if in_german else COMMON
    german = _german(query, index, selection) if in_german else {}
    if recipe.spelling:
        fine = of_time.union(german.values())
        doubtful = [one for one in spoken if one not in common and one not in fine]
        unknown = _unknown(doubtful, people, index, selection)
        if unknown:
            found = partial(index.found, selection=selection)
            query, mended = read(query, unknown=unknown, found=found)
        if mended:
            spoken = _spoken(query)
            people = tuple(index.speakers_named(spoken, selection))
            german = _german(query, index, selection) if in_german else {}
    names = {term for person in people for term in person.terms}
    if recipe.first_person:
        people = (*people, *_in_first_person(written, index, selection))
    telling = [term for term in spoken if term not in common and term not in of_time]
    if not telling and not of_time:
        telling = list(spoken)
    wanted = [term for term in telling if term not in names]
    german = {stem: term for stem, term in german.items() if term in wanted}
    wanted = _counting([*wanted, *german], index, selection)
    stressed = frozenset(_stressed(query, spoken))
    spoken.update((stem, spoken[term]) for stem, term in german.items())
    times = asked.times if index.any_day(selection) else ()
    meaning, vector = _Meaning(_NOTHING), None
    if index.any_vector(selection):
        apart = names.union(of_time, *(terms(time.words) for time in times))
        try:
            plain = _plain(recipe, index, selection)
            meaning = _meaning(query, embedder, index, selection, apart, plain)
            if reads_whole(type(embedder)):
                whole = cast("SentenceEmbedder", embedder)
                meaning = _with_whole(meaning, whole, asked=asked_as, heard=_heard(query, apart))
            vector = _quantised(meaning, index)
        except (EmbedderError, OSError):
            meaning = _Meaning(_NOTHING, failed=True)
    return Question(
        terms=tuple(sorted(wanted)),
        vector=vector,
        embedder_failed=meaning.failed,
        spoken={term: word.lower() for term, word in spoken.items()},
        stressed=stressed.union(stem for stem, term in german.items() if term in stressed),
        people=people,
        names=tuple(sorted(names)),
        times=times,
        wants_time=asks_when(query),
        is_of_time=bool(of_time) and not telling,
        agreement=meaning.agreement,
        base=meaning.base,
        words=words_digest(written) if written and recipe.word_for_word else None,
        mended=mended,
    )


def _common(written: Iterable[str]) -> frozenset[str]:
    """Return the words of a question that say how, not what, it asks; German ones too."""
    said = frozenset(written)
    return COMMON | {term_of(one) for one in said & GERMAN_COMMON} if is_german(said) else COMMON


def _german(query: str, index: MemoryIndex, selection: Selection) -> dict[str, str]:
    """Return the German stems of a question that something selected holds, each with its term."""
    stems = {german_stem(word): term_of(word) for word in words(query)}
    own = set(stems.values())
    known = sorted([stem for stem in stems if stem is not None and stem not in own])
    if not known:
        return {}
    counts = index.document_frequencies(known, selection)
    return {stem: stems[stem] for stem, count in zip(known, counts, strict=True) if count}


def _unknown(
    doubtful: Sequence[str],
    people: Iterable[Speaker],
    index: MemoryIndex,
    selection: Selection,
) -> frozenset[str]:
    """Return the terms that nothing selected holds, and that are no name."""
    counts = index.document_frequencies(doubtful, selection)
    if 0 not in counts:
        return frozenset()
    names = {term for person in people for term in person.terms}
    found = zip(doubtful, counts, strict=True)
    return frozenset(term for term, count in found if not count and term not in names)


def _in_first_person(
    written: Iterable[str], index: MemoryIndex, selection: Selection
) -> Sequence[Speaker]:
    """Return whom "I" or "you" means, where a user and an assistant talk with each other."""
    said = {word.partition("'")[0] for word in written}
    named = _USER if said & _I else _ASSISTANT if said & _YOU else ()
    if not named:
        return ()
    heard = index.speakers_called((*_USER, *_ASSISTANT), selection)
    roles = {one.name in _USER for one in heard}
    return [one for one in heard if one.name in named] if len(roles) == len((True, False)) else ()


def _counting(terms: list[str], index: MemoryIndex, selection: Selection) -> list[str]:
    """Return those terms of a long question that count: the rarest of those that are found."""
    if len(terms) <= WORDS_ASKED:
        return terms
    found = dict(zip(terms, index.document_frequencies(terms, selection), strict=True))
    return sorted(terms, key=lambda term: (not found[term], found[term], term))[:WORDS_ASKED]


def _spoken(query: str) -> dict[str, str]:
    """Return each term of a query in the spelling it was first used in."""
    spoken: dict[str, str] = {}
    for word in query.split():
        bare = word.strip(_PUNCTUATION)  # once a word: one without a space may hold thousands
        if word.isascii() and bare.isalpha():
            # Letters alone are one term, which is sooner had.
            spoken.setdefault(term_of(bare.lower()), bare)
            continue
        for term in terms(word):
            spoken.setdefault(term, bare)
    return spoken


def _stressed(query: str, spoken: Mapping[str, str]) -> Iterable[str]:
    """Yield the terms of quoted words, and of those with a capital that opens no sentence."""
    for quoted in _QUOTED.findall(query):
        yield from terms(quoted)
    if not query.islower():
        yield from (term for term, word in list(spoken.items())[1:] if word[:1].isupper())


def _plain(recipe: Recipe, index: MemoryIndex, selection: Selection) -> float:
    """Return the share of the question as it stands: none among short turns, all among notes.

    What is said in a chat is known by its rare words alone.
    """
    line = index.turns(selection)
    if line is None:
        return recipe.plain
    short = 1.0 - recipe.length_share(index.average_turn(selection))
    return recipe.plain * (1.0 - short * len(line) / selection.count)


@dataclass(frozen=True, slots=True, eq=False)
class _Meaning:
    """A question's vector, how far the ways of reading it agree, and what unrelated texts have."""

    vector: NDArray[np.floating]
    agreement: float = 1.0
    base: float = 0.0
    failed: bool = False


_NOTHING = np.empty(0)


def _meaning(
    query: str,
    embedder: Embedder,
    index: MemoryIndex,
    selection: Selection,
    apart: Container[str],
    plain: float,
) -> _Meaning:
    """Return what a query means: where words can be weighed, by rarity and without those `apart`,
    and as it stands.

    The cosine to a mean of two directions is the mean of both cosines over how long that mean is,
    so one product with each memory will do for both.
    """
    if not weighs_words(type(embedder)):
        return _Meaning(embedder.embed_query(query))
    weighing = cast("WeightedQueryEmbedder", embedder)
    tokens = weighing.tokenise_query(query)
    weights = _weights(tokens.words, index, selection, apart)
    by_rarity = weighing.combine(tokens, weights)
    if not plain:
        return _Meaning(by_rarity)
    heard = weights > 0
    as_it_stands = tokens.as_text if heard.all() else None
    if as_it_stands is None:
        as_it_stands = weighing.combine(tokens, heard.astype(np.float64))
    both = (1.0 - plain) * by_rarity.astype(np.float64) + plain * as_it_stands
    return _Meaning(both, _length(both))


def _with_whole(words: _Meaning, model: SentenceEmbedder, *, asked: str, heard: str) -> _Meaning:
    """Return what a query means by its words, and to a model that reads the whole of it."""
    vector = model.beside(words.vector.astype(np.float64), asked=asked, heard=heard)
    return _Meaning(vector, _length(vector), model.base())


def _heard(query: str, apart: Container[str]) -> str:
    """Return a query without the words that are known by other means, if others are left."""
    kept = _WRITTEN.sub(lambda word: "" if stem_words([word[0]])[0] in apart else word[0], query)
    return " ".join(kept.split()) if _WRITTEN.search(kept) else query


def _length(vector: NDArray[np.float64]) -> float:
    return sqrt(fsum(np.square(vector).tolist()))


def _quantised(meaning: _Meaning, index: MemoryIndex) -> NDArray[np.int8]:
    vector = np.asarray(meaning.vector)
    if vector.shape != (index.dimension,):
        raise EmbedderBadAnswer(
            f"The embedder gave {vector.shape} numbers for a question, not {index.dimension}.",
            hint="check that it serves the model that the store was filled with.",
        )
    return quantise(vector.astype(np.float32))


def _weights(
    written: Sequence[str], index: MemoryIndex, selection: Selection, apart: Container[str]
) -> NDArray[np.float64]:
    stems = stem_words(written)
    found = np.array(index.document_frequencies(stems, selection), dtype=np.int64)
    rarity: NDArray[np.float64] = np.log1p((selection.count - found + 0.5) / (found + 0.5))
    heard = np.array([stem not in apart for stem in stems], dtype=np.float64)
    # A question of names alone means the names.
    telling = any(stem not in apart and stem not in COMMON for stem in stems)
    return rarity * heard if telling else rarity
