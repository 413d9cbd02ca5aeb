"""The SQLite file: opening it, writing to it in transactions, and saying clearly what failed.

In: paths, connections and the driver's errors. Out: connections ready for use, and errors of our
tree with a hint each. Knows nothing of Paks.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from recollect.errors import (
    InvalidInput,
    NotACatalogue,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreOutdated,
    StoreReadOnly,
    StoreUnavailable,
    UnknownPak,
)
from recollect.paks.tolerant import is_unreadable

if TYPE_CHECKING:
    from recollect.errors import (
        StoreError,
    )

__all__ = [
    "MEMORY",
    "BrokenReference",
    "PakConnection",
    "as_catalogue",
    "connect",
    "connect_read_only",
    "connect_unchanging",
    "damage",
    "is_busy",
    "read",
    "tune",
    "write",
]

MEMORY = ":memory:"
BUSY_TIMEOUT_MS = 5000
# Python handles a signal between two statements, not while SQLite waits in one: so it waits for
# its turn to write in pieces of this length.
PIECE_MS = 50
# 64 MB of log between checkpoints instead of 4: a hot page is copied back far less often.
CHECKPOINT_PAGES = 16_000
# More makes single writes dearer (their pages fall out of the processor's own cache), less makes
# batches dearer; measured in ADR-0004.
CACHE_KIB = 8 * 1024
# While many rows are written: a page that has no room is written to the log before its time, and
# read from there when the next row needs it.
ROOM_KIB = 64 * 1024

_NUMBERS = count()


class PakConnection(sqlite3.Connection):
    """A connection; `owner` is who began its transaction last.

    `records` is the catalogue by numbers as a selection reads it through this one. `stamp` is that
    of the file whose pages it may have in its cache.
    """

    owner: object = None
    records: Any = None
    stamp: object = None
    patience_ms: int = 0
    _piece_ms: int | None = None

    def wait_at_most(self, patience_ms: int) -> None:
        """Let a transaction wait so long for a lock that others hold, a piece at a time."""
        self.patience_ms = patience_ms
        self.wait_in_one_piece(min(patience_ms, PIECE_MS))

    def wait_in_one_piece(self, piece_ms: int) -> None:
        """Let a single statement wait so long."""
        if piece_ms != self._piece_ms:
            self.execute(f"PRAGMA busy_timeout = {piece_ms}")
            self._piece_ms = piece_ms


_NO_SUCH = ("no such table", "no such column")
_NEWER_FORMAT = "invalid fts5 file format"


class BrokenReference(UnknownPak, sqlite3.IntegrityError):
    """SQLite found that a write names a Pak that does not exist; it was rolled back."""


@contextmanager
def as_catalogue(path: Path | str) -> Iterator[None]:
    """Say in our words what SQLite finds strange about the tables in a file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, RecollectError):
            raise
        raise not_a_catalogue(path, error) from error


def not_a_catalogue(path: Path | str, error: sqlite3.DatabaseError) -> NotACatalogue:
    """Return what to say of a file whose tables are others' or not there."""
    return NotACatalogue(
        f"{path} does not look like a catalogue of Recollect ({error}).",
        hint="check the path, or restore a backup.",
    )


def connect(path: Path, *, any_thread: bool = False) -> PakConnection:
    """Open `path` for reading and writing, making its folders. Changes nothing in the file.

    With `any_thread` the caller promises to let one thread at a time use the connection.
    """
    if str(path) != MEMORY:
        _make_room(path)
    with Translated(path):
        return _ready(
            sqlite3.connect(
                path,
                isolation_level=None,
                check_same_thread=not any_thread,
                factory=PakConnection,
            )
        )


def connect_read_only(path: Path, *, any_thread: bool = False) -> PakConnection:
    """Open an existing database that this connection will never write to."""
    with _reaching(path):
        exists = path.is_file()
    if not exists:
        raise StoreUnavailable(
            f"There is no database file at {path}.",
            hint="check the path, or open it for writing once to create it.",
        )
    with Translated(path):
        try:
            return _connect_uri(path, "mode=ro", any_thread=any_thread)
        except sqlite3.OperationalError:
            if path.with_name(path.name + "-wal").exists():
                raise
            # WAL needs a shared-memory file beside the database; on a read-only disk there can
            # be none, and nobody else can be writing either.
            return _connect_uri(path, "mode=ro&immutable=1", any_thread=any_thread)


def connect_unchanging(path: Path) -> PakConnection:
    """Open a database that nobody writes to; SQLite then makes no file beside it."""
    with Translated(path):
        return _connect_uri(path, "mode=ro&immutable=1", any_thread=False)


