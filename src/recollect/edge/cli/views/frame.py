"""What people see about the text of a frame: how much it holds, and what it does not.

In: a frame's result. Out: drawn text for stderr; the prompt's own text is not drawn at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from recollect.edge.cli.views import recall
from recollect.edge.cli.views.elements import count_of, plain
from recollect.model import FrameResult

__all__ = ["notes"]


def notes(result: FrameResult) -> Iterator[Text]:
    """Say how much a frame's text holds, and what it does not."""
    size = f"{result.tokens_used:,} of {result.token_budget:,} tokens"
    if result.blocks:
        count = count_of(len(result.blocks), "memory", "memories")
        yield Text(f"Frame {plain(result.frame_name)}: {count}, {size}.", style="dim")
    else:
        why = recall.refusal(result.meta) or "nothing to show, so the text is empty."
        yield Text(f"Frame {plain(result.frame_name)}: {why}")
    if result.over_budget:
        yield Text.assemble(
            ("Over budget: ", "bold yellow"),
            f"guaranteed memories alone need {size}.",
        )
    yield from recall.notes(result.degraded, result.dropped, result.meta)
    if result.recall_id is not None:
        yield recall.kept(result.recall_id)
