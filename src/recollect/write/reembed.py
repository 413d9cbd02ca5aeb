"""Switch a store to another embedder while the old vectors go on serving.

In: a store, the new embedder, a callback for progress. Each batch of new vectors is durable when
it is done, so a run that was cut off goes on where it stopped; the switch itself is one step.
"""

from __future__ import annotations

from collections.abc import Callable

from recollect.embed import EmbedderBadAnswer, EmbedderMismatch
from recollect.ports.embedder import Embedder
from recollect.ports.store import MemoryStore
from recollect.write.vectors import embed_texts

__all__ = ["reembed"]

_BATCH = 256


def reembed(
    store: MemoryStore, embedder: Embedder, *, progress: Callable[[int, int], None] | None = None
) -> int:
    """Give every Pak a vector of `embedder`, then switch; return how many were embedded now."""
    dimension = embedder.dimension
    with store.transaction():
        store.begin_reembedding(embedder.model_id, dimension)
    done = 0
    while dimension and (waiting := store.without_next_vector(0, _BATCH)):
        embedded = embed_texts(embedder, [text for _, text in waiting], dimension=dimension)
        if embedded.error is not None:
            raise embedded.error
        vectors = {
            text: vector
            for text, vector in zip(waiting, embedded.vectors, strict=True)
            if vector is not None
        }
        if not vectors:
            raise EmbedderBadAnswer(
                "The embedder gave no vectors.", hint="try again, or choose another embedder."
            )
        with store.transaction():
            _check_ours(store, embedder)
            # A text that another process changed meanwhile is embedded again.
            still = vectors.keys() & set(store.without_next_vector(0, _BATCH))
            store.set_next_vectors({text[0]: vectors[text] for text in still})
        done += len(still)
        if progress is not None:
            counted = store.count()
            progress(counted["reembedded"], counted["memories"])
    with store.transaction():
        _check_ours(store, embedder)
        store.finish_reembedding()
    return done


def _check_ours(store: MemoryStore, embedder: Embedder) -> None:
    """Refuse to go on with a switch that another process finished, or turned elsewhere."""
    state = store.state()
    if state.next_model_id != embedder.model_id:
        raise EmbedderMismatch(
            f"Another process switched this store to {state.next_model_id or state.model_id!r}.",
            hint="open the store again; let one process at a time re-embed it.",
        )
