"""`Recollect`: the front door, bound to one principal: a table of its verbs.

In: a caller's words. Out: frozen values. A verb checks what was passed, lets the hooks speak, and
calls what does it, in `recollect.verbs`. The clock, the embedder and randomness
come in here and are passed down; nothing below reads them for itself.
"""

from __future__ import annotations

import functools
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from recollect import arguments
from recollect.check import optional_text
from recollect.embed import load_embedder
from recollect.errors import InvalidInput, NotAllowed
from recollect.frames.registry import FrameRegistry
from recollect.hours import HoursMode, iso
from recollect.model import RecallRequest
from recollect.opening import Choices, SystemClock, open_caller
from recollect.policy.permit import need
from recollect.policy.sanitizer import SanitizerMode
from recollect.recall.pack import count_tokens
from recollect.settings import RECEIPT_DAYS, check_platform
from recollect.verbs.frames import FrameRows
from recollect.verbs.read import Reader
from recollect.wiring import wire_store

if TYPE_CHECKING:
    from recollect.hooks import Hooks
    from recollect.hooks.dispatcher import Dispatcher, HookedRequest
    from recollect.model import (
        BackedUp,
        Examination,
        Explanation,
        Forgotten,
        FrameResult,
        Ingested,
        IngestRequest,
        LinkRequest,
        Match,
        Memory,
        OnConflict,
        Place,
        Principal,
        RecallResponse,
        Receipt,
        ReceiptPage,
        Remembered,
        Repaired,
        Restored,
        Salvaged,
        Scope,
        Version,
    )
    from recollect.model.request import Order
    from recollect.open_store import Figures, OpenStore
    from recollect.paks.catalogue import PakCatalogue
    from recollect.ports.access import Act
    from recollect.ports.clock import Clock
    from recollect.ports.embedder import Embedder
    from recollect.ports.state import Holdings
    from recollect.ports.store import Dispute
    from recollect.ports.tokens import TokenCounter
    from recollect.recall.inspect import Inspection
    from recollect.recall.listing import MemoryPage
    from recollect.recall.select import SelectQuery, SelectResult
    from recollect.spool import Spool
    from recollect.verbs.caller import Caller
    from recollect.verbs.catalogue import ViewedCatalogue
    from recollect.verbs.gardens import Gardens
    from recollect.verbs.keys import Keys
    from recollect.verbs.quarantine import Quarantine
    from recollect.verbs.receipts import Receipts
    from recollect.verbs.requests import Request
    from recollect.verbs.trust import Trust
    from recollect.verbs.write import WriteContext, Writer
    from recollect.write import transfer

__all__ = ["Recollect", "SystemClock", "be_ready_to_fork", "restore", "salvage"]


