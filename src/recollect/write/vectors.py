"""Vectors for texts, whatever the embedder's day is like.

In: texts and an embedder. Out: one quantised vector a text, or None for all with the error that
says why. An embedder that is down or answers nonsense costs a memory its vector, never its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.embed import EmbedderBadAnswer, EmbedderError
from recollect.embed.quantise import quantise
from recollect.ports.embedder import Embedder

__all__ = ["Embedded", "embed"]


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Vectors in the order of their texts; `error` says why they are missing."""

    vectors: Sequence[NDArray[np.int8] | None]
    error: EmbedderError | None = None

    @property
    def dimension(self) -> int | None:
        """The size of the vectors, if there are any."""
        first = next((vector for vector in self.vectors if vector is not None), None)
        return None if first is None else len(first)


def embed(embedder: Embedder, texts: Sequence[str], *, dimension: int | None) -> Embedded:
    """Return the quantised vectors of `texts`; `dimension` is what the store expects, if it does.

    An error here is a source that is down: it is carried along and shown, not raised.
    """
    if not texts:
        return Embedded(())
    try:
        matrix = embedder.embed_documents(texts)
        _check_shape(matrix, len(texts), dimension)
        return Embedded(list(quantise(matrix)))
    except EmbedderError as error:
        return Embedded([None] * len(texts), error)


def _check_shape(matrix: NDArray[np.float32], count: int, dimension: int | None) -> None:
    shape = np.shape(matrix)
    if len(shape) != 2 or shape[0] != count or (dimension is not None and shape[1] != dimension):
        raise EmbedderBadAnswer(
            f"The embedder answered {count} texts with an array of shape {shape};"
            f" vectors of {dimension or 'some'} numbers were expected.",
            hint="check that the embedder serves the model that the store was filled with.",
        )
