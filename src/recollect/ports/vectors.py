"""What the engine asks of a store about vectors: who waits for one, the switch of the model.

Vectors are quantised integers (`recollect.embed.quantise`). A memory that should have one and has
not is pending. While a store is switched to another model each memory may hold two: the one that
serves, and the next. Only the one that serves is in `changes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from recollect.model.memory import embedded_text
from recollect.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Slot", "VectorRoom", "Waiting"]

Slot: TypeAlias = Literal["serving", "next"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory without a vector: what is to be embedded, and where the vector goes."""

    row_id: int
    pak_id: str
    title: str
    content: str

    def text(self, *, with_title: bool) -> str:
        """Return the text to embed."""
        return embedded_text(self.title, self.content, with_title=with_title)


class VectorRoom(Protocol):
    """Vectors. Writes happen inside a commit."""

    def waiting(
        self,
        limit: int,
        *,
        slot: Slot = "serving",
        tenant: str | None = None,
        owner: str | None = None,
    ) -> list[Waiting]:
        """Return memories that are pending, or that have no next vector yet, oldest first.

        Of a tenant, or of one owner in it; without either, for whoever holds the store, of all.
        """

    def put(
        self, vectors: Mapping[int, NDArray[np.int8] | None], *, slot: Slot = "serving"
    ) -> None:
        """Give rows the vectors that they waited for; a text without meaning has None.

        Next vectors change nothing that a reader or an index could see.
        """

    def begin_switch(self, model_id: str, dimension: int) -> None:
        """Start to give every memory a next vector, of another model.

        If a switch to this model is under way it goes on; one to any other is given up, and its
        vectors with it.
        """

    def finish_switch(self) -> None:
        """Let the next vectors serve and drop the others, all at once.

        A memory without a next vector is pending then, unless the new model has no dimensions. All
        rows change, and the log begins anew with this commit.
        """
