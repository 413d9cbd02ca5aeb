"""Embedders, and the lock that keeps a store to the model that filled it.

A spec such as `static` or `openai:text-embedding-3-small` comes in, an embedder goes out. Each
kind is imported when it is asked for; this package alone loads no numeric or HTTP library.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.embed.lock import ModelIdentity, check_model, that_filled
from recollect.errors import (
    EmbedderBadAnswer,
    EmbedderError,
    EmbedderMismatch,
    EmbedderMissing,
    EmbedderUnavailable,
    InvalidInput,
)

if TYPE_CHECKING:
    from recollect.ports.embedder import Embedder

__all__ = [
    "EmbedderBadAnswer",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderMissing",
    "EmbedderUnavailable",
    "ModelIdentity",
    "check_model",
    "load_embedder",
    "that_filled",
]


def load_embedder(
    spec: str | Embedder,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
    timeout_s: float = 30.0,
) -> Embedder:
    """Return the embedder a spec names; an embedder is returned as it is.

    Specs are `static`, `none`, `minilm`, `onnx:FOLDER`, `openai:MODEL` and `fastembed:MODEL`; the
    options are for openai. All but the first two stand beside the static table.
    """
    if not isinstance(spec, str):
        return spec
    kind, _, model = spec.partition(":")
    if spec == "static":
        from recollect.embed.static import StaticEmbedder

        return StaticEmbedder()
    if spec == "none":
        from recollect.embed.none import NoEmbedder

        return NoEmbedder()
    if spec == "minilm" or (kind == "onnx" and model):
        return _transformer(model)
    if kind == "openai" and model:
        remote = _openai(
            model,
            base_url=base_url,
            api_key=api_key,
            dimensions=dimensions,
            timeout_s=timeout_s,
        )
        return _beside_static(remote, is_far=True)
    if kind == "fastembed" and model:
        from recollect.embed.fastembed import FastembedEmbedder

        return _beside_static(FastembedEmbedder(model))
    raise InvalidInput(
        f"There is no embedder '{spec}'.",
        hint="Use 'static', 'none', 'minilm', 'onnx:FOLDER', 'openai:MODEL' or 'fastembed:MODEL'.",
    )


def _transformer(folder: str) -> Embedder:
    """Return the model in a folder; without one, that of the extra `transformer`."""
    from recollect.embed.onnx import MINILM_UNRELATED, OnnxEmbedder, folder_files, minilm_files

    if folder:
        return _beside_static(OnnxEmbedder(folder_files(Path(folder).expanduser())))
    return _beside_static(OnnxEmbedder(minilm_files()), unrelated=MINILM_UNRELATED)


def _openai(
    model: str,
    *,
    base_url: str | None,
    api_key: str | None,
    dimensions: int | None,
    timeout_s: float,
) -> Embedder:
    try:
        from recollect.embed.openai import OPENAI_URL, OpenAIEmbedder
    except ModuleNotFoundError as error:
        raise EmbedderMissing(
            f"The package `{error.name}` is not installed.",
            hint="Install it with `pip install 'recollect[openai]'`.",
        ) from error
    return OpenAIEmbedder(
        model,
        base_url=base_url or OPENAI_URL,
        api_key=api_key,
        dimensions=dimensions,
        timeout_s=timeout_s,
    )


def _beside_static(
    model: Embedder, *, unrelated: float | None = None, is_far: bool = False
) -> Embedder:
    from recollect.embed.beside import BesideStatic

    return BesideStatic(model, unrelated=unrelated, is_far=is_far)
