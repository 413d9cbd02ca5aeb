"""The texts, vectors and questions of the recall benchmark: the same on every machine.

In: a number, or a text. Out: a text of some thirty words that are as frequent as Zipf's law says,
its project, a question, a vector. Standard library and numpy only: peers run it too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DIMENSION",
    "PARAMETERS",
    "PROJECTS",
    "Vectors",
    "digest",
    "project",
    "question",
    "text",
    "texts",
    "vocabulary",
]

SEED = 20260101
DIMENSION = 256
PROJECTS = 100
WORDS = 50_000
FEWEST_WORDS, MOST_WORDS = 20, 40
QUESTION_WORDS = 6
_CHUNK = 1000

# What a store is made of; one made of something else is made anew.
PARAMETERS = {
    "version": 1,
    "seed": SEED,
    "dimension": DIMENSION,
    "projects": PROJECTS,
    "words": WORDS,
    "text_words": [FEWEST_WORDS, MOST_WORDS],
}

_ONSETS = [*"bcdfghjklmnprstvw", "br", "ch", "cl", "dr", "gr", "pl", "pr", "sh", "st", "th", "tr"]
_VOWELS = [*"aeiou", "ai", "ea", "ee", "oa", "ou"]
_CODAS = ["", "", "", *"nrltms", "nd", "st", "ck"]
# Endings that an English stemmer takes off, so that words share terms as real ones do.
_ENDINGS = ["", "", "s", "ed", "ing", "er", "ly", "ness", "ment", "ation"]


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words, the most frequent first, which are the short ones as in any language."""
    chance = random.Random(SEED)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        stem = "".join(
            chance.choice(_ONSETS) + chance.choice(_VOWELS) + chance.choice(_CODAS)
            for _ in range(chance.randint(1, 3))
        )
        words[stem + chance.choice(_ENDINGS)] = None
    return tuple(sorted(words, key=len))


def text(number: int) -> str:
    """Return the text of a Pak."""
    return _chunk(number // _CHUNK)[number % _CHUNK]


def texts(first: int, count: int) -> Iterator[str]:
    """Yield the texts of neighbouring Paks."""
    return (text(number) for number in range(first, first + count))


def project(number: int) -> str:
    """Return the project of a Pak: each holds one in a hundred, spread over all of them."""
    return f"project-{number % PROJECTS:02d}"


def question(number: int, size: int) -> str:
    """Return a question about one of the first `size` texts: a few of its words in their order.

    Frequent words are in it as often as they are in texts: nobody takes them out of a question.
    """
    chance = random.Random(SEED + number)
    words = text(chance.randrange(size)).split()
    places = sorted(chance.sample(range(len(words)), QUESTION_WORDS))
    return " ".join(words[place] for place in places)


class Vectors:
    """Normally distributed vectors, each seeded by its own text alone."""

    def __init__(self) -> None:
        self._bits = np.random.Philox(key=0)
        self._start = self._bits.state
        self._normal = np.random.Generator(self._bits)

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector for each text."""
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, each in zip(vectors, texts, strict=True):
            # Setting the state costs a third of making a generator.
            self._start["state"]["key"][0] = _seed(each)
            self._bits.state = self._start
            self._normal.standard_normal(dtype=np.float32, out=row)
        vectors /= np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        return vectors


def digest(texts: Sequence[str], vectors: NDArray[np.float32]) -> str:
    """Return what shows that two libraries hold the same texts and vectors."""
    hashed = blake2b("\n".join(texts).encode(), digest_size=16)
    hashed.update(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
    return hashed.hexdigest()


def _seed(each: str) -> int:
    return int.from_bytes(blake2b(each.encode(), digest_size=8).digest())


@cache
def _shares() -> NDArray[np.float64]:
    """Return how often one of the words up to each rank occurs: 1, 1/2, 1/3 and so on, added up."""
    shares = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    return shares / shares[-1]


@lru_cache(maxsize=128)
def _chunk(number: int) -> tuple[str, ...]:
    chance = np.random.default_rng([SEED, number])
    lengths = chance.integers(FEWEST_WORDS, MOST_WORDS, _CHUNK, endpoint=True)
    ranks = np.searchsorted(_shares(), chance.random(int(lengths.sum())), side="right")
    words = vocabulary()
    drawn = (words[rank] for rank in ranks.tolist())
    return tuple(" ".join(islice(drawn, length)) for length in lengths.tolist())
