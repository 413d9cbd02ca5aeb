"""A copy of a store as one file: of one moment, whoever writes meanwhile, and looked at afterwards.

In: a connection inside of a snapshot, and where the copy shall be. Out: a file that only its owner
may read, there as a whole or not at all. Nothing that is there already is written over, and the
store that is copied is not changed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from recollect.errors import InvalidInput, StoreDamaged, StoreUnavailable
from recollect.model import BackedUp
from recollect.paks.database import Translated, connect_unchanging
from recollect.paks.footprint import files_of
from recollect.ports.state import Head
from recollect.stores.sqlite.examine import find

__all__ = [
    "PAGES_AT_ONCE",
    "Progress",
    "Whole",
    "back_up",
    "copy_pages",
    "draft_beside",
    "examined",
    "head_of",
    "need_free",
    "put_in_place",
    "take_out_of_wal",
    "telling",
]

# Is told how many pages are done, and of how many.
Progress: TypeAlias = Callable[[int, int], None]

# Between two steps others have their turn, and progress is told: 1 MB.
PAGES_AT_ONCE = 256
_BESIDE = ("-wal", "-shm", "-journal")
_OF_THE_SOURCE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def back_up(source: sqlite3.Connection, path: Path, progress: Progress | None) -> BackedUp:
    """Copy what a connection sees in its snapshot to a new file at `path`."""
    need_free(path)
    head = head_of(source)  # the first read is what the snapshot is of
    with draft_beside(path) as draft:
        copy_pages(source, draft, progress)
        take_out_of_wal(draft)
        found = examined(draft, head=head)
        put_in_place(draft, path)
        size = path.stat().st_size
    return BackedUp(str(path), found.memories, found.head.revision, size)


def copy_pages(source: sqlite3.Connection, draft: Path, progress: Progress | None) -> None:
    """Copy all pages that a connection sees into an empty file, whatever is on them."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as target:
        # A draft needs no way back; it is brought to the disk as a whole, once it is one.
        target.execute("PRAGMA journal_mode = OFF")
        target.execute("PRAGMA synchronous = OFF")
        try:
            source.backup(target, pages=PAGES_AT_ONCE, progress=telling(progress))
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_SOURCE:
                raise
            with Translated(draft):  # it is the copy that had no room, or no disk
                raise


def telling(progress: Progress | None) -> Callable[[int, int, int], None] | None:
    """Return what tells of progress in the words that SQLite has for it."""
    if progress is None:
        return None
    return lambda _status, remaining, total: progress(total - remaining, total)


def take_out_of_wal(draft: Path) -> None:
    """Let a file be all there is of its database: who just reads it leaves nothing beside it."""
    with Translated(draft), closing(sqlite3.connect(draft, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode = DELETE")


class Whole(NamedTuple):
    """What a copy holds that was looked at: how many memories, and how far it has come."""

    memories: int
    head: Head


def examined(draft: Path, *, head: Head | None = None) -> Whole:
    """Look at a copy that nobody has open; it must be sound, and as far as `head`."""
    with closing(connect_unchanging(draft)) as copy:
        found = find(copy).report()
        came = None if found.problems else head_of(copy)
    if came is None or head not in (None, came):
        said = found.problems[0] if found.problems else "it is of another revision"
        raise StoreDamaged(
            f"A copy was made, looked at and not kept: {said}.",
            hint="run `recollect check`, then `recollect repair`; a plain copy of the file keeps"
            " the damage as it is.",
        )
    return Whole(found.memories, came)


def head_of(conn: sqlite3.Connection) -> Head:
    """Return how far a store has come."""
    revision, commit_id = conn.execute("SELECT revision, commit_id FROM engine_state").fetchone()
    return Head(int(revision), commit_id)


def need_free(path: Path) -> None:
    """Refuse a path at which something is, or beside which the log of another database lies."""
    taken = [name for name in _with_others(path) if os.path.lexists(name)]
    if taken:
        raise InvalidInput(
            f"{taken[0]} is there already; nothing was written.",
            hint="name a file that is not there yet; nothing is written over.",
        )


def _with_others(path: Path) -> Iterator[Path]:
    """Yield a path and what SQLite would take for parts of a database there."""
    yield path
    for suffix in _BESIDE:
        yield path.with_name(path.name + suffix)


@contextmanager
def draft_beside(path: Path) -> Iterator[Path]:
    """Give an empty file that only its owner may read; it goes in the end."""
    # Its name is known before it is there, and it is removed twice: so an exception that comes
    # right after it was made, or while it is removed, leaves no copy of a store behind.
    draft = path.with_name(f".{path.name}.{os.urandom(6).hex()}.draft")
    try:
        try:
            with _reaching(path):
                os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            yield draft
        finally:
            _remove(draft)
    finally:
        _remove(draft)


def _remove(draft: Path) -> None:
    with suppress(FileNotFoundError):  # nor is the folder there
        for one in files_of(draft):
            one.path.unlink(missing_ok=True)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a draft that is whole its name, unless somebody has taken that meanwhile."""
    with _reaching(path):
        _bring_to_disk(draft)
        try:
            os.link(draft, path)
        except FileExistsError:
            need_free(path)
            raise
        except OSError:
            # No two names for a file here.
            need_free(path)
            draft.rename(path)
        _bring_to_disk(path.parent)


def _bring_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _reaching(path: Path) -> Iterator[None]:
    try:
        yield
    except (InvalidInput, StoreUnavailable):
        raise
    except OSError as error:
        raise StoreUnavailable(
            f"Cannot write {path}: {error.strerror or error}.",
            hint="name a file in a folder that is there and may be written to.",
        ) from error
