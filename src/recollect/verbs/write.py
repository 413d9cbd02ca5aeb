"""The verbs that store: remember, remember_many, ingest, import.

In: what a caller passed. Out: what became of each. Whatever is stored was drafted first: put in its
place, checked against what the caller may do, and shown to the hooks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

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
from recollect.write.remember import Write
from recollect.write.vectors import Embeddings, embed_texts

__all__ = ["ARGUMENTS_AND_PLACE", "Writer"]

_BULK = 512
_PLACE = ("scope", "team", "garden")
ARGUMENTS_AND_PLACE = (*ARGUMENTS, *_PLACE)

Progress = Callable[[int, int], None]
# Given memories and where those of them stand that exist, which of them to write, by number. It is
# asked inside of the transaction, and raises if nothing may be written.
Admit = Callable[[Sequence[Memory], Mapping[str, Standing]], Sequence[int]]
Item = TypeVar("Item")


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
        with self._opened.turn():
            trust = self._caller.store.access.trusts(place.tenant).get(source, UNKNOWN_SOURCE)
        outside = Outside(source, trust, place, occasion.now, occasion.clock.active_hours)
        admission = _Admission()
        drafts = [admission.draft(item, outside) for item in facts]
        self._store_all(
            [draft for draft in drafts if isinstance(draft, Memory)],
            occasion,
            admit=admission.admit,
            note=lambda stored: self._note("ingest", source, f"{stored} of {len(facts)}"),
        )
        return Ingested(tuple(map(admission.report, drafts)))

    def import_(self, lines: Iterable[str], progress: Progress | None) -> list[Remembered]:
        """Store what an export holds, then join it as it was."""
        occasion = self._occasion()
        memories, joins = transfer.drafted(
            transfer.parsed(lines), lambda fields: self._restored(fields, occasion)
        )
        joins = list(map(self._weighed, joins))
        done = self._store_all(
            memories,
            occasion,
            progress,
            note=lambda stored: self._note(
                "import", "export", f"{stored} of {len(memories)} memories"
            ),
        )
        for part in _slices(joins):
            with self._opened.turn(), self._opened.writing():
                join.rejoin(self._caller, part)
                self._note("import", "export", f"{len(part)} of {len(joins)} links and disputes")
            for one in part:
                if one.kind == "link":
                    self._opened.dispatcher.linked(*one.ends, one.weight)
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

    def _weighed(self, join: transfer.Join) -> transfer.Join:
        """Return what a line joins, as the hooks left it."""
        if join.kind != "link":
            return join
        return replace(join, weight=self._opened.dispatcher.before_link(*join.ends, join.weight))

    def _store_all(
        self,
        memories: Sequence[Memory],
        occasion: _Occasion,
        progress: Progress | None = None,
        *,
        admit: Admit | None = None,
        note: Callable[[int], None] | None = None,
    ) -> list[Remembered]:
        """Store memories, a few hundred a transaction, each with its note."""
        done: list[Remembered] = []
        if not memories and note is not None:
            with self._opened.turn(), self._opened.writing():
                note(0)
        for part in _slices(memories):
            done += self._store(part, occasion, admit=admit, note=note)
            if progress is not None:
                progress(len(done), len(memories))
        return done

    def _store(
        self,
        memories: Sequence[Memory],
        occasion: _Occasion,
        *,
        admit: Admit | None = None,
        note: Callable[[int], None] | None = None,
    ) -> list[Remembered]:
        """Store a slice of memories in one transaction; return what became of each admitted.

        Of several with one id the last counts; the report on the first says whether it is new.
        They are embedded, and hooks are told of them, while others have their turn.
        """
        latest = {memory.pak_id: memory for memory in memories}
        reports = self._written(list(latest.values()), occasion, admit or self._own, note)
        stored = [memory for memory in memories if memory.pak_id in reports]
        done = []
        for memory in stored:
            done.append(reports[memory.pak_id])
            reports[memory.pak_id] = replace(done[-1], created=False)
        if self._opened.embedder_error is None:
            self._opened.fill_pending()
        self._opened.dispatcher.remembered(stored, done)
        return done

    def _written(
        self,
        memories: Sequence[Memory],
        occasion: _Occasion,
        admit: Admit,
        note: Callable[[int], None] | None,
    ) -> dict[str, Remembered]:
        opened = self._opened
        while True:
            with opened.turn():
                state = opened.store.state()
                opened.check_model(state)
                embedder = opened.embedder
            texts = [memory.content for memory in memories]
            embedded = embed_texts(embedder, texts, dimension=state.dimension)
            with opened.turn():
                # Who re-embedded the store meanwhile has made these vectors useless.
                if opened.embedder is embedder:
                    return self._commit(memories, embedded, occasion, admit, note)

    def _commit(
        self,
        memories: Sequence[Memory],
        embedded: Embeddings,
        occasion: _Occasion,
        admit: Admit,
        note: Callable[[int], None] | None,
    ) -> dict[str, Remembered]:
        """Write what is admitted, and note it, in one transaction."""
        opened, store = self._opened, self._opened.store
        if opened.links:
            # What takes long is done before others have to wait for the transaction.
            opened.follower.current()
        with store.transaction() as revision:
            store.set_clock(occasion.clock)
            known = store.standing(memory.pak_id for memory in memories)
            numbers = admit(memories, known)
            admitted = [memories[number] for number in numbers]
            self._need_gardens(admitted)
            write = Write(
                store=store,
                embedder=opened.embedder,
                before=opened.follower.before,
                links=opened.links,
                now=occasion.now,
                revision=revision,
            )
            reports = write.write(admitted, embedded.of(numbers), known) if admitted else ()
            if note is not None:
                note(len(admitted))
        opened.embedder_error = embedded.error
        return {memory.pak_id: one for memory, one in zip(admitted, reports, strict=True)}

    def _need_gardens(self, memories: Iterable[Memory]) -> None:
        """Refuse what would go to a garden that is gone by now, or where the caller lost its role.

        Asked inside of the transaction: nobody can take either away until it is written.
        """
        for place in dict.fromkeys(replace(memory.place, owner="") for memory in memories):
            if place.garden is not None:
                self.place(place.scope, place.team, place.garden)

    def _own(self, memories: Sequence[Memory], known: Mapping[str, Standing]) -> Sequence[int]:
        """Admit everything, and refuse to write over what is not the caller's own."""
        own = (self._principal.tenant, self._principal.id)
        for pak_id, standing in known.items():
            if (standing.place.tenant, standing.place.owner) != own:
                raise _taken(pak_id)
        return range(len(memories))

    def _note(self, act: str, target: str, detail: str) -> None:
        self._opened.note(self._principal, act, target, detail)


