"""A question that is embedded before anybody's turn: a slow model keeps nobody waiting.

In: an embedder and a question. Out: an embedder that has the answer to that question already, or
the error that came instead. How much each word weighs is still for the caller to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from recollect.errors import EmbedderError
from recollect.ports.embedder import SentenceEmbedder, WeightedQueryEmbedder
from recollect.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.ports.embedder import Embedder, QueryTokens

__all__ = ["embed_ahead", "reads_whole", "weighs_words"]


def embed_ahead(embedder: Embedder, query: str) -> Embedder:
    """Return an embedder that answers for `query` at once; all else it passes on."""
    try:
        if weighs_words(type(embedder)):
            tokens = cast("WeightedQueryEmbedder", embedder).tokenise_query(query)
            if reads_whole(type(embedder)):
                whole = cast("SentenceEmbedder", embedder).read_ahead(query)
                return _WholeAhead(embedder, query, tokens=tokens, whole=whole)
            return _TokensAhead(embedder, query, tokens=tokens)
        return _VectorAhead(embedder, query, vector=embedder.embed_query(query))
    except (EmbedderError, OSError) as error:
        return _VectorAhead(embedder, query, error=error)


@lru_cache
def weighs_words(kind: type[Embedder]) -> bool:
    """Return whether embedders of a kind let a question be weighed word by word."""
    # Asked for every question, and a protocol takes long to answer.
    return issubclass(kind, WeightedQueryEmbedder)


@lru_cache
def reads_whole(kind: type[Embedder]) -> bool:
    """Return whether embedders of a kind read a question as a whole, beside its words."""
    return issubclass(kind, SentenceEmbedder)


@dataclass(frozen=True, slots=True, eq=False)
class _Ahead:
    """An embedder, and the one question that it was asked already."""

    embedder: Embedder
    query: str

    @property
    def model_id(self) -> str:
        """The model that answered."""
        return self.embedder.model_id

    @property
    def dimension(self) -> int:
        """How many numbers its vectors have."""
        return self.embedder.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Pass texts on."""
        return self.embedder.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Pass a question on."""
        return self.embedder.embed_query(text)


@dataclass(frozen=True, slots=True, eq=False)
class _VectorAhead(_Ahead):
    """Has a question's vector, or knows why there is none."""

    vector: NDArray[np.float32] | None = None
    error: Exception | None = None

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of the question that was asked ahead."""
        if text != self.query:
            return self.embedder.embed_query(text)
        if self.error is not None:
            raise self.error
        return cast("NDArray[np.float32]", self.vector)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _TokensAhead(_Ahead):
    """Has a question's words and their vectors; the embedder puts them together."""

    tokens: QueryTokens

    def tokenise_query(self, text: str) -> QueryTokens:
        """Return the words of the question that was asked ahead."""
        return self.tokens if text == self.query else self._weighing.tokenise_query(text)

    def combine(
        self, tokens: QueryTokens, weights: Sequence[float] | NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the question's vector, each word counted by its weight."""
        return self._weighing.combine(tokens, weights)

    @property
    def _weighing(self) -> WeightedQueryEmbedder:
        return cast("WeightedQueryEmbedder", self.embedder)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _WholeAhead(_TokensAhead):
    """Has a question's words, and what a model that is far away made of the whole of it."""

    whole: NDArray[np.float32] | None

    def read_ahead(self, asked: str) -> NDArray[np.float32] | None:
        """Return what was read ahead."""
        return self.whole if asked == self.query else self._reading.read_ahead(asked)

    def beside(
        self,
        words: NDArray[np.float64],
        *,
        asked: str,
        heard: str,
        whole: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float64]:
        """Return the question's vector."""
        if whole is None and asked == self.query:
            whole = self.whole
        return self._reading.beside(words, asked=asked, heard=heard, whole=whole)

    def base(self) -> float:
        """Return what unrelated texts have."""
        return self._reading.base()

    @property
    def _reading(self) -> SentenceEmbedder:
        return cast("SentenceEmbedder", self.embedder)
