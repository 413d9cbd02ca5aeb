"""Fit blocks into a token budget, whole or not at all.

Chosen, hydrated blocks come in, in the order of their claim; the text and what didn't fit go
out. The count is of the text as rendered, headings and all, so it is exact for any counter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from recollect.model import Dropped, ScoredBlock
from recollect.ports.tokens import TokenCounter
from recollect.recall.blocks import Packed
from recollect.recall.render import Page

__all__ = ["GUARANTEED_BUDGETS", "count_tokens", "pack"]

_CHARACTERS_PER_TOKEN = 4
# Guaranteed blocks take this many times the budget at most: nobody fills a prompt by a tag.
GUARANTEED_BUDGETS = 10
_NOBODY: Mapping[str, str] = MappingProxyType({})


def count_tokens(text: str) -> int:
    """Estimate tokens as a quarter of the characters; any text at all is at least one."""
    return max(1, len(text) // _CHARACTERS_PER_TOKEN) if text else 0


def pack(
    blocks: Sequence[ScoredBlock],
    *,
    template: str,
    token_budget: int | None,
    repeats: Mapping[str, str] = _NOBODY,
    token_counter: TokenCounter = count_tokens,
) -> Packed:
    """Keep the guaranteed blocks, then each next one that still fits, in the order given.

    A budget of None is no limit. Guaranteed blocks stay even when they alone exceed it, up to
    `GUARANTEED_BUDGETS` times as much. `repeats` gives for an id the first one that says the same:
    once one of them is in, the others wait until all the rest had their turn.
    """
    firm = [block for block in blocks if block.guaranteed]
    rest = [block for block in blocks if not block.guaranteed]
    said = {_saying(block, repeats) for block in firm}
    everything = _page(template, [*firm, *_in_turn(rest, repeats, set(said))])
    if token_budget is None or token_counter(everything.text()) <= token_budget:
        return _packed(everything, token_counter, ())
    page = _page(template, firm)
    is_over = token_counter(page.text()) > token_budget
    cut: list[Dropped] = []
    if is_over:
        page, cut = _cut(template, firm, token_budget, token_counter)
        said = {_saying(block, repeats) for block in page.blocks}
    dropped = _fill(page, rest, repeats, said, token_budget, token_counter)
    return _packed(page, token_counter, [*cut, *dropped], over_budget=is_over)


def _cut(
    template: str, firm: Sequence[ScoredBlock], token_budget: int, token_counter: TokenCounter
) -> tuple[Page, list[Dropped]]:
    """Return a page of those guaranteed blocks that all of them may take room for, and the rest."""
    most = token_budget * GUARANTEED_BUDGETS
    page, dropped = Page(template), []
    for block in firm:
        if token_counter(page.text_with(block)) <= most:
            page.add(block)
        else:
            reason = f"guaranteed blocks have {most} tokens, {GUARANTEED_BUDGETS} times the budget"
            dropped.append(Dropped(block.pak_id, "budget", reason))
    return page, dropped


def _saying(block: ScoredBlock, repeats: Mapping[str, str]) -> str:
    return repeats.get(block.pak_id, block.pak_id)


def _in_turn(
    rest: Sequence[ScoredBlock], repeats: Mapping[str, str], said: set[str]
) -> Iterator[ScoredBlock]:
    """Yield blocks, those that repeat what was said last; the caller may take back what it said."""
    waiting = []
    for block in rest:
        saying = _saying(block, repeats)
        if saying in said:
            waiting.append(block)
        else:
            said.add(saying)
            yield block
    yield from waiting


def _page(template: str, blocks: Iterable[ScoredBlock]) -> Page:
    page = Page(template)
    for block in blocks:
        page.add(block)
    return page


def _fill(
    page: Page,
    rest: Sequence[ScoredBlock],
    repeats: Mapping[str, str],
    said: set[str],
    token_budget: int,
    token_counter: TokenCounter,
) -> list[Dropped]:
    if token_counter(page.text()) > token_budget:
        reason = f"guaranteed blocks leave no room in {token_budget} tokens"
        return [Dropped(block.pak_id, "budget", reason) for block in rest]
    dropped = []
    for block in _in_turn(rest, repeats, said):
        if token_counter(page.text_with(block)) <= token_budget:
            page.add(block)
        else:
            # What has no room was not said: a shorter spelling of it need not wait.
            said.discard(_saying(block, repeats))
            reason = f"does not fit into {token_budget} tokens"
            dropped.append(Dropped(block.pak_id, "budget", reason))
    return dropped


def _packed(
    page: Page,
    token_counter: TokenCounter,
    dropped: Iterable[Dropped],
    *,
    over_budget: bool = False,
) -> Packed:
    text = page.text()
    return Packed(
        blocks=page.blocks,
        text=text,
        tokens_used=token_counter(text),
        over_budget=over_budget,
        dropped=tuple(dropped),
    )
