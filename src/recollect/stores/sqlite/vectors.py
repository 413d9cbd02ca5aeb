"""Vectors in SQLite: two columns of `memories`, of which one serves and one may be filled.

In: values of `recollect.ports.vectors`. Out: the same. Which column serves is in `engine_state`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.stores.sqlite.rows import sealed_vector

if TYPE_CHECKING:
    from recollect.ports.vectors import Slot, Waiting
    from recollect.stores.sqlite.session import Session

__all__ = ["SqliteVectors"]


class SqliteVectors:
    """The vectors of one SQLite file."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def waiting(
        self,
        limit: int,
        *,
        slot: Slot = "serving",
        tenant: str | None = None,
        owner: str | None = None,
    ) -> list[Waiting]:
        """Return memories that are pending, or that have no next vector yet, oldest first."""
        from recollect.ports.vectors import Waiting

        condition = "pending = 1" if slot == "serving" else f"{self._next} IS NULL"
        of = {"tenant": tenant, "owner": owner}
        given = {column: value for column, value in of.items() if value is not None}
        condition += "".join(f" AND {column} = ?" for column in given)
        return [
            Waiting(*row)
            for row in self._db.all(
                "SELECT row_id, memories.pak_id, title, content"
                f" FROM memories JOIN paks USING (pak_id) WHERE {condition}"
                " ORDER BY row_id LIMIT ?",
                *given.values(),
                limit,
            )
            if type(row[1]) is type(row[2]) is type(row[3]) is str
        ]

    def put(
        self, vectors: Mapping[int, NDArray[np.int8] | None], *, slot: Slot = "serving"
    ) -> None:
        """Give rows the vectors that they waited for."""
        touched = self._db.touched
        if slot == "next":
            self._db.run_each(
                f"UPDATE memories SET {self._next} = ?, {_seal(self._next)} = ? WHERE row_id = ?",
                [(*sealed_vector(vector), row_id) for row_id, vector in vectors.items()],
            )
            return
        touched.rows.update(vectors)
        self._db.run_each(
            f"UPDATE memories SET {self._serving} = ?, {_seal(self._serving)} = ?, pending = 0"
            " WHERE row_id = ?",
            [(*sealed_vector(vector), row_id) for row_id, vector in vectors.items()],
        )

    def begin_switch(self, model_id: str, dimension: int) -> None:
        """Start, or go on with, giving every memory a vector of another model."""
        state = self._db.state()
        if (state.next_model_id, state.next_dimension) == (model_id, dimension):
            return
        self._db.run(f"UPDATE memories SET {self._next} = NULL, {_seal(self._next)} = NULL")
        self._db.run(
            "UPDATE engine_state SET next_model_id = ?, next_dimension = ?", model_id, dimension
        )

    def finish_switch(self) -> None:
        """Let the next vectors serve and drop the others, all at once."""
        self._db.touched.begins_log = True
        dimension = self._db.state().next_dimension
        self._db.run(
            f"UPDATE memories SET pending = (? > 0 AND {self._next} IS NULL),"
            f" {self._serving} = NULL, {_seal(self._serving)} = NULL",
            dimension,
        )
        self._db.run(
            "UPDATE engine_state SET model_id = next_model_id, dimension = next_dimension,"
            " next_model_id = NULL, next_dimension = NULL, vector_slot = 1 - vector_slot"
        )
        self._db.state()

    @property
    def _serving(self) -> str:
        return f"vector_{self._db.slot}"

    @property
    def _next(self) -> str:
        return f"vector_{1 - self._db.slot}"


def _seal(vector: str) -> str:
    """Return the column in which the seal of a vector stands."""
    return vector.replace("vector_", "vector_seal_")
