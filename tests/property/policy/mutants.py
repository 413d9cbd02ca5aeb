"""Leaks, planted on purpose: each is a mistake that a memory system can easily make.

Each is a context in which the engine has that leak. A check that lets one pass is worth nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

from recollect.hours import iso
from recollect.index import facts, lexical, statistics
from recollect.index.index import MemoryIndex
from recollect.index.lexical import Part
from recollect.index.selection import Where
from recollect.model import ReceiptItem
from recollect.policy.view import View
from recollect.recall import authorise, candidates, listing, pipeline, rank, sight
from recollect.recall.sight import Sight
from recollect.stores.sqlite.versions import SqliteVersions
from recollect.verbs.receipts import Receipts

__all__ = ["CLAIMS", "LEAKS"]

Claim: TypeAlias = Callable[[], AbstractContextManager[None]]

_EVERYTHING = Where(active_only=False)
_CUT = 3


@contextmanager
def global_word_statistics() -> Iterator[None]:
    """How rare a word is gets counted in all Paks, not in those that may be read."""
    honest = lexical.part_of

    def counted(posting: Any, selection: Any) -> Part:
        return replace(honest(posting, selection), frequency=len(posting.slots))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "part_of", counted)
        yield


@contextmanager
def hidden_seed() -> Iterator[None]:
    """A hidden Pak that matches pulls in what it is linked to."""
    honest = candidates.matching

    def matching(index: MemoryIndex, question: Any, **named: Any) -> Any:
        found = honest(index, question, **named)
        everyone = index.select(_EVERYTHING)
        matched = index.lexical(question.terms, everyone).hits
        pulled = index.neighbours(matched, named["reach"])
        pulled = np.setdiff1d(pulled, found.slots)
        if not len(pulled):
            return found
        return replace(
            found,
            likeness=found.likeness.at(np.arange(len(found.slots)), pulled),
            expanded=np.concatenate([found.expanded, np.ones(len(pulled), np.bool_)]),
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "matching", matching)
        yield


@contextmanager
def path_through_a_hidden_node() -> Iterator[None]:
    """Links are followed through a Pak that may not be read, to one that may."""
    honest = MemoryIndex.neighbours

    def neighbours(self: MemoryIndex, slots: Any, selection: Any) -> Any:
        near = honest(self, slots, self.select(_EVERYTHING))
        between = near[~selection.mask[near]]
        beyond = honest(self, between, selection)
        return np.setdiff1d(np.union1d(honest(self, slots, selection), beyond), slots)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryIndex, "neighbours", neighbours)
        yield


@contextmanager
def cut_before_the_mask() -> Iterator[None]:
    """The best few are taken of all Paks; those that may not be read are left out afterwards."""
    honest = candidates.matching

    def matching(index: MemoryIndex, question: Any, **named: Any) -> Any:
        found = honest(index, question, **named)
        everyone = index.lexical(question.terms, index.select(_EVERYTHING))
        hits = everyone.hits
        first = hits[np.argsort(-everyone.scores_at(hits), kind="stable")][:_CUT]
        kept = np.flatnonzero(np.isin(found.slots, first))
        likeness = found.likeness.at(kept, np.empty(0, np.int64))
        return replace(found, likeness=likeness, expanded=found.expanded[kept])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "matching", matching)
        yield


@contextmanager
def most_used_of_all() -> Iterator[None]:
    """Uses count as a share of the most used Pak, also if it may not be read any more."""
    honest = rank._signals

    def signals(found: Any, authorised: Any, worth: Any) -> Any:
        uses = np.log1p(authorised.sight.column("reinforced").astype(np.float64))
        share = uses[found.slots] / max(float(uses.max(initial=0.0)), 1.0)
        return replace(honest(found, authorised, worth), reinforcement=share)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank, "_signals", signals)
        yield


@contextmanager
def cursor_of_a_hidden_pak() -> Iterator[None]:
    """A page ends with the last Pak that was looked at, not with the last that was shown."""
    honest = listing.page

    def page(seen: Sight, selection: Any, wanted: Any) -> Any:
        shown = honest(seen, selection, wanted)
        if shown.next_cursor is None or wanted.order != "updated":
            return shown
        index, order = seen.index, listing._Order.of(seen, wanted)
        slots = index.select(_EVERYTHING).slots
        everyone = listing._first(slots, index.size, order=order, sight=seen)
        after = everyone.index(shown.items[-1].pak_id) + 1
        last, mask = shown.items[-1], seen.select().mask
        while not mask[slot := index.slots_of([everyone[after]])[0]]:
            moment = iso(int(index.column("updated_at")[slot]) / 1e6)
            last = replace(last, pak_id=everyone[after], updated_at=moment)
            after += 1
        return replace(shown, next_cursor=order.encoded(last, wanted))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "page", page)
        yield


@contextmanager
def hidden_rival() -> Iterator[None]:
    """A dispute with a hidden Pak marks the one that may be read."""
    honest = pipeline.suppress  # type: ignore[attr-defined]

    def suppress(ranked: Any, disputes: Any) -> Any:
        settled = honest(ranked, disputes)
        known = {one.pak_id for one in ranked}
        rivals = {a for a, b in disputes if b not in known} | {
            b for a, b in disputes if a not in known
        }
        return replace(settled, kept=tuple(c for c in settled.kept if c.pak_id not in rivals))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "suppress", suppress)
        yield


@contextmanager
def others_wait_for_vectors() -> Iterator[None]:
    """An answer calls itself degraded for a hidden Pak that has no vector yet."""

    def any_pending(self: MemoryIndex, selection: Any) -> bool:
        return bool((self.column("pending") & self.column("alive")).any())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryIndex, "any_pending", any_pending)
        yield


@contextmanager
def filter_beside_the_mask() -> Iterator[None]:
    """What a filter finds is counted before it is looked at who may read it."""

    def found(self: Any, index: MemoryIndex) -> Any:
        columns = index.facts(facts.paths_of(self.tree), self.read)
        return facts.matching(self.tree, columns, index.size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sight._Matching, "__call__", found)
        yield


@contextmanager
def window_over_everything() -> Iterator[None]:
    """What a window of time left out is counted among all Paks."""
    honest = authorise._outside

    def outside(request: Any, reach: Any, seen: Sight, *where: Any) -> Any:
        told = honest(request, reach, seen, *where)
        everyone = seen.index.select(_EVERYTHING).count
        return tuple(replace(one, count=everyone - reach.count) for one in told)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(authorise, "_outside", outside)
        yield


@contextmanager
def counts_of_everything() -> Iterator[None]:
    """A listing counts what is hidden too."""
    honest = listing._counts

    def counts(seen: Sight, _: Any) -> Any:
        return honest(seen, seen.index.select(_EVERYTHING))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "_counts", counts)
        yield


@contextmanager
def garden_without_scope() -> Iterator[None]:
    """Whoever is in a garden reads it, also one of a team that it is not in."""
    honest = View._in_scope

    def in_scope(self: View, place: Any) -> bool:
        return honest(self, place) or (
            place.garden in self._gardens and place.tenant == self.tenant
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(View, "_in_scope", in_scope)
        yield


@contextmanager
def moderators_of_everywhere() -> Iterator[None]:
    """Whoever moderates sees the public quarantine of other tenants."""

    def moderates(self: View, place: Any) -> bool:
        is_moderator = (place.garden, "moderator") in self.roles
        return self.allows(place) and (self.moderates_all or is_moderator)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(View, "moderates", moderates)
        yield


def _claim(name: str, told: str, owner: type, method: str, honest: Callable[..., Any]) -> Claim:
    """Return a context in which a rule about other tenants' memories is not kept."""

    @contextmanager
    def planted() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, method, honest)
            yield

    planted.__name__, planted.__doc__ = name, told
    return planted


