"""What `select`, `inspect` and `explain` read of the catalogue of Paks.

To a selection, a Pak is a numbered row, and its title and summary are a numbered document of words;
the numbers are the catalogue's own. All reads of one answer happen inside one `snapshot`. Whatever
fills these two protocols gives the same answers, byte for byte.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.model.pak import (
        PakAnchorEntry,
        PakRelationEntry,
        PakRow,
        ReasonCodeEntry,
        RiskFlagEntry,
    )

__all__ = [
    "FIELDS",
    "Catalogue",
    "CatalogueRecords",
    "Changes",
    "CodeColumns",
    "DocumentColumns",
    "Occurrences",
    "PakColumns",
    "Posting",
    "Statistics",
    "TextRecord",
    "Touched",
]

# The fields of a document, by the number that `Occurrences.fields` gives them. The id is a field
# that no word can be found in.
FIELDS = ("pak_id", "title", "summary")


class PakColumns(NamedTuple):
    """What a selection decides by: of each row one value in each column."""

    rows: Sequence[int] = ()
    pak_ids: Sequence[str] = ()
    updated_at: Sequence[str] = ()
    content_hashes: Sequence[str] = ()
    projects: Sequence[str | None] = ()
    pak_types: Sequence[str] = ()
    superseded_by: Sequence[str | None] = ()


class CodeColumns(NamedTuple):
    """Reason codes: whose each is, and how much it weighs."""

    rows: Sequence[int] = ()
    reason_codes: Sequence[str] = ()
    weights: Sequence[float] = ()


class DocumentColumns(NamedTuple):
    """Documents: whose text each is (-1: nobody's), and how many words it has."""

    documents: Sequence[int] = ()
    rows: Sequence[int] = ()
    lengths: Sequence[int] = ()


class TextRecord(NamedTuple):
    """What a Pak says, as far as the catalogue knows, and what to be careful of with it."""

    row: int
    title: str
    summary: str
    risk_flags: tuple[RiskFlagEntry, ...]


class Posting(NamedTuple):
    """The documents that hold a word, ascending, and how often each does."""

    documents: NDArray[np.int64]
    counts: NDArray[np.int64]


class Occurrences(NamedTuple):
    """Every place of a word: in which document, in which field, as which word of it from 0."""

    documents: NDArray[np.int64]
    fields: NDArray[np.int64]
    offsets: NDArray[np.int64]


class Statistics(NamedTuple):
    """How many documents count, and how many words they hold together."""

    documents: int
    words: int


class Touched(NamedTuple):
    """Rows and documents that were added, changed or removed."""

    rows: NDArray[np.int64]
    documents: NDArray[np.int64]


class Changes(NamedTuple):
    """What changed since a mark; None if that is not known, so that anything may have.

    `mark` stands for the state that is read now.
    """

    mark: Any
    touched: Touched | None


class CatalogueRecords(Protocol):
    """The catalogue by numbers, in sets: no call costs a query a Pak."""

    def changes(self, since: Any) -> Changes:
        """Return what changed since the mark of the last call; pass None to begin.

        Ask in committed states only: what is read inside a writer's open transaction may be taken
        back.
        """

    def words_of(self, text: str) -> Sequence[str]:
        """Return the words of any text in their order, read as the catalogue reads its own."""

    def posting(self, word: str) -> Posting:
        """Return which documents hold a word."""

    def occurrences(self, word: str, *, prefix: bool = False) -> Occurrences:
        """Return where a word stands, or every word that begins with it."""

    def documents(self, numbers: NDArray[np.int64]) -> DocumentColumns:
        """Return those documents that are there, in any order."""

    def statistics(self, pak_ids: Collection[str] | None) -> Statistics:
        """Return how much text these Paks have together; None for all documents that there are."""

    def paks(self, rows: NDArray[np.int64]) -> tuple[PakColumns, CodeColumns]:
        """Return those rows that are there and their reason codes, both in any order."""

    def texts(self, rows: NDArray[np.int64]) -> Sequence[TextRecord]:
        """Return what those rows say that are there, flags ascending, rows in any order."""

    def equal_to(self, project: str | None, pak_type: str | None) -> NDArray[np.int64]:
        """Return the rows that equal all that is given, in any order."""

    def newest(self, count: int) -> NDArray[np.int64]:
        """Return so many rows, the last updated first, of equal times the higher id first."""


class Catalogue(Protocol):
    """A catalogue of Paks, as it is read. `recollect.paks.RecallStore` is one."""

    def snapshot(self) -> AbstractContextManager[bool]:
        """Let all reads of the body see one state; give whether that state is committed."""

    def records(self) -> CatalogueRecords:
        """Return the catalogue by numbers, for use inside the snapshot in which it was asked."""

    def get_pak(self, pak_id: str | None) -> PakRow | None:
        """Return the Pak with this id, or None."""

    def get_pak_reason_codes(self, pak_id: str | None) -> list[ReasonCodeEntry]:
        """Return a Pak's reason codes, ascending."""

    def get_pak_risk_flags(self, pak_id: str | None) -> list[RiskFlagEntry]:
        """Return a Pak's risk flags, ascending."""

    def find_flagged_paks(self) -> dict[str, list[str]]:
        """Return each risk flag that a Pak has, with the ids of those that have it, ascending."""

    def get_pak_anchors(self, pak_id: str | None) -> list[PakAnchorEntry]:
        """Return a Pak's anchors, ascending."""

    def get_pak_relations(self, pak_id: str | None) -> list[PakRelationEntry]:
        """Return the relations that start at a Pak, ascending."""
