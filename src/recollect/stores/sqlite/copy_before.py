"""A copy of the database as it was before its tables are changed for good.

In: where the database is, and the version that it will have. Out: a file beside it that only its
owner may read, or a refusal: without a copy nothing is migrated. It holds texts, so it goes when
something is forgotten.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from recollect.errors import StoreFull, StoreUnavailable
from recollect.paks.footprint import COPY

__all__ = ["copy_before"]


def copy_before(path: Path, version: int) -> None:
    """Leave a copy of the last committed state, unless there is one already.

    To be called while nobody else can write, and from a connection of its own: what the caller's
    transaction has changed is not in it.
    """
    real = path.resolve()
    copy = real.with_name(f"{real.name}{COPY}{version}")
    draft = copy.with_name(f"{copy.name}.tmp")
    if os.path.lexists(copy):
        return
    try:
        _write(path, draft)
        draft.replace(copy)
    except (OSError, sqlite3.Error) as error:
        raise _refusal(path, copy, error) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _write(path: Path, draft: Path) -> None:
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(draft)) as target:
        source.backup(target)
    with draft.open("rb") as file:
        os.fsync(file.fileno())


def _refusal(path: Path, copy: Path, error: Exception) -> StoreFull | StoreUnavailable:
    said = f"{path} has to be migrated, and {copy.name} could not be written beside it ({error})."
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    is_full = code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) == errno.ENOSPC
    return (StoreFull if is_full else StoreUnavailable)(
        f"{said} Nothing was changed.",
        hint="see that its folder may be written and has room for as much again; then open it.",
    )
