"""Vectors for texts, whatever the embedder's day is like.

In: texts and an embedder. Out: one quantised vector a text, or None for all with the error that
says why. An embedder that is down or answers nonsense costs a memory its vector, never its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.embed import EmbedderBadAnswer, EmbedderError, EmbedderUnavailable
from recollect.embed.quantise import quantise
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.embedder import Embedder

__all__ = ["Embeddings", "embed_texts"]


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """Vectors in the order of their texts; `error` says why they are missing."""

    vectors: Sequence[NDArray[np.int8] | None]
    error: EmbedderError | None = None

    @property
    def dimension(self) -> int | None:
        """The size of the vectors, if there are any."""
        first = next((vector for vector in self.vectors if vector is not None), None)
        return None if first is None else len(first)

    def of(self, numbers: Iterable[int]) -> Embeddings:
        """Return the vectors of some of the texts, by their numbers."""
        return Embeddings([self.vectors[number] for number in numbers], self.error)


def embed_texts(embedder: Embedder, texts: Sequence[str], *, dimension: int | None) -> Embeddings:
    """Return the quantised vectors of `texts`; `dimension` is what the store expects, if it does.

    An error here is a source that is down: it is carried along and shown, not raised.
    """
    if not texts:
        return Embeddings(())
    try:
        answer = embedder.embed_documents(texts)
        # Only now: a remote model knows its dimension from its first answer.
        expected = embedder.dimension if dimension is None else dimension
        vectors = quantise(_matrix(answer, (len(texts), expected)))
        return Embeddings(list(vectors) if expected else [None] * len(texts))
    except EmbedderError as error:
        return Embeddings([None] * len(texts), error)
    except OSError as error:
        down = EmbedderUnavailable(
            f"The embedder failed: {error}.", hint="try again when it can be reached."
        )
        return Embeddings([None] * len(texts), down)


def _matrix(answer: object, shape: tuple[int, int]) -> NDArray[np.float32]:
    try:
        matrix = np.asarray(answer)
    except ValueError:  # rows of several lengths
        matrix = np.empty(0)
    if matrix.shape != shape or matrix.dtype.kind not in "fiu":
        raise EmbedderBadAnswer(
            f"The embedder answered with {matrix.dtype} of shape {matrix.shape};"
            f" {shape[0]} vectors of {shape[1]} numbers were expected.",
            hint="check that the embedder serves the model that the store was filled with.",
        )
    return matrix
