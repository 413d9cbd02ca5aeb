"""Vectors from the optional package `fastembed`: transformer models on the CPU.

A thin adapter: the package is imported, and its model loaded, on first use. Texts come in, checked
vectors go out.
"""

from __future__ import annotations

from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embed.answer import stack_vectors
from recollect.errors import EmbedderBadAnswer, EmbedderMissing, EmbedderUnavailable, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["FastembedEmbedder"]


class FastembedEmbedder:
    """Runs one of fastembed's models; `package` stands in for the import, as tests need."""

    def __init__(self, model: str, *, package: Any = None) -> None:
        self._name = model
        self._package = package if package is not None else _import_package()
        self._dimension = _dimension_of(self._package, model)
        self._model: Any = None
        self._once = Lock()

    @property
    def model_id(self) -> str:
        """Identity by model name."""
        return f"fastembed:{self._name}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector, as the package lists them; the model need not be loaded."""
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text."""
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return self._check_shape(self._load_once().passage_embed(list(texts)), len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the question's vector; some models embed questions differently."""
        return self._check_shape(self._load_once().query_embed(text), 1).reshape(-1)

    def _check_shape(
        self, vectors: Iterable[NDArray[np.floating]], count: int
    ) -> NDArray[np.float32]:
        matrix = stack_vectors(list(vectors))
        if matrix.shape != (count, self._dimension):
            raise EmbedderBadAnswer(
                f"fastembed gave {matrix.shape} numbers instead of {(count, self._dimension)}.",
                hint="Check the installed fastembed release.",
            )
        return matrix

    def _load_once(self) -> Any:
        with self._once:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Any:
        try:
            return self._package.TextEmbedding(model_name=self._name)
        except (OSError, ValueError) as error:
            raise EmbedderUnavailable(
                f"fastembed could not load '{self._name}': {error}",
                hint="The first use downloads the model; check the network or the model cache.",
            ) from error


def _import_package() -> Any:
    try:
        return import_module("fastembed")
    except ImportError as error:
        raise EmbedderMissing(
            "The package `fastembed` is not installed.",
            hint="Install it with `pip install 'recollect[fastembed]'`.",
        ) from error


def _dimension_of(package: Any, model: str) -> int:
    sizes = {
        entry["model"]: int(entry["dim"]) for entry in package.TextEmbedding.list_supported_models()
    }
    if model not in sizes:
        raise InvalidInput(
            f"fastembed has no model '{model}'.",
            hint="Its models: " + ", ".join(sorted(sizes)[:8]) + ", …",
        )
    return sizes[model]
