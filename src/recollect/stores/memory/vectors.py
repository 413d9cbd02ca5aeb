"""Vectors in memory: two of each row, of which one serves and one may be filled.

In: values of `recollect.ports.vectors`. Out: the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recollect.ports.vectors import Slot, Waiting
from recollect.stores.memory.session import Session

__all__ = ["MemoryVectors"]


class MemoryVectors:
    """The vectors of one store in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def waiting(
        self,
        limit: int,
        *,
        slot: Slot = "serving",
        tenant: str | None = None,
        owner: str | None = None,
    ) -> list[Waiting]:
        """Return memories that are pending, or that have no next vector yet, oldest first."""
        with self._session.snapshot():
            rows = sorted(self._session.memories.rows(), key=lambda row: row.row_id)
            if slot == "serving":
                lacking = [row for row in rows if row.pending]
            else:
                lacking = [row for row in rows if row.following is None]
            found = [
                Waiting(row.row_id, row.memory.pak_id, row.memory.title, row.memory.content)
                for row in lacking
                if tenant in (None, row.memory.place.tenant)
                and owner in (None, row.memory.place.owner)
            ]
            return found[:limit]

    def put(
        self, vectors: Mapping[int, NDArray[np.int8] | None], *, slot: Slot = "serving"
    ) -> None:
        """Give rows the vectors that they waited for."""
        tables, touched = self._session, self._session.touched
        for row_id, vector in vectors.items():
            pak_id = tables.names.get(row_id)
            if pak_id is None:
                continue
            row = tables.memories[pak_id]
            if slot == "next":
                tables.memories.put(pak_id, replace(row, following=vector))
            else:
                tables.memories.put(pak_id, replace(row, serving=vector, pending=False))
                touched.rows.add(row_id)

    def begin_switch(self, model_id: str, dimension: int) -> None:
        """Start, or go on with, giving every memory a vector of another model."""
        _ = self._session.revision  # refuses outside of a commit
        state = self._session.state
        if (state.next_model_id, state.next_dimension) == (model_id, dimension):
            return
        for pak_id in list(self._session.memories):
            row = self._session.memories[pak_id]
            self._session.memories.put(pak_id, replace(row, following=None))
        self._session.set_state(state._replace(next_model_id=model_id, next_dimension=dimension))

    def finish_switch(self) -> None:
        """Let the next vectors serve and drop the others, all at once."""
        tables, state = self._session, self._session.state
        tables.touched.begins_log = True
        for pak_id in list(tables.memories):
            row = tables.memories[pak_id]
            pending = bool(state.next_dimension) and row.following is None
            switched = replace(row, serving=row.following, following=None, pending=pending)
            tables.memories.put(pak_id, switched)
        tables.set_state(
            state._replace(
                model_id=state.next_model_id,
                dimension=state.next_dimension,
                next_model_id=None,
                next_dimension=None,
            )
        )
