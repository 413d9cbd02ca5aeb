"""The index in a file, so that opening a store need not read all of it again.

One file: a magic line, a checked header in JSON, then the arrays as they lie in memory, each with
its checksum. A file that is missing, cut short, damaged, of another version or of another store
state is as good as none: `load` says None and the caller fills an index from the store.
"""

from __future__ import annotations

import glob
import json
import os
import struct
import zlib
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from recollect.index.index import MemoryIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["VERSION", "load", "save"]

VERSION = 5
_MAGIC = b"RECOLLECT INDEX\n"
_HEAD = struct.Struct("<16sIII")
_ALIGNMENT = 64
_BLOCK_WORDS = 4096
_ABANDONED_AFTER_S = 3600.0


def save(index: MemoryIndex, path: Path, fingerprint: str) -> None:
    """Write the index; the old file stays until the new one is complete on disk."""
    plain, arrays = index.export()
    head = _head({"fingerprint": fingerprint, "plain": plain, "arrays": _directory(arrays)})
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("wb") as file:
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


def load(path: Path, fingerprint: str) -> MemoryIndex | None:
    """Return the index in the file, or None when it is not there, not whole, or not this one."""
    try:
        with path.open("rb") as file:
            header = _read_header(file)
            if header is None or header["fingerprint"] != fingerprint:
                return None
            arrays = _map_arrays(file, header["arrays"])
    except OSError:
        return None
    return None if arrays is None else MemoryIndex.restore(header["plain"], arrays)


def _octets(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _checksum(octets: NDArray[np.uint8]) -> int:
    """Return a checksum that costs little more than reading: of block sums, so order counts."""
    whole = len(octets) // 8 * 8
    words = octets[:whole].view("<u8")
    sums = np.add.reduceat(words, np.arange(0, len(words), _BLOCK_WORDS)) if whole else words
    return zlib.crc32(octets[whole:].data, zlib.crc32(sums.data))


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


def _map_arrays(file: BinaryIO, directory: list[dict[str, Any]]) -> dict[str, NDArray[Any]] | None:
    """Map each array by itself, so that one that is outgrown gives its pages back."""
    start = file.tell()
    if os.fstat(file.fileno()).st_size != start + sum(map(_room, directory)):
        return None
    arrays: dict[str, NDArray[Any]] = {}
    for entry in directory:
        array = _map_array(file, start, entry)
        if _checksum(_octets(array)) != entry["checksum"]:
            return None
        arrays[entry["name"]] = array
        start += _room(entry)
    return arrays


def _map_array(file: BinaryIO, start: int, entry: dict[str, Any]) -> NDArray[Any]:
    shape, dtype = tuple(entry["shape"]), np.dtype(entry["dtype"])
    if not prod(shape):
        return np.empty(shape, dtype=dtype)
    # Private pages: what is written to an array stays in this process.
    return np.asarray(np.memmap(file, dtype=dtype, mode="c", offset=start, shape=shape))


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(path: Path) -> None:
    """Remove drafts that a killed process left behind."""
    newest = path.stat().st_mtime
    for draft in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):
        with suppress(OSError):
            if draft.stat().st_mtime < newest - _ABANDONED_AFTER_S:
                draft.unlink()