# What a public memory of another tenant claims beyond being known, each believed.
CLAIMS: dict[str, Claim] = {
    claim.__name__: claim
    for claim in (
        _claim(
            "guarantees_of_others",
            "Another tenant's tag guarantees a place, and keeps it from fading.",
            Sight,
            "binds",
            lambda _, slots: np.ones(len(slots), np.bool_),
        ),
        _claim(
            "orders_of_others",
            "Instructions and frames about oneself look at other tenants too.",
            View,
            "bound",
            lambda self: self,
        ),
        _claim(
            "goals_of_others",
            "Another tenant's goal is shown as one of ours.",
            View,
            "as_known",
            lambda _, memory: memory,
        ),
        _claim(
            "joins_of_others",
            "Whoever reads a public memory may link, dispute and resolve it.",
            View,
            "joins",
            lambda *_: True,
        ),
        _claim(
            "disputes_of_others",
            "A dispute counts wherever both of its ends are read.",
            View,
            "settles",
            lambda *_: True,
        ),
        moderators_of_everywhere,
    )
}


@contextmanager
def versions_of_everybody() -> Iterator[None]:
    """Whoever may read a memory is shown all that it was, wherever that was."""

    def read(self: SqliteVersions, pak_ids: Any, _view: View) -> Any:
        return honest(self, pak_ids, _ShowsAll())  # type: ignore[arg-type]

    honest = SqliteVersions.read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteVersions, "read", read)
        yield


class _ShowsAll:
    def shows(self, _memory: Any) -> bool:
        return True


@contextmanager
def hidden_successor() -> Iterator[None]:
    """What gave way to a Pak is out of answers, also to who may not read that."""

    def current(self: Any, index: MemoryIndex) -> Any:
        return sight._Readable(self.view)(index) & (index.successors() < 0)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sight._Current, "__call__", current)
        yield


@contextmanager
def name_of_a_hidden_successor() -> Iterator[None]:
    """A memory names its successor to whoever reads it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sight, "_shows", lambda _self, _successor: True)
        yield


@contextmanager
def receipts_of_everybody() -> Iterator[None]:
    """What others asked is told to all of the tenant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Receipts, "_is_admin", True)
        yield


@contextmanager
def receipts_of_what_is_hidden() -> Iterator[None]:
    """A receipt goes on naming what one may not read any more."""
    honest = Receipts._shown

    def shown(self: Receipts, kept: Any, sight: Any, **_: Any) -> Any:
        items = tuple(ReceiptItem(one.pak_id, one.score, one.part) for one in kept.items)
        return replace(honest(self, kept, sight), items=items)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Receipts, "_shown", shown)
        yield


LEAKS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    leak.__name__: leak
    for leak in (
        global_word_statistics,
        hidden_seed,
        path_through_a_hidden_node,
        cut_before_the_mask,
        most_used_of_all,
        cursor_of_a_hidden_pak,
        hidden_rival,
        others_wait_for_vectors,
        filter_beside_the_mask,
        window_over_everything,
        counts_of_everything,
        garden_without_scope,
        moderators_of_everywhere,
        versions_of_everybody,
        hidden_successor,
        name_of_a_hidden_successor,
        receipts_of_everybody,
        receipts_of_what_is_hidden,
    )
}
