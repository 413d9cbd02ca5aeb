"""The embedder that makes no vectors: recall is then lexical only, and first class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["NoEmbedder"]


class NoEmbedder:
    """Gives vectors of no dimension."""

    model_id = "none"
    dimension = 0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of no numbers for each text."""
        return np.zeros((len(texts), 0), dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:  # noqa: ARG002 - the port's shape
        """Return a vector of no numbers."""
        return np.zeros(0, dtype=np.float32)