def tune(conn: sqlite3.Connection) -> None:
    """Set the journal of a database that is known to be ours: readers never block a writer."""
    _switch_to_wal(conn)
    conn.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")


@contextmanager
def write(conn: sqlite3.Connection) -> Iterator[None]:
    """Run the body in a transaction, or as a savepoint of the one the caller has open."""
    if conn.in_transaction:
        with _joining(conn):
            yield
        return
    with _begun(conn, "BEGIN IMMEDIATE"):
        yield
        conn.execute("COMMIT")


@contextmanager
def _begun(conn: sqlite3.Connection, statement: str) -> Iterator[None]:
    """Begin a transaction, and see to it that it is over with the body.

    An exception may come between any two steps, also from a signal while the statement waits for
    its turn: so what may begin is ended inside of what ends it, and ending is tried twice.
    """
    mine = object()
    try:
        if isinstance(conn, PakConnection):
            conn.owner = mine
        _begin(conn, statement)
        yield
    finally:
        try:
            _end(conn, mine)
        finally:
            _end(conn, mine)


def _begin(conn: sqlite3.Connection, statement: str) -> None:
    """Begin a transaction, waiting for others piece by piece: signals are handled in between."""
    deadline = time.monotonic() + getattr(conn, "patience_ms", 0) / 1000
    while True:
        try:
            conn.execute(statement)
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
        else:
            return


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Return whether SQLite refused because somebody else has a lock."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # errors that Python makes have none
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _end(conn: sqlite3.Connection, mine: object) -> None:
    # Who was interrupted and is collected late must not end what others have begun since.
    if getattr(conn, "owner", mine) is mine and conn.in_transaction:
        conn.rollback()


@contextmanager
def _joining(conn: sqlite3.Connection) -> Iterator[None]:
    # A name of its own: what is rolled back must never be somebody else's savepoint.
    savepoint = f"recollect_{next(_NUMBERS)}"
    try:
        conn.execute(f"SAVEPOINT {savepoint}")
        yield
        conn.execute(f"RELEASE {savepoint}")
    except BaseException:
        # A full disk makes SQLite roll back by itself; then there is nothing left to undo, as there
        # is not if the exception came before the first step or after the last.
        with suppress(sqlite3.OperationalError):
            conn.execute(f"ROLLBACK TO {savepoint}")
            conn.execute(f"RELEASE {savepoint}")
        raise


@contextmanager
def read(conn: sqlite3.Connection) -> Iterator[None]:
    """Let the body see one state of the database, however others write meanwhile."""
    with _begun(conn, "BEGIN"):
        yield
        # Not rolled back: what the connection made for itself meanwhile stays.
        if conn.in_transaction:
            conn.execute("COMMIT")


class Translated:
    """Turns the driver's errors about a path into ours; leaves the rest alone.

    A context manager that can be entered again and again.
    """

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Any:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # What the driver cannot decode is a text in the file, or a complaint that quotes one.
        if isinstance(error, UnicodeDecodeError):
            raise _unreadable(error, self.path) from error
        if isinstance(error, OverflowError) and "SQLite" in str(error):
            raise InvalidInput(
                "a number is larger than a store can keep; nothing was written.",
                hint="pass whole numbers of at most 64 bits.",
            ) from error
        if isinstance(error, sqlite3.DatabaseError):
            translation = _translation(error, self.path)
            if translation is not None:
                raise translation from error


