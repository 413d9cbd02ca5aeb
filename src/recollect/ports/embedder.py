"""What the core needs of an embedder: an identity, a dimension, and text in, vectors out.

The optional protocols hold methods only: `isinstance` on a protocol reads its properties in
Python 3.11, and a remote model's `dimension` may cost a network call.
This room must not import numpy when it runs; annotations alone speak of arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Embedder",
    "LearnsDimension",
    "LearnsModel",
    "QueryTokens",
    "SentenceEmbedder",
    "WeightedQueryEmbedder",
]


class Embedder(Protocol):
    """Turns texts into float32 vectors; rows need not be unit, a text without meaning is zero."""

    @property
    def model_id(self) -> str:
        """Identity stored with the data; equal ids promise comparable vectors."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 means there are no vectors. A remote model may be asked."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, in order; each row depends on its own text only."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one question."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryTokens:
    """The lower-cased words of a question, in order, and one vector for each of them.

    `as_text` is the vector of the question as it stands, each token as often as it comes; None if
    nobody asked.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    as_text: NDArray[np.float32] | None = None


@runtime_checkable
class WeightedQueryEmbedder(Protocol):
    """An embedder whose question can be weighted word by word.

    The caller knows how rare each word is among the memories its view may read; the embedder
    must not. So the question is taken apart here, weighed there, and put together here again.
    """

    def tokenise_query(self, text: str) -> QueryTokens:
        """Return the question's words with their vectors."""

    def combine(
        self, tokens: QueryTokens, weights: Sequence[float] | NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the question's unit vector, each word counted by its weight."""


@runtime_checkable
class LearnsDimension(Protocol):
    """An embedder that learns its dimension from its first answer."""

    def expect_dimension(self, dimension: int) -> None:
        """Take the dimension from a store that knows it, so that opening needs no network."""


@runtime_checkable
class SentenceEmbedder(Protocol):
    """A weighing embedder that reads the question as a whole too, which takes it longer.

    What it takes apart and puts together is then one part of the question's vector only.
    """

    def read_ahead(self, asked: str) -> NDArray[np.float32] | None:
        """Return what it makes of a question as a whole, if that is far away; None if it is near.

        A model that is far away reads the question as it was asked, before anybody's turn. One that
        is near reads it when it is known who and what in it are known by other means.
        """

    def beside(
        self,
        words: NDArray[np.float64],
        *,
        asked: str,
        heard: str,
        whole: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float64]:
        """Return the question's vector, given that of its words, and what was read ahead.

        `heard` is the question without what is known by other means. The vector's length counts: a
        cosine times that length, less `base`, is how near a text is.
        """

    def base(self) -> float:
        """Return what unrelated texts have, by that measure."""


@runtime_checkable
class LearnsModel(Protocol):
    """An embedder part of whose identity is measured."""

    def expect_model(self, model_id: str) -> None:
        """Take what was measured from a store that it filled, so that opening needs no network."""
