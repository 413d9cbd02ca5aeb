"""The verbs that store: remember, remember_many, ingest, import.

In: what a caller passed. Out: what became of each. Whatever is stored was drafted first: put in its
place, and checked against what the caller may do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from recollect.arguments import on_conflict, superseded
from recollect.check import optional_text
from recollect.embed.text import reads_titles
from recollect.errors import InvalidInput, PakIdTaken, RequestIdReused
from recollect.model import (
    INSTRUCTION,
    Ingested,
    IngestedItem,
    Memory,
    Remembered,
    RememberRequest,
)
from recollect.model.memory import embedded_text
from recollect.policy.permit import chosen_place, need, no_garden, takes_instruct
from recollect.policy.trust import UNKNOWN_SOURCE
from recollect.policy.view import QUARANTINED
from recollect.ports.store import Commit, RowFilter, Standing
from recollect.recall.sight import StoreMoved, own_memories
from recollect.spool import Spool
from recollect.values import dataclass
from recollect.verbs import join
from recollect.verbs.change import Settling
from recollect.verbs.erase import hash_name
from recollect.verbs.requests import (
    Repeated,
    keep,
    names_in,
    plain_report,
    raise_if_repeated,
    report_from,
)
from recollect.write import transfer
from recollect.write.again import Again, Stated, again, named_in, one_each, recognised
from recollect.write.draft import (
    PLACE,
    derived_ids,
    draft,
    earlier_id,
    is_derived,
)
from recollect.write.ingest import Outside, admitted, fact_from, turned_away
from recollect.write.remember import Write, waiting_for_vectors
from recollect.write.vectors import embed_texts

if TYPE_CHECKING:
    from recollect.model import (
        IngestRequest,
        Place,
    )
    from recollect.ports.embedder import Embedder
    from recollect.ports.store import NewCommit
    from recollect.verbs.caller import Caller
    from recollect.verbs.change import Settle, Update
    from recollect.verbs.requests import (
        Request,
    )
    from recollect.write.vectors import Embeddings

__all__ = ["Ingestion", "Stored", "WriteContext", "Writer"]

_BULK = 512
# So many are taken over by the index before others see them; fewer are soon read by who asks.
_AHEAD = 32
_BESIDE = (*PLACE, "supersedes", "on_conflict")

Progress = Callable[[int, int], None]
# Given memories and where those of them stand that exist, which of them to write, by number. It is
# asked inside of the commit, and raises if nothing may be written.
Admit = Callable[[Sequence[Memory], Mapping[str, Standing], Commit], Sequence[int]]
Reports = Mapping[str, Remembered]
Stored = tuple[Memory, Remembered]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What one call writes with: its time, and the places that were looked up for it."""

    now: str
    place: Callable[[str | None, str | None, str | None], Place]
    request: Request | None = None

    def part(self, number: int) -> WriteContext:
        """Return the same for a part that is committed by itself.

        The first has the request's own name: so another request of that name is told.
        """
        if self.request is None or number == 0:
            return self
        return replace(self, request=self.request.part(f"part {number}"))


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms memories are stored: which of them, and what the audit log says of it.

    `kept` returns what is kept of a part, one for each memory in it, and `again` what that means
    for the same memories when the request is repeated. `settle` looks at others before they are
    written, and says what follows for those once they are.
    """

    admit: Admit
    kept: Callable[[Sequence[Memory], Reports], list[Any]]
    again: Callable[[Sequence[Memory], list[Any]], dict[str, Remembered]]
    note: Callable[[int], None] | None = None
    settle: Callable[[Mapping[str, Memory], Commit], Settle | None] | None = None


class Writer:
    """Stores for one caller."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._open_store = caller.open_store
        self._principal = caller.principal

    def context(self, now: str | None = None, request: Request | None = None) -> WriteContext:
        """Return the moment at which things are stored, and for which request."""
        return WriteContext(
            self._open_store.time_of_writing(now), functools.cache(self.place), request
        )

    def draft(self, context: WriteContext, arguments: Mapping[str, Any]) -> RememberRequest:
        """Return the memory that the arguments of `remember` describe, checked."""
        wanted = self._drafted(context, arguments)
        if takes_instruct(wanted.memory):
            need(self._principal, "instruct")
        return wanted

    def draft_one_of_many(
        self, context: WriteContext, arguments: Mapping[str, Any]
    ) -> RememberRequest:
        """Do the same for one of many, and let whoever is being answered just now come first."""
        self._open_store.give_way()
        return self.draft(context, arguments)

    def _drafted(self, context: WriteContext, arguments: Mapping[str, Any]) -> RememberRequest:
        need(self._principal, "write")
        scope, team, garden = (optional_text(name, arguments.get(name)) for name in PLACE)
        memory = draft(
            {name: value for name, value in arguments.items() if name not in _BESIDE},
            place=context.place(scope, team, garden),
            now=context.now,
        )
        self._check_id(arguments.get("pak_id"), memory)
        return RememberRequest(
            arguments,
            memory,
            superseded(arguments.get("supersedes")),
            on_conflict(arguments.get("on_conflict", "report")),
        )

    def draft_line(
        self, context: WriteContext, wanted: transfer.Line | Mapping[str, Any]
    ) -> RememberRequest:
        """Return the same for a line of an export.

        A guarantee that the caller may not give waits for a moderator, like one from outside.
        """
        drafted = self._drafted(context, self._arguments_of(wanted))
        memory = drafted.memory
        if memory.category == INSTRUCTION:
            need(self._principal, "instruct")
        if not takes_instruct(memory) or "instruct" in self._principal.permissions:
            return drafted
        return replace(drafted, memory=replace(memory, status=QUARANTINED))

    def _arguments_of(self, wanted: transfer.Line | Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(wanted, transfer.Line):
            return wanted
        given = transfer.arguments(wanted.fields)
        if is_derived(given.get("pak_id")) and not self._is_admin:
            return {**given, "pak_id": None}
        return given

    def store(self, context: WriteContext, wanted: RememberRequest) -> Remembered:
        """Store one text."""
        ((_, report),) = self._store([_stated(wanted)], context, self._own_terms([wanted]))
        return report

    def update(self, context: WriteContext, change: Update, wanted: RememberRequest) -> Remembered:
        """Store a memory in the place of what it was, unless somebody was faster."""
        pak_id = wanted.memory.pak_id

        def admit(memories: Sequence[Memory], _: object, commit: Commit) -> Sequence[int]:
            change.need_unchanged(commit)
            return range(len(memories))

        note = functools.partial(self._note_act, "update", hash_name(pak_id), "")
        terms = Terms(
            admit, _kept_reports, _said_before, lambda _: note(), lambda *_: change.report
        )
        ((_, report),) = self._store([Stated(wanted.memory)], context, terms)
        return report

    def store_each(
        self, context: WriteContext, wanted: Sequence[RememberRequest], progress: Progress | None
    ) -> Iterator[Remembered]:
        """Store many, and yield what became of each as soon as it is durable."""
        stated = [_stated(one) for one in wanted]
        stored = self._store_all(stated, context, self._own_terms(wanted), progress)
        return (report for _, report in stored)

    def ingestion(self, context: WriteContext, wanted: IngestRequest, place: Place) -> Ingestion:
        """Return what there is to do about facts from outside."""
        self._open_store.check_open()
        trusts = self._caller.store.access.trusts(place.tenant)
        trust = trusts.get(wanted.source, UNKNOWN_SOURCE)
        outside = Outside(wanted.source, trust, place, context.now)
        return Ingestion(wanted.facts, outside)

    def ingest(self, context: WriteContext, ingestion: Ingestion) -> Iterator[Stored]:
        """Store those facts from outside that can be taken, and yield them."""
        source, count = ingestion.outside.source, len(ingestion.drafts)
        terms = Terms(
            ingestion.admit,
            ingestion.kept,
            ingestion.again,
            note=lambda stored: self._note_act("ingest", source, f"{stored} of {count}"),
        )
        stated = [Stated(memory) for memory in ingestion.memories()]
        return self._store_all(stated, context, terms)

    def restore_each(
        self,
        context: WriteContext,
        export: transfer.Export,
        wanted: Iterable[RememberRequest],
        progress: Progress | None,
    ) -> Iterator[Remembered]:
        """Store what an export holds, and yield what became of each."""
        stated = Spool(self._as_imported(export, wanted))
        terms = self._own_terms(
            note=lambda stored: self._note_act(
                "import", "export", f"{stored} of {len(stated)} memories"
            )
        )
        return (report for _, report in self._store_all(stated, context, terms, progress))

    def _as_imported(
        self, export: transfer.Export, wanted: Iterable[RememberRequest]
    ) -> Iterator[Stated]:
        """Yield memories as an admin brings them back; anybody else makes them its own."""
        if not self._is_admin:
            yield from map(_stated, wanted)
            return
        last_use = transfer.last_use(export)
        for line, one in zip(export.memories, wanted, strict=True):
            restored = functools.partial(transfer.restored, one.memory, last_use=last_use)
            yield Stated(transfer.read_at(line, restored))

    def rejoin_each(
        self, request: Request | None, joins: Collection[transfer.Join]
    ) -> Iterator[transfer.Join]:
        """Join what an import stored as it was joined elsewhere, and yield each."""
        for number, part in enumerate(_slices(joins)):
            its = None if request is None else request.part(f"joins {number}")
            with suppress(Repeated), self._open_store.commit():
                raise_if_repeated(its)
                join.rejoin(self._caller, part)
                self._note_act(
                    "import", "export", f"{len(part)} of {len(joins)} links and disputes"
                )
                keep(its, None, names=(end for one in part for end in one.ends))
            yield from part

    def place(self, scope: str | None, team: str | None, garden: str | None) -> Place:
        """Return where the caller's new memories go."""
        if garden is None:
            return chosen_place(self._principal, scope=scope, team=team)
        if not isinstance(garden, str):
            raise no_garden(garden)
        tenant, access = self._principal.tenant, self._caller.store.access
        with self._open_store.snapshot():
            role = self._open_store.roles_of(self._principal).get(garden)
            known = access.gardens(tenant, slug=garden).get(garden)
        if role is None or known is None:
            raise no_garden(garden)
        return chosen_place(self._principal, scope=scope, team=team, garden=known, role=role)

    @property
    def _is_admin(self) -> bool:
        return "admin" in self._principal.permissions

    def _check_id(self, given: object, memory: Memory) -> None:
        """Refuse an id made from another text: asking would tell whether that is there.

        An admin may look after everything of its tenant, and bring back what was exported.
        """
        if not is_derived(given) or self._is_admin:
            return
        is_known = self._caller.sight().may_read(memory.pak_id)
        if memory.pak_id not in derived_ids(memory) and not is_known:
            raise _id_taken(memory.pak_id)

    def _own_terms(
        self,
        wanted: Sequence[RememberRequest] = (),
        *,
        note: Callable[[int], None] | None = None,
    ) -> Terms:
        by_id = {one.memory.pak_id: one for one in wanted}
        settle = Settling(self._caller, by_id) if wanted else None
        return Terms(self._admit_own, _kept_reports, _said_before, note, settle)

    def _store_all(
        self,
        stated: Collection[Stated],
        context: WriteContext,
        terms: Terms,
        progress: Progress | None = None,
    ) -> Iterator[Stored]:
        """Store memories, a few hundred a transaction, each with its note; yield those admitted."""
        if not stated and terms.note is not None:
            self._note_nothing(context.part(0), terms.note)
        done = 0
        for number, part in enumerate(_slices(stated)):
            stored = self._store(part, context.part(number), terms)
            done += len(stored)
            if progress is not None:
                progress(done, len(stated))
            self._open_store.give_way()
            yield from stored

    def _note_nothing(self, context: WriteContext, note: Callable[[int], None]) -> None:
        with suppress(Repeated), self._open_store.commit():
            raise_if_repeated(context.request)
            note(0)
            keep(context.request, [])

    def _store(self, stated: Sequence[Stated], context: WriteContext, terms: Terms) -> list[Stored]:
        """Store a slice of memories in one transaction; return what became of each admitted.

        Several with one id are one; the report on the first says whether it is new. They are
        embedded while others have their turn.
        """
        latest = one_each(stated)
        try:
            raise_if_repeated(context.request)
            reports = self._embed_and_commit(latest, context, terms)
        except Repeated as repeated:
            reports = terms.again([one.memory for one in latest], repeated.answer)
        done = []
        for memory in (one.memory for one in stated):
            if memory.pak_id in reports:
                done.append((memory, reports[memory.pak_id]))
                if len(latest) < len(stated):
                    reports[memory.pak_id] = replace(reports[memory.pak_id], created=False)
        return done

    def _embed_and_commit(
        self, stated: Sequence[Stated], context: WriteContext, terms: Terms
    ) -> dict[str, Remembered]:
        open_store = self._open_store
        open_store.check_open()
        while True:
            # What was known when the index was last looked at; the commit looks again.
            state = open_store.follower.state
            open_store.check_model(state)
            embedder = open_store.embedder
            with_titles = reads_titles(state.model_id)
            texts = [
                embedded_text(one.memory.title, one.memory.content, with_title=with_titles)
                for one in stated
            ]
            embedded = embed_texts(embedder, texts, dimension=state.dimension)
            open_store.give_way()
            # Who re-embedded the store meanwhile has made these vectors useless.
            with suppress(StoreMoved):
                return self._commit(
                    stated,
                    functools.partial(open_store.commit_vectors, embedder, with_titles=with_titles),
                    embedder,
                    embedded,
                    context,
                    terms,
                )

    def _commit(
        self,
        stated: Sequence[Stated],
        commit_vectors: NewCommit,
        embedder: Embedder,
        embedded: Embeddings,
        context: WriteContext,
        terms: Terms,
    ) -> dict[str, Remembered]:
        """Write what is admitted, and note it, in one transaction."""
        open_store, store = self._open_store, self._open_store.store
        if open_store.links and not open_store.follower.is_loaded:
            # What takes long is done before others have to wait for the commit.
            open_store.current()
        with ExitStack() as when_committed, commit_vectors() as commit:
            self._caller.need_living_key()
            raise_if_repeated(context.request)
            known = store.memories.standing(RowFilter(pak_ids=_ids_of(stated)))
            open_store.give_way()
            found = self._as_they_are(stated, known)
            memories = [one.memory for one in found]
            numbers = terms.admit(memories, _of(known, memories), commit)
            hours = open_store.active_hours(commit)
            # What an import brings back was used some hours before; all else is used just now.
            admitted = [
                replace(one, last_reinforced=round(hours + one.last_reinforced, 9))
                for one in (memories[number] for number in numbers)
            ]
            self._need_gardens(admitted)
            write = Write(
                store=store,
                embedder=embedder,
                before=open_store.follower.before,
                links=open_store.links,
                commit=commit,
                by=self._principal.id,
            )
            names = [stated[number].memory.pak_id for number in numbers]
            settle = terms.settle and terms.settle(dict(zip(names, admitted, strict=True)), commit)
            open_store.give_way()
            reports = write.write(admitted, embedded.of(numbers), known) if admitted else ()
            if terms.note is not None:
                terms.note(len(admitted))
            done = {
                stated[number].memory.pak_id: replace(
                    report, kept=found[number].kept, changed=found[number].changed
                )
                for number, report in zip(numbers, reports, strict=True)
            }
            if settle is not None:
                done = settle(done)
            if context.request is not None:
                drafted = [one.memory for one in stated]
                named = {name for one in done.values() for name in names_in(one)}
                named.update(one.pak_id for one in drafted)
                context.request.keep(terms.kept(drafted, done), named)
            tenant, owner = self._principal.tenant, self._principal.id
            some_wait = embedded.error is None and bool(waiting_for_vectors(store, tenant))
            if len(admitted) >= _AHEAD:
                when_committed.enter_context(open_store.follower.ahead_of(commit))
        open_store.embedder_error = embedded.error
        if open_store.links:
            open_store.follower.keep_up()
        if some_wait:
            open_store.fill_pending(tenant, owner=owner)
        return done

    def _as_they_are(self, stated: Sequence[Stated], known: Mapping[str, Standing]) -> list[Again]:
        """Return what to write, given the same texts as the caller stored them before."""
        earlier = own_memories(self._caller.store, self._principal, known) if known else {}
        return [
            self._as_it_is(one, earlier.get(one.memory.pak_id))
            for one in recognised(stated, earlier)
        ]

    def _as_it_is(self, stated: Stated, before: Memory | None) -> Again:
        if before is None:
            return Again(stated.memory)
        now = again(stated, before)
        if takes_instruct(now.memory) and not takes_instruct(before):
            need(self._principal, "instruct")
        place = now.memory.place
        if place != stated.memory.place:
            self.place(place.scope, place.team, place.garden)
        return now

    def _need_gardens(self, memories: Iterable[Memory]) -> None:
        """Refuse what would go to a garden that is gone by now, or where the caller lost its role.

        Asked inside of the transaction: nobody can take either away until it is written.
        """
        places = (memory.place for memory in memories if memory.place.garden is not None)
        for place in dict.fromkeys((one.scope, one.team, one.garden) for one in places):
            self.place(*place)

    def _admit_own(
        self, memories: Sequence[Memory], known: Mapping[str, Standing], _: Commit
    ) -> Sequence[int]:
        """Admit everything, and refuse to write over what is not the caller's own.

        What was let in before would stay so: what has to wait does not take its place.
        """
        own = (self._principal.tenant, self._principal.id)
        for pak_id, standing in known.items():
            if (standing.place.tenant, standing.place.owner) != own:
                raise _id_taken(pak_id)
        for memory in memories:
            if memory.status == QUARANTINED and memory.pak_id in known:
                need(self._principal, "instruct")
        return range(len(memories))

    def _note_act(self, act: str, target: str, detail: str) -> None:
        self._open_store.note(self._principal, act, target, detail)


class Ingestion:
    """Facts of a peer: which are taken in, and what became of each."""

    def __init__(self, facts: Iterable[object], outside: Outside) -> None:
        self.outside = outside
        self.drafts = [_fact_or_refusal(item, outside) for item in facts]
        self._items: dict[str, IngestedItem] = {}

    def memories(self) -> list[Memory]:
        """Return those that describe a memory."""
        return [draft for draft in self.drafts if isinstance(draft, Memory)]

    def admit(
        self, memories: Sequence[Memory], known: Mapping[str, Standing], _: Commit
    ) -> Sequence[int]:
        """Return the numbers of those that are written, given what is known of them by now."""
        return [
            number
            for number, memory in enumerate(memories)
            if self._admits(memory, known.get(memory.pak_id))
        ]

    def kept(self, memories: Sequence[Memory], _: Reports) -> list[Any]:
        """Return what is kept of what became of them: no words of theirs, refused or not."""
        items = (self._items[memory.pak_id] for memory in memories)
        return [[one.state, one.pak_id] for one in items]

    def again(self, memories: Sequence[Memory], kept: list[Any]) -> dict[str, Remembered]:
        """Know of memories what became of them the first time; none of them is stored now."""
        for memory, (state, pak_id) in zip(*_alike(memories, kept), strict=True):
            self._items[memory.pak_id] = (
                _refused(turned_away()) if pak_id is None else IngestedItem(state, pak_id)
            )
        return {}

    def answer(self) -> Ingested:
        """Return what became of each, once they are stored."""
        return Ingested(
            tuple(
                self._items[draft.pak_id] if isinstance(draft, Memory) else draft
                for draft in self.drafts
            )
        )

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


def _stated(wanted: RememberRequest) -> Stated:
    return Stated(wanted.memory, named_in(wanted.arguments))


def _ids_of(stated: Sequence[Stated]) -> tuple[str, ...]:
    """Return the ids that memories have, or have from before."""
    memories = [one.memory for one in stated]
    earlier = filter(None, map(earlier_id, memories))
    return (*(memory.pak_id for memory in memories), *earlier)


def _of(known: Mapping[str, Standing], memories: Iterable[Memory]) -> dict[str, Standing]:
    names = (memory.pak_id for memory in memories)
    return {name: known[name] for name in names if name in known}


def _fact_or_refusal(item: object, outside: Outside) -> Memory | IngestedItem:
    try:
        return fact_from(item, outside)
    except InvalidInput as error:
        return _refused(error)


def _refused(error: InvalidInput) -> IngestedItem:
    return IngestedItem("refused", None, error.message, error.hint)


def _kept_reports(memories: Sequence[Memory], reports: Reports) -> list[Any]:
    return [plain_report(reports[memory.pak_id]) for memory in memories]


def _said_before(memories: Sequence[Memory], kept: list[Any]) -> dict[str, Remembered]:
    """Return what was reported of the same memories before, whatever ids they have by now."""
    return {
        memory.pak_id: report_from(one) for memory, one in zip(*_alike(memories, kept), strict=True)
    }


def _alike(memories: Sequence[Memory], kept: list[Any]) -> tuple[Sequence[Memory], list[Any]]:
    if len(memories) != len(kept):
        raise RequestIdReused(
            "hooks made other memories of this request than the first time; nothing was written.",
            hint="send it under another request id.",
        )
    return memories, kept


def _slices(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    left = iter(items)
    return iter(lambda: list(islice(left, _BULK)), [])


def _id_taken(pak_id: str) -> PakIdTaken:
    return PakIdTaken(
        f"the id {pak_id!r:.80} cannot be had.", hint="choose another pak_id, or leave it out."
    )
