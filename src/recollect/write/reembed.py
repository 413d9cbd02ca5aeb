"""Switch a store to another embedder while the old vectors go on serving.

In: a store and the new embedder's vectors, a batch at a time. Each batch is durable once it is
kept, so a run that was cut off goes on where it stopped; the switch itself is one step. Nothing is
embedded here: a model may take its time, and nobody should wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.embed import EmbedderBadAnswer, EmbedderMismatch
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.store import Store, Waiting
    from recollect.write.vectors import Embeddings

__all__ = ["Reembedding"]

# As many as go into one request to a server: what a slow model has done is soon kept, and told.
_BATCH = 128


@dataclass(frozen=True, slots=True)
class Reembedding:
    """One switch of a store to a model. All but `waiting` happen inside a commit."""

    store: Store
    model_id: str
    dimension: int

    def begin(self) -> None:
        """Start, or go on where an earlier run stopped."""
        self.store.vectors.begin_switch(self.model_id, self.dimension)

    def waiting(self) -> list[Waiting]:
        """Return some that the new model has not seen yet."""
        return self.store.vectors.waiting(_BATCH, slot="next") if self.dimension else []

    def keep(self, waiting: Sequence[Waiting], embedded: Embeddings) -> int:
        """Keep the vectors of a batch; return of how many."""
        vectors = {
            one: vector
            for one, vector in zip(waiting, embedded.vectors, strict=True)
            if vector is not None
        }
        if not vectors:
            raise EmbedderBadAnswer(
                "The embedder gave no vectors.", hint="try again, or choose another embedder."
            )
        self._check_ours()
        # A text that somebody changed meanwhile is embedded again.
        still = vectors.keys() & set(self.waiting())
        self.store.vectors.put({one.row_id: vectors[one] for one in still}, slot="next")
        return len(still)

    def finish(self) -> bool:
        """Switch, unless somebody has just written what has no new vector; return whether."""
        self._check_ours()
        if self.waiting():
            return False
        self.store.vectors.finish_switch()
        return True

    def _check_ours(self) -> None:
        """Refuse to go on with a switch that somebody else finished, or turned elsewhere."""
        state = self.store.state.read()
        if state.next_model_id != self.model_id:
            serving = state.next_model_id or state.model_id
            raise EmbedderMismatch(
                f"Another process switched this store to {serving!r}.",
                hint="open the store again; let one process at a time re-embed it.",
            )
