"""The model-identity lock: vectors of two models are never compared.

What the store says it was filled with comes in, with the embedder at hand; nothing goes out, or
`EmbedderMismatch`. A recipe of before is a model of its own, and the embedder knows those it had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.embed.text import model_of
from recollect.errors import EmbedderMismatch
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ports.embedder import Embedder

__all__ = ["ModelIdentity", "check_model", "that_filled"]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model made a store's vectors, as the store keeps it, and how long they are."""

    model_id: str
    dimension: int


def that_filled(stored: ModelIdentity | None, embedder: Embedder) -> Embedder:
    """Return the recipe that a store was filled by: an embedder's own or one of its `earlier`.

    The embedder as it is, where none of them did.
    """
    if stored is None:
        return embedder
    kept = model_of(stored.model_id)
    earlier: Sequence[Embedder] = getattr(embedder, "earlier", ())
    return next((one for one in earlier if one.model_id == kept), embedder)


def check_model(stored: ModelIdentity | None, embedder: Embedder) -> None:
    """Refuse an embedder that did not make the stored vectors; an empty store takes any."""
    if stored is None:
        return
    # Asked for by their names: `isinstance` of a protocol takes a hundred times as long.
    expect_model = getattr(embedder, "expect_model", None)
    if expect_model is not None:
        expect_model(model_of(stored.model_id))
    if model_of(stored.model_id) != embedder.model_id:
        raise mismatch_error(stored, f"'{embedder.model_id}'")
    expect_dimension = getattr(embedder, "expect_dimension", None)
    if expect_dimension is not None:
        expect_dimension(stored.dimension)
    elif stored.dimension != embedder.dimension:
        raise mismatch_error(stored, f"'{embedder.model_id}' with {embedder.dimension} dimensions")


def mismatch_error(stored: ModelIdentity, offered: str) -> EmbedderMismatch:
    """Return the refusal of what was offered in place of the stored model."""
    return EmbedderMismatch(
        f"This store holds vectors of '{model_of(stored.model_id)}' with {stored.dimension}"
        f" dimensions; it was opened with {offered}.",
        hint="Open it with the original embedder, or switch with `recollect reembed`.",
    )