class _Admission:
    """Which facts of a peer are taken in, and what became of each."""

    def __init__(self) -> None:
        self._items: dict[str, IngestedItem] = {}

    def draft(self, item: object, outside: Outside) -> Memory | IngestedItem:
        """Return the memory that an item describes, or what is wrong with it."""
        try:
            return fact_from(item, outside)
        except InvalidInput as error:
            return _refused(error)

    def admit(self, memories: Sequence[Memory], known: Mapping[str, Standing]) -> Sequence[int]:
        """Return the numbers of those that are written, given what is known of them by now."""
        return [
            number
            for number, memory in enumerate(memories)
            if self._admits(memory, known.get(memory.pak_id))
        ]

    def report(self, draft: Memory | IngestedItem) -> IngestedItem:
        """Return what became of an item."""
        return self._items[draft.pak_id] if isinstance(draft, Memory) else draft

    def _admits(self, memory: Memory, known: Standing | None) -> bool:
        held = (known or memory).status != "active"
        try:
            written = admitted(memory, known)
        except InvalidInput as error:
            self._items[memory.pak_id] = _refused(error)
            return False
        state: Literal["quarantined", "accepted"] = "quarantined" if held else "accepted"
        self._items[memory.pak_id] = IngestedItem(state, memory.pak_id)
        return written is not None


def _refused(error: InvalidInput) -> IngestedItem:
    return IngestedItem("refused", None, error.message, error.hint)


def _slices(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _BULK] for start in range(0, len(items), _BULK))


def _told(report: Remembered, touch: Touch) -> Remembered:
    """Return a report with what hooks had to do with it."""
    return replace(report, meta=touch.report()) if touch.runs else report


def _taken(pak_id: str) -> PakIdTaken:
    return PakIdTaken(
        f"the id {pak_id!r:.80} cannot be had.", hint="choose another pak_id, or leave it out."
    )
