from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.embed import EmbedderBadAnswer, EmbedderUnavailable
from recollect.embed.fastembed import FastembedEmbedder
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator


def package(size: int = 2, loads: list[str] | None = None) -> Any:
    """Stand in for fastembed, whose models come from a hub that tests cannot reach."""

    class TextEmbedding:
        def __init__(self, model_name: str) -> None:
            if loads is not None:
                loads.append(model_name)

        @staticmethod
        def list_supported_models() -> list[dict[str, Any]]:
            return [{"model": "small", "dim": 2}, {"model": "large", "dim": 9}]

        def passage_embed(self, texts: list[str]) -> Iterator[Any]:
            return (np.full(size, len(text), dtype=np.float64) for text in texts)

        def query_embed(self, query: str) -> Iterator[Any]:
            yield np.full(size, -len(query), dtype=np.float64)

    return SimpleNamespace(TextEmbedding=TextEmbedding)


def test_documents_and_questions_take_their_own_ways() -> None:
    embedder = FastembedEmbedder("small", package=package())

    assert (embedder.model_id, embedder.dimension) == ("fastembed:small", 2)
    assert embedder.embed_documents(["a", "bb"]).tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert embedder.embed_documents(["a"]).dtype == np.float32
    assert embedder.embed_query("abc").tolist() == [-3.0, -3.0]


def test_the_model_is_loaded_once_and_only_when_needed() -> None:
    loads: list[str] = []
    embedder = FastembedEmbedder("small", package=package(loads=loads))
    assert embedder.embed_documents([]).shape == (0, 2)
    assert loads == []

    embedder.embed_query("a")
    embedder.embed_query("b")

    assert loads == ["small"]


def test_an_unknown_model_is_refused_and_known_ones_are_named() -> None:
    with pytest.raises(InvalidInput, match="no model 'huge'") as caught:
        FastembedEmbedder("huge", package=package())
    assert caught.value.hint == "Its models: large, small, …"


def test_vectors_of_another_size_than_listed_are_refused() -> None:
    with pytest.raises(EmbedderBadAnswer, match=r"\(1, 3\) numbers instead of \(1, 2\)"):
        FastembedEmbedder("small", package=package(size=3)).embed_query("a")


def test_a_model_that_cannot_be_downloaded_is_unavailable() -> None:
    absent = package()

    class TextEmbedding(absent.TextEmbedding):  # type: ignore[name-defined, misc]
        def __init__(self, model_name: str) -> None:
            raise ValueError(f"Could not load model {model_name} from any source.")

    embedder = FastembedEmbedder("small", package=SimpleNamespace(TextEmbedding=TextEmbedding))

    with pytest.raises(EmbedderUnavailable, match="could not load 'small'"):
        embedder.embed_query("a")
