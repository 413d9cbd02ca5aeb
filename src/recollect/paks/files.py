"""The file behind a path: whether it is still the one that was opened, and where it lies.

In: paths, and the table of mounts as text. Out: identities that can be compared, and errors that
say what became of a file. Nothing is opened or changed.
"""

from __future__ import annotations

import os
from pathlib import Path

from recollect.errors import StoreReplaced, StoreUnavailable

__all__ = [
    "FileIdentity",
    "Stamp",
    "identity",
    "lockless_file_system",
    "refuse_lockless",
    "replaced",
    "same_or_refuse",
]

# Device and number of a file: a copy under the same name has others.
FileIdentity = tuple[int, int]
# When a file was last written to, and its size: what was copied over it in place has others.
Stamp = tuple[int, int]

# They either have no locks, or keep them from other machines, or break them on a reconnect.
_LOCKLESS = frozenset({"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "afs", "ncpfs"})
_MOUNTS = Path("/proc/self/mounts")


def identity(path: Path) -> FileIdentity | None:
    """Return which file a path leads to, None if to none."""
    found = _look(path)
    return None if found is None else (found.st_dev, found.st_ino)


def _look(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116  # in half the time, at every statement
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreUnavailable(
            f"Cannot look at {path}: {error.strerror or error}.",
            hint="check the rights of its folder.",
        ) from error


def same_or_refuse(path: Path, known: FileIdentity) -> Stamp:
    """Refuse to go on with a file that its path no longer leads to; return its stamp."""
    found = _look(path)
    if found is None or (found.st_dev, found.st_ino) != known:
        what = "is gone" if found is None else "is another file than the one that was opened"
        raise replaced(path, what)
    return found.st_mtime_ns, found.st_size


def replaced(path: Path, what: str) -> StoreReplaced:
    """Return the error that says what became of a file."""
    return StoreReplaced(
        f"{path} {what}; nothing was read or written.",
        hint="open the memory again; what was acknowledged is in the file that was there.",
    )


def lockless_file_system(path: str, mounts: str) -> str | None:
    """Return the type of the file system that holds a path, if its locks cannot be relied on.

    `mounts` is the table that Linux shows in /proc/self/mounts.
    """
    kind, longest = "", -1
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        point = _unescaped(fields[1])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        # Of two mounts on one place the later one is seen.
        if inside and len(point) >= longest:
            kind, longest = fields[2], len(point)
    is_lockless = kind in _LOCKLESS or kind.startswith("fuse.") or kind == "fuse"
    return kind if is_lockless else None


def refuse_lockless(path: Path) -> None:
    """Refuse a place on a file system without locks that hold, as far as that can be told."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return  # not Linux, or no /proc: nobody says what is mounted
    kind = lockless_file_system(os.path.realpath(path), mounts)
    if kind is not None:
        raise StoreUnavailable(
            f"{path} is on a file system of type {kind}, whose locks cannot be relied on.",
            hint="choose a place on a local disk, or pass any_filesystem=True if one process at a"
            " time uses it.",
        )


def _unescaped(field: str) -> str:
    """Return a field as it is meant: the table writes a space as \\040."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field
