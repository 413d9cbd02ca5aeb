"""The best of many by score, then freshness, then id.

In: slots with scores, and how many to keep. Out: where the best stand, in order. Each later key is
read for ties only.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.index.arrays import kth_largest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from recollect.index.strings import Strings

__all__ = ["best"]

# So few are sorted whole: to narrow them down first would cost more than it saves.
_FEW = 128


def best(
    slots: NDArray[np.int64],
    scores: NDArray[np.float64],
    keep: int,
    *,
    updated_at: NDArray[np.int64],
    pak_ids: Strings,
) -> NDArray[np.int64]:
    """Return the places of the `keep` best, the best first.

    `updated_at` and `pak_ids` are of all slots.
    """
    places = _leading_places(scores, keep)
    if max(keep, _FEW) < len(places):
        places = _narrow(places, _deciding_keys(slots, scores, updated_at, pak_ids), keep)
    chosen = slots[places]
    keys: tuple[list[Any], ...] = (scores[places].tolist(), updated_at[chosen].tolist())
    if len(set(zip(*keys, strict=True))) < len(places):
        keys = *keys, pak_ids.texts_at(chosen)
    ranked = sorted(zip(*keys, places.tolist(), strict=True), reverse=True)
    return np.array([one[-1] for one in ranked[: max(keep, 0)]], dtype=np.int64)


def _leading_places(scores: NDArray[np.float64], keep: int) -> NDArray[np.int64]:
    """Return the places of the best scores, and of all that tie with the last."""
    if not 0 < keep < len(scores):
        return np.arange(len(scores))
    return np.flatnonzero(scores >= kth_largest(scores, keep))


def _deciding_keys(
    slots: NDArray[np.int64],
    scores: NDArray[np.float64],
    updated_at: NDArray[np.int64],
    pak_ids: Strings,
) -> Iterator[Callable[[NDArray[np.int64]], NDArray[Any]]]:
    """Yield what decides, in order: each tells a key of some of the slots, given their places."""
    yield scores.take
    yield lambda places: updated_at[slots[places]]
    for level in range(pak_ids.levels(slots)):
        yield partial(_sort_keys, pak_ids, slots, level)
    # Short words are filled up with zero bytes, which an id may hold itself.
    yield lambda places: pak_ids.lengths(slots[places])


def _sort_keys(
    pak_ids: Strings, slots: NDArray[np.int64], level: int, places: NDArray[np.int64]
) -> NDArray[np.uint64]:
    return pak_ids.sort_keys(slots[places], level)


def _narrow(
    group: NDArray[np.int64],
    keys: Iterable[Callable[[NDArray[np.int64]], NDArray[Any]]],
    keep: int,
) -> NDArray[np.int64]:
    """Return the places of the best, in no order."""
    chosen: list[NDArray[np.int64]] = []
    for key in keys:
        if keep <= 0 or len(group) <= keep:
            break
        values = key(group)
        cut = kth_largest(values, keep)
        chosen.append(group[values > cut])
        group, keep = group[values == cut], keep - len(chosen[-1])
    return np.concatenate([*chosen, group[: max(keep, 0)]])
