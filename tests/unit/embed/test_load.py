from __future__ import annotations

import subprocess
import sys

import pytest

import recollect.embed
from recollect.embed import EmbedderMissing, load_embedder
from recollect.embed.beside import BesideStatic
from recollect.embed.none import NoEmbedder
from recollect.embed.openai import OpenAIEmbedder
from recollect.embed.static import StaticEmbedder
from recollect.errors import InvalidInput


def test_static_is_the_static_table() -> None:
    assert isinstance(load_embedder("static"), StaticEmbedder)


def test_none_gives_rows_without_numbers() -> None:
    embedder = load_embedder("none")

    assert (embedder.model_id, embedder.dimension) == ("none", 0)
    assert embedder.embed_documents(["a", "b"]).shape == (2, 0)
    assert embedder.embed_query("a").shape == (0,)


def test_openai_takes_everything_after_the_colon_as_the_model() -> None:
    embedder = load_embedder("openai:org/model:latest", base_url="http://localhost:1/v1")

    assert isinstance(embedder, BesideStatic)
    assert isinstance(embedder.earlier[0], OpenAIEmbedder)
    assert embedder.earlier[0].model_id == "openai:org/model:latest"
    assert repr(embedder) == (
        "BesideStatic(OpenAIEmbedder('org/model:latest', base_url='localhost'))"
    )
    embedder.close()


def test_an_embedder_is_returned_as_it_is() -> None:
    mine = NoEmbedder()

    assert load_embedder(mine) is mine


@pytest.mark.parametrize(
    "spec", ["word2vec", "", "openai", "openai:", "fastembed:", "static:x", "onnx:"]
)
def test_an_unknown_spec_is_refused_and_the_known_are_named(spec: str) -> None:
    with pytest.raises(InvalidInput, match="There is no embedder") as caught:
        load_embedder(spec)
    for known in ("static", "none", "minilm", "onnx:FOLDER", "openai:MODEL", "fastembed:MODEL"):
        assert known in caught.value.hint


def test_fastembed_says_how_to_install_it_when_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)

    with pytest.raises(EmbedderMissing, match="not installed") as caught:
        load_embedder("fastembed:some/model")
    assert isinstance(caught.value, ImportError)
    assert caught.value.hint == "Install it with `pip install 'recollect[fastembed]'`."


def test_openai_says_how_to_install_its_client_when_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "recollect.embed.openai")
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(EmbedderMissing) as caught:
        load_embedder("openai:any", base_url="http://localhost:1/v1")
    assert "httpx" in caught.value.message
    assert "recollect[openai]" in caught.value.hint


def test_importing_the_package_and_its_port_loads_no_heavy_library() -> None:
    program = (
        "import sys, recollect.embed, recollect.ports.embedder; "
        "print(sorted({'numpy', 'tokenizers', 'httpx', 'wordllama'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_every_exported_name_exists_and_is_listed_once() -> None:
    names = recollect.embed.__all__

    assert sorted(set(names)) == names
    assert all(hasattr(recollect.embed, name) for name in names)
