"""Rows on pages that no tree leads to any more.

In: the bytes of a SQLite file. Out: the rows of all table leaves with a number of columns,
whichever page above them was lost. The format is SQLite's own (sqlite.org/fileformat2.html). What
does not parse is left out; nothing in the bytes makes this raise.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from recollect.paks.tolerant import text_or_bytes

__all__ = ["leaf_rows"]

_TABLE_LEAF = 0x0D
_WHOLE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_CONSTANT = {0: None, 8: 0, 9: 1}
_REAL = 7


def leaf_rows(data: bytes, columns: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the number and the values of each row that has so many columns."""
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        return
    file = _File(data, size, size - data[20])
    for start in range(size, len(data) - size + 1, size):
        if data[start] == _TABLE_LEAF:
            for place in _cells(data, start, size):
                try:
                    number, row = file.row(place)
                except (ValueError, IndexError, struct.error):
                    continue
                if len(row) == columns:
                    yield number, row


def _cells(data: bytes, start: int, size: int) -> Iterator[int]:
    """Yield where the cells of a page begin."""
    count = int.from_bytes(data[start + 3 : start + 5], "big")
    for at in range(start + 8, min(start + 8 + 2 * count, start + size - 1), 2):
        offset = int.from_bytes(data[at : at + 2], "big")
        if 8 <= offset < size:
            yield start + offset


class _File:
    """Pages of one size, and how a row lies on them."""

    def __init__(self, data: bytes, size: int, usable: int) -> None:
        self._data = data
        self._size = size
        self._usable = usable

    def row(self, place: int) -> tuple[int, tuple[Any, ...]]:
        """Return the row of a cell; raise `ValueError` if there cannot be one."""
        length, place = _number(self._data, place)
        row_id, place = _number(self._data, place)
        return row_id, _values(self._payload(place, length))

    def _payload(self, place: int, length: int) -> bytes:
        if length > len(self._data):
            raise ValueError("longer than the file")
        most, least = self._usable - 35, (self._usable - 12) * 32 // 255 - 23
        if length <= most:
            return self._data[place : place + length]
        here = least + (length - least) % (self._usable - 4)
        here = here if here <= most else least
        parts, left = [self._data[place : place + here]], length - here
        page = int.from_bytes(self._data[place + here : place + here + 4], "big")
        while left > 0:
            start = (page - 1) * self._size
            if page < 2 or start + self._size > len(self._data):
                raise ValueError("a page that is not there")
            page = int.from_bytes(self._data[start : start + 4], "big")
            parts.append(self._data[start + 4 : start + 4 + min(left, self._usable - 4)])
            left -= self._usable - 4
        return b"".join(parts)


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for at in range(place, place + 8):
        value = value << 7 | data[at] & 0x7F
        if data[at] < 0x80:
            return value, at + 1
    value = value << 8 | data[place + 8]
    return value - (1 << 64) if value >> 63 else value, place + 9


def _values(payload: bytes) -> tuple[Any, ...]:
    end, place = _number(payload, 0)
    kinds = []
    while place < end:
        kind, place = _number(payload, place)
        kinds.append(kind)
    if place != end:
        raise ValueError("a header that does not end where it says")
    return tuple(_all(kinds, payload, end))


def _all(kinds: Sequence[int], payload: bytes, place: int) -> Iterator[Any]:
    for kind in kinds:
        if kind in _CONSTANT:
            yield _CONSTANT[kind]
            continue
        length = _WHOLE.get(kind, 8 if kind == _REAL else (kind - 12) // 2)
        part, place = payload[place : place + length], place + length
        if kind in (10, 11) or length < 0 or len(part) != length:
            raise ValueError("a value of no type, or beyond the end")
        if kind in _WHOLE:
            yield int.from_bytes(part, "big", signed=True)
        elif kind == _REAL:
            yield struct.unpack(">d", part)[0]
        else:
            yield text_or_bytes(part) if kind % 2 else part
    if place != len(payload):
        raise ValueError("more than its header says")
