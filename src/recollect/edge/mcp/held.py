"""Echoes that no process has in mind: what somebody wants to store is what memory says already.

In: a memory that acts for whoever asks, and what is to be remembered. Out: the memories whose words
it is, none if it says more than they do. Only what whoever asks may read is looked at, as a recall
would; nothing is written, and no use is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.echo import begins_with, ids_named, known, pieces, repeated
from recollect.errors import NotAllowed
from recollect.recall.ranges import time_asked

if TYPE_CHECKING:
    from recollect.engine import Recollect
    from recollect.model import Memory

__all__ = ["held"]

# Enough for an answer that was copied whole; what is longer is new.
_MOST_PIECES = 20
_MOST_IDS = 64
_PIECE_CHARACTERS = 2_000
# Of those that are most like a piece, one is it.
_LOOKED_AT = 10
_BUDGET = 1_000_000
# A text that speaks of a time is no question about it: so often its words are looked through.
_MOST_TIMES = 8
_ANY_DAY = date(2000, 1, 1)
# What says whose word something is, where and for whom. Who says another of these of a text says
# something new; what else is said of a text is no other memory.
_WHOSE = ("project", "thread", "speaker", "occurred_at", "garden", "scope", "team")


def held(memory: Recollect, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the memories that a text repeats; none if any part of it is new."""
    content = str(given["content"])
    try:
        named = _named(memory, content)
        marked = repeated(_texts(named), content)
        if marked:
            return _ids(marked)
        found = [one for one in _alike(memory, content) if not _is_another(one, given)]
        return _ids(repeated(_texts([*named, *found]), content))
    except NotAllowed:
        # Who may read nothing was told nothing.
        return ()


def _named(memory: Recollect, content: str) -> list[Memory]:
    """Return the memories whose ids stand beside their words, as we write them down."""
    ids = ids_named(content)[:_MOST_IDS]
    if not ids:
        return []
    return list(memory.list(filter={"pak_id": {"in": list(ids)}}, limit=_MOST_IDS).items)


def _alike(memory: Recollect, content: str) -> list[Memory]:
    """Return memories that a text may be the words of; none as soon as one piece is of nobody."""
    found: list[Memory] = []
    for number, piece in enumerate(islice(pieces(content), _MOST_PIECES + 1)):
        asked = _timeless(piece[:_PIECE_CHARACTERS])
        if number == _MOST_PIECES or not asked:
            return []
        shown = memory.preview("evidence", asked, top_k=_LOOKED_AT, token_budget=_BUDGET)
        near = [block.memory for block in shown.blocks]
        if not any(_is_beginning(piece, one) for one in near):
            return []
        found += near
    return found


def _timeless(text: str) -> str:
    """Return a text without what a question would ask for a time by, or for the latest."""
    for _ in range(_MOST_TIMES):
        asked = time_asked(text, _ANY_DAY)
        if asked.range is None and asked.order is None:
            break
        for words in asked.words:
            text = text.replace(words, " ")
    return text.strip()


def _is_beginning(piece: str, memory: Memory) -> bool:
    return any(
        begins_with(piece, text) for text in (memory.content, wire.beginning(memory.content))
    )


def _is_another(memory: Memory, given: Mapping[str, Any]) -> bool:
    """Return whether more is said of a text than this memory knows of whose word it is."""
    told = {**{name: getattr(memory, name, None) for name in _WHOSE}, **_place(memory)}
    return any(given.get(name) not in (None, told[name]) for name in _WHOSE)


def _place(memory: Memory) -> dict[str, Any]:
    place = memory.place
    return {"scope": place.scope, "team": place.team, "garden": place.garden}


def _texts(memories: Iterable[Memory]) -> Mapping[bytes, str]:
    texts = [(one.pak_id, one.content) for one in memories]
    first = [(pak_id, wire.beginning(text)) for pak_id, text in texts]
    # Whole texts are known before first words that are the same.
    return {**known(first), **known(texts)}


def _ids(told: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pak_id for pak_id, _ in told))
