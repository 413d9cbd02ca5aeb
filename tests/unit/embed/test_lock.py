from __future__ import annotations

import pytest

from recollect.embed import EmbedderMismatch, ModelIdentity, check_model, load_embedder


def test_an_empty_store_takes_any_model() -> None:
    check_model(None, load_embedder("none"))


def test_the_model_that_filled_the_store_is_accepted() -> None:
    embedder = load_embedder("static")

    check_model(ModelIdentity(embedder.model_id, 256), embedder)


def test_another_model_is_refused_with_the_way_out() -> None:
    with pytest.raises(EmbedderMismatch) as caught:
        check_model(ModelIdentity("openai:tiny", 8), load_embedder("none"))

    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "embedder_mismatch"
    assert caught.value.message == (
        "This store holds vectors of 'openai:tiny' with 8 dimensions; it was opened with 'none'."
    )
    assert "recollect reembed" in caught.value.hint


def test_the_same_name_with_another_dimension_is_refused() -> None:
    with pytest.raises(EmbedderMismatch, match="'none' with 0 dimensions"):
        check_model(ModelIdentity("none", 8), load_embedder("none"))
