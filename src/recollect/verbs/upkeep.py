"""The verbs that keep a store in order: reembed, reindex, retry_pending, examine, stats, audit.

In: a caller with the right to. Out: how much was done, or facts about the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.embed.text import kept_as, model_of, reads_titles
from recollect.hours import clock_jump, iso
from recollect.ports.store import Changes
from recollect.verbs.requests import Repeated, keep, raise_if_repeated
from recollect.write.link_again import link_again
from recollect.write.reembed import Reembedding
from recollect.write.vectors import Embeddings, embed_texts

if TYPE_CHECKING:
    from recollect.model import BackedUp, Examination, Repaired
    from recollect.ports.access import Act
    from recollect.ports.embedder import Embedder
    from recollect.ports.state import Holdings
    from recollect.ports.store import Commit, LostLinks, Waiting
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request

__all__ = [
    "acts",
    "back_up",
    "examine",
    "holdings",
    "prune_versions",
    "reembed",
    "reindex",
    "repair",
    "retry_pending",
    "stats",
]

_DAY_SECONDS = 86_400.0


def acts(caller: Caller, *, limit: int, before: int | None) -> Sequence[Act]:
    """Return who did what in the caller's tenant, latest first."""
    caller.open_store.check_open()
    return caller.store.access.acts(caller.principal.tenant, limit=limit, before=before)


def examine(caller: Caller) -> Examination:
    """Look for damage in the store; others go on meanwhile."""
    caller.open_store.check_open()
    found = caller.store.examine()
    return replace(found, notes=(*found.notes, *_worth_knowing(caller)))


def _worth_knowing(caller: Caller) -> Iterator[str]:
    """Yield what is no damage, and mends itself once somebody writes, forgets, opens or closes."""
    ahead = clock_jump(caller.store.state.read().clock, caller.open_store.clock.now())
    if ahead is not None:
        yield (
            f"the last write is dated {ahead}, far ahead of the clock here: one of the two was"
            " wrong; active hours go on with the next write"
        )
    if caller.store.state.wiping_due():
        yield (
            "what was forgotten last may still have bytes in the files: somebody was reading, or"
            " the disk failed; the next forget, closing or opening wipes them"
        )


def retry_pending(caller: Caller, request: Request | None = None) -> int:
    """Try again to embed what waits for a vector in the caller's tenant; return how many got one.

    Whoever opened the store does it for all. What a named request has filled is counted in the
    commit that fills it: one that was cut off goes on counting when it is sent again.
    """
    tenant = None if caller.is_opener else caller.principal.tenant
    counted = None if request is None else request.part("filled")

    def count(filled: int) -> None:
        keep(counted, _so_far(counted) + filled)

    filled = 0
    while done := caller.open_store.fill_pending(tenant, and_then=count):
        filled += done
    if request is None:
        return filled
    with caller.open_store.commit():
        caller.need_living_key()
        raise_if_repeated(request)
        filled = _so_far(counted)
        keep(request, filled)
    return filled


def _so_far(counted: Request | None) -> int:
    try:
        raise_if_repeated(counted)
    except Repeated as before:
        return int(before.answer)
    return 0


def reembed(
    caller: Caller, embedder: Embedder, *, progress: Callable[[int, int], None] | None
) -> int:
    """Switch to another embedder; return how many texts were embedded now.

    Others have their turn while the new model works at a batch.
    """
    open_store, store = caller.open_store, caller.store
    switch = Reembedding(store, kept_as(embedder.model_id), embedder.dimension)
    with open_store.commit():
        switch.begin()
    done = 0

    def report() -> None:
        if progress is not None:
            counted = store.state.count()
            progress(counted.reembedded, counted.memories)

    if switch.waiting():
        report()
    while not _switched(caller, embedder, switch):
        waiting = switch.waiting()
        embedded = _embedded(waiting, embedder, switch.dimension)
        with open_store.commit():
            done += switch.keep(waiting, embedded)
        report()
    return done


