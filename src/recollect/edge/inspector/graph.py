"""A memory and those that it is linked to, as a small picture that one can walk.

In: one memory and its links. Out: points and lines in a box of fixed size, the strongest link at
the top and the others clockwise; every point leads to its memory. Drawn without a script.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from recollect.edge.inspector.page import Data

__all__ = ["MOST_POINTS", "around"]

_WIDTH, _HEIGHT = 640, 340
MOST_POINTS = 10
_ACROSS, _DOWN = 150, 120


def around(links: Sequence[Data]) -> list[Data]:
    """Return where each link ends."""
    shown = links[:MOST_POINTS]
    return [{**link, **_point(number, len(shown))} for number, link in enumerate(shown)]


def _point(number: int, count: int) -> Data:
    # Two or fewer stand beside each other, with their names below.
    few = count <= 2
    angle = 2 * math.pi * number / count - (0 if few else math.pi / 2)
    x, y = _WIDTH / 2 + _ACROSS * math.cos(angle), _HEIGHT / 2 + _DOWN * math.sin(angle)
    side = "start" if x > _WIDTH / 2 else "end"
    anchor = "middle" if few or abs(math.cos(angle)) < 0.3 else side
    is_above = not few and math.sin(angle) < 0
    return {"x": round(x, 1), "y": round(y, 1), "anchor": anchor, "above": is_above}
