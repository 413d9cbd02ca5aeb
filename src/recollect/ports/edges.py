"""What the engine asks of a store about pairs of memories: links, likenesses, disputes.

Row ids and numbers. Who is alike, how strong a link is and who wins a dispute is decided elsewhere.
All of a memory's pairs go when it is erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from recollect.values import dataclass

__all__ = ["Dispute", "Edge", "EdgeRoom", "Likeness", "LinkAgain", "LostLinks"]


class Edge(NamedTuple):
    """An undirected, weighted link between two row ids, lower first."""

    low: int
    high: int
    weight: float
    automatic: bool


class Likeness(NamedTuple):
    """One entry of a list: a row holds another for one of its most alike."""

    row_id: int
    other: int
    closeness: float


class LostLinks(NamedTuple):
    """Links and lists that were not as they were written, and are gone.

    `rows` must look around again, all there are if it is None. `weights` are what a link between
    two rows may have had: its row and its second copy said two things.
    """

    rows: frozenset[int] | None
    weights: Mapping[tuple[int, int], tuple[float, ...]]


# Computes them again, inside of the commit that let them go.
LinkAgain: TypeAlias = Callable[[LostLinks], None]


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two memories that contradict each other, the one that was stored first being first."""

    first: str
    second: str
    note: str


class EdgeRoom(Protocol):
    """Pairs of memories. Writes happen inside a commit.

    A list of likenesses is the bookkeeping behind automatic links, and nothing that anybody reads:
    two memories are joined when each is in the other's list.
    """

    def touching(self, row_ids: Iterable[int]) -> list[Edge]:
        """Return all links that touch any of these rows, each once."""

    def between(self, pairs: Iterable[tuple[int, int]]) -> list[Edge]:
        """Return those links that join two rows of a pair, the lower first."""

    def put(self, edges: Iterable[Edge]) -> None:
        """Write links as given, in the place of those that there are; a weight of 0 removes one.

        Nobody has used a link that was written anew.
        """

    def lists(self, row_ids: Iterable[int]) -> Iterable[tuple[int, int, float]]:
        """Yield the whole lists of these rows, in no order: row, other and closeness."""

    def full_lists_with(self, row_ids: Iterable[int], full: int) -> list[int]:
        """Return the other rows whose list has `full` entries, any of these rows among them.

        In ascending order.
        """

    def last_of_full(self, row_ids: Iterable[int], full: int) -> dict[int, float]:
        """Return the least closeness in those of these rows' lists that have `full` entries."""

    def change_lists(
        self,
        come: Iterable[tuple[int, int, float]],
        gone: Iterable[tuple[int, int, float]],
    ) -> None:
        """Take entries out of lists, then add others or give them another closeness."""

    def take_out(self, row_ids: Iterable[int]) -> None:
        """Undo all lists and automatic links of these rows; others hold them no longer."""

    def dispute(self, pair: Sequence[str], *, note: str, now: str) -> None:
        """Open a dispute between two memories that exist, or open it again with another note."""

    def resolve(self, pair: Sequence[str]) -> bool:
        """Close a dispute between two memories that exist; return whether it was open."""

    def disputes(self) -> list[Dispute]:
        """Return all open disputes; who may know of one is for the caller to see to.

        In the order in which the first ones were stored, then the second ones.
        """
