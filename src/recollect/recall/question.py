"""A question taken apart: its terms for the words, its vector for the meaning.

In: the query's text, the embedder, and the rows that may be read. Out: a frozen `Question`. The
embedder's words are weighed by how rare they are among those rows, and among no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from recollect.embed import EmbedderBadAnswer, EmbedderError
from recollect.embed.quantise import quantise
from recollect.index.analyse import stem_words, terms
from recollect.index.index import MemoryIndex
from recollect.index.selection import Selection
from recollect.ports.embedder import Embedder, WeightedQueryEmbedder

__all__ = ["Question", "ask"]

_PUNCTUATION = "\"'.,;:!?()[]{}<>…“”\u2018\u2019«»"


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is looked for. `vector` is None when there is none, or the embedder failed.

    `spoken` gives each term in the asker's own spelling.
    """

    terms: tuple[str, ...]
    vector: NDArray[np.int8] | None
    embedder_failed: bool = False
    spoken: Mapping[str, str] = field(default_factory=dict)


def ask(query: str, *, embedder: Embedder, index: MemoryIndex, selection: Selection) -> Question:
    """Take a query apart. A failing embedder leaves the words, and says that it failed."""
    spoken = _spoken(query)
    words = tuple(sorted(spoken))
    if index.dimension == 0:
        return Question(words, None, spoken=spoken)
    try:
        vector = np.asarray(_vector(query, embedder, index, selection))
        if vector.shape != (index.dimension,):
            raise EmbedderBadAnswer(
                f"The embedder gave {vector.shape} numbers for a question, not {index.dimension}.",
                hint="check that it serves the model that the store was filled with.",
            )
        return Question(words, quantise(vector), spoken=spoken)
    except (EmbedderError, OSError):
        return Question(words, None, embedder_failed=True, spoken=spoken)


def _spoken(query: str) -> dict[str, str]:
    """Return each term of a query in the spelling it was first used in."""
    spoken: dict[str, str] = {}
    for word in query.split():
        for term in terms(word):
            spoken.setdefault(term, word.strip(_PUNCTUATION).lower())
    return spoken


def _vector(
    query: str, embedder: Embedder, index: MemoryIndex, selection: Selection
) -> NDArray[np.float32]:
    if not _weighs_words(type(embedder)):
        return embedder.embed_query(query)
    weighing = cast("WeightedQueryEmbedder", embedder)
    tokens = weighing.tokenise_query(query)
    found = index.document_frequencies(stem_words(tokens.words), selection)
    rarity = np.log1p((selection.count - found + 0.5) / (found + 0.5))
    return weighing.combine(tokens, rarity)


@lru_cache
def _weighs_words(kind: type[Embedder]) -> bool:
    # Asked for every question, and a protocol takes long to answer.
    return issubclass(kind, WeightedQueryEmbedder)
