"""Archive and unarchive: out of every recall, but not forgotten; and back.

In: an id. Out: whether it stood the other way before. Who may erase a memory may archive it; what
is not there, and what is not the caller's to archive, are the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.ports.store import RowFilter
from recollect.verbs.erase import hash_name
from recollect.verbs.requests import keep, raise_if_repeated
from recollect.write.forget import erasable
from recollect.write.status import ARCHIVED, set_status

if TYPE_CHECKING:
    from recollect.model import Status
    from recollect.ports.store import Standing
    from recollect.verbs.caller import Caller
    from recollect.verbs.requests import Request

__all__ = ["archive", "unarchive"]


def archive(caller: Caller, request: Request | None, pak_id: str) -> bool:
    """Take an active memory out of every recall; return whether there was one."""
    return _change_status(caller, request, pak_id, act="archive", old="active", new=ARCHIVED)


def unarchive(caller: Caller, request: Request | None, pak_id: str) -> bool:
    """Bring an archived memory back; return whether there was one."""
    return _change_status(caller, request, pak_id, act="unarchive", old=ARCHIVED, new="active")


def _change_status(
    caller: Caller, request: Request | None, pak_id: str, *, act: str, old: Status, new: Status
) -> bool:
    open_store = caller.open_store
    if request is None and not _standing(caller, pak_id, old):
        return False
    with open_store.commit() as commit:
        raise_if_repeated(request)
        # Somebody may have been faster; from here on nobody else can change it.
        standing = _standing(caller, pak_id, old)
        if standing:
            set_status(
                standing,
                new,
                store=caller.store,
                before=open_store.follower.before,
                commit=commit,
                links=open_store.links,
                by=caller.principal.id,
                at=caller.now(),
            )
            open_store.note(caller.principal, act, hash_name(pak_id))
        # What is not the caller's to change must not be told of by its going either.
        keep(request, bool(standing), names=[pak_id] if standing else ())
    return bool(standing)


def _standing(caller: Caller, pak_id: str, status: str) -> list[Standing]:
    """Return where the memory stands, if the caller may change that and it has this status."""
    who, store = caller.principal, caller.store
    found = store.memories.standing(RowFilter(pak_ids=(pak_id,)))
    roles = caller.open_store.roles_of(who)
    mine = erasable(found, who, roles, None)
    return [found[name] for name in mine if found[name].status == status]
