"""The index in a file, so that opening a store need not read all of it again.

One file: a magic line, a checked header in JSON, then the arrays as they lie in memory, each with
the checksum of its pages. A file that is missing, cut short, damaged, of another version or of
another store is as good as none: `load` says None and the caller fills an index from the store.
What is loaded is copied first and then looked at: whatever becomes of the file later is no matter.
"""

from __future__ import annotations

import glob
import json
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from recollect.index.index import MemoryIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["VERSION", "load", "remove", "save"]

VERSION = 5
_MAGIC = b"RECOLLECT INDEX\n"
_HEAD = struct.Struct("<16sIII")
_ALIGNMENT = 64
_ABANDONED_AFTER_S = 3600.0
_PAGE_WORDS = 512
# Odd, and no two alike: a word that is altered, or that changed its place, alters its page's sum.
_WEIGHTS = np.random.Philox(key=512).random_raw(_PAGE_WORDS) | np.uint64(1)


def save(index: MemoryIndex, path: Path, store_id: str) -> None:
    """Write the index; the old file stays until the new one is complete on disk."""
    plain, arrays = index.export()
    head = _head({"store_id": store_id, "plain": plain, "arrays": _directory(arrays)})
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "wb", opener=_for_owner) as file:
            file.write(head)
            for array in arrays.values():
                file.write(_octets(array).data)
                file.write(bytes(-array.nbytes % _ALIGNMENT))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)
    _sweep(path)


def load(path: Path, store_id: str) -> MemoryIndex | None:
    """Return the index in the file, or None when it is not there, not whole, or not this store's.

    Its `head` says of which moment it is; whether that is in the store's past, the caller asks.
    """
    try:
        with path.open("rb") as file:
            header = _read_header(file)
            if header is None or header.get("store_id") != store_id:
                return None
            arrays = _read_arrays(file, header["arrays"])
    except OSError:
        return None
    return None if arrays is None else MemoryIndex.restore(header["plain"], arrays)


def remove(path: Path) -> None:
    """Remove the file, and drafts of it, whoever left them or is writing one; OSError if not."""
    for one in (path, *_drafts(path)):
        one.unlink(missing_ok=True)


def _drafts(path: Path) -> Iterator[Path]:
    return path.parent.glob(f"{glob.escape(path.name)}.*.tmp")


def _sweep(path: Path) -> None:
    """Remove drafts that a killed process left behind."""
    newest = path.stat().st_mtime
    for draft in _drafts(path):
        with suppress(OSError):
            if draft.stat().st_mtime < newest - _ABANDONED_AFTER_S:
                draft.unlink()


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _octets(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _checksum(octets: NDArray[np.uint8]) -> int:
    """Return a checksum that costs little more than reading: of page sums, so their order counts.

    Within a page each word has a weight of its own.
    """
    whole = len(octets) // (8 * _PAGE_WORDS) * 8 * _PAGE_WORDS
    pages = octets[:whole].view("<u8").reshape(-1, _PAGE_WORDS)
    sums = np.einsum("ij,j->i", pages, _WEIGHTS)
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
    if magic != _MAGIC or version != VERSION:
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


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
