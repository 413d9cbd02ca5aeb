"""Why a selection picked a Pak, or why not.

In: a store, an id and a query. Out: an `Explanation`. It is read from the same ranking that the
answer is, so it cannot tell another story; of what the caller may not read it knows nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.model import RETURNED, UNKNOWN, Explanation
from recollect.recall.pack import count_tokens
from recollect.recall.select.selection import trace

if TYPE_CHECKING:
    from recollect.model.pak import PakRow
    from recollect.ports.catalogue import Catalogue
    from recollect.ports.tokens import TokenCounter
    from recollect.recall.select.ranking import Ranking
    from recollect.recall.select.values import SelectQuery

__all__ = ["NO_SUCH_PAK", "explain"]

# The same for one that is not there and one that may not be read, whichever verb is explained.
NO_SUCH_PAK = "There is no such Pak that you may read."


def explain(
    store: Catalogue,
    pak_id: str,
    query: SelectQuery,
    *,
    readable: Collection[str] | None = None,
    token_counter: TokenCounter = count_tokens,
) -> Explanation:
    """Say why `select` picks a Pak for this query, or the first stage that leaves it out."""
    selection = trace(store, query, readable=readable, token_counter=token_counter)
    ranking, result = selection.ranking, selection.result
    row = store.get_pak(pak_id) if readable is None or pak_id in readable else None
    asked: dict[str, Any] = {
        "pak_id": pak_id,
        "verb": "select",
        "query": result.query.to_dict(),
        "generated_at": result.generated_at,
    }
    if row is None:
        return Explanation(stage=UNKNOWN, reason=NO_SUCH_PAK, **asked)
    place = _place(pak_id, ranking)
    if place is None:
        reason = _no_candidate(row, result.query)
        return Explanation(stage="candidates", reason=reason, **asked)
    asked |= {
        "score": float(ranking.scores[place]),
        "contributions": ranking.contributions_of(place),
    }
    for rank, score in enumerate(result.scores, start=1):
        if score.pak_id == pak_id:
            reason = f"Picked, {rank} of {len(result.scores)}."
            return Explanation(stage=RETURNED, reason=reason, rank=rank, why=score.why, **asked)
    (left_out,) = (one for one in result.dropped if one.pak_id == pak_id)
    if left_out.stage == "limit":
        return Explanation(stage="limit", **_outscored(place, ranking), **asked)
    if left_out.stage == "collapse":
        asked["rival"] = _survivor(place, ranking)
    elif left_out.stage == "superseded":
        asked["rival"] = row.superseded_by
    return Explanation(stage=left_out.stage, reason=f"Left out: {left_out.reason}.", **asked)


def _place(pak_id: str, ranking: Ranking) -> int | None:
    places = np.flatnonzero(ranking.rows.columns.pak_ids[ranking.slots] == pak_id)
    return int(places[0]) if len(places) else None


def _no_candidate(row: PakRow, query: SelectQuery) -> str:
    wanted = {"project": query.project, "pak_type": query.pak_type}
    reasons = [
        f"its {name} is {getattr(row, name) or 'none'}, not {value}"
        for name, value in wanted.items()
        if value and getattr(row, name) != value
    ]
    if query.text.strip():
        lacks = (
            "do not match the expression" if query.syntax == "fts5" else "hold no word of the text"
        )
        reasons.insert(0, f"its title and summary {lacks}")
    if not reasons:
        return "Not a candidate: there are newer Paks, and nothing was asked for."
    return f"Not a candidate: {', and '.join(reasons)}."


def _outscored(place: int, ranking: Ranking) -> dict[str, Any]:
    last = ranking.picked[-1]
    gap = float(ranking.levels[last] - ranking.levels[place])
    rival, limit = ranking.pak_id(last), ranking.query.limit
    lost = f"Outscored by {gap:.6g}" if gap > 0 else "Of equal score, but older or of a lower id"
    reason = f"{lost}: {rival} is the last of the {limit} picked."
    return {"reason": reason, "rival": rival, "gap": gap}


def _survivor(place: int, ranking: Ranking) -> str:
    return next(ranking.pak_id(one) for one, copies in ranking.copies.items() if place in copies)
