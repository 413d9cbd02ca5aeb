"""Choose the answer: what a frame guarantees, then the best of the rest up to top_k.

Settled candidates and the guaranteed ones, fetched by tag, come in; chosen items go out,
guaranteed first. A guarantee outlives a lost dispute, and the item says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from recollect.model import Dropped
from recollect.recall.blocks import Chosen, ChosenItem, Ranked, Settled, best_first

__all__ = ["guarantee"]


def guarantee(
    settled: Settled,
    guaranteed: Sequence[Ranked],
    *,
    top_k: int,
    disputed: Collection[str] = (),
    order: Callable[[Iterable[Ranked]], tuple[Ranked, ...]] = best_first,
) -> Chosen:
    """Put every guaranteed candidate first, even beyond top_k; fill up with the best others.

    `disputed` names candidates to mark besides the guaranteed ones that lost a dispute. `order`
    lines up the others.
    """
    promised = {candidate.pak_id: candidate for candidate in guaranteed}
    others = order(c for c in settled.kept if c.pak_id not in promised)
    room = max(0, top_k - len(promised))
    marked = {*disputed, *(d.pak_id for d in settled.dropped if d.pak_id in promised)}
    items = [
        *(ChosenItem(c, True, c.pak_id in marked) for c in best_first(promised.values())),
        *(ChosenItem(c, False, c.pak_id in marked) for c in others[:room]),
    ]
    beaten = f"not among the top {top_k}"
    dropped = [
        *(d for d in settled.dropped if d.pak_id not in promised),
        *(Dropped(c.pak_id, "top_k", beaten) for c in others[room:]),
    ]
    return Chosen(items=tuple(items), dropped=tuple(dropped))
