"""Whether a copy was put over a database in place while the other one's log was left beside it.

In: the path of a database that is open. Out: yes or no. SQLite cannot tell: it would read pages of
the one and of the other as one database. Nothing is changed, and no lock that this process holds
is lost: who closes a file loses them, so a database that was looked at stays open.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.paks.files import FileIdentity, Stamp

__all__ = ["is_overwritten"]

_HEADER = struct.Struct(">IIII8s8s")
_FRAME = struct.Struct(">II8s8s")
_LOOKS, _BETWEEN_LOOKS_S = 6, 0.02
# Database files that were looked at, by what they are.
_OPEN: dict[FileIdentity, int] = {}


def is_overwritten(path: Path, known: Stamp) -> bool:
    """Return whether what changed a database since it had a stamp cannot have been a checkpoint.

    A checkpoint copies pages from the log into the database: one of them is the same in both. It
    may be that the log has begun anew since; but then it was written to later than the database.

    What is looked at while another process works on it can look like anything: a log that is cut
    short loses its pages before its time changes, and a page that is written changes the time
    before its bytes. So the verdict is of files that were the same for a while.
    """
    log = path.with_name(path.name + "-wal")
    try:
        for _ in range(_LOOKS):
            database, its_log = files = _stamp(path), _stamp(log)
            if known[0] <= database[0] <= its_log[0] or not _differ(path, log):
                return False
            time.sleep(_BETWEEN_LOOKS_S)
        return files == (_stamp(path), _stamp(log))
    except OSError:
        return False  # what cannot be looked at is found to be missing by whoever uses it


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _differ(path: Path, log: Path) -> bool:
    """Return whether no page of a log that holds some is the same in the database."""
    database, is_empty = _opened(path), True
    for place, page in _pages(log):
        is_empty = False
        if os.pread(database, len(page), place) == page:
            return False
    return not is_empty


def _opened(path: Path) -> int:
    found = path.stat()
    known = _OPEN.get((found.st_dev, found.st_ino))
    if known is None:
        known = _OPEN[found.st_dev, found.st_ino] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return known


def _pages(log: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the pages of a log, each with its place in the database."""
    with log.open("rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return
        _, _, size, _, salt, _ = _HEADER.unpack(header)
        while len(frame := file.read(_FRAME.size)) == _FRAME.size:
            number, _, its_salt, _ = _FRAME.unpack(frame)
            if its_salt != salt:
                return
            yield (number - 1) * size, file.read(size)
