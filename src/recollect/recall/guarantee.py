"""Choose the answer: what a frame guarantees, then the best of the rest up to top_k.

Settled candidates, the guaranteed ones, fetched by tag, and texts come in; the chosen go out,
guaranteed first. A guarantee outlives a lost dispute, and is marked. Of the rest, whoever
says the same as one before waits until all others are taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from recollect.limits import LOOKED_AT
from recollect.model import Dropped, Memory
from recollect.recall.blocks import Chosen, Ranked, Settled, best_first
from recollect.recall.repeats import Said
from recollect.values import later

__all__ = ["guarantee"]

Texts = Mapping[str, Memory | None]


def guarantee(
    settled: Settled,
    guaranteed: Sequence[Ranked],
    *,
    top_k: int,
    disputed: Collection[str] = (),
    lined_up: Sequence[Ranked] | None = None,
    texts: Texts | None = None,
) -> Chosen:
    """Put every guaranteed candidate first, even beyond top_k; fill up with the best others.

    `disputed` names candidates to mark besides the guaranteed ones that lost a dispute; `lined_up`
    are the settled in the order of their claim, which is best first unless told. Without `texts`
    nobody waits. Where a text is missing that decides, `unread` says whose; a memory that
    is gone has None for a text.
    """
    promised = {candidate.pak_id: candidate for candidate in guaranteed}
    firm = best_first(promised.values())
    claims = best_first(settled.kept) if lined_up is None else lined_up
    others = [one for one in claims if one.pak_id not in promised] if promised else claims
    room = max(0, top_k - len(promised))
    repeats: dict[str, str] = {}
    if texts is not None and room:
        unread = _unread((*firm, *others[:room]), texts)
        if not unread:
            unread = _set_apart(repeats, firm, others, room, texts)
        if unread:
            return Chosen(unread=unread)
    taken, left = _split(others, room, repeats)
    return Chosen(
        guaranteed=firm,
        others=tuple(taken),
        disputed=frozenset((*disputed, *(name for name in settled.winners if name in promised))),
        dropped=later(partial(_dropped, settled.dropped, promised, left, repeats, top_k)),
        repeats=repeats,
    )


def _split(
    others: Sequence[Ranked], room: int, repeats: Collection[str]
) -> tuple[Sequence[Ranked], Sequence[Ranked]]:
    """Return who is taken and who is left out, both in their order; who repeats comes last."""
    if not repeats:
        return others[:room], others[room:]
    fresh = [one for one in others if one.pak_id not in repeats]
    waiting = [one for one in others if one.pak_id in repeats]
    names = {one.pak_id for one in (*fresh, *waiting)[:room]}
    return (
        [one for one in others if one.pak_id in names],
        [one for one in others if one.pak_id not in names],
    )


def _unread(candidates: Sequence[Ranked], texts: Texts) -> tuple[Ranked, ...]:
    return tuple(one for one in candidates if one.pak_id not in texts)


def _set_apart(
    repeats: dict[str, str],
    firm: Sequence[Ranked],
    others: Sequence[Ranked],
    room: int,
    texts: Texts,
) -> tuple[Ranked, ...]:
    """Note who repeats whom, as far as it takes to fill the room; return whose text is missing."""
    said = Said()
    for one in firm:
        memory = texts[one.pak_id]
        if memory is not None:
            said.first_to_say(memory)
    for place, one in enumerate(others[:LOOKED_AT]):
        if not room:
            break
        if one.pak_id not in texts:
            # As many again as have been looked at, so that many repeats take few reads.
            return _unread(others[place : min(2 * place + 1, LOOKED_AT)], texts)
        memory = texts[one.pak_id]
        first = None if memory is None else said.first_to_say(memory)
        if first is None:
            room -= 1
        else:
            repeats[one.pak_id] = first
    return ()


def _dropped(
    before: Sequence[Dropped],
    promised: Collection[str],
    left: Sequence[Ranked],
    repeats: Mapping[str, str],
    top_k: int,
) -> tuple[Dropped, ...]:
    lost = [one for one in before if one.pak_id not in promised]
    return (*lost, *_left_out(left, repeats, top_k))


def _left_out(
    candidates: Sequence[Ranked], repeats: Mapping[str, str], top_k: int
) -> list[Dropped]:
    too_many = f"not among the top {top_k}"
    if not repeats:
        return [Dropped(one.pak_id, "top_k", too_many) for one in candidates]
    return [
        Dropped(one.pak_id, "diversity", f"says the same as {repeats[one.pak_id]}")
        if one.pak_id in repeats
        else Dropped(one.pak_id, "top_k", too_many)
        for one in candidates
    ]
