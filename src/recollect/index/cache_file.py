"""The index in a file, so that opening a store need not read all of it again.

One file: a magic line, a checked header in JSON, then the arrays as they lie in memory, each with
the checksum of its pages. A file that is missing, cut short, damaged, of another version or of
another store, of another user or no plain file at all is as good as none: `load` says None and the
caller fills an index from the store. What is loaded is copied first and then looked at.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from recollect.index.index import MemoryIndex
from recollect.paks.footprint import drafts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["VERSION", "drafted", "load", "remove", "save"]

VERSION = 8
_MAGIC = b"RECOLLECT INDEX\n"
_HEAD = struct.Struct("<16sIII")
_ALIGNMENT = 64
_ABANDONED_AFTER_S = 3600.0
_PAGE_WORDS = 512

# What bytes that nobody of ours wrote can make of reading them.
_MALFORMED = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError),
    *(OverflowError, RecursionError, MemoryError, struct.error),
)
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

Put = Callable[[MemoryIndex, str], None]


def save(index: MemoryIndex, path: Path, store_id: str) -> None:
    """Write the index; the old file stays until the new one is complete on disk."""
    with drafted(path, str(os.getpid())) as put:
        put(index, store_id)


@contextmanager
def drafted(path: Path, draft_name: str) -> Iterator[Put]:
    """Make a draft, which is empty as yet, and give what writes an index to it.

    Whoever forgets something removes all drafts after its commit. So an index that was looked at
    while the draft is there holds nothing forgotten, or the draft is gone and is never put in
    place. A name that others could guess, and a link under it, are not written to.
    """
    draft = path.with_name(f"{path.name}.{draft_name}.tmp")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            yield lambda index, store_id: _write(file, index, store_id)
        if draft.stat().st_size:
            draft.replace(path)
            _sync_folder(path.parent)
            _sweep(path)
    finally:
        draft.unlink(missing_ok=True)


def _write(file: BinaryIO, index: MemoryIndex, store_id: str) -> None:
    plain, arrays = index.export()
    file.write(_head({"store_id": store_id, "plain": plain, "arrays": _directory(arrays)}))
    for array in arrays.values():
        file.write(_octets(array).data)
        file.write(bytes(-array.nbytes % _ALIGNMENT))
    file.flush()
    os.fsync(file.fileno())


def load(path: Path, store_id: str) -> MemoryIndex | None:
    """Return the index in the file, or None when it is not there, not whole, or not this store's.

    Its `head` says of which moment it is; whether that is in the store's past, the caller asks.
    """
    try:
        with open(path, "rb", opener=_at_once) as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            header = _read_header(file)
            if header is None or header.get("store_id") != store_id:
                return None
            arrays = _read_arrays(file, header["arrays"])
        return None if arrays is None else MemoryIndex.restore(header["plain"], arrays)
    except (OSError, *_MALFORMED):
        return None


def _at_once(path: str, flags: int) -> int:
    """Open without a link's help, and without waiting for who might write to a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _is_ours(found: os.stat_result) -> bool:
    """Return whether nobody else can have written this: who did decided what others may read."""
    is_own = found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
    return is_own and stat.S_ISREG(found.st_mode)


def remove(path: Path) -> None:
    """Remove the file, and drafts of it, whoever left them or is writing one; OSError if not."""
    # A draft becomes the file, and never the file a draft: in this order none is missed.
    for one in (*drafts_of(path), path):
        one.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove drafts that a killed process left behind."""
    newest = path.stat().st_mtime
    for draft in drafts_of(path):
        with suppress(OSError):
            if draft.stat().st_mtime < newest - _ABANDONED_AFTER_S:
                draft.unlink()


def _octets(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@cache
def _weights() -> NDArray[np.uint64]:
    """Return odd numbers, no two alike: a word that is altered or moved alters its page's sum."""
    # Made when they are needed: loading numpy's random numbers takes longer than most recalls.
    made: NDArray[np.uint64] = np.random.Philox(key=512).random_raw(_PAGE_WORDS) | np.uint64(1)
    return made


def _checksum(octets: NDArray[np.uint8]) -> int:
    """Return a checksum that costs little more than reading: of page sums, so their order counts.

    Within a page each word has a weight of its own.
    """
    whole = len(octets) // (8 * _PAGE_WORDS) * 8 * _PAGE_WORDS
    if not whole:
        return zlib.crc32(octets.data)  # the same: the sum of no page is that of nothing
    pages = octets[:whole].view("<u8").reshape(-1, _PAGE_WORDS)
    sums = np.einsum("ij,j->i", pages, _weights())
    return zlib.crc32(octets[whole:].data, zlib.crc32(np.ascontiguousarray(sums).data))


def _directory(arrays: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "dtype": array.dtype.str,
            "shape": array.shape,
            "checksum": _checksum(_octets(array)),
        }
        for name, array in arrays.items()
    ]


def _size(entry: dict[str, Any]) -> int:
    octets: int = prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize
    return octets


def _room(entry: dict[str, Any]) -> int:
    return _size(entry) + -_size(entry) % _ALIGNMENT


def _head(header: dict[str, Any]) -> bytes:
    text = json.dumps(header, separators=(",", ":")).encode()
    head = _HEAD.pack(_MAGIC, VERSION, len(text), zlib.crc32(text)) + text
    return head + bytes(-len(head) % _ALIGNMENT)


def _read_header(file: BinaryIO) -> dict[str, Any] | None:
    """Return the header, leaving the file where the arrays begin; None if it is not sound."""
    start = file.read(_HEAD.size)
    if len(start) < _HEAD.size:
        return None
    magic, version, length, checksum = _HEAD.unpack(start)
    if magic != _MAGIC or version != VERSION or length > os.fstat(file.fileno()).st_size:
        return None
    text = file.read(length)
    if len(text) != length or zlib.crc32(text) != checksum:
        return None
    file.seek(-(_HEAD.size + length) % _ALIGNMENT, os.SEEK_CUR)
    header: dict[str, Any] = json.loads(text)
    return header


def _read_arrays(file: BinaryIO, directory: list[dict[str, Any]]) -> dict[str, NDArray[Any]] | None:
    """Read each array into memory of its own, so that one that is outgrown gives it back."""
    start = file.tell()
    if not _is_known(directory):
        return None
    if os.fstat(file.fileno()).st_size != start + sum(map(_room, directory)):
        return None
    arrays: dict[str, NDArray[Any]] = {}
    for entry in directory:
        array = np.empty(entry["shape"], dtype=entry["dtype"])
        octets = _octets(array)
        if file.readinto(octets.data) != len(octets) or _checksum(octets) != entry["checksum"]:  # type: ignore[attr-defined]
            return None
        file.seek(-len(octets) % _ALIGNMENT, os.SEEK_CUR)
        arrays[entry["name"]] = array
    return arrays


def _is_known(directory: list[dict[str, Any]]) -> bool:
    """Return whether these are the arrays of an index, each of its own type and shape."""
    found = [(one["name"], one["dtype"], len(one["shape"])) for one in directory]
    return found == _wanted() and all(
        type(length) is int and length >= 0 for one in directory for length in one["shape"]
    )


@cache
def _wanted() -> list[tuple[str, str, int]]:
    _, own = MemoryIndex.empty(0).export()
    return [(name, array.dtype.str, array.ndim) for name, array in own.items()]


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
