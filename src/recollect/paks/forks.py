"""What becomes of open connections when the process is forked.

SQLite counts the locks that a process holds on a file in the process itself. A child inherits the
count, but not the locks: even a connection that it opens itself then writes without any, and loses
what it was told is safe as soon as the parent closes. So there must be none open at the instant of
the fork: they are closed before it, and opened again on both sides when they are next used. Where
that cannot be, the child refuses to use the file.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recollect.errors import StoreUnavailable
from recollect.paks.files import identity

if TYPE_CHECKING:
    from recollect.paks.database import PakConnection
    from recollect.paks.files import FileIdentity

__all__ = ["keep_for_good", "refusal", "refuse_inherited", "watch"]


class Forkable(Protocol):
    """Somebody with connections, who is told of forks."""

    def before_fork(self) -> None:
        """Close what can be closed, and let nobody open anything."""

    def after_fork(self) -> None:
        """Go on, in the parent."""

    def in_child(self) -> FileIdentity | None:
        """Go on, in the child; return which file must not be used there, if it is so."""


_WATCHED: weakref.WeakSet[Forkable] = weakref.WeakSet()
# Files that this process must not open: it inherited counts of locks that it does not hold.
_INHERITED: set[FileIdentity] = set()


def watch(one: Forkable) -> None:
    """Tell somebody of forks from now on."""
    _WATCHED.add(one)


def refuse_inherited(path: Path) -> None:
    """Refuse to open a file to which this process inherited an open connection."""
    if _INHERITED and identity(path) in _INHERITED:
        raise refusal(path)


def refusal(path: Path | str) -> StoreUnavailable:
    """Return why a file cannot be used in a child."""
    return StoreUnavailable(
        f"This process was forked while {path} was in use; writes to it would be lost.",
        hint="fork outside of transactions and snapshots, or start the child anew: spawn,"
        " subprocess, exec.",
    )


def keep_for_good(connections: Iterable[PakConnection]) -> None:
    """See to it that connections are never closed, not even when the interpreter ends.

    Closing one checks the log back into the database and deletes it by its name, which may be the
    parent's, or that of another file by now.
    """
    for conn in connections:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(conn))


def _before() -> None:
    for one in list(_WATCHED):
        one.before_fork()


def _after() -> None:
    for one in list(_WATCHED):
        one.after_fork()


def _in_child() -> None:
    for one in list(_WATCHED):
        inherited = one.in_child()
        if inherited is not None:
            _INHERITED.add(inherited)


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