def damage(conn: sqlite3.Connection) -> list[str]:
    """Return what is wrong with the file itself, in words."""
    found = [row[0] for row in conn.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
    dangling = len(conn.execute("PRAGMA foreign_key_check").fetchall())
    return found + ([f"{dangling} rows refer to Paks that do not exist"] if dangling else [])


def _translation(error: sqlite3.DatabaseError, path: Path) -> RecollectError | None:
    if isinstance(error, RecollectError):
        return None
    if isinstance(error, sqlite3.IntegrityError):
        return _broken_reference() if "FOREIGN KEY" in str(error) else None
    if is_unreadable(error):
        return _unreadable(error, path)
    # Other errors that Python itself makes, and those of a closed connection, carry no code.
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if primary == sqlite3.SQLITE_ERROR and str(error).startswith(_NO_SUCH):
        return not_a_catalogue(path, error)
    if primary == sqlite3.SQLITE_ERROR and str(error).startswith(_NEWER_FORMAT):
        return StoreOutdated(
            f"{path} was written with a newer SQLite than {sqlite3.sqlite_version}, which cannot"
            " read its full text.",
            hint="open it again, not read-only: full text is then made anew.",
        )
    kind, message, hint = _MEANINGS.get(primary, (None, "", ""))
    return kind(f"{message.format(path=path)} ({error})", hint=hint) if kind else None


def _unreadable(error: Exception, path: Path) -> StoreDamaged:
    said = ascii(str(error))[:200]
    return StoreDamaged(f"{path} is damaged: it holds a text that is none ({said}).", hint=_REPAIR)


def _broken_reference() -> BrokenReference:
    return BrokenReference(
        "The write names a Pak that is not in the catalogue; nothing was written.",
        hint="upsert the Pak first, or check the id.",
    )


_REPAIR = "run `recollect check`, then `recollect repair`, or restore a backup."
_MEANINGS: dict[int, tuple[type[StoreError], str, str]] = {
    sqlite3.SQLITE_FULL: (
        StoreFull,
        "No room left to write {path}; the write was rolled back.",
        "free some disk space and try again; nothing that was acknowledged is lost.",
    ),
    sqlite3.SQLITE_IOERR: (
        StoreUnavailable,
        "The disk failed while using {path}; the write was rolled back.",
        "check the disk and its free space, then try again.",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreReadOnly,
        "{path} may not be written.",
        "make the file and its folder writable, or open with read_only=True.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StoreUnavailable,
        "Cannot open {path}.",
        "check that the path is a file in a folder that you may write to.",
    ),
    sqlite3.SQLITE_PERM: (
        StoreUnavailable,
        "No permission to use {path}.",
        "check the owner and the mode of the file and its folder.",
    ),
    sqlite3.SQLITE_AUTH: (
        StoreUnavailable,
        "This process was forked in the middle of using {path}; nothing was written.",
        "end transactions and snapshots before you fork.",
    ),
    sqlite3.SQLITE_NOTADB: (
        StoreDamaged,
        "{path} is not a SQLite database; it was left as it is.",
        "check the path, or move the file away to start a new one.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        StoreDamaged,
        "{path} is damaged.",
        _REPAIR,
    ),
    sqlite3.SQLITE_ERROR: (
        StoreDamaged,
        "{path} is not as it should be.",
        _REPAIR,
    ),
    sqlite3.SQLITE_BUSY: (
        StoreBusy,
        "Another process kept {path} locked.",
        "try again; if it stays so, look for a process that left a transaction open.",
    ),
    sqlite3.SQLITE_LOCKED: (
        StoreBusy,
        "{path} is locked by another statement of this process.",
        "finish or close the other reader, then try again.",
    ),
}


@contextmanager
def _reaching(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"Cannot use {path}: {error.strerror or error}.",
            hint="choose a path in a folder that exists and that you may write to.",
        ) from error


def _make_room(path: Path) -> None:
    """Make the folders of a file that is not there yet, and the file, for their owner alone.

    The log and its map get the mode of the file from SQLite.
    """
    with _reaching(path):
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
    _refuse_special(path)
    with _reaching(path), suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _refuse_special(path: Path) -> None:
    """Refuse what is there and is no file: a pipe would keep whoever opens it waiting."""
    # Looked at once: another process may make it between two looks.
    with _reaching(path):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            return
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise StoreUnavailable(
            f"{path} is a directory, not a database file.",
            hint=f"name a file in it, for example {path / 'recall.db'}.",
        )
    raise StoreUnavailable(
        f"{path} is a pipe, a device or a socket, not a database file.",
        hint="name a plain file, or a path at which one can be made.",
    )


def _ready(conn: PakConnection) -> PakConnection:
    """Return `conn` set up and known to read a database; close it if it does not."""
    try:
        _set_for_session(conn)
        conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except BaseException:
        conn.close()
        raise
    return conn


def _set_for_session(conn: sqlite3.Connection) -> None:
    conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    conn.execute("PRAGMA foreign_keys = ON")
    conn.execute("PRAGMA synchronous = NORMAL")
    # A statement's undo journal would else spill to a file once it touches sixteen pages, and an
    # insert with its full-text row and indexes touches more.
    conn.execute("PRAGMA temp_store = MEMORY")
    conn.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    # What is deleted or overwritten must not be readable in the file afterwards. Some builds of
    # SQLite do so anyway, others have to be told, each connection anew.
    conn.execute("PRAGMA secure_delete = ON")


def _switch_to_wal(conn: sqlite3.Connection) -> None:
    # Changing the journal mode needs the file alone and does not wait its turn: when several
    # processes open a new file at once, SQLite answers "locked" at once to all but one.
    if conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            conn.execute("PRAGMA journal_mode = WAL").fetchone()
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _connect_uri(path: Path, options: str, *, any_thread: bool) -> PakConnection:
    uri = f"file:{quote(os.fsencode(path.absolute()))}?{options}"
    return _ready(
        sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            check_same_thread=not any_thread,
            factory=PakConnection,
        )
    )
