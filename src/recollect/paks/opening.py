"""From a path to a catalogue that is ready for use: migrated, adopted, or refused.

In: what the caller gave as a path. Out: a connection with the newest schema behind it, or all that
several threads need. A database of a newer release or of another program is left as it is.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, StoreDamaged, StoreOutdated, StoreTooNew
from recollect.paks.connections import Connections
from recollect.paks.database import (
    BUSY_TIMEOUT_MS,
    MEMORY,
    Translated,
    connect,
    connect_read_only,
    tune,
    write,
)
from recollect.paks.files import refuse_lockless
from recollect.paks.forks import refuse_inherited
from recollect.paks.migrations import adopt, apply_migrations, current_version, is_adopted
from recollect.paks.schema import SCHEMA_VERSION
from recollect.settings import default_recall_db_path
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.paks.database import (
        PakConnection,
    )

__all__ = ["HowToOpen", "opened", "opened_for_threads", "prepare", "resolve"]

_OF_A_NEWER_SQLITE = "SELECT 1 FROM paks_fts_config WHERE k = 'version' AND v = 5"


def resolve(path: Path | str | None) -> Path:
    if path is None:
        return default_recall_db_path()
    if isinstance(path, str) and path.strip() and "\0" not in path:
        return Path(path)
    if isinstance(path, Path) and "\0" not in str(path):
        return path
    raise InvalidInput(
        f"path must be a file path, not {path!r}.", hint="pass a str, a Path, or None."
    )


def opened(
    path: Path, *, read_only: bool = False, any_thread: bool = False
) -> tuple[PakConnection, StoreTooNew | None]:
    """Open the database at `path` and bring it up to date; say also why not to use it, if so."""
    refuse_inherited(path)
    connect_to = connect_read_only if read_only else connect
    conn = connect_to(path, any_thread=any_thread)
    try:
        with Translated(path):
            return conn, prepare(conn, path, read_only=read_only)
    except BaseException:
        conn.close()
        raise


@dataclass(frozen=True, slots=True)
class HowToOpen:
    """How a store that several threads share is opened.

    With `power_safe` a commit waits until the disk has it; with `any_filesystem` the caller vouches
    for the locks of the place. A write waits `timeout_s` for its turn.
    """

    power_safe: bool = False
    read_only: bool = False
    any_filesystem: bool = False
    timeout_s: float = BUSY_TIMEOUT_MS / 1000


def opened_for_threads(path: Path, how: HowToOpen) -> tuple[Connections, StoreTooNew | None]:
    """Open the database at `path` for several threads, and bring it up to date."""
    is_in_memory = str(path) == MEMORY
    if is_in_memory and how.read_only:
        raise InvalidInput(
            "a new store in memory holds nothing to read.", hint="leave read_only out."
        )
    if not is_in_memory and not how.any_filesystem:
        refuse_lockless(path)
    conn, refusal = opened(path, read_only=how.read_only, any_thread=True)
    place = path if is_in_memory else path.absolute()
    # The first is the one that was just opened; another is needed after a fork.
    at_hand = [conn]

    def open_writer() -> PakConnection:
        writer = at_hand.pop() if at_hand else connect(place, any_thread=True)
        tune(writer)
        if how.power_safe:
            writer.execute("PRAGMA synchronous = FULL")
        return writer

    def open_reader() -> PakConnection:
        is_first = how.read_only and at_hand
        return at_hand.pop() if is_first else connect_read_only(place, any_thread=True)

    connections = Connections(
        path,
        open_writer=None if how.read_only else open_writer,
        open_reader=None if is_in_memory else open_reader,
        timeout_s=how.timeout_s,
    )
    return connections, refusal


def prepare(conn: sqlite3.Connection, path: Path, *, read_only: bool) -> StoreTooNew | None:
    """Bring the database up to date; return why it must not be used, if it must not."""
    version = _version(conn, path)
    if version > SCHEMA_VERSION:
        return StoreTooNew(
            f"{path} has schema version {version}; this release knows up to {SCHEMA_VERSION}.",
            hint="upgrade recollect, or open another database; this one was left as it is.",
        )
    if read_only:
        if version < SCHEMA_VERSION:
            raise StoreOutdated(
                f"{path} has schema version {version} and must be migrated before it is read.",
                hint="open it once without read_only=True.",
            )
        return None
    tune(conn)
    apply_migrations(conn)
    if not is_adopted(conn):
        adopt(conn)
    if sqlite3.sqlite_version_info < (3, 42) and conn.execute(_OF_A_NEWER_SQLITE).fetchone():
        # What is hardly ever needed is loaded then.
        from recollect.paks.fulltext_wiping import make_readable

        with write(conn):
            make_readable(conn)
    return None


def _version(conn: sqlite3.Connection, path: Path) -> int:
    try:
        version = current_version(conn)
    except (sqlite3.OperationalError, TypeError, ValueError) as error:
        # Their table has no such columns, or its version is no number.
        if isinstance(error, sqlite3.Error) and "no such column" not in str(error):
            raise
        raise _foreign(path) from error
    if _is_foreign(conn):
        raise _foreign(path)
    return version


def _is_foreign(conn: sqlite3.Connection) -> bool:
    """Return whether somebody else's tables are here and the catalogue's are not."""
    names = {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return bool(names - {"schema_version"}) and "paks" not in names


def _foreign(path: Path) -> StoreDamaged:
    return StoreDamaged(
        f"{path} is a database of another program; it was left as it is.",
        hint="choose another path for the catalogue.",
    )
