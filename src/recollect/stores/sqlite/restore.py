"""A backup becomes a store again: in a new place, or over what is there.

In: the file of a backup, and a place. Out: a store with what the backup holds. It is copied,
brought up to date and looked at before anything in the place is touched. What is there is copied
aside and then written over in one transaction: whatever fails, one of the two is there as a whole.
A store that somebody has open is not written over.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import (
    InvalidInput,
    NotACatalogue,
    StoreBusy,
    StoreTooNew,
    StoreUnavailable,
)
from recollect.model import Restored
from recollect.paks.database import (
    Translated,
    connect_read_only,
    connect_unchanging,
    is_busy,
)
from recollect.paks.footprint import REPLACED, cache_of
from recollect.paks.forks import refuse_inherited
from recollect.paks.opening import HowToOpen
from recollect.stores.sqlite.backup import (
    PAGES_AT_ONCE,
    copy_pages,
    draft_beside,
    examined,
    need_free,
    put_in_place,
    take_out_of_wal,
    telling,
)
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from recollect.stores.sqlite.backup import (
        Progress,
    )

__all__ = ["restore"]

# So long it is tried to be alone with a file: who closes it just now is not in the way.
_ALONE_MS = 500


def restore(
    source: Path, path: Path, *, replace: bool, store_id: str, progress: Progress | None = None
) -> Restored:
    """Put what the backup at `source` holds into a store at `path`."""
    place = path.resolve()
    refuse_inherited(place)
    is_there = replace and place.exists()
    if not is_there:
        _need_new(place)
    aside: str | None = None
    with draft_beside(place) as draft:
        _fill(draft, _backup_at(source, place), store_id, None if is_there else progress)
        take_out_of_wal(draft)
        made = examined(draft)
        if is_there:
            with Translated(place), _alone(place) as target:
                aside = str(_keep_aside(target, place))
                _write_over(target, draft, progress)
        else:
            put_in_place(draft, place)
    cache_of(place).unlink(missing_ok=True)
    return Restored(str(path), made.memories, made.head.revision, aside)


def _need_new(place: Path) -> None:
    try:
        need_free(place)
    except InvalidInput as error:
        raise InvalidInput(
            error.message,
            hint="restore to another place, or say with replace=True that it shall be replaced:"
            " what is there is then kept beside it under another name.",
        ) from error


def _backup_at(source: Path, place: Path) -> Path:
    if not source.is_file():
        raise StoreUnavailable(f"There is no backup at {source}.", hint="check the path.")
    if source.resolve() == place:
        raise InvalidInput(
            f"{source} is the store itself.", hint="name the file of a backup, and another place."
        )
    return source


def _fill(draft: Path, source: Path, store_id: str, progress: Progress | None) -> None:
    """Copy a backup into a draft, and bring it up to date there."""
    with Translated(source), closing(connect_read_only(source)) as conn:
        conn.execute("BEGIN")  # of one moment, should somebody write to it
        tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master")}
        if not {"paks", "engine_state"} <= tables:
            raise NotACatalogue(
                f"{source} is no backup of a memory.",
                hint="name a file that `recollect backup` wrote.",
            )
        copy_pages(conn, draft, progress)
    try:
        SqliteStore.open(draft, store_id=store_id, how=HowToOpen(any_filesystem=True)).close()
    except StoreTooNew as error:
        raise StoreTooNew(
            f"{source} is of a newer release; nothing was restored.",
            hint="upgrade recollect, then restore.",
        ) from error


@contextmanager
def _alone(place: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a file that nobody else has open, nor can open meanwhile."""
    # Closed twice: an exception that comes as the first begins would leave everybody locked out.
    with closing(sqlite3.connect(place, isolation_level=None)) as conn, closing(conn):
        conn.execute(f"PRAGMA busy_timeout = {_ALONE_MS}")
        conn.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            # With no log any more all is in the file; SQLite allows it to who is alone.
            (mode,) = conn.execute("PRAGMA journal_mode = DELETE").fetchone()
            conn.execute("BEGIN EXCLUSIVE")
            conn.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
            mode = "busy"
        if mode != "delete":
            raise StoreBusy(
                f"Somebody has {place} open; nothing was changed.",
                hint="end the programs that use it, then restore again.",
            )
        yield conn


def _keep_aside(target: sqlite3.Connection, place: Path) -> Path:
    """Copy what will be written over, and return where it is; it may be damaged."""
    names = (f"{place.name}{REPLACED}{number or ''}" for number in count())
    aside = next(path for name in names if not os.path.lexists(path := place.with_name(name)))
    with draft_beside(aside) as draft:
        copy_pages(target, draft, None)
        put_in_place(draft, aside)
    return aside


def _write_over(target: sqlite3.Connection, draft: Path, progress: Progress | None) -> None:
    """Write a whole store over another, in one transaction: a journal holds what was there."""
    target.execute("PRAGMA synchronous = FULL")
    with closing(connect_unchanging(draft)) as source:
        source.backup(target, pages=PAGES_AT_ONCE, progress=telling(progress))
