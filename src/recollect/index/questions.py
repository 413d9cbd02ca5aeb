"""What is asked of an index: words, meaning, links, threads, and whose slot is whose.

Contents and selections come in; scores, slots and ids go out, from inside a selection only:
nothing outside may influence a number. Answers depend on the memories that are there, never on the
order or history of changes. This room changes nothing.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index import lexical, ranking
from recollect.index.speakers import Speaker

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from recollect.index.alike import Wanted
    from recollect.index.contents import Contents
    from recollect.index.graph import Gains
    from recollect.index.lexical import Lexical
    from recollect.index.selection import Selection, Selections
    from recollect.index.statistics import Statistics
    from recollect.index.threads import Turns
    from recollect.index.vectors import Nearest
    from recollect.model import Place

__all__ = ["Questions"]

# A selection of a smaller part than this is compared without what is kept for all.
_FEW_OF_ALL = 4


class Questions:
    """Answers about the contents of one index; they may be asked by many threads at once."""

    def __init__(self, contents: Contents, selections: Selections, statistics: Statistics) -> None:
        self._contents = contents
        self._selections = selections
        self._statistics = statistics

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 means there are none."""
        return self._contents.vectors.dimension

    @property
    def size(self) -> int:
        """Slots in use, dead ones included: the length of every mask and column."""
        return self._contents.size

    def places(self) -> list[Place]:
        """Return the place that each code of the column of places stands for."""
        return self._contents.columns.places.known()

    def at_places(self, name: Hashable, rule: Callable[[Place], bool]) -> NDArray[np.bool_]:
        """Return which slots are at places that fulfil a rule; its name stands for it.

        What a rule says of a place is asked once, for all indexes to come.
        """
        columns = self._contents.columns
        table = columns.places.fulfilling(name, rule)
        codes = columns["place"]
        if len(table) and table.all():
            return np.ones(len(codes), np.bool_)
        return table.take(codes) if len(table) else np.zeros(len(codes), np.bool_)

    def column(self, name: str) -> NDArray[Any]:
        """Return a column over all slots, read-only.

        confidence, decay, last_reinforced, reinforced, updated_at (microseconds since 1970),
        valid_from, valid_until (seconds since 1970 or infinite), position (-1: none), day (since
        1970, or NO_DAY), marks (bits of `analyse`), length, row_id, risky, pending, alive; and the
        codes of category, project, status, thread, speaker, superseded_by, place.
        """
        values = self._contents.columns[name]
        values.flags.writeable = False
        return values

    def code(self, name: str, value: str | None) -> int:
        """Return the number that stands for a value in a column of codes; -1 if none has it."""
        return self._contents.columns.vocabularies[name].get(value, -1)

    def values(self, name: str, slots: NDArray[np.int64]) -> list[str | None]:
        """Return what the codes of a column stand for."""
        columns = self._contents.columns
        known = columns.vocabularies[name].in_order
        return [known[code] for code in columns[name][slots].tolist()]

    def turning_point(self, moment: float) -> float | None:
        """Return when anything last began or ended; None if all that is here holds at a moment."""
        return self._selections.turning_point(moment)

    def has_successors(self) -> bool:
        """Return whether any memory may be superseded: else nobody needs to look."""
        known = self._contents.columns.vocabularies["superseded_by"]
        return len(known) > (None in known)

    def successors(self) -> NDArray[np.int64]:
        """Return where the successor of each slot lies; -1 without one, or if that is not here."""
        known = self._contents.columns.vocabularies["superseded_by"].in_order
        slots = [None if one is None else self._contents.slot_of(one) for one in known]
        table = np.array([-1 if slot is None else slot for slot in slots], dtype=np.int64)
        return table[self.column("superseded_by")] if len(table) else np.empty(0, np.int64)

    def is_lasting(self, slots: NDArray[np.int64] | slice) -> NDArray[np.bool_]:
        """Return for each of some slots whether it neither begins nor ends."""
        lasting: NDArray[np.bool_] = self.column("valid_until")[slots] == inf
        lasting &= self.column("valid_from")[slots] == -inf
        return lasting

    def pak_ids(self, slots: NDArray[np.int64]) -> list[str]:
        """Return the ids of the memories in some slots."""
        return self._contents.pak_ids.texts_at(slots)

    def slot_of(self, pak_id: str) -> int | None:
        """Return where a memory lies, or None if it is not here."""
        return self._contents.slot_of(pak_id)

    def slots_of(self, pak_ids: Iterable[str]) -> NDArray[np.int64]:
        """Return where memories lie, in the order given; those not here are left out."""
        known = (self._contents.slot_of(pak_id) for pak_id in pak_ids)
        return np.array([slot for slot in known if slot is not None], dtype=np.int64)

    def slots_of_rows(self, row_ids: Sequence[int]) -> NDArray[np.int64]:
        """Return where the rows of a store lie; those not here are left out."""
        slots = self._contents.slots_of_rows(row_ids)
        return slots[slots >= 0]

    def slots_tagged(self, patterns: Iterable[str], selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots with a tag that matches any of the patterns; ascending."""
        self._selections.check(selection)
        return self._statistics.tagged(tuple(patterns), selection)

    def best(
        self, slots: NDArray[np.int64], scores: NDArray[np.float64], keep: int
    ) -> NDArray[np.int64]:
        """Return where the `keep` best stand: score, then later update, then larger id."""
        contents = self._contents
        updated_at = contents.columns["updated_at"]
        return ranking.best(slots, scores, keep, updated_at=updated_at, pak_ids=contents.pak_ids)

    def document_frequencies(self, terms: Sequence[str], selection: Selection) -> list[int]:
        """Return how many selected memories hold each term."""
        self._selections.check(selection)
        return [part.frequency for part in self._statistics.parts(terms, selection)]

    def found(self, terms: Set[str], selection: Selection) -> dict[str, int]:
        """Return in how many selected memories each term stands, of those that stand in any.

        Most of the terms may be unknown: nothing of them is kept.
        """
        self._selections.check(selection)
        known = self._contents.terms.names.known_of(terms)
        counts = self._statistics.counts([*known.values()], selection)
        return {term: count for term, count in zip(known, counts, strict=True) if count}

    def saying(self, words: int, selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots whose content has these words in this order: `words_digest`."""
        self._selections.check(selection)
        known = self._contents.columns["words"]
        slots: NDArray[np.int64]
        if lexical.is_sparse(selection):
            slots = selection.slots[known[selection.slots] == words]
            return slots
        slots = (known == words).nonzero()[0]
        return slots[selection.mask[slots]] if len(slots) else slots

    def average_turn(self, selection: Selection) -> float:
        """Return the average length in terms of the selected turns of threads; 0 without any."""
        self._selections.check(selection)
        return self._statistics.average_turn(selection)

    def speakers_called(self, names: Iterable[str], selection: Selection) -> list[Speaker]:
        """Return who among the selected memories' speakers is called by exactly these names."""
        self._selections.check(selection)
        heard = self._statistics.heard(selection)
        codes = ((self.code("speaker", name), name) for name in names)
        return [
            Speaker(code, name, ())
            for code, name in codes
            if 0 <= code < len(heard) and heard[code]
        ]

    def average_length(self, selection: Selection) -> float:
        """Return the selected memories' average length in terms; 0 when there are none."""
        self._selections.check(selection)
        return self._statistics.average_length(selection)

    def lexical(
        self, terms: Iterable[str], selection: Selection, *, stressed: Container[str] = ()
    ) -> Lexical:
        """Score the selected memories by BM25 for some terms, each counted once."""
        self._selections.check(selection)
        distinct = sorted(set(terms))
        return lexical.score(
            distinct,
            self._statistics.parts(distinct, selection),
            self._contents.columns["length"],
            selection=selection,
            average=self._statistics.average_length(selection),
            stressed=stressed,
        )

    def turns(self, selection: Selection) -> Turns | None:
        """Return the selected memories that are turns of threads, in order; None if nobody is."""
        self._selections.check(selection)
        threads = self._contents.columns.vocabularies["thread"]
        if len(threads) == (None in threads):
            return None
        turns = self._statistics.turns(selection)
        return turns if len(turns) else None

    def speakers_named(self, spellings: Mapping[str, str], selection: Selection) -> list[Speaker]:
        """Return whom among the selected memories' speakers some words name.

        `spellings` gives each term of the words as it was written.
        """
        self._selections.check(selection)
        return self._contents.speakers.find_named(spellings, self._statistics.heard(selection))

    def any_german(self, selection: Selection) -> bool:
        """Return whether any selected memory is German."""
        self._selections.check(selection)
        return self._statistics.any_german(selection)

    def any_day(self, selection: Selection) -> bool:
        """Return whether of any selected memory it is known when it happened or was said."""
        self._selections.check(selection)
        return self._statistics.any_day(selection)

    def any_pending(self, selection: Selection) -> bool:
        """Return whether any selected memory still waits for its vector."""
        self._selections.check(selection)
        return self._statistics.any_pending(selection)

    def any_vector(self, selection: Selection) -> bool:
        """Return whether any selected memory has a vector."""
        self._selections.check(selection)
        return self._statistics.any_vector(selection)

    def has_vector(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which slots have a vector; a zero one counts as none."""
        return self._contents.vectors.has_vector(slots)

    def vectors(self, slots: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the vectors of some slots; all zeros where there is none."""
        return self._contents.vectors.rows(slots)

    def cosines(self, query: NDArray[np.int8], slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosine of each slot to a query; 0 where a slot has no vector."""
        return self._contents.vectors.cosines(query, slots)

    def cosines_inside(self, query: NDArray[np.int8], selection: Selection) -> NDArray[np.float64]:
        """Return the exact cosine of each selected slot; a small selection's are soon had again."""
        self._selections.check(selection)
        return self._contents.vectors.cosines_inside(query, selection)

    def cosines_between(self, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact cosine of each of these slots to each of them."""
        return self._contents.vectors.cosines_between(slots)

    def nearest(self, query: NDArray[np.int8], selection: Selection, keep: int) -> Nearest:
        """Return the `keep` selected slots of largest cosine, and all that tie with the last.

        Among thousands some of them may be missed (ADR-0051).
        """
        self._selections.check(selection)
        return self._contents.vectors.nearest(query, selection, keep)

    def alike(self, query: NDArray[np.int8], selection: Selection, threshold: float) -> Nearest:
        """Return all selected slots that are alike a query: of at least this cosine."""
        self._selections.check(selection)
        return self._contents.vectors.alike(query, selection, threshold)

    def alike_each(
        self,
        queries: NDArray[np.int8],
        selection: Selection,
        wanted: Wanted,
        bars: NDArray[np.float64] | None = None,
    ) -> list[Nearest]:
        """Return for each of some vectors those selected slots alike to it that matter.

        `bars` say for each slot from which cosine on a pair matters to it too.
        """
        # Who only asks looks for nobody who is alike.
        from recollect.index.alike import alike_each, that_matter

        self._selections.check(selection)
        vectors, forms = self._contents.vectors, None
        # Of few among many no more need be compared than those few.
        if selection.count * _FEW_OF_ALL >= self.size:
            forms = vectors.short_forms.of_all(vectors, looking=len(queries))
        if len(queries) == 1 and forms is None:
            near = vectors.alike(queries[0], selection, wanted.threshold)
            return [that_matter(near, wanted, None if bars is None else bars[near.slots])]
        slots = selection.slots[vectors.has_vector(selection.slots)]
        theirs = None if bars is None else bars[slots]
        return alike_each(vectors, queries, slots, wanted, theirs, forms=forms)

    def neighbours(self, slots: NDArray[np.int64], selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots one edge away from any of these, these left out; ascending."""
        self._selections.check(selection)
        return self._contents.graph.neighbours(slots, selection)

    def degrees(
        self,
        selection: Selection,
        slots: NDArray[np.int64] | None = None,
        *,
        gains: Gains | None = None,
    ) -> NDArray[np.float64]:
        """Return each slot's summed edge weights inside the selection; of all slots, or of some.

        `gains` is what use has added to them for whoever asks.
        """
        self._selections.check(selection)
        return self._contents.graph.degrees(selection, slots, gains=gains)
