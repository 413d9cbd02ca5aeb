"""Select Paks for a query: the same store and the same query give the same answer, byte for byte.

`select(store, query)` works on a bare catalogue; no engine is needed. Its stages are rooms: `words`
finds, `columns` reads, `ranking` decides, `answer` tells, `explaining` says why not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.on_demand import names_of

if TYPE_CHECKING:
    from recollect.paks.registry import REASON_WEIGHTS
    from recollect.recall.select.explaining import explain
    from recollect.recall.select.selection import select
    from recollect.recall.select.values import Score, SelectQuery, SelectResult

__all__ = ["REASON_WEIGHTS", "Score", "SelectQuery", "SelectResult", "explain", "select"]

__getattr__ = names_of(
    __name__,
    {
        "recollect.paks.registry": "REASON_WEIGHTS",
        ".explaining": "explain",
        ".selection": "select",
        ".values": "Score SelectQuery SelectResult",
    },
)
