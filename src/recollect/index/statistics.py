"""What is counted inside selections, remembered until the index changes.

Contents and a selection come in, numbers about the selected memories go out: they depend on those
alone. A question asks for most of them twice, and many questions share a selection.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recollect.dates import NO_DAY
from recollect.index.analyse import GERMAN
from recollect.index.lexical import count_inside, is_sparse, part_of
from recollect.index.selection import tag_mask
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recollect.index.contents import Contents
    from recollect.index.lexical import Part
    from recollect.index.selection import Carried, Selection
    from recollect.index.threads import Turns

__all__ = ["Statistics"]

_MOST_SELECTIONS = 16
_MOST_PATTERNS = 16
# What is held of the terms of past questions, in postings: some megabytes at most. A term that
# nobody holds takes room too.
_POSTINGS_HELD, _ROOM_OF_A_TERM = 1 << 20, 64


@dataclass(slots=True)
class _Known:
    """What was found out about one selection."""

    average_length: float | None = None
    average_turn: float | None = None
    any_vector: bool | None = None
    turns: Turns | None = None
    heard: NDArray[np.bool_] | None = None
    any_german: bool | None = None
    any_day: bool | None = None
    tagged: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)


class Statistics:
    """Numbers about selections of one generation."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._known: dict[Selection, _Known] = {}
        self._postings_held = 0

    def following(
        self, contents: Contents, carried: Carried, changed: NDArray[np.int64]
    ) -> Statistics:
        """Return the numbers of the next generation, with those about what was carried over.

        But for some slots that changed, and what is gone, all is as it was.
        """
        following = Statistics(contents)
        columns = contents.columns
        # True only costs who asks a look of its own.
        waits, dated = columns["pending"][changed].any(), (columns["day"][changed] != NO_DAY).any()
        following._anybody_waits = self._anybody_waits or bool(waits)
        following._any_day_at_all = self._any_day_at_all or bool(dated)
        for before, now in carried.items():
            known = self._known.get(before)
            # What is kept of many memories is by slot, of few by their places among these.
            if known is not None and is_sparse(before) and is_sparse(now):
                following._known[now] = known
        following._postings_held = self._postings_held
        return following

    def parts(self, terms: Sequence[str], selection: Selection) -> list[Part]:
        """Return what of each term lies inside a selection."""
        parts = self._about(selection).parts
        missing = [term for term in terms if term not in parts]
        if missing and self._postings_held > _POSTINGS_HELD:
            self._forget()
            return self.parts(terms, selection)
        postings = self._contents.terms.get(missing) if missing else ()
        for term, posting in zip(missing, postings, strict=True):
            part = parts[term] = part_of(posting, selection)
            self._postings_held += len(part.places) + _ROOM_OF_A_TERM
        return [parts[term] for term in terms]

    def counts(self, terms: Sequence[int], selection: Selection) -> list[int]:
        """Return in how many selected memories terms stand, given by number; none is kept."""
        postings = self._contents.terms.of_numbers(terms)
        return [count_inside(posting.slots, selection) for posting in postings]

    def average_length(self, selection: Selection) -> float:
        """Return the average number of terms; 0 when nothing is selected."""
        if not selection.count:
            return 0.0
        if selection.is_all:
            return self._contents.live_terms / selection.count
        known = self._about(selection)
        if known.average_length is None:
            lengths = self._contents.columns["length"][selection.slots]
            known.average_length = int(lengths.sum(dtype="i8")) / selection.count
        return known.average_length

    def average_turn(self, selection: Selection) -> float:
        """Return the average number of terms of turns; 0 when none is selected."""
        known = self._about(selection)
        if known.average_turn is None:
            slots = self.turns(selection).slots
            lengths = self._contents.columns["length"][slots]
            known.average_turn = int(lengths.sum(dtype="i8")) / len(slots) if len(slots) else 0.0
        return known.average_turn

    def any_vector(self, selection: Selection) -> bool:
        """Return whether any selected memory has a vector."""
        known = self._about(selection)
        if known.any_vector is None:
            known.any_vector = bool(self._contents.vectors.has_vector(selection.slots).any())
        return known.any_vector

    def any_pending(self, selection: Selection) -> bool:
        """Return whether any selected memory still waits for its vector."""
        return self._anybody_waits and bool(
            (self._contents.columns["pending"] & selection.mask).any()
        )

    def any_day(self, selection: Selection) -> bool:
        """Return whether of any selected memory it is known when it happened or was said."""
        known = self._about(selection)
        if known.any_day is None:
            days = self._contents.columns["day"]
            known.any_day = self._any_day_at_all and bool((days[selection.slots] != NO_DAY).any())
        return known.any_day

    def any_german(self, selection: Selection) -> bool:
        """Return whether any selected memory is German."""
        known = self._about(selection)
        if known.any_german is None:
            marks = self._contents.columns["marks"]
            known.any_german = self._any_german_at_all and bool(
                (marks[selection.slots] & GERMAN).any()
            )
        return known.any_german

    def turns(self, selection: Selection) -> Turns:
        """Return the selected memories that are turns of threads, in order."""
        known = self._about(selection)
        if known.turns is None:
            known.turns = self._contents.threads.turns(self._contents.columns, selection)
        return known.turns

    def heard(self, selection: Selection) -> NDArray[np.bool_]:
        """Return of each speaker's code whether it is that of a selected memory."""
        known = self._about(selection)
        if known.heard is None:
            columns = self._contents.columns
            known.heard = np.zeros(len(columns.vocabularies["speaker"]), np.bool_)
            if len(known.heard) == 1:
                # As in notes that nobody says: none need be looked up.
                known.heard[:] = selection.count > 0
            else:
                known.heard[columns["speaker"][selection.slots]] = True
        return known.heard

    def tagged(self, patterns: tuple[str, ...], selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots with a tag that matches any of the patterns; ascending."""
        known = self._about(selection).tagged
        if patterns not in known:
            if len(known) >= _MOST_PATTERNS:
                known.clear()
            tags = self._contents.tags
            found = tag_mask(patterns, tags, self._contents.size) & selection.mask
            known[patterns] = np.flatnonzero(found)
            known[patterns].flags.writeable = False
        return known[patterns]

    @cached_property
    def _anybody_waits(self) -> bool:
        columns = self._contents.columns
        return bool((columns["pending"] & columns["alive"]).any())

    @cached_property
    def _any_german_at_all(self) -> bool:
        return bool((self._contents.columns["marks"] & GERMAN).any())

    @cached_property
    def _any_day_at_all(self) -> bool:
        return bool((self._contents.columns["day"] != NO_DAY).any())

    def _about(self, selection: Selection) -> _Known:
        known = self._known.get(selection)
        if known is None:
            if len(self._known) >= _MOST_SELECTIONS:
                self._forget()
            known = self._known[selection] = _Known()
        return known

    def _forget(self) -> None:
        self._known = {}
        self._postings_held = 0
