"""What the engine asks of a store about likenesses: whom each Pak holds for its most alike.

Such a list is the bookkeeping behind automatic edges, and nothing that anybody reads: two Paks are
joined when each is in the other's list. Row ids and numbers; who is alike is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Likeness", "LikenessStore"]


@dataclass(frozen=True, slots=True)
class Likeness:
    """One entry of a list: a row holds another for one of its most alike."""

    row_id: int
    other: int
    closeness: float


class LikenessStore(Protocol):
    """Lists of the most alike. Writes happen inside the store's `transaction`."""

    def lists(self, row_ids: Iterable[int]) -> list[Likeness]:
        """Return the whole lists of these rows."""

    def full_lists_with(self, row_ids: Iterable[int], full: int) -> list[int]:
        """Return the other rows whose list has `full` entries, any of these rows among them."""

    def last_of_full(self, row_ids: Iterable[int], full: int) -> dict[int, float]:
        """Return the least closeness in those of these rows' lists that have `full` entries."""

    def put(self, near: Iterable[Likeness]) -> None:
        """Add entries to lists."""

    def drop(self, near: Iterable[Likeness]) -> None:
        """Take entries out of lists."""

    def take_out(self, row_ids: Iterable[int]) -> None:
        """Undo all lists and automatic edges of these rows; others hold them no longer."""