class Recollect:
    """An agent's memory. Open one with `Recollect.open`; use it in a `with` statement."""

    def __init__(self, caller: Caller) -> None:
        self._whoever = caller
        self._registry = FrameRegistry(FrameRows(caller.open_store, caller.principal))
        self._all_reads = Reader(caller, self._registry)

    # Every verb begins with one of these: a handle ends with the key that it was made from.

    @property
    def _caller(self) -> Caller:
        self._whoever.need_living_key()
        return self._whoever

    @property
    def _open_store(self) -> OpenStore:
        return self._caller.open_store

    @property
    def _principal(self) -> Principal:
        return self._caller.principal

    @property
    def _frames(self) -> FrameRegistry:
        self._whoever.need_living_key()
        return self._registry

    @property
    def _reader(self) -> Reader:
        self._whoever.need_living_key()
        return self._all_reads

    @property
    def _receipts(self) -> Receipts:
        self._whoever.need_living_key()
        return self._all_receipts

    @property
    def _writer(self) -> Writer:
        self._whoever.need_living_key()
        return self._all_writes

    # What one verb needs is imported by that verb: a process that only reads loads no writing.

    @functools.cached_property
    def _all_writes(self) -> Writer:
        from recollect.verbs.write import Writer

        return Writer(self._whoever)

    @functools.cached_property
    def _all_receipts(self) -> Receipts:
        from recollect.verbs.receipts import Receipts

        return Receipts(self._whoever, self._all_reads)

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        *,
        principal: Principal | None = None,
        embedder: str | Embedder | None = None,
        clock: Clock | None = None,
        links: bool = True,
        hours: HoursMode = "active",
        token_counter: TokenCounter = count_tokens,
        cache_file: bool = True,
        power_safe: bool = False,
        read_only: bool = False,
        timeout: float = 5.0,
        any_filesystem: bool = False,
        sanitizer: SanitizerMode = "flag",
        hooks: Path | str | None = None,
        receipts: bool = False,
        receipt_days: float = RECEIPT_DAYS,
        progress: Callable[[int, int], None] | None = None,
    ) -> Recollect:
        """Open the memory at `path`, or at the default place, making it if it is new.

        `principal` is who asks through this handle; without one it is the local principal, who
        needs no set-up and may do everything.

        Without an `embedder`: the one the memory was filled with, if it came with the install;
        a new memory gets the static one. A memory filled with another one refuses.
        `links=False` skips the search for likenesses on every write: no automatic edges, no report
        of near-duplicates. `hours="wall"` lets idle time count. `cache_file=False` keeps no copy of
        the index beside the database. `sanitizer` says what becomes of texts that look like an
        injection: flag marks and quotes them, block leaves them out, off lets them through.
        `hooks` is a file of hooks: programs that may change or refuse what is done. Their daemons
        are started before this returns.

        What a write reported survives the death of the process. With `power_safe` it survives a
        power cut too: every write then waits for the disk. A write waits `timeout` seconds for its
        turn, among threads and among processes, and is then refused with StoreBusy.

        `read_only` opens a memory that is there: verbs that write refuse, and frames count no use.
        A file system whose locks cannot be relied on is refused; with `any_filesystem` you say
        that one process at a time uses the file.

        With `receipts` what `recall` and `frame` answer is written down for `receipt_days` days:
        who asked what, when, and which memories were given; `why` tells it. Answers stay as they
        are, and are given all the same where no receipt can be written.

        `progress` is called with how many memories, of how many, are in the index whenever it has
        to be built from the store: by the first question where there is no cache file.
        """
        choices = Choices(
            principal=principal,
            embedder=embedder,
            clock=clock,
            links=links,
            hours=hours,
            token_counter=token_counter,
            cache_file=cache_file,
            power_safe=power_safe,
            read_only=read_only,
            timeout=timeout,
            any_filesystem=any_filesystem,
            sanitizer=sanitizer,
            hooks=hooks,
            receipts=receipts,
            receipt_days=receipt_days,
            progress=progress,
        )
        caller = open_caller(functools.partial(wire_store, path), choices)
        be_ready_to_fork()
        return cls(caller)

    def as_principal(self, principal: Principal) -> Recollect:
        """Return a handle on the same store for another principal.

        Only the handle that was opened without a principal gives others; what is opened for one
        principal stays with it. Closing any of them closes the store. A principal that
        `keys.principal_for` gave comes with its key: once that is revoked or has expired, the
        handle is refused.
        """
        self._need_opener("other principals")
        who = arguments.principal(principal)
        return Recollect(replace(self._caller, principal=who, is_opener=False))

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self._whoever.open_store.path

    @property
    def principal(self) -> Principal:
        """Who asks through this handle."""
        return self._whoever.principal

    @property
    def paks(self) -> PakCatalogue:
        """The catalogue: titles, reason codes, risk flags, full text. It knows no principals."""
        self._need_opener("all Paks of the catalogue")
        return self._caller.catalogue

    @property
    def catalogue(self) -> ViewedCatalogue:
        """The catalogue as far as the principal may read it: list, look up, find, say why."""
        from recollect.verbs.catalogue import ViewedCatalogue

        return ViewedCatalogue(self._caller, self._reader)

    @property
    def frames(self) -> FrameRegistry:
        """The frames: register your own, look at, change and delete them."""
        return self._frames

    @property
    def hooks(self) -> Hooks:
        """The hooks: register functions of your own, load the file again, see how they are."""
        self._need_opener("the hooks")
        if self._whoever.check_lent is not None:
            raise NotAllowed(
                "the hooks of a node are the same for all its stores.", hint="ask node.hooks."
            )
        return self._open_store.dispatcher.hooks

    @property
    def gardens(self) -> Gardens:
        """Named access lists: make them, and say who is in them."""
        from recollect.verbs.gardens import Gardens

        return Gardens(self._open_store, self._principal)

    @property
    def quarantine(self) -> Quarantine:
        """Facts that wait for a moderator."""
        from recollect.verbs.quarantine import Quarantine

        return Quarantine(self._open_store, self._principal)

    @property
    def keys(self) -> Keys:
        """Keys by which programs say who they are."""
        import secrets

        from recollect.verbs.keys import Keys

        return Keys(
            self._open_store,
            self._principal,
            of_all=self._caller.is_opener,
            random_bytes=secrets.token_bytes,
            store_name=self._caller.store_name,
        )

    @property
    def trust(self) -> Trust:
        """How far the word of each source counts."""
        from recollect.verbs.trust import Trust

        return Trust(self._open_store, self._principal)

    def close(self) -> None:
        """Close the memory, leaving a warm cache for the next opening; closing twice is fine.

        One that a node lends is not closed by its borrower.
        """
        if self._whoever.check_lent is None:
            self._whoever.open_store.close()

    def __enter__(self) -> Recollect:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def remember(
        self,
        content: str,
        *,
        pak_id: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        tags: Sequence[str] = (),
        category: str | None = None,
        project: str | None = None,
        topic: str | None = None,
        pak_type: str | None = None,
        source: str | None = None,
        authority: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        value: str | None = None,
        confidence: float | None = None,
        thread: str | None = None,
        speaker: str | None = None,
        occurred_at: str | date | float | None = None,
        turn: int | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        ttl: float | timedelta | None = None,
        metadata: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
        team: str | None = None,
        garden: str | None = None,
        supersedes: str | Sequence[str] | None = None,
        on_conflict: OnConflict = "report",
        now: str | None = None,
        request_id: str | None = None,
    ) -> Remembered:
        """Store a text; it is durable, and visible to the next recall, when this returns.

        The same text in the same place is the same memory: what is not named stays as it was, and
        the answer says what was kept and what changed. With a `thread` it is a turn, and one of
        another thread, speaker or time is another memory; where several say the same and no time is
        known, `turn` counts them from 0. A new one has the category knowledge, the type memory, the
        authority user_approved and the confidence 1. Its place is the principal's own, unless a
        wider `scope` (with its `team`) or a `garden` is named. `state` is pending when the
        embedder failed: the text is safe, and the vector is made up for later. `occurred_at` is a
        date, a datetime, seconds since 1970, or a text as people write it ("8 May 2023, 1:56 pm",
        "8. Mai 2023", an e-mail's date); if nobody can read it, it is kept and reported. From
        `valid_from` on and until `valid_until` it is in answers.

        It takes the place of what it `supersedes`. `conflicts` of the answer names what says
        another value of the same entity and relation; with `on_conflict="dispute"` it is disputed,
        with "supersede" superseded, or disputed where that is not the caller's right.

        A call that is repeated with the same `request_id` within 24 hours does nothing and is
        answered as the first was; another one under that id is refused.
        """
        from recollect.hooks.verbs import REMEMBER
        from recollect.verbs.requests import answered, report_from

        given = {
            "content": content,
            "pak_id": pak_id,
            "title": title,
            "summary": summary,
            "tags": tags,
            "category": category,
            "project": project,
            "topic": topic,
            "pak_type": pak_type,
            "source": source,
            "authority": authority,
            "entity": entity,
            "relation": relation,
            "value": value,
            "confidence": confidence,
            "thread": thread,
            "speaker": speaker,
            "occurred_at": occurred_at,
            "turn": turn,
            "valid_from": valid_from,
            "valid_until": valid_until,
            "ttl": ttl,
            "metadata": metadata,
            "scope": scope,
            "team": team,
            "garden": garden,
            "supersedes": supersedes,
            "on_conflict": on_conflict,
        }
        need(self._principal, "write")
        request = self._request(request_id, "remember", [given, now])
        context = self._writer.context(now, request)
        return answered(
            request,
            lambda: self._dispatcher.run(
                REMEMBER,
                given,
                check=functools.partial(self._writer.draft, context),
                act=functools.partial(self._writer.store, context),
            ),
            told=lambda reports: report_from(reports[0]),
        )

    def remember_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        progress: Callable[[int, int], None] | None = None,
        now: str | None = None,
        request_id: str | None = None,
    ) -> Sequence[Remembered]:
        """Store many memories, a few hundred a transaction; each is durable once reported.

        An item is a text, or a mapping with the arguments of `remember` but `now`. All are checked
        before the first is written. With a `request_id` a call that was cut off goes on where it
        was when it is repeated, and one that was done is answered as before.
        """
        from recollect.hooks.verbs import REMEMBER
        from recollect.write.draft import with_turns

        need(self._principal, "write")
        listed = list(arguments.listed(items))
        request = self._request(request_id, "remember_many", [listed, now])
        hooks, context = self._dispatcher, self._writer.context(now, request)
        heard = list(
            hooks.ask_each(
                REMEMBER,
                ((f"item {number}", one) for number, one in enumerate(with_turns(listed))),
                check=lambda item: self._writer.draft_one_of_many(context, arguments.of_item(item)),
            )
        )
        wanted = [one.request for one in heard]
        return hooks.finish_each(
            REMEMBER, heard, self._writer.store_each(context, wanted, progress)
        )

    def update(
        self,
        /,
        pak_id: str,
        *,
        now: str | None = None,
        request_id: str | None = None,
        **fields: Any,
    ) -> Remembered:
        """Change the named fields of a memory, and nothing else; what it was stays in `history`.

        The fields are those of `remember`; None takes one away. It takes the right to forget the
        memory: anybody else remembers what is right, and disputes the two.
        """
        from recollect.hooks.verbs import REMEMBER
        from recollect.verbs.change import Update, until_done
        from recollect.verbs.requests import answered, report_from

        need(self._principal, "write")
        name = arguments.name("pak_id", pak_id)
        request = self._request(request_id, "update", [name, fields, now])
        context = self._writer.context(now, request)

        def change() -> Remembered:
            update = Update(self._caller, name, fields)
            return self._dispatcher.run(
                REMEMBER,
                update.arguments(),
                check=functools.partial(update.draft, place=context.place, now=context.now),
                act=functools.partial(self._writer.update, context, update),
            )

        return answered(
            request, lambda: until_done(change), told=lambda reports: report_from(reports[0])
        )

    def supersede(self, pak_id: str, new: str | None, *, request_id: str | None = None) -> None:
        """Let a memory take the place of another in all answers; None gives it back its place.

        The old one is still there for `get`, `list` and `history`, and names its successor. It
        takes the right to forget the old one. To who may not read the new one nothing changes.
        """
        from recollect.verbs.change import supersede
        from recollect.verbs.requests import answered, nothing
        from recollect.write.forget import need_right_to_erase

        need_right_to_erase(self._principal)
        name = arguments.name("pak_id", pak_id)
        request = self._request(request_id, "supersede", [name, new])
        answered(request, lambda: supersede(self._caller, request, name, new), told=nothing)

    def history(self, pak_id: str) -> Sequence[Version]:
        """Return every version of a memory and of what it superseded, with who, when and what.

        A version is shown to who may read the memory, and could read it where it was then.
        """
        need(self._principal, "read")
        return self._reader.history(pak_id)

    def recall(
        self,
        query: str | None = None,
        *,
        frame: str = "evidence",
        top_k: int = 5,
        token_budget: int | None = None,
        tags: Sequence[str] | None = None,
        project: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        source: str | None = None,
        scope: Scope | None = None,
        garden: str | None = None,
        min_confidence: float | None = None,
        diversity: float | None = None,
        include_quarantined: bool = False,
        since: str | date | None = None,
        until: str | date | None = None,
        thread: str | None = None,
        speaker: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
        now: str | None = None,
        min_score: float | None = None,
        min_match: Match | None = None,
        refresh: bool = False,
    ) -> RecallResponse:
        """Find what answers `query`, best first, with the reasons. Writes nothing.

        Without a query, what matters most by the frame's other weights. `tags` are exact names or
        prefixes ending in %. Everything but the query narrows what is looked through: `since` and
        `until` by when a memory is from, `filter` by fields and metadata. `now` is the time that
        the answer is given at: what has ended by then is out, and "yesterday" is the day before.
        Each result says by `match` how well it fits; what scores less than `min_score`, or
        fits less well than `min_match`, is left out.
        With `refresh` results are touched, which takes the right to write.
        """
        return self.respond(
            RecallRequest(
                query=query,
                frame=frame,
                top_k=top_k,
                token_budget=token_budget,
                tags=tags,
                project=project,
                entity=entity,
                relation=relation,
                source=source,
                scope=scope,
                garden=garden,
                min_confidence=min_confidence,
                diversity=diversity,
                include_quarantined=include_quarantined,
                since=since,
                until=until,
                thread=thread,
                speaker=speaker,
                filter=filter,
                now=now,
                min_score=min_score,
                min_match=min_match,
                refresh=refresh,
            )
        )

    def respond(self, request: RecallRequest) -> RecallResponse:
        """Answer a request that came as data; the same as `recall` with its fields."""
        need(self._principal, "read")
        if self._open_store.receipt_days is None:
            return self._answer(request, self._reader)
        return self._receipts.of_recall(request, functools.partial(self._answer, request))

    def _answer(self, request: RecallRequest, reader: Reader) -> RecallResponse:
        if not self._open_store.has_hooks:
            return self._respond(reader, arguments.recall(request))
        from recollect.hooks.verbs import RECALL

        return self._dispatcher.run(
            RECALL,
            request,
            check=arguments.recall,
            act=functools.partial(self._respond, reader),
            refuse=reader.refuse,
        )

    def _respond(self, reader: Reader, wanted: RecallRequest) -> RecallResponse:
        if not wanted.refresh:
            return reader.respond(wanted)
        from recollect.verbs.lasting import touch

        need(self._principal, "write")
        answer = reader.respond(wanted)
        touch(self._caller, [one.fact.pak_id for one in answer.results])
        return answer

    def frame(
        self,
        name: str,
        query: str | None = None,
        *,
        top_k: int = 5,
        token_budget: int | None = None,
        tags: Sequence[str] | None = None,
        project: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        source: str | None = None,
        scope: Scope | None = None,
        garden: str | None = None,
        min_confidence: float | None = None,
        since: str | date | None = None,
        until: str | date | None = None,
        thread: str | None = None,
        speaker: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
        min_score: float | None = None,
        min_match: Match | None = None,
    ) -> FrameResult:
        """Render the text of a frame for a prompt, and count the use of what is in it.

        An answer from the frame's cache is marked `cached` and counts nothing. What narrows it is
        what narrows a recall.
        """
        asked = RecallRequest(
            query=query,
            frame=name,
            top_k=top_k,
            token_budget=token_budget,
            tags=tags,
            project=project,
            entity=entity,
            relation=relation,
            source=source,
            scope=scope,
            garden=garden,
            min_confidence=min_confidence,
            since=since,
            until=until,
            thread=thread,
            speaker=speaker,
            filter=filter,
            min_score=min_score,
            min_match=min_match,
        )
        if self._open_store.receipt_days is None:
            return self._render(asked, self._reader)
        return self._receipts.of_frame(asked, functools.partial(self._render, asked))

    def preview(
        self,
        name: str,
        query: str | None = None,
        *,
        recipe: Mapping[str, Any] | None = None,
        now: str | None = None,
        top_k: int = 5,
        token_budget: int | None = None,
        tags: Sequence[str] | None = None,
        project: str | None = None,
        entity: str | None = None,
        relation: str | None = None,
        source: str | None = None,
        scope: Scope | None = None,
        garden: str | None = None,
        min_confidence: float | None = None,
        since: str | date | None = None,
        until: str | date | None = None,
        thread: str | None = None,
        speaker: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
        min_score: float | None = None,
        min_match: Match | None = None,
    ) -> FrameResult:
        """Render the text of a frame and count nothing: as it is, or with another recipe.

        `recipe` names parts of a frame as `frames.update` takes them, and nothing of it is kept.
        `now` is the time that the text is of. No cache is asked, none is filled, and there is no
        receipt: what an agent will be sent, looked at beforehand. Writes nothing.
        """
        from recollect.hooks.verbs import FRAME

        asked = RecallRequest(
            query=query,
            frame=name,
            top_k=top_k,
            token_budget=token_budget,
            tags=tags,
            project=project,
            entity=entity,
            relation=relation,
            source=source,
            scope=scope,
            garden=garden,
            min_confidence=min_confidence,
            since=since,
            until=until,
            thread=thread,
            speaker=speaker,
            filter=filter,
            min_score=min_score,
            min_match=min_match,
            now=now,
        )
        reader = self._reader
        wanted = reader.wanted_frame(asked, recipe)
        return self._dispatcher.explain(
            FRAME,
            wanted,
            check=arguments.frame,
            act=reader.preview,
            refuse=reader.refuse_frame,
        )

    def _render(self, asked: RecallRequest, reader: Reader) -> FrameResult:
        wanted = reader.wanted_frame(asked)
        if not self._open_store.has_hooks:
            return reader.frame(arguments.frame(wanted))
        from recollect.hooks.verbs import FRAME

        return self._dispatcher.run(
            FRAME,
            wanted,
            check=arguments.frame,
            act=reader.frame,
            refuse=reader.refuse_frame,
        )

    def select(self, query: SelectQuery) -> SelectResult:
        """Pick Paks of the catalogue by words, filters, age and reason codes. Writes nothing.

        The same as `recollect.recall.select.select`, among what the principal may read.
        """
        from recollect.hooks.verbs import SELECT

        return self._dispatcher.run(
            SELECT,
            query,
            check=self._reader.checked_selection,
            act=self._reader.select,
            refuse=self._reader.refuse_selection,
        )

    def explain(
        self,
        pak_id: str,
        query: str | RecallRequest | SelectQuery | None = None,
        *,
        frame: str | None = None,
        top_k: int = 5,
        token_budget: int | None = None,
    ) -> Explanation:
        """Say why a memory is in an answer, or which stage left it out. Writes nothing.

        The answer is that of `recall(query)`; with `frame`, that of `frame(frame, query)`; for a
        `RecallRequest` that of `respond`, and for a `SelectQuery` that of `select`, whole as they
        are. What may not be read is explained like what is not there.
        """
        from recollect.hooks.verbs import FRAME, RECALL, SELECT
        from recollect.recall.select import SelectQuery
        from recollect.verbs.explain import Explainer

        need(self._principal, "read")
        explainer = Explainer(self._caller, self._reader, arguments.name("pak_id", pak_id))
        explain, refuse = self._dispatcher.explain, explainer.of_denial
        if isinstance(query, SelectQuery):
            check = self._reader.checked_selection
            return explain(SELECT, query, check=check, act=explainer.of_selection, refuse=refuse)
        asked = query
        if not isinstance(asked, RecallRequest):
            asked = RecallRequest(query=asked, top_k=top_k, token_budget=token_budget)
        if frame is not None:
            wanted = self._reader.wanted_frame(replace(asked, frame=frame))
            return explain(
                FRAME, wanted, check=arguments.frame, act=explainer.of_frame, refuse=refuse
            )
        return explain(
            RECALL, asked, check=arguments.recall, act=explainer.of_recall, refuse=refuse
        )

    def why(self, recall_id: str, *, principal: str | None = None) -> Receipt | None:
        """Return the receipt of an answer, and what became of it since; None if there is none.

        A receipt is told to whoever asked then, and to an admin of the tenant, who may name whose:
        answers to several may be the same. Writes nothing.
        """
        need(self._principal, "read")
        name = arguments.name("recall_id", recall_id)
        whose = None if principal is None else arguments.name("principal", principal)
        return self._receipts.why(name, whose, self._ask_again)

    def _ask_again(self, told: Receipt) -> RecallResponse | FrameResult:
        """Ask what a receipt is of, as of then; nothing is counted, kept or told to hooks."""
        from recollect.hooks.verbs import FRAME, RECALL

        asked = RecallRequest.from_dict(told.request)
        reader, explain, now = self._reader, self._dispatcher.explain, asked.now or told.at
        if told.verb == "recall":
            dated = replace(asked, now=now)
            return explain(
                RECALL, dated, check=arguments.recall, act=reader.respond, refuse=reader.refuse
            )
        return explain(
            FRAME,
            reader.wanted_frame(asked),
            check=arguments.frame,
            act=lambda wanted: reader.text_of_frame(wanted, now),
            refuse=reader.refuse_frame,
        )

    def receipts(self, *, limit: int = 100, cursor: str | None = None) -> ReceiptPage:
        """Return one page of receipts, latest first: one's own; to an admin, the tenant's."""
        need(self._principal, "read")
        count = arguments.positive("limit", limit, arguments.MOST_LISTED)
        return self._receipts.page(limit=count, cursor=cursor)

    def get(self, pak_id: str) -> Memory | None:
        """Return one memory, or None."""
        return self._reader.get(pak_id)

    def ids(self, beginning: str, *, limit: int = 10) -> tuple[str, ...]:
        """Return ids of memories that begin so, in their order, at most `limit` of them."""
        return self._reader.ids(
            arguments.name("beginning", beginning),
            limit=arguments.positive("limit", limit, arguments.MOST_LISTED),
        )

    def inspect(self, pak_id: str) -> Inspection | None:
        """Return all about one memory: text, codes, flags, links, disputes, uses; or None."""
        return self._reader.inspect(pak_id)

    def list(
        self,
        *,
        project: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        order: Order = "updated",
        counts: bool = False,
        tags: Sequence[str] | None = None,
        entity: str | None = None,
        relation: str | None = None,
        source: str | None = None,
        scope: Scope | None = None,
        garden: str | None = None,
        min_confidence: float | None = None,
        since: str | date | None = None,
        until: str | date | None = None,
        thread: str | None = None,
        speaker: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
    ) -> MemoryPage:
        """Return one page of memories, archived ones included, narrowed like a recall.

        In the order of `updated` (newest first), `occurred` (what happened last first), `title` or
        `turn` (a thread as it was said). With `counts` it also says how many of all that
        was asked for there are, and how many of each project, tag, thread, speaker, type, risk and
        month.
        """
        from recollect.model import ListRequest

        asked = RecallRequest(
            tags=tags,
            project=project,
            entity=entity,
            relation=relation,
            source=source,
            scope=scope,
            garden=garden,
            min_confidence=min_confidence,
            since=since,
            until=until,
            thread=thread,
            speaker=speaker,
            filter=filter,
        )
        wanted = ListRequest(asked, order, limit, cursor, counts)
        return self._reader.page(wanted.checked())

    def link(
        self, pak_id: str, other: str, *, weight: float = 1.0, request_id: str | None = None
    ) -> None:
        """Join two memories; recall then follows one to the other."""
        from recollect.hooks.verbs import LINK
        from recollect.model import LinkRequest
        from recollect.verbs import join
        from recollect.verbs.requests import answered, nothing

        need(self._principal, "write")
        request = self._request(request_id, "link", [pak_id, other, weight])
        answered(
            request,
            lambda: self._dispatcher.run(
                LINK,
                LinkRequest(pak_id, other, weight),
                check=arguments.link,
                act=functools.partial(join.link, self._caller, request),
            ),
            told=nothing,
        )

    def dispute(
        self, pak_id: str, other: str, *, note: str = "", request_id: str | None = None
    ) -> None:
        """Say that two memories contradict each other: an answer holds the better one only.

        It takes the right to write where both are. Another tenant's can be disputed with a memory
        that is not public, and then it counts in one's own tenant.
        """
        from recollect.verbs import join
        from recollect.verbs.requests import answered, nothing

        note = optional_text("note", note) or ""
        need(self._principal, "write")
        request = self._request(request_id, "dispute", [pak_id, other, note])
        dispute = functools.partial(join.dispute, self._caller, request, pak_id, other, note=note)
        answered(request, dispute, told=nothing)

    def resolve(self, pak_id: str, other: str, *, request_id: str | None = None) -> bool:
        """Settle a dispute: both may be answers again. Return whether there was one."""
        from recollect.verbs import join
        from recollect.verbs.requests import answered

        need(self._principal, "write")
        request = self._request(request_id, "resolve", [pak_id, other])
        resolve = functools.partial(join.resolve, self._caller, request, pak_id, other)
        return answered(request, resolve, told=bool)

    def disputes(self) -> Sequence[Dispute]:
        """Return the open disputes."""
        return self._caller.answer(lambda sight: sight.disputes())

    def forget(
        self,
        pak_id: str | Sequence[str] | None = None,
        *,
        entity: str | None = None,
        thread: str | None = None,
        project: str | None = None,
        tag: str | None = None,
        owner: str | None = None,
        source: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
        since: str | date | None = None,
        until: str | date | None = None,
        scope: Scope | None = None,
        versions: bool = False,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Erase memories, so that no trace of the text is left: by id, or all that fulfil the rest.

        What is given besides ids must hold together: everything about an entity, of a thread, in a
        project and what lies below it, with a tag, of an owner, from a source; `since` and `until`
        narrow that by when it is from, and a `filter` by what the caller may read of it. The owner
        of a memory may erase it, and an admin of its tenant or garden; no other tenant is reached.
        `scope` leaves other scopes alone. With `versions` what they superseded goes along, back to
        the first; what a memory was before it was changed goes in any case. Of a memory that stays,
        what it was goes if that was of all that is named: not with `since`, `until` or a `filter`,
        which ask what memories are.

        The answer says what was erased; nothing, if there was nothing to erase. With a `request_id`
        a repeated call erases nothing more and is answered as the first was.

        With `dry_run` nothing is erased and no hook is asked: the answer says what would be, and
        what answers may hold again without it.
        """
        from recollect.hooks.verbs import FORGET
        from recollect.verbs.erase import erase, erased_before, rehearse
        from recollect.verbs.requests import answered
        from recollect.write.forget import need_right_to_erase

        need_right_to_erase(self._principal)
        chosen = {
            "entity": entity,
            "thread": thread,
            "project": project,
            "tag": tag,
            "owner": owner,
            "source": source,
            "filter": filter,
        }
        window = {"since": since, "until": until}
        wanted = arguments.forgettable(pak_id, scope, window, chosen)
        wanted = replace(wanted, versions=versions)
        if wanted.filter is not None:
            need(self._principal, "read")
        if dry_run:
            return rehearse(self._caller, wanted)
        request = self._request(request_id, "forget", asdict(wanted))
        return answered(
            request,
            lambda: self._dispatcher.run(
                FORGET,
                wanted,
                check=lambda wanted: wanted,
                act=functools.partial(erase, self._caller, request),
            ),
            told=functools.partial(erased_before, self._caller),
        )

    def archive(self, pak_id: str, *, request_id: str | None = None) -> bool:
        """Take a memory out of every recall without erasing it; return whether it was there.

        `get` and `list` still show it, as archived. Who may forget a memory may archive it.
        """
        from recollect.verbs.archive import archive
        from recollect.verbs.requests import answered
        from recollect.write.forget import need_right_to_erase

        need_right_to_erase(self._principal)
        name = arguments.name("pak_id", pak_id)
        request = self._request(request_id, "archive", [name])
        return answered(request, lambda: archive(self._caller, request, name), told=bool)

    def unarchive(self, pak_id: str, *, request_id: str | None = None) -> bool:
        """Bring an archived memory back into recall; return whether there was one."""
        from recollect.verbs.archive import unarchive
        from recollect.verbs.requests import answered
        from recollect.write.forget import need_right_to_erase

        need_right_to_erase(self._principal)
        name = arguments.name("pak_id", pak_id)
        request = self._request(request_id, "unarchive", [name])
        return answered(request, lambda: unarchive(self._caller, request, name), told=bool)

    def touch(self, pak_id: str, *, request_id: str | None = None) -> bool:
        """Let a memory with a `ttl` hold for that long from now on; return whether it does.

        It takes the right to write where it is. What has ended is not there any more.
        """
        from recollect.verbs.lasting import touch
        from recollect.verbs.requests import answered

        need(self._principal, "write")
        name = arguments.name("pak_id", pak_id)
        request = self._request(request_id, "touch", [name])
        return bool(answered(request, lambda: touch(self._caller, [name], request), told=tuple))

    def tidy(self, *, dry_run: bool = False, request_id: str | None = None) -> Forgotten:
        """Erase what has ended, as `forget` does: for an admin of the tenant, its own.

        On the handle of whoever opened the store, all of it. With `dry_run` nothing is erased.
        """
        from recollect.verbs.erase import erased_before
        from recollect.verbs.lasting import tidy
        from recollect.verbs.requests import answered

        if not self._caller.is_opener:
            need(self._principal, "admin")
        if dry_run:
            return tidy(self._caller, dry_run=True)
        request = self._request(request_id, "tidy", [])
        return answered(
            request,
            lambda: tidy(self._caller, request),
            told=functools.partial(erased_before, self._caller),
        )

    def ingest(
        self,
        items: Iterable[Mapping[str, Any]] | str | bytes,
        *,
        source: str,
        scope: Scope | None = None,
        team: str | None = None,
        garden: str | None = None,
        request_id: str | None = None,
    ) -> Ingested:
        """Take in facts from outside, each at what the word of `source` is worth here.

        A fact that cannot be taken is refused with the reason; the others are stored. Those of a
        source that is little trusted, and orders from anyone, wait in quarantine. With a
        `request_id` a call that was cut off goes on where it was when it is repeated.
        """
        from recollect.hooks.verbs import INGEST
        from recollect.model import IngestRequest
        from recollect.write.ingest import items_of

        need(self._principal, "write")
        name, place = arguments.name("source", source), self._writer.place(scope, team, garden)
        facts = items_of(items)
        request = self._request(request_id, "ingest", [facts, name, scope, team, garden])
        context = self._writer.context(request=request)
        return self._dispatcher.run(
            INGEST,
            facts,
            check=lambda facts: IngestRequest(name, tuple(items_of(facts))),
            act=functools.partial(self._ingest, context, place),
        )

    def export(
        self,
        principal: Principal | None = None,
        *,
        everything: bool = False,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
    ) -> Iterator[str]:
        """Yield what the principal may read as lines of JSON, which `import_` takes back.

        With a `filter`, those memories that fulfil it, and what joins them.
        With `everything`, all of the store but keys and the audit log, for whoever opened it: taken
        into an empty store and exported again it is the same bytes. Without, a last line tells
        whoever opened it how much was left out, if anything was.
        """
        tree = arguments.filter_tree(filter)
        if everything:
            self._need_opener("whole stores")
            if tree is not None:
                raise InvalidInput("a filter takes a part.", hint="leave everything out.")
            yield from self._reader.export_everything()
        elif principal is not None and principal != self._principal:
            yield from self.as_principal(principal).export(filter=filter)
        else:
            yield from self._reader.export(tree)

    def import_(
        self,
        lines: Iterable[str],
        *,
        progress: Callable[[int, int], None] | None = None,
        request_id: str | None = None,
    ) -> Sequence[Remembered]:
        """Take back what `export` gave, into the principal's own tenant.

        An admin brings back memories as they were, owners, times and uses included; anyone else
        makes them its own. All lines are checked before the first is written. The export of a whole
        store goes into an empty one, in one commit, by whoever opened it. A `request_id` is what
        it is for `remember_many`.
        """
        from recollect.hooks.verbs import LINK, REMEMBER
        from recollect.spool import Spool
        from recollect.verbs.requests import answered
        from recollect.verbs.restore import restored_before
        from recollect.write import transfer

        need(self._principal, "write")
        hooks, writer, export = self._dispatcher, self._writer, transfer.read(lines)
        request = self._request(request_id, "import_", transfer.body_of(export))
        if export.is_whole:
            self._need_opener("whole stores")
            restore = functools.partial(self._restore, export, progress, request)
            return answered(request, restore, told=functools.partial(restored_before, export))
        context = writer.context(request=request)
        memories = Spool(
            hooks.ask_each(
                REMEMBER,
                ((line.where, line) for line in transfer.with_turns(export)),
                check=functools.partial(writer.draft_line, context),
            )
        )
        drafted = [one.request.memory.pak_id for one in memories]
        joins = Spool(transfer.joined(export, drafted))
        heard = self._heard_links(joins)
        stored = writer.restore_each(context, export, (one.request for one in memories), progress)
        reports = hooks.finish_each(REMEMBER, memories, stored)
        weighed = transfer.reweighed(joins, (one.request for one in heard))
        stored_as = dict(zip(drafted, (one.pak_id for one in reports), strict=True))
        rejoined = writer.rejoin_each(request, Spool(transfer.renamed(weighed, stored_as)))
        hooks.finish_each(LINK, heard, (None for one in rejoined if one.kind == "link"))
        return reports

    def audit(self, *, limit: int = 100, before: int | None = None) -> Sequence[Act]:
        """Return who did what to look after this memory, latest first."""
        from recollect.verbs import upkeep

        need(self._principal, "admin")
        count = arguments.positive("limit", limit, arguments.MOST_LISTED)
        return upkeep.acts(self._caller, limit=count, before=before)

    def retry_pending(self, *, request_id: str | None = None) -> int:
        """Try again to embed what waits for a vector in this tenant; return how many got one.

        On the handle of whoever opened the store, all that waits in it.
        """
        from recollect.verbs import upkeep
        from recollect.verbs.requests import answered

        need(self._principal, "write")
        request = self._request(request_id, "retry_pending", [])
        retry = functools.partial(upkeep.retry_pending, self._caller, request)
        return answered(request, retry, told=int)

    def reembed(
        self, embedder: str | Embedder, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Switch to another embedder, for whoever opened the store; the old serves meanwhile.

        Return how many texts were embedded now. A run that was cut off goes on when called again.
        """
        from recollect.verbs import upkeep

        self._need_opener("the vectors of all memories")
        return upkeep.reembed(self._caller, load_embedder(embedder), progress=progress)

    def reindex(self) -> None:
        """Throw the index away and build it anew from the store; for whoever opened it."""
        from recollect.verbs import upkeep

        self._need_opener("the indexes of the store")
        upkeep.reindex(self._caller)

    def prune_versions(self, *, days: float) -> int:
        """Let go of what memories were before changes of more than so many days ago.

        For whoever opened the store; without this, versions stay until they are forgotten. Return
        how many went; their bytes are wiped as `forget` does.
        """
        from recollect.verbs import upkeep

        self._need_opener("the versions of all memories")
        return upkeep.prune_versions(self._caller, days=arguments.days("days", days))

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the store, in words; nothing when all is well."""
        return self.examine().problems

    def examine(self) -> Examination:
        """Look for damage: what is wrong, which memories that costs, and what is worth knowing.

        Every row that answers are made of is compared with its checksum or its second copy. Others
        read and write meanwhile, and nothing is changed.
        """
        from recollect.verbs import upkeep

        self._need_opener("all rows of the store")
        return upkeep.examine(self._caller)

    def repair(self, *, discard: bool = False) -> Repaired:
        """Put right what `examine` finds: indexes, full text, links; vectors are embedded again.

        A memory that is not as it was written, and cannot be restored from a copy, is put aside in
        the table `damaged` for a person to look at. `discard` deletes what was put there before.
        """
        from recollect.verbs import upkeep

        self._need_opener("all rows of the store")
        return upkeep.repair(self._caller, discard=discard)

    def backup(
        self, path: Path | str, *, progress: Callable[[int, int], None] | None = None
    ) -> BackedUp:
        """Write all of the store, as it is at one moment, to a new file; for whoever opened it.

        Others read and write meanwhile. Once written it is looked at: it is sound, and of the same
        revision. Only its owner may read it, nothing is written over, and opening it restores it.
        It holds keys and the audit log, and goes on holding what is forgotten later.
        """
        from recollect.verbs import upkeep

        self._need_opener("backups of the store")
        return upkeep.back_up(self._caller, arguments.needed_file("path", path), progress=progress)

    def head(self) -> tuple[int, str | None]:
        """Return the revision of the store and the name of its last commit; for its opener.

        As long as they are the same, nobody has written.
        """
        self._need_opener("the commits of the store")
        self._open_store.check_open()
        head = self._open_store.store.head()
        return head.revision, head.commit_id

    def figures(self) -> Figures:
        """Return how much is held in memory and how far that is behind; for the store's opener.

        Nothing is counted and nothing is brought up to date for it.
        """
        self._need_opener("figures of the store")
        self._open_store.check_open()
        return self._open_store.figures()

    def holdings(self, tenant: str) -> Holdings:
        """Return how many memories a tenant has, and bytes of text; for the store's opener."""
        from recollect.verbs import upkeep

        self._need_opener("what tenants have")
        return upkeep.holdings(self._caller, tenant)

    def stats(self) -> dict[str, Any]:
        """Return facts about the memory: how much may be read; to whoever opened it, all of it."""
        from recollect.verbs import upkeep

        facts = upkeep.stats(self._caller)
        if not self._caller.is_opener:
            return facts
        return {**facts, "hooks": self._open_store.dispatcher.hooks.stats()}

    @property
    def _dispatcher(self) -> Dispatcher:
        return self._open_store.dispatcher.acting_for(self._principal)

    def _request(self, request_id: str | None, verb: str, body: object) -> Request | None:
        from recollect.verbs.requests import Request

        return Request.of(self._open_store, self._principal, request_id, verb=verb, body=body)

    def _ingest(self, context: WriteContext, place: Place, wanted: IngestRequest) -> Ingested:
        from recollect.hooks.dispatcher import HookedRequest
        from recollect.hooks.verbs import REMEMBER
        from recollect.model import RememberRequest

        ingestion = self._writer.ingestion(context, wanted, place)
        for memory, report in self._writer.ingest(context, ingestion):
            self._dispatcher.finish(REMEMBER, HookedRequest(RememberRequest({}, memory)), report)
        return ingestion.answer()

    def _restore(
        self,
        export: transfer.Export,
        progress: Callable[[int, int], None] | None,
        request: Request | None,
    ) -> Sequence[Remembered]:
        from recollect.hooks.verbs import LINK, REMEMBER
        from recollect.spool import Spool
        from recollect.verbs.restore import Restoration
        from recollect.write import transfer

        hooks = self._dispatcher
        restoration = Restoration(self._caller, export, request)
        memories = Spool(
            restoration.taken(
                hooks.ask_each(
                    REMEMBER,
                    ((line.where, line) for line in export.memories),
                    check=restoration.draft,
                )
            )
        )
        joins = Spool(transfer.joined(export, (one.request.memory.pak_id for one in memories)))
        heard = self._heard_links(joins)
        weighed = Spool(transfer.reweighed(joins, (one.request for one in heard)))
        reports = hooks.finish_each(REMEMBER, memories, restoration.store_each(weighed, progress))
        hooks.finish_each(LINK, heard, (None for _ in heard))
        return reports

    def _heard_links(self, joins: Spool[transfer.Join]) -> Spool[HookedRequest[LinkRequest]]:
        """Return the links among what an import joins, as the hooks leave them."""
        from recollect.hooks.verbs import LINK
        from recollect.spool import Spool

        links = ((one.where, one.as_request()) for one in joins if one.kind == "link")
        return Spool(self._dispatcher.ask_each(LINK, links, check=arguments.link))

    def _need_opener(self, what: str) -> None:
        if not self._caller.is_opener:
            raise NotAllowed(
                f"{what} are not for the handle of {self._principal.id}.",
                hint="ask the one that Recollect.open gave without a principal.",
            )


@functools.cache
def be_ready_to_fork() -> None:
    """See to it that a child can be forked while threads are at work."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_load_all)


@functools.cache
def _load_all() -> None:
    """Load what verbs load when they are first used, before a process is forked.

    A thread that was about to load a module holds that module's lock, and is not there any more in
    the child: whoever wants the module then waits for ever.
    """
    import importlib
    import pkgutil

    rooms = ["hooks", "index", "paks", "recall", "verbs", "write"]
    if "recollect.stores.sqlite" in sys.modules:
        rooms.append("stores.sqlite")
    for name in rooms:
        room = importlib.import_module(f"recollect.{name}")
        for one in pkgutil.iter_modules(room.__path__):
            importlib.import_module(f"recollect.{name}.{one.name}")


def salvage(
    path: Path | str | None = None,
    *,
    embedder: str | Embedder | None = None,
    clock: Clock | None = None,
    links: bool = True,
) -> Salvaged:
    """Put all that can be read of a damaged file into a new one, which takes its place.

    For a file with pages that SQLite itself cannot read. The old one stays beside it under another
    name; handles that have it open refuse from then on. `embedder` and `links` are as for `open`.
    """
    from recollect.model import Salvaged
    from recollect.verbs import upkeep
    from recollect.wiring import wire_salvage

    check_platform()
    now = (clock or SystemClock()).now()
    with (
        wire_salvage(path, store_id=uuid.uuid4().hex, at=iso(now)) as made,
        Recollect.open(
            made.draft, embedder=embedder, clock=clock, links=links, cache_file=False
        ) as memory,
    ):
        caller, copied = memory._caller, made.copied
        done = upkeep.repair(caller, discard=False, all_links=copied.all_links)
        count = int(memory.stats()["memories"])
    return Salvaged(count, copied.lost, copied.tables, str(made.aside), done)


def restore(
    source: Path | str,
    path: Path | str | None = None,
    *,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Restored:
    """Make a store at `path`, or at the default place, of the backup at `source`.

    The backup is copied, brought up to date and looked at first, and stays as it is. A store that
    is there is left alone, unless it is to `replace`: then it is kept beside the new one under
    another name. One that somebody has open is refused.
    """
    from recollect.wiring import wire_restore

    check_platform()
    return wire_restore(
        arguments.needed_file("source", source),
        path,
        replace=replace,
        store_id=uuid.uuid4().hex,
        progress=progress,
    )
