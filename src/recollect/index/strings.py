"""A column of texts without a Python object per row: one blob of UTF-8 and where each text ends.

UTF-8 sorts as code points do, so rows can be ranked by text eight bytes at a time.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recollect.index.arrays import grow, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Rows: TypeAlias = Sequence[int] | NDArray[np.integer]

__all__ = ["Strings", "sort_key_of", "sort_keys_of"]

_WORD_BYTES = 8
# A id may hold any character Python can; what comes in must come out.
_ERRORS = "surrogatepass"


class Strings:
    """An append-only column of texts."""

    def __init__(self) -> None:
        self._blob: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        # One entry more than rows: row i lies between entry i and entry i + 1.
        self._bounds: NDArray[np.integer] = np.zeros(1, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def successor(self) -> Strings:
        """Return a column to extend in the place of this one, which stays as it is."""
        return copy(self)

    def extend(self, texts: Iterable[str]) -> None:
        """Append texts."""
        encoded = [text.encode("utf-8", _ERRORS) for text in texts]
        used, size = int(self._bounds[self._size]), self._size + len(encoded)
        joined = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        self._blob = grow(self._blob, used, used + len(joined))
        self._blob[used : used + len(joined)] = joined
        # Of 32 bits they are in an index at rest; the sum of all lengths can outgrow that.
        bounds = self._bounds.astype(np.int64, copy=False)
        self._bounds = grow(bounds, self._size + 1, size + 1)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        self._bounds[self._size + 1 : size + 1] = used + np.cumsum(lengths)
        self._size = size

    def texts_at(self, rows: Rows) -> list[str]:
        """Return the texts of some rows."""
        blob, places = memoryview(self._blob.data), np.asarray(rows, dtype=np.int64)
        starts, ends = self._bounds.take(places).tolist(), self._bounds.take(places + 1).tolist()
        return [
            str(blob[start:end], "utf-8", _ERRORS) for start, end in zip(starts, ends, strict=True)
        ]

    def text_at(self, row: int) -> str:
        """Return the text of one row, in a fraction of the time that `texts_at` takes for it."""
        start, end = self._bounds[row : row + 2].tolist()
        return str(self._blob[start:end].data, "utf-8", _ERRORS)

    def lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the bytes each text takes."""
        return self._bounds[rows + 1] - self._bounds[rows]

    def levels(self, rows: NDArray[np.int64]) -> int:
        """Return how many words of eight bytes the longest of the texts takes."""
        return -(-int(self.lengths(rows).max(initial=0)) // _WORD_BYTES)

    def sort_keys(self, rows: NDArray[np.int64], level: int) -> NDArray[np.uint64]:
        """Return the eight bytes from byte 8 x level on as a number that sorts as the text does."""
        if not len(self._blob):
            return np.zeros(len(rows), dtype=np.uint64)
        at = self._bounds[rows] + level * _WORD_BYTES
        places = at[:, np.newaxis] + np.arange(_WORD_BYTES)
        octets = self._blob.take(places, mode="clip")
        octets[places >= self._bounds[rows + 1][:, np.newaxis]] = 0
        return octets.view(">u8").ravel().astype(np.uint64)

    def compact(self, kept: NDArray[np.int64]) -> None:
        """Keep these rows only, in this order."""
        lengths = self.lengths(kept)
        self._blob = self._blob[ranges(self._bounds[kept], lengths)]
        self._bounds = np.concatenate(([0], np.cumsum(lengths)))
        self._size = len(kept)

    def export(self) -> dict[str, NDArray[Any]]:
        """Return the column as arrays."""
        bounds = self._bounds[: self._size + 1]
        return {
            "blob": self._blob[: int(bounds[-1])],
            "bounds": bounds.astype(np.int64, copy=False),
        }

    @classmethod
    def restore(cls, blob: NDArray[np.uint8], bounds: NDArray[np.integer]) -> Strings:
        """Return the column that was exported."""
        column = cls()
        column._blob, column._bounds, column._size = blob, bounds, len(bounds) - 1
        return column


def sort_key_of(text: str) -> np.uint64:
    """Return the first eight bytes of a text as `Strings.sort_keys` gives them."""
    octets = text[:_WORD_BYTES].encode("utf-8", _ERRORS)[:_WORD_BYTES]
    return np.uint64(int.from_bytes(octets.ljust(_WORD_BYTES, b"\0"), "big"))


def sort_keys_of(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Return the same of many texts, at a tenth of the price each."""
    plain: Sequence[str] | list[bytes] = texts
    if not "".join(texts).isascii():
        plain = [text[:_WORD_BYTES].encode("utf-8", _ERRORS)[:_WORD_BYTES] for text in texts]
    # Cut to eight bytes, or filled up with zeros.
    return np.array(plain, dtype=f"S{_WORD_BYTES}").view(">u8").astype(np.uint64)
