"""Short forms of vectors: at most 96 numbers that say how alike two can be at most.

In: the vectors of an index. Out: a form for each, so that the product of two forms is no less than
the cosine of their vectors. A form is where a vector points along the axes that most of the store
lies along, and how much of it lies off them: of the two rests no more is known than their lengths.
Nobody is found by a form; who is not worth an exact comparison is left out by it (ADR-0053).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.index.arrays import grow
from recollect.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.index.vectors import Vectors

__all__ = ["SLACK", "Forms", "ShortForms"]

# By how much a product of two forms, or the length of a rest, may be wrong in float32, generously.
SLACK = 2e-5
# Fewer are compared as they are.
_LEAST = 4096
# Axes are chosen by a sample, anew when there are so many times as many, and are so many that this
# little of a vector lies off them, if that can be; if too much does, forms rule nobody out.
_SAMPLE, _GROWTH = 4096, 4
_AXES, _LITTLE, _TOO_MUCH = (15, 31, 47, 63, 95), 0.02, 0.4
_MOST_NUMBERS = 1280
# Forms are made once so many passes over all vectors were asked for: that is what they cost.
_WORTH = 8.0
_AT_ONCE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """The forms of the first `count` slots, and what they are made with."""

    axes: NDArray[np.float32]
    rows: NDArray[np.float32]
    count: int

    def of(
        self, vectors: NDArray[np.float32], squares: NDArray[np.floating]
    ) -> NDArray[np.float32]:
        """Return the forms of vectors, given their squared lengths; of none it is 0 and 1."""
        lengths = np.sqrt(np.maximum(squares, 1.0)).astype(np.float32)
        forms = np.empty((len(vectors), self.axes.shape[1] + 1), dtype=np.float32)
        along = forms[:, :-1]
        np.matmul(vectors, self.axes, out=along)
        along /= lengths[:, np.newaxis]
        off = 1.0 - np.einsum("ij,ij->i", along, along)
        # No less than it is: close to 0 the root makes much of an error.
        np.sqrt(np.maximum(off, 0.0) + SLACK, out=forms[:, -1])
        return forms


class ShortForms:
    """The short forms of an index's vectors, made when they are worth it and then kept up."""

    def __init__(self) -> None:
        self._forms: Forms | None = None
        self._chosen_among = 0
        self._asked = 0.0

    def of_all(self, vectors: Vectors, *, looking: int) -> Forms | None:
        """Return the forms of all slots, for so many that look around; None to go without.

        To be asked about an index that others have: slots that may be given up have no forms yet.
        """
        size = vectors.size
        if size < _LEAST or vectors.dimension > _MOST_NUMBERS:
            return None
        if size >= _GROWTH * max(self._chosen_among, 1):
            self._asked += 1.0 + looking / 16
            if self._asked >= _WORTH:
                self._forms, self._chosen_among, self._asked = _begun(vectors), size, 0.0
        forms = self._forms
        if forms is not None and forms.count < size:
            forms = self._forms = _extended(forms, vectors)
        return forms


def _begun(vectors: Vectors) -> Forms | None:
    """Return forms of nobody along the axes of a sample; None if there are no good ones."""
    slots = np.arange(0, vectors.size, max(1, vectors.size // _SAMPLE))
    slots = slots[vectors.has_vector(slots)]
    if len(slots) < _LEAST // 4:
        return None
    sample = vectors.wide(slots)
    sample /= np.sqrt(vectors.squares(slots))[:, np.newaxis]
    strengths, axes = np.linalg.eigh((sample.T @ sample).astype(np.float64) / len(slots))
    off = 1.0 - np.cumsum(strengths[::-1])
    counts = [count for count in _AXES if count < vectors.dimension]
    if not counts or off[counts[-1] - 1] > _TOO_MUCH:
        return None
    count = next((one for one in counts if off[one - 1] <= _LITTLE), counts[-1])
    chosen = np.ascontiguousarray(axes[:, ::-1][:, :count], dtype=np.float32)
    return Forms(chosen, np.empty((0, count + 1), dtype=np.float32), 0)


def _extended(forms: Forms, vectors: Vectors) -> Forms:
    """Return the forms of all slots; readers of those before look no further than their own."""
    size = vectors.size
    rows = forms.rows
    if size > len(rows):
        # Slots are the first axis here, and room is made along the last.
        rows = np.ascontiguousarray(grow(rows.T, forms.count, size).T)
    for start in range(forms.count, size, _AT_ONCE):
        slots = np.arange(start, min(start + _AT_ONCE, size))
        rows[start : start + len(slots)] = forms.of(vectors.wide(slots), vectors.squares(slots))
    return Forms(forms.axes, rows, size)