def _embedded(waiting: Sequence[Waiting], embedder: Embedder, dimension: int) -> Embeddings:
    texts = [one.text(with_title=True) for one in waiting]
    embedded = embed_texts(embedder, texts, dimension=dimension)
    if embedded.error is not None:
        raise embedded.error
    return embedded


def _switched(caller: Caller, embedder: Embedder, switch: Reembedding) -> bool:
    """Switch if everything has a new vector, and note it; return whether that is so."""
    open_store, store = caller.open_store, caller.store
    if switch.waiting():
        return False
    open_store.will_switch_to(embedder)
    with open_store.commit():
        if not switch.finish():
            return False
        store.state.fire("curate_complete")
        open_store.note(caller.principal, "reembed", embedder.model_id)
    open_store.switched_to(embedder)
    return True


def reindex(caller: Caller) -> None:
    """Build the index anew, and throw the one away that has served until then.

    Other processes start anew with this commit; here the new one is there when it comes.
    """
    open_store, store = caller.open_store, caller.store
    open_store.check_open()
    open_store.follower.renew()
    with open_store.commit() as commit:
        open_store.follower.before(commit)
        store.state.tidy()
        store.state.fire("curate_complete")
        open_store.note(caller.principal, "reindex", "index")
    open_store.follower.take(Changes(commit.head, (), (), ()), commit)
    open_store.current()


def prune_versions(caller: Caller, *, days: float) -> int:
    """Let go of what memories were before changes that are so long ago; the files are wiped."""
    open_store = caller.open_store
    before = iso(max(0.0, open_store.clock.now() - days * _DAY_SECONDS))
    with open_store.commit():
        gone = caller.store.versions.prune(before)
        open_store.note(caller.principal, "prune", "versions", f"{gone} versions")
    if gone:
        open_store.wipe()
    return gone


def repair(caller: Caller, *, discard: bool, all_links: bool = False) -> Repaired:
    """Put right what can be; embed again what lost its vector, as far as the embedder answers."""
    open_store, store = caller.open_store, caller.store
    begun: list[Commit] = []

    @contextmanager
    def begin() -> Iterator[Commit]:
        with open_store.commit() as commit:
            begun.append(commit)
            yield commit
            store.state.fire("curate_complete")
            open_store.note(caller.principal, "repair", "store")

    if discard:
        with open_store.administering(caller.principal, "discard", "damaged"):
            store.discard()

    def links(lost: LostLinks) -> None:
        if open_store.links:
            link_again(lost, store=store, commit=begun[-1])

    done = store.repair(
        begin, at=iso(open_store.clock.now()), link_again=links, all_links=all_links
    )
    open_store.follower.forget()
    retry_pending(caller)
    return done


def back_up(caller: Caller, path: Path, *, progress: Callable[[int, int], None] | None) -> BackedUp:
    """Write a copy of the store, as it is now, to a new file."""
    caller.open_store.check_open()
    return caller.store.backup(path, progress=progress)


def holdings(caller: Caller, tenant: str) -> Holdings:
    """Return how much a tenant has."""
    caller.open_store.check_open()
    return caller.store.state.holdings(tenant)


def stats(caller: Caller) -> dict[str, Any]:
    """Return facts about the store: how much may be read; to whoever opened it, all of it."""
    sight = caller.sight()
    if not caller.is_opener:
        return {"memories": sight.select().count}
    with caller.open_store.snapshot():
        state, counts = caller.store.state.read(), caller.store.state.count()
    error = caller.open_store.embedder_error
    return {
        **counts._asdict(),
        "revision": state.revision,
        "model_id": None if state.model_id is None else model_of(state.model_id),
        "dimension": state.dimension,
        "embeds_titles": reads_titles(state.model_id),
        "reembedding_to": None if state.next_model_id is None else model_of(state.next_model_id),
        "active_hours": caller.clock(sight).active_hours,
        "embedder_error": str(error) if error else None,
    }
