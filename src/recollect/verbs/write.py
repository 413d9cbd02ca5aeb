"""The verbs that store: remember, remember_many, ingest, import.

In: what a caller passed. Out: what became of each. Whatever is stored was drafted first: put in its
place, checked against what the caller may do, and shown to the hooks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect import asked
from recollect.check import optional_text
from recollect.errors import InvalidInput, PakIdTaken
from recollect.hooks import HookDenied
from recollect.hooks.dispatcher import Touch
from recollect.model import INSTRUCTION, Ingested, IngestedItem, Memory, Place, Remembered
from recollect.policy.permit import chosen_place, need, no_garden
from recollect.policy.trust import UNKNOWN_SOURCE
from recollect.ports.store import ClockState, Standing
from recollect.verbs import join
from recollect.verbs.caller import Caller
from recollect.write import transfer
from recollect.write.draft import ARGUMENTS, derived_id, draft, is_derived
from recollect.write.ingest import Outside, admitted, fact_from
from recollect.write.remember import remember

__all__ = ["ARGUMENTS_AND_PLACE", "Writer"]

_BULK = 512
_PLACE = ("scope", "team", "garden")
ARGUMENTS_AND_PLACE = (*ARGUMENTS, *_PLACE)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Occasion:
    """When things are stored, and which places were looked up for them."""

    now: str
    clock: ClockState
    place: Callable[[str | None, str | None, str | None], Place]


class Writer:
    """Stores for one caller."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._opened = caller.opened
        self._principal = caller.principal

    def remember(self, arguments: Mapping[str, Any], now: str | None) -> Remembered:
        """Store one text."""
        occasion = self._occasion(now)
        memory, touch = self._draft(arguments, occasion)
        return _told(self._store([memory], occasion)[0], touch)

    def remember_many(
        self, items: object, now: str | None, progress: Progress | None
    ) -> list[Remembered]:
        """Store many, each checked before the first is written."""
        occasion = self._occasion(now)
        drafts = []
        for number, item in enumerate(asked.listed(items)):
            try:
                drafts.append(self._draft(asked.arguments(item), occasion))
            except InvalidInput as error:
                raise InvalidInput(f"item {number}: {error.message}", hint=error.hint) from error
            except HookDenied as error:
                raise error.of_item(number) from error
        done = self._store_all([memory for memory, _ in drafts], occasion, progress)
        return [_told(report, touch) for report, (_, touch) in zip(done, drafts, strict=True)]

    def ingest(self, facts: Sequence[object], *, source: str, place: Place) -> Ingested:
        """Store facts from outside; what cannot be taken is reported."""
        occasion = self._occasion()
        taken: list[Memory] = []
        reports: list[IngestedItem] = []
        with self._opened.turn():
            trust = self._caller.store.access.trusts(place.tenant).get(source, UNKNOWN_SOURCE)
            outside = Outside(source, trust, place, occasion.now, occasion.clock.active_hours)
            for item in facts:
                try:
                    memory = fact_from(item, outside)
                    known = self._caller.store.standing([memory.pak_id]).get(memory.pak_id)
                    admit = admitted(memory, known)
                except InvalidInput as error:
                    reports.append(IngestedItem("refused", None, error.message, error.hint))
                    continue
                taken += [] if admit is None else [admit]
                held = (known or memory).status != "active"
                reports.append(IngestedItem("quarantined" if held else "accepted", memory.pak_id))
            self._store_all(taken, occasion)
            self._note("ingest", source, f"{len(taken)} of {len(reports)}")
        return Ingested(tuple(reports))

    def import_(self, lines: Iterable[str], progress: Progress | None) -> list[Remembered]:
        """Store what an export holds, then join it as it was."""
        occasion = self._occasion()
        with self._opened.turn():
            done = transfer.imported(
                transfer.parsed(lines),
                draft=lambda fields: self._restored(fields, occasion),
                remember=lambda memories: self._store_all(memories, occasion, progress),
                link=self._link,
                dispute=functools.partial(join.dispute, self._caller, known=True),
            )
            self._note("import", "export", f"{len(done)} Paks")
            return done

    def place(self, scope: str | None, team: str | None, garden: str | None) -> Place:
        """Return where the caller's new Paks go."""
        if garden is None:
            return chosen_place(self._principal, scope=scope, team=team)
        tenant, access = self._principal.tenant, self._caller.store.access
        with self._opened.turn():
            role = access.roles_of(tenant, self._principal.id).get(garden)
            known = access.garden(tenant, garden)
        if role is None or known is None:
            raise no_garden(garden)
        return chosen_place(self._principal, scope=scope, team=team, garden=known, role=role)

    def _occasion(self, now: str | None = None) -> _Occasion:
        stamp, clock = self._opened.times(now)
        return _Occasion(stamp, clock, functools.cache(self.place))

    def _draft(self, arguments: Mapping[str, Any], occasion: _Occasion) -> tuple[Memory, Touch]:
        """Return the memory that the arguments describe, once checked and as the hooks left it."""
        memory = self._checked(arguments, occasion)
        touch = self._opened.dispatcher.remember(memory)
        if touch.delta:
            memory = self._checked({**arguments, **touch.delta}, occasion)
        return memory, touch

    def _checked(self, arguments: Mapping[str, Any], occasion: _Occasion) -> Memory:
        need(self._principal, "write")
        scope, team, garden = (optional_text(name, arguments.get(name)) for name in _PLACE)
        memory = draft(
            {name: value for name, value in arguments.items() if name not in _PLACE},
            place=occasion.place(scope, team, garden),
            now=occasion.now,
            active_hours=occasion.clock.active_hours,
        )
        if memory.category == INSTRUCTION:
            need(self._principal, "instruct")
        self._check_id(arguments.get("pak_id"), memory)
        return memory

    def _check_id(self, given: object, memory: Memory) -> None:
        """Refuse an id made from another text: asking would tell whether that is there.

        An admin may look after everything of its tenant, and bring back what was exported.
        """
        if not is_derived(given) or "admin" in self._principal.permissions:
            return
        if memory.pak_id != derived_id(memory) and not self._caller.sight().may_read(memory.pak_id):
            raise _taken(memory.pak_id)

    def _restored(self, fields: Mapping[str, Any], occasion: _Occasion) -> Memory:
        faithful = "admin" in self._principal.permissions
        given = transfer.arguments(fields)
        if is_derived(given.get("pak_id")) and not faithful:
            given = {**given, "pak_id": None}
        memory, _ = self._draft(given, occasion)
        return transfer.restored(memory, fields, faithful=faithful)

    def _link(self, pak_id: str, other: str, weight: float, automatic: bool) -> None:
        stored = functools.partial(join.relinked, self._caller, pak_id, other, automatic=automatic)
        self._opened.dispatcher.link(pak_id, other, weight, stored)

    def _store_all(
        self, memories: Sequence[Memory], occasion: _Occasion, progress: Progress | None = None
    ) -> list[Remembered]:
        """Store memories, a few hundred a transaction."""
        done: list[Remembered] = []
        for start in range(0, len(memories), _BULK):
            done += self._store(memories[start : start + _BULK], occasion)
            if progress is not None:
                progress(len(done), len(memories))
        return done

    def _store(self, memories: Sequence[Memory], occasion: _Occasion) -> Sequence[Remembered]:
        opened = self._opened
        with opened.turn():
            opened.check_model(opened.store.state())
            if opened.links:
                # What takes long is done before others have to wait for the transaction.
                opened.follower.current()
            batch = remember(
                memories,
                store=opened.store,
                embedder=opened.embedder,
                before=opened.follower.before,
                links=opened.links,
                clock=occasion.clock,
                now=occasion.now,
                may_replace=self._may_replace,
            )
            opened.embedder_error = batch.error
            if batch.error is None:
                opened.fill_pending()
            opened.dispatcher.remembered(memories, batch.remembered)
            return batch.remembered

    def _may_replace(self, pak_id: str, standing: Standing) -> None:
        """Refuse to write over what is not the caller's own."""
        place = standing.place
        if (place.tenant, place.owner) == (self._principal.tenant, self._principal.id):
            return
        raise _taken(pak_id)

    def _note(self, act: str, target: str, detail: str) -> None:
        with self._opened.administering(self._principal, act, target, detail):
            pass


def _told(report: Remembered, touch: Touch) -> Remembered:
    """Return a report with what hooks had to do with it."""
    return replace(report, meta=touch.report()) if touch.runs else report


def _taken(pak_id: str) -> PakIdTaken:
    return PakIdTaken(
        f"the id {pak_id!r:.80} cannot be had.", hint="choose another pak_id, or leave it out."
    )
