"""A model that reads whole texts, beside the static table, whose words can be weighed.

A text becomes both vectors, one after the other, each of length 1. What each counts is decided in
the question's vector, so that another rule needs no text embedded anew. How much a cosine of the
model says is measured once (`unrelated`), and kept with the store as part of the model's name.
"""

from __future__ import annotations

import re
from math import sqrt
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from recollect.embed.static import StaticEmbedder
from recollect.embed.unrelated import unrelated_cosine
from recollect.locks import fresh_in_child

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recollect.ports.embedder import Embedder, QueryTokens

__all__ = ["BesideStatic"]

# Of meaning, the share that is the model's; the rest is the static table's (ADR-0042).
_SHARE = 0.7


class BesideStatic:
    """Puts a model's vectors after those of the static table.

    Without `unrelated`, the model is asked for it with its first texts, or a store that was filled
    with the model knows it. One that `is_far` takes long to answer.
    """

    def __init__(
        self, model: Embedder, *, unrelated: float | None = None, is_far: bool = False
    ) -> None:
        self._model = model
        self._is_far = is_far
        # Beside a model that reads whole texts, roots find no more (ADR-0050).
        self._static = StaticEmbedder(every_time=True)
        self._unrelated = unrelated
        self._once = Lock()
        fresh_in_child(self, "_once", Lock)

    def __repr__(self) -> str:
        return f"BesideStatic({self._model!r})"

    @property
    def earlier(self) -> tuple[Embedder, ...]:
        """What filled stores before the static table stood beside it: the model alone."""
        return (self._model,)

    @property
    def model_id(self) -> str:
        """Identity of both, and where unrelated texts lie."""
        return f"{self._model.model_id}~{self.unrelated():.2f}+{self._static.model_id}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector: those of the static table and those of the model."""
        return self._static.dimension + self._model.dimension

    def unrelated(self) -> float:
        """Return the model's cosine of texts that have nothing to do with each other."""
        if self._unrelated is None:
            with self._once:
                if self._unrelated is None:
                    self._unrelated = unrelated_cosine(self._model)
        return self._unrelated

    def expect_model(self, model_id: str) -> None:
        """Take from a store that was filled with this model where unrelated texts lie."""
        form = rf"{re.escape(self._model.model_id)}~(\d\.\d\d)\+{re.escape(self._static.model_id)}"
        if found := re.fullmatch(form, model_id):
            self._unrelated = float(found[1])

    def expect_dimension(self, dimension: int) -> None:
        """Let the model know how long its own part is, if it has to be told."""
        expect = getattr(self._model, "expect_dimension", None)
        if expect is not None:
            expect(dimension - self._static.dimension)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return for each text both unit vectors, one after the other."""
        # Now, so that a store is never filled by a model of which it is not known.
        self.unrelated()
        whole = _units(self._model.embed_documents(texts))
        return np.concatenate([self._static.embed_documents(texts), whole], axis=1)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the question's vector, every word counted alike."""
        words = self._static.embed_query(text).astype(np.float64)
        return self.beside(words, asked=text, heard=text).astype(np.float32)

    def tokenise_query(self, text: str) -> QueryTokens:
        """Return the question's words with their vectors in the static table."""
        return self._static.tokenise_query(text)

    def combine(
        self, tokens: QueryTokens, weights: Sequence[float] | NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the question's vector in the static table, each word counted by its weight."""
        return self._static.combine(tokens, weights)

    def read_ahead(self, asked: str) -> NDArray[np.float32] | None:
        """Return what the model makes of a question, if it is far away."""
        return self._read(asked) if self._is_far else None

    def beside(
        self,
        words: NDArray[np.float64],
        *,
        asked: str,
        heard: str,
        whole: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float64]:
        """Return the whole vector of a question, given that of its words.

        Its product with a text's vector, over the text's length, is the weighted sum of both
        cosines; `base` of that is what unrelated texts have.
        """
        if whole is None:
            whole = self._read(asked if self._is_far else heard)
        model = _SHARE / (1.0 - self.unrelated())
        # A text's two unit parts make a vector of length sqrt(2).
        return sqrt(2.0) * np.concatenate([(1.0 - _SHARE) * words, model * whole])

    def base(self) -> float:
        """Return what is to be taken off that sum."""
        unrelated = self.unrelated()
        return _SHARE * unrelated / (1.0 - unrelated)

    def _read(self, text: str) -> NDArray[np.float32]:
        return _units(self._model.embed_query(text).reshape(1, -1)).reshape(-1)

    def close(self) -> None:
        """Close what the model holds open."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()


def _units(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    numbers = vectors.astype(np.float64)
    lengths = np.sqrt(np.square(numbers).sum(axis=1, keepdims=True))
    lengths[lengths == 0.0] = 1.0
    units: NDArray[np.float32] = (numbers / lengths).astype(np.float32)
    return units
