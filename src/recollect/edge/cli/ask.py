"""A question asked at a shell: one recall of the engine, drawn for people or written for programs.

In: what was typed, already read. Out: the answer on stdout. How the words of a command line are
read is not known here: `commands/recall.py` reads them all, `quick.py` the plain ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.edge.cli.given import as_filter, as_question, as_scope
from recollect.edge.cli.output import Output

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge import wire

__all__ = ["ask"]


def ask(
    out: Output,
    *,
    query: list[str] | None,
    frame: str,
    budget: int | None,
    scope: str | None,
    filter_: str | None,
    signals: bool,
    receipt: bool,
    db: str | None,
    embedder: str | None,
    detail: str = "full",
    text_budget: int = 0,
    **filters: Any,
) -> None:
    """Find what answers a question and show it, best first; other options are the verb's own."""
    from recollect.edge.cli import open_memory

    if text_budget:
        from recollect import check
        from recollect.model.request import BUDGET_MAX

        check.whole("text_budget", text_budget, most=BUDGET_MAX, least=0)
    with open_memory.existing(db, embedder, receipts=receipt) as memory:
        answer = memory.recall(
            as_question(query),
            frame=frame,
            token_budget=budget,
            scope=as_scope(scope),
            filter=as_filter(filter_),
            **filters,
        )
        weights = memory.frames.get(frame).weights
        stored = 0 if answer.results else memory.stats()["memories"]

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import recall as view

        if view.is_all_weak(answer):
            console.print(view.CLOSEST)
        if not answer.results:
            console.print(view.nothing(answer, stored))
        elif signals:
            used = weights if as_question(query) else weights.renormalized_without_similarity()
            for result in answer.results:
                console.print(view.signal_parts(result, used))
        else:
            console.print(view.results(answer))
        if answer.instructions:
            console.print(view.instructions(answer))
        for note in view.notes(answer.degraded, answer.dropped, answer.meta):
            console.print(note)
        if receipt and "receipt" not in answer.degraded:
            console.print(view.kept(answer.recall_id))

    def told() -> wire.Object:
        from recollect.edge import wire

        if detail == "full":
            return wire.answer(answer)
        return wire.answer_index(answer, text_budget=text_budget)

    def piped(columns: int) -> str | None:
        from recollect.edge.cli.views.piped import recalled

        return None if signals or receipt else recalled(answer, columns)

    out.show(told, draw, piped=piped)
