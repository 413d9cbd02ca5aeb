"""Forget: from what was asked to what is gone, everywhere that this process knows of.

In: ids, or an entity, and a scope. Out: what was erased. Rows go in one transaction with the note
that they went; then caches, index and file are wiped, and somebody looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.lookalikes import normal_name
from recollect.model import ForgetRequest, Forgotten, name_key
from recollect.model.filters import (
    all_of,
    is_called,
    is_in_project,
    is_tagged,
    key_of_field,
    parse_filter,
    within,
)
from recollect.ports.store import ReceiptFilter, RowFilter
from recollect.recall.sight import rows_fulfilling
from recollect.verbs.requests import keep, raise_if_repeated
from recollect.write import forget

if TYPE_CHECKING:
    from recollect.index.index import MemoryIndex
    from recollect.model import Looked, Memory
    from recollect.model.filters import (
        Filter,
    )
    from recollect.ports.store import Head
    from recollect.recall.sight import Sight
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request

__all__ = ["erase", "erased_before", "hash_name", "older", "rehearse", "report"]


def erase(caller: Caller, request: Request | None, wanted: ForgetRequest) -> Forgotten:
    """Erase what of these the caller has the right to erase."""
    open_store, store = caller.open_store, caller.store
    if request is None and not _would_erase(caller, wanted):
        # Nothing to erase, but what was erased before may have come back into a file since.
        return report((), 0, open_store.wipe())
    with open_store.commit() as commit:
        raise_if_repeated(request)
        # Whose it is and who may erase it counts as of now, when nobody else can write.
        caller.need_living_key()
        look = partial(caller.sight_before, commit)
        index = open_store.follower.before(commit)
        erased = _erasable(caller, wanted, index, head=commit.head, look=look)
        versions = _versions(caller, wanted, erased)
        count = sum(map(len, versions.values()))
        edges = forget.erase(erased, store=store, before=open_store.follower.before, commit=commit)
        if versions:
            store.versions.erase(versions)
        answers = _receipts(caller, wanted)
        receipts = 0 if answers is None else store.receipts.erase(answers)
        if erased or versions or receipts:
            target = "\n".join(erased) if wanted.entity is None else wanted.entity
            detail = f"{len(erased)} memories" + (f", {count} versions" if count else "")
            detail += f", {receipts} receipts" if receipts else ""
            open_store.note(caller.principal, "forget", hash_name(target), detail)
        told = {"pak_ids": erased, "edges": edges, "versions": count, "receipts": receipts}
        keep(request, told)
    forget.verify(store, erased)
    open_store.cached_frames.drop_holding(erased)
    return report(erased, edges, open_store.wipe(), versions=count, receipts=receipts)


def erased_before(caller: Caller, answer: Mapping[str, Any]) -> Forgotten:
    """Return what was said of an erasure; wiped is what it is by now, or made so."""
    counts = {name: answer.get(name, 0) for name in ("versions", "receipts")}
    return report(answer["pak_ids"], answer["edges"], caller.open_store.wipe(), **counts)


def rehearse(caller: Caller, wanted: ForgetRequest) -> Forgotten:
    """Return what would be erased, and what of that which may be read would come back."""
    doomed = _erasable_now(caller, wanted)
    answers = _receipts(caller, wanted)
    return Forgotten(
        tuple(doomed),
        0,
        wiped=False,
        dry_run=True,
        returns=caller.answer(lambda sight: _returning(caller, sight, frozenset(doomed))),
        versions=sum(map(len, _versions(caller, wanted, doomed).values())),
        receipts=0 if answers is None else caller.store.receipts.count(answers),
    )


def older(caller: Caller, wanted: ForgetRequest) -> dict[str, list[int]]:
    """Return the numbers of the earlier versions that would be erased of what stays, by memory."""
    return _versions(caller, wanted, _erasable_now(caller, wanted))


def _returning(caller: Caller, sight: Sight, doomed: frozenset[str]) -> tuple[str, ...]:
    found = {one.second for one in sight.disputes() if one.first in doomed}
    found |= {one.first for one in sight.disputes() if one.second in doomed}
    superseded = caller.store.memories.standing(RowFilter(superseded_by=tuple(sorted(doomed))))
    found |= {pak_id for pak_id in superseded if sight.may_read(pak_id)}
    return tuple(sorted(found - doomed))


def report(
    erased: Sequence[str],
    edges: int,
    proof: tuple[Looked, ...],
    *,
    versions: int = 0,
    receipts: int = 0,
) -> Forgotten:
    """Return what was erased; wiped is whether each file that was looked at is clean."""
    is_clean = all(one.is_clean for one in proof)
    return Forgotten(
        tuple(erased), edges, is_clean, proof=proof, versions=versions, receipts=receipts
    )


def _versions(caller: Caller, wanted: ForgetRequest, doomed: Sequence[str]) -> dict[str, list[int]]:
    """Return what memories that stay were, and was of what is to be forgotten: that goes too.

    Not where a stretch of time or a filter is named: these are asked of memories as they are.
    """
    parts = (wanted.entity, wanted.thread, wanted.project, wanted.tag, wanted.owner, wanted.source)
    narrowed = (wanted.filter, wanted.since, wanted.until)
    if parts == (None,) * len(parts) or narrowed != (None,) * len(narrowed):
        return {}
    store, who = caller.store, caller.principal
    found = store.versions.where(who.tenant, partial(_was_of, wanted))
    standing = store.memories.standing(RowFilter(pak_ids=tuple(found)))
    roles = caller.open_store.roles_of(who)
    mine = forget.erasable(standing, who, roles, wanted.scope)
    return {name: found[name] for name in mine if name not in doomed}


def _was_of(wanted: ForgetRequest, was: Memory) -> bool:
    """Return whether an earlier version is of all that is named."""
    named = (
        ("thread", wanted.thread, was.thread),
        ("owner", wanted.owner, was.place.owner),
        ("source", wanted.source, was.source),
    )
    about = {name_key(name) for name in (was.entity, was.value) if name}
    return (
        (wanted.entity is None or name_key(wanted.entity) in about)
        and (wanted.project is None or _lies_in(wanted.project, was.project))
        and (wanted.tag is None or wanted.tag in was.tags)
        and all(
            name is None or key_of_field(field, name) == key_of_field(field, value)
            for field, name, value in named
        )
    )


def _lies_in(path: str, project: str | None) -> bool:
    above = path.rstrip("/")
    return project is not None and (project in (above, path) or project.startswith(f"{above}/"))


def _would_erase(caller: Caller, wanted: ForgetRequest) -> bool:
    answers = _receipts(caller, wanted)
    return bool(
        _erasable_now(caller, wanted)
        or _versions(caller, wanted, ())
        or (answers is not None and caller.store.receipts.count(answers))
    )


def _receipts(caller: Caller, wanted: ForgetRequest) -> ReceiptFilter | None:
    """Return which receipts go: those of an owner, where all of what it owns is to be forgotten.

    To its own a principal has the right, and to all of its tenant an admin.
    """
    only_owner = ForgetRequest(owner=wanted.owner, versions=wanted.versions)
    if wanted.owner is None or wanted != only_owner:
        return None
    who, owner = caller.principal, normal_name(wanted.owner)
    if "admin" not in who.permissions and owner != who.id:
        return None
    return ReceiptFilter(who.tenant, owner)


def _erasable_now(caller: Caller, wanted: ForgetRequest) -> list[str]:
    """Return the ids of what would be erased as things stand."""
    open_store = caller.open_store

    def erasable() -> list[str]:
        index = open_store.current().index
        return _erasable(caller, wanted, index, head=index.head, look=caller.sight)

    return open_store.of_one_revision(erasable)


def _erasable(
    caller: Caller,
    wanted: ForgetRequest,
    index: MemoryIndex,
    *,
    head: Head,
    look: Callable[[], Sight],
) -> list[str]:
    """Return the ids of what was meant and the caller may erase: that is decided by their places.

    What a filter asks for, the caller must be allowed to read.
    """
    store, who = caller.store, caller.principal
    roles = caller.open_store.roles_of(who)
    tree = chosen(wanted)
    if tree is not None:
        rows = tuple(rows_fulfilling(tree, index, store, head))
        meant = RowFilter(tenant=who.tenant, about=wanted.entity, row_ids=rows)
    elif wanted.entity is not None:
        meant = RowFilter(tenant=who.tenant, about=wanted.entity)
    else:
        meant = RowFilter(pak_ids=wanted.pak_ids)
    standing = store.memories.standing(meant)
    if wanted.filter is not None:
        view = look().view
        standing = {name: one for name, one in standing.items() if view.allows(one.place)}
    doomed = found = forget.erasable(standing, who, roles, wanted.scope)
    while wanted.versions and found:
        before = store.memories.standing(RowFilter(superseded_by=tuple(found)))
        taken = forget.erasable(before, who, roles, wanted.scope)
        found = [pak_id for pak_id in taken if pak_id not in doomed]
        doomed = sorted({*doomed, *found})
    return doomed


def chosen(wanted: ForgetRequest) -> Filter | None:
    """Return the filter that what to forget comes to, but for ids and the entity."""
    return all_of(
        (
            is_called("thread", wanted.thread),
            is_in_project(wanted.project),
            is_tagged(wanted.tag),
            is_called("owner", wanted.owner),
            is_called("source", wanted.source),
            None if wanted.filter is None else parse_filter(wanted.filter),
            within(wanted.since, wanted.until),
        )
    )


def hash_name(target: str) -> str:
    """Return what the audit log keeps of an id or a name: it must not outlive a `forget`."""
    return f"sha256:{hashlib.sha256(target.encode()).hexdigest()}"
