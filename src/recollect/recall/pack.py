"""Fit blocks into a token budget, whole or not at all.

Chosen, hydrated blocks come in, in the order of their claim; the text and what didn't fit go
out. The count is of the text as rendered, headings and all, so it is exact for any counter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.model import Dropped, ScoredBlock
from recollect.ports.tokens import TokenCounter
from recollect.recall.blocks import Packed
from recollect.recall.render import Page

__all__ = ["count_tokens", "pack"]

_CHARACTERS_PER_TOKEN = 4


def count_tokens(text: str) -> int:
    """Estimate tokens as a quarter of the characters; any text at all is at least one."""
    return max(1, len(text) // _CHARACTERS_PER_TOKEN) if text else 0


def pack(
    blocks: Sequence[ScoredBlock],
    *,
    template: str,
    token_budget: int | None,
    count: TokenCounter = count_tokens,
) -> Packed:
    """Keep all guaranteed blocks, then each next one that still fits, in the order given.

    A budget of None is no limit. Guaranteed blocks stay even when they alone exceed it.
    """
    firm = [block for block in blocks if block.guaranteed]
    rest = [block for block in blocks if not block.guaranteed]
    everything = _page(template, [*firm, *rest])
    if token_budget is None or count(everything.text()) <= token_budget:
        return _packed(everything, count, token_budget, ())
    page = _page(template, firm)
    dropped = _fill(page, rest, token_budget, count)
    return _packed(page, count, token_budget, dropped)


def _page(template: str, blocks: Iterable[ScoredBlock]) -> Page:
    page = Page(template)
    for block in blocks:
        page.add(block)
    return page


def _fill(
    page: Page, rest: Sequence[ScoredBlock], token_budget: int, count: TokenCounter
) -> list[Dropped]:
    if count(page.text()) > token_budget:
        reason = f"guaranteed blocks leave no room in {token_budget} tokens"
        return [Dropped(block.pak_id, "budget", reason) for block in rest]
    dropped = []
    for block in rest:
        if count(page.text_with(block)) <= token_budget:
            page.add(block)
        else:
            reason = f"does not fit into {token_budget} tokens"
            dropped.append(Dropped(block.pak_id, "budget", reason))
    return dropped


def _packed(
    page: Page,
    count: TokenCounter,
    token_budget: int | None,
    dropped: Iterable[Dropped],
) -> Packed:
    text = page.text()
    tokens_used = count(text)
    return Packed(
        blocks=page.blocks,
        text=text,
        tokens_used=tokens_used,
        over_budget=token_budget is not None and tokens_used > token_budget,
        dropped=tuple(dropped),
    )
