"""What is counted inside selections, remembered until the index changes.

Contents and a selection come in, numbers about the selected memories go out: they depend on those
alone. A question asks for most of them twice, and many questions share a selection. After a small
change what was known goes on to the next generation, in the numbers that a new count would give:
ADR-0106.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.dates import NO_DAY
from recollect.index.analyse import GERMAN
from recollect.index.lexical import count_inside, is_sparse, part_of
from recollect.index.selection import Moved, tag_mask
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from recollect.index.columns import Columns
    from recollect.index.contents import Contents
    from recollect.index.lexical import Part
    from recollect.index.selection import Altered, Carried, Selection
    from recollect.index.threads import Turns

__all__ = ["Statistics"]

_MOST_SELECTIONS = 16
_MOST_PATTERNS = 16
# What is held of the terms of past questions, in postings: some megabytes. A term that nobody holds
# takes room too.
_POSTINGS_HELD, _ROOM_OF_A_TERM = 1 << 20, 64
# Of many memories so many postings for each: the terms that nearly all hold stay known.
_OF_EACH = 16
# Of a selection that so many came to or left nothing is known any more, nor after so many steps:
# what nobody asks for is let go of then.
_MOST_MOVED, _MOST_STEPS = 256, 64


class _Terms:
    """The parts of terms of past questions, whichever generation asked last, and their room."""

    __slots__ = ("held", "parts")

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}
        self.held = 0

    def keep(self, term: str, part: Part) -> int:
        """Keep a part unless a later generation has one; return how much more room that takes."""
        before = self.parts.get(term)
        if before is not None and before.generation > part.generation:
            return 0
        self.parts[term] = part
        more = len(part.places) - (len(before.places) if before else -_ROOM_OF_A_TERM)
        self.held += more
        return more


@dataclass(slots=True, eq=False)
class _Known:
    """What was found out about one selection, and how that has moved since earlier generations.

    Each of `steps` leads from the generation with its number to the next that somebody asked.
    """

    mask: NDArray[np.bool_]
    generation: int
    terms: _Terms = field(default_factory=_Terms)
    steps: Mapping[int, Moved] = field(default_factory=dict)
    length: int | None = None
    average_turn: float | None = None
    any_vector: bool | None = None
    turns: Turns | None = None
    speakers: NDArray[np.int64] | None = None
    any_german: bool | None = None
    any_day: bool | None = None
    tagged: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict)

    def kept(self, *, as_they_were: bool) -> _Known:
        """Return what the next generation goes on from.

        What may change of a memory without its text stays only if all are `as_they_were`.
        """
        kept = _Known(self.mask, self.generation, self.terms, self.steps)
        kept.length, kept.any_german = self.length, self.any_german
        if as_they_were:
            kept.any_day, kept.speakers = self.any_day, self.speakers
        return kept

    def following(self, selection: Selection, columns: Columns) -> _Known:
        """Return the same of the same selection in a later generation."""
        moved = Moved.between(self.generation, self.mask, selection)
        if len(moved.slots) > _MOST_MOVED or len(self.steps) >= _MOST_STEPS:
            return _Known(selection.mask, selection.generation)
        steps = {**self.steps, self.generation: moved}
        after = _Known(selection.mask, selection.generation, self.terms, steps)
        new = selection.mask[moved.size :].nonzero()[0] + moved.size
        came, left = np.concatenate([moved.slots[moved.by > 0], new]), moved.slots[moved.by < 0]
        if self.length is not None:
            lengths = columns["length"]
            more, less = lengths[came].sum(dtype="i8"), lengths[left].sum(dtype="i8")
            after.length = self.length + int(more) - int(less)
        after.any_german = _any_still(self.any_german, columns["marks"][came] & GERMAN, left)
        after.any_day = _any_still(self.any_day, columns["day"][came] != NO_DAY, left)
        if self.speakers is not None:
            codes, speaker = len(columns.vocabularies["speaker"]), columns["speaker"]
            counts = np.bincount(speaker[came], minlength=codes)
            counts -= np.bincount(speaker[left], minlength=codes)
            counts[: len(self.speakers)] += self.speakers
            after.speakers = counts
        return after

    def since(self, generation: int) -> Moved:
        """Return how the selection has moved since a generation that `steps` lead on from."""
        first = self.steps[generation]
        later = [step for number, step in self.steps.items() if number > generation]
        return first.and_then(later) if later else first


def _any_still(before: bool | None, came: NDArray[Any], left: NDArray[np.int32]) -> bool | None:
    """Return whether any is so after some came and some left; None if that has to be looked at."""
    if before is None or (before and len(left) and not came.any()):
        return None
    return before or bool(came.any())


class Statistics:
    """Numbers about selections of one generation."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._known: dict[Selection, _Known] = {}
        # Of earlier generations, by what the selections are asked for by.
        self._past: dict[Hashable, _Known] = {}
        self._postings_held = 0

    def following(self, contents: Contents, carried: Carried, altered: Altered) -> Statistics:
        """Return the numbers of the next generation, with those about what was carried over.

        But for some slots that changed, and what is gone, all is as it was.
        """
        following = Statistics(contents)
        columns, changed = contents.columns, altered.living
        # True only costs who asks a look of its own.
        waits, dated = columns["pending"][changed].any(), (columns["day"][changed] != NO_DAY).any()
        german = (columns["marks"][changed] & GERMAN).any()
        following._anybody_waits = self._anybody_waits or bool(waits)
        following._any_day_at_all = self._any_day_at_all or bool(dated)
        following._any_german_at_all = self._any_german_at_all or bool(german)
        for before, now in carried.items():
            known = self._known.get(before)
            # What is kept of many memories is by slot, of few by their places among these.
            if known is not None and is_sparse(before) and is_sparse(now):
                following._known[now] = known
        following._past = self._kept(as_they_were=bool((changed >= self._contents.size).all()))
        going_on = (*following._known.values(), *following._past.values())
        held = {id(one.terms): one.terms.held for one in going_on}
        following._postings_held = sum(held.values())
        return following

    def _kept(self, *, as_they_were: bool) -> dict[Hashable, _Known]:
        """Return what the next generation may go on from, whatever was asked of this one."""
        kept: dict[Hashable, _Known] = {
            one.asked: known
            for one, known in [*self._known.items()]  # at once: another thread may be adding one
            if one.asked is not None and not is_sparse(one)
        }
        if len(kept) + len(self._past) <= _MOST_SELECTIONS:
            kept = {**self._past, **kept}
        return {asked: one.kept(as_they_were=as_they_were) for asked, one in kept.items()}

    def parts(self, terms: Sequence[str], selection: Selection) -> list[Part]:
        """Return what of each term lies inside a selection."""
        known = self._about(selection)
        parts = known.terms.parts
        found = {
            term: part
            for term in terms
            if (part := parts.get(term)) is not None and part.generation == known.generation
        }
        missing = [term for term in terms if term not in found]
        if missing and self._postings_held > max(_POSTINGS_HELD, _OF_EACH * self._contents.size):
            self._let_go_of_terms()
            return self.parts(terms, selection)
        for term, part in self._found(missing, known, selection) if missing else ():
            found[term] = part
            self._postings_held += known.terms.keep(term, part)
        return [found[term] for term in terms]

    def _found(
        self, terms: Sequence[str], known: _Known, selection: Selection
    ) -> Iterator[tuple[str, Part]]:
        """Yield the parts of some terms, wherever that can be from what was known before."""
        new: list[str] = []
        by_age: dict[int, list[tuple[str, Part]]] = {}
        for term in terms:
            part = known.terms.parts.get(term)
            if part is None or part.generation not in known.steps:
                new.append(term)
            else:
                by_age.setdefault(part.generation, []).append((term, part))
        for generation, before in by_age.items():
            yield from self._gone_on(before, known.since(generation), selection)
        for term, posting in zip(new, self._contents.terms.get(new), strict=True):
            part = part_of(posting, selection)
            part.generation = known.generation
            yield term, part

    def _gone_on(
        self, before: Sequence[tuple[str, Part]], moved: Moved, selection: Selection
    ) -> Iterator[tuple[str, Part]]:
        """Yield parts of an earlier generation as they are in this one."""
        added = self._contents.terms.since(moved.size, [term for term, _ in before])
        for (term, part), later in zip(before, added, strict=True):
            yield term, part.following(later, moved, selection)

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
        if known.length is None:
            lengths = self._contents.columns["length"][selection.slots]
            known.length = int(lengths.sum(dtype="i8"))
        return known.length / selection.count

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
            known.any_vector = self._contents.vectors.any_inside(selection)
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
        columns = self._contents.columns
        codes = len(columns.vocabularies["speaker"])
        if codes == 1:
            # As in notes that nobody says: none need be looked up.
            return np.full(1, selection.count > 0)
        known = self._about(selection)
        if known.speakers is None:
            known.speakers = np.bincount(columns["speaker"][selection.slots], minlength=codes)
        heard: NDArray[np.bool_] = known.speakers > 0
        return heard

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
            known = self._known[selection] = self._begun(selection)
        return known

    def _begun(self, selection: Selection) -> _Known:
        """Return what is known of a selection that was not asked about in this generation yet."""
        past = None if selection.asked is None else self._past.get(selection.asked)
        if past is None or is_sparse(selection):
            return _Known(selection.mask, selection.generation)
        return past.following(selection, self._contents.columns)

    def _let_go_of_terms(self) -> None:
        # What else is known of selections takes little room.
        for one in [*self._known.values(), *self._past.values()]:
            one.terms = _Terms()
        self._postings_held = 0

    def _forget(self) -> None:
        self._known, self._past = {}, {}
        self._postings_held = 0
