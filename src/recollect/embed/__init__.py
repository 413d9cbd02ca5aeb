"""Embedders, and the lock that keeps a store to the model that filled it.

A spec such as `static` or `openai:text-embedding-3-small` comes in, an embedder goes out. Each
kind is imported when it is asked for; this package alone loads no numeric or HTTP library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.embed.lock import ModelIdentity, check_model
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

    Specs are `static`, `none`, `openai:MODEL` and `fastembed:MODEL`; the options are for openai.
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
    if kind == "openai" and model:
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
    if kind == "fastembed" and model:
        from recollect.embed.fastembed import FastembedEmbedder

        return FastembedEmbedder(model)
    raise InvalidInput(
        f"There is no embedder '{spec}'.",
        hint="Use 'static', 'none', 'openai:MODEL' or 'fastembed:MODEL'.",
    )
