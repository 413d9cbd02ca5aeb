"""Salvage: put all that can be read of a damaged file into a new one, and the old one aside.

In: where the file is. Out: a new file beside it, which takes its place once the body has made it
whole; what was there stays under another name, as it was. Meanwhile nobody else writes, and handles
that were open find out that their file is another. Nothing is embedded or decided here.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import StoreBusy, StoreUnavailable
from recollect.paks.database import BUSY_TIMEOUT_MS, PakConnection, Translated
from recollect.paks.files import refuse_lockless
from recollect.paks.footprint import ASIDE, CACHE
from recollect.paks.forks import keep_for_good, refuse_inherited
from recollect.paks.tolerant import text_or_bytes
from recollect.stores.sqlite.salvaged_rows import copy_rows, mend_schema
from recollect.stores.sqlite.store import SqliteStore
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.stores.sqlite.salvaged_rows import Copied

__all__ = ["Salvage", "salvaging"]

_LOG, _SHARED = "-wal", "-shm"


@dataclass(frozen=True, slots=True)
class Salvage:
    """A new file with what could be read, where the old one will be, and what was not read."""

    draft: Path
    aside: Path
    copied: Copied


@contextmanager
def salvaging(path: Path, *, store_id: str, at: str) -> Iterator[Salvage]:
    """Copy what can be read into a new file; after the body it takes the place of the old one.

    If the body raises, the old file stays where it is.
    """
    place = path.resolve()
    refuse_lockless(place)
    refuse_inherited(place)
    with ExitStack() as cleanup:
        work, draft = (_beside(place, name, cleanup) for name in (".pages", ".salvage"))
        cleanup.enter_context(_held(place))
        with Translated(place):
            _copy_pages(place, work)
        SqliteStore.open(draft, store_id=store_id).close()
        with _bare(work) as pages, _bare(draft) as new:
            mend_schema(pages, new)
        with _bare(work) as pages, _bare(draft) as new:
            copied = copy_rows(pages, new, at, read=work.read_bytes)
        made = Salvage(draft, _free_name(place), copied)
        yield made
        _swap(place, made)


def _beside(place: Path, suffix: str, cleanup: ExitStack) -> Path:
    """Make an empty file that only its owner may read; it goes in the end, if it is still there."""
    path = place.with_name(place.name + suffix)
    _remove(path)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    cleanup.callback(_remove, path)
    return path


def _remove(path: Path) -> None:
    for suffix in ("", _LOG, _SHARED):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@contextmanager
def _bare(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that takes a damaged schema as it comes, and texts as bytes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.text_factory = text_or_bytes
        conn.execute("PRAGMA writable_schema = ON")
        yield conn


@contextmanager
def _held(place: Path) -> Iterator[None]:
    """Let nobody else write to a file; all that was committed is in it, and not in its log."""
    if not place.is_file():
        raise StoreUnavailable(f"There is no database file at {place}.", hint="check the path.")
    conn = sqlite3.connect(place, isolation_level=None, factory=PakConnection)
    # Closing it would delete the log by its name, which is the new file's by then.
    keep_for_good([conn])
    try:
        with Translated(place):
            conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
            conn.execute("PRAGMA writable_schema = ON")
            _empty_log(conn, place)
        yield
    finally:
        if conn.in_transaction:
            conn.rollback()


def _empty_log(conn: sqlite3.Connection, place: Path) -> None:
    log = place.with_name(place.name + _LOG)
    for _ in range(3):
        busy, *_ = conn.execute("PRAGMA wal_checkpoint (TRUNCATE)").fetchone()
        conn.execute("BEGIN IMMEDIATE")
        if not busy and not (log.exists() and log.stat().st_size):
            return
        conn.rollback()
    raise StoreBusy(
        f"Others are using {place}; nothing was changed.",
        hint="end the processes that read or write it, then try again.",
    )


def _copy_pages(place: Path, work: Path) -> None:
    """Copy a file page by page, whatever is on them: what is tried from now on harms nobody."""
    source = sqlite3.connect(place, isolation_level=None, factory=PakConnection)
    keep_for_good([source])
    with closing(sqlite3.connect(work)) as target:
        source.backup(target)


def _free_name(place: Path) -> Path:
    names = (f"{place.name}{ASIDE}{number or ''}" for number in count())
    return next(path for name in names if not os.path.lexists(path := place.with_name(name)))


def _swap(place: Path, made: Salvage) -> None:
    """Put the new file in the place of the old one in one step, and keep the old one."""
    shutil.copymode(place, made.draft)
    with made.draft.open("rb") as file:
        os.fsync(file.fileno())
    try:
        os.link(place, made.aside)
    except OSError:
        # No two names for a file here: for an instant there is none.
        place.rename(made.aside)
    made.draft.replace(place)
    # They are of the old file, empty, and by their names the new one's. Whoever has them open finds
    # out before it writes or reads again.
    for suffix in (_LOG, _SHARED, CACHE):
        with suppress(FileNotFoundError):
            place.with_name(place.name + suffix).unlink()
