"""Switch a store to another embedder while the old vectors go on serving.

In: a store and the new embedder's vectors, a batch at a time. Each batch is durable once it is
kept, so a run that was cut off goes on where it stopped; the switch itself is one step. Nothing is
embedded here: a model may take its time, and nobody should wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.embed import EmbedderBadAnswer, EmbedderMismatch
from recollect.ports.store import MemoryStore
from recollect.write.vectors import Embeddings

__all__ = ["Reembedding"]

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Reembedding:
    """One switch of a store to a model. All but `waiting` happen inside a transaction."""

    store: MemoryStore
    model_id: str
    dimension: int

    def begin(self) -> None:
        """Start, or go on where an earlier run stopped."""
        self.store.begin_reembedding(self.model_id, self.dimension)

    def waiting(self) -> list[tuple[int, str]]:
        """Return (row, text) of some that the new model has not seen yet."""
        return self.store.without_next_vector(0, _BATCH) if self.dimension else []

    def keep(self, waiting: Sequence[tuple[int, str]], embedded: Embeddings) -> int:
        """Keep the vectors of a batch; return of how many."""
        vectors = {
            text: vector
            for text, vector in zip(waiting, embedded.vectors, strict=True)
            if vector is not None
        }
        if not vectors:
            raise EmbedderBadAnswer(
                "The embedder gave no vectors.", hint="try again, or choose another embedder."
            )
        self._check_ours()
        # A text that somebody changed meanwhile is embedded again.
        still = vectors.keys() & set(self.waiting())
        self.store.set_next_vectors({text[0]: vectors[text] for text in still})
        return len(still)

    def finish(self) -> bool:
        """Switch, unless somebody has just written what has no new vector; return whether."""
        self._check_ours()
        if self.waiting():
            return False
        self.store.finish_reembedding()
        return True

    def _check_ours(self) -> None:
        """Refuse to go on with a switch that somebody else finished, or turned elsewhere."""
        state = self.store.state()
        if state.next_model_id != self.model_id:
            serving = state.next_model_id or state.model_id
            raise EmbedderMismatch(
                f"Another process switched this store to {serving!r}.",
                hint="open the store again; let one process at a time re-embed it.",
            )
