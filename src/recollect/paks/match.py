"""Which documents match an expression, by where its words stand.

In: an expression and the catalogue's records. Out: document numbers, ascending. Sets of positions
are arrays: a position is one number, made of document, field and offset, so that words one after
the other are numbers one after the other.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.paks.expression import And, NearGroup, Not, Nothing, Or

if TYPE_CHECKING:
    from recollect.paks.expression import Expression, Phrase
    from recollect.ports.catalogue import CatalogueRecords

__all__ = ["matching_documents"]

Ints = NDArray[np.int64]

# So many bits of a position are its offset, and two more its field: no text is that long, so that a
# step back from the beginning of a field meets no position of the one before.
_OFFSET_BITS = 36
_FIELD_BITS = 2
_NONE: Ints = np.empty(0, np.int64)


def matching_documents(expression: Expression, records: CatalogueRecords) -> Ints:
    """Return the documents that match."""
    match expression:
        case NearGroup():
            return _near(expression, records)
        case And(parts=parts):
            return reduce(np.intersect1d, (matching_documents(part, records) for part in parts))
        case Or(parts=parts):
            return reduce(np.union1d, (matching_documents(part, records) for part in parts))
        case Not(wanted=wanted, unwanted=unwanted):
            return reduce(
                np.setdiff1d,
                (matching_documents(part, records) for part in unwanted),
                matching_documents(wanted, records),
            )
        case Nothing():
            return _NONE


def _near(near: NearGroup, records: CatalogueRecords) -> Ints:
    places = _Places()
    starts = [_starts(phrase, near.fields, records, places) for phrase in near.phrases]
    if len(starts) == 1:
        return places.documents_of(starts[0])
    ends = np.unique(np.concatenate(starts))
    close = np.ones(len(ends), np.bool_)
    for phrase, found in zip(near.phrases, starts, strict=True):
        if not len(found):
            return _NONE
        # The last start of the phrase that is not behind the last phrase of the group.
        last = found[np.maximum(np.searchsorted(found, ends, "right") - 1, 0)]
        reach = len(phrase.terms) + near.distance
        close &= (last <= ends) & (last >= ends - reach)
    return places.documents_of(ends[close])


def _starts(
    phrase: Phrase, fields: frozenset[int] | None, records: CatalogueRecords, places: _Places
) -> Ints:
    """Return where a phrase begins, ascending."""
    found = None
    for distance, term in enumerate(phrase.terms):
        documents, where, offsets = records.occurrences(term.word, prefix=term.is_prefix)
        if fields is not None:
            allowed = np.isin(where, list(fields))
            documents, where, offsets = documents[allowed], where[allowed], offsets[allowed]
        begins = np.unique(places.of(documents, where, offsets - distance)[offsets >= distance])
        found = begins if found is None else np.intersect1d(found, begins, assume_unique=True)
    if found is None:
        return _NONE
    return found[places.offsets_of(found) == 0] if phrase.is_first else found


class _Places:
    """Positions as numbers. Documents are numbered anew: their own numbers may be large."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def of(self, documents: Ints, fields: Ints, offsets: Ints) -> Ints:
        """Return positions as numbers."""
        known, inverse = np.unique(documents, return_inverse=True)
        numbers = self._numbers
        dense = np.array(
            [numbers.setdefault(one, len(numbers)) for one in known.tolist()], np.int64
        )
        base: Ints = dense[inverse] << _FIELD_BITS | fields
        places: Ints = (base << _OFFSET_BITS) + offsets
        return places

    def documents_of(self, places: Ints) -> Ints:
        """Return in which documents places are, ascending."""
        own = np.array(list(self._numbers), np.int64)
        return np.unique(own[places >> (_OFFSET_BITS + _FIELD_BITS)]) if len(own) else _NONE

    def offsets_of(self, places: Ints) -> Ints:
        """Return which word of its field each place is."""
        return places & ((1 << _OFFSET_BITS) - 1)
