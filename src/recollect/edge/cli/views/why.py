"""What people see of a receipt: the question, who asked it and when, and what was given.

In: a receipt. Out: drawn text, stored text shown and never obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from recollect.edge.cli.views.elements import count_of, empty_grid, facts, plain, shortened
from recollect.model import RecallRequest, Receipt, ReceiptItem

__all__ = ["question", "receipt"]

_SHOWN_CHARS = 60
_STATES = {
    "unchanged": ("as it was", "green"),
    "changed": ("changed since", "yellow"),
    "superseded": ("superseded since", "yellow"),
    "archived": ("archived since", "yellow"),
}
_SAME = {
    True: "Asked again as of then, the same text is given today.",
    False: "Asked again as of then, another text is given today.",
    None: "It cannot be asked again from here.",
}


def receipt(told: Receipt) -> Group:
    """Return a receipt: what was asked, what was given, and what became of that."""
    return Group(*_parts(told))


def question(told: Receipt) -> str:
    """Return what was asked, in a line."""
    if told.request is None:
        return "(no longer kept: something of the answer is missing)"
    asked = told.request.get("query")
    return "(no question: what matters most)" if asked is None else str(asked)


def _parts(told: Receipt) -> Iterator[RenderableType]:
    yield Text(plain(question(told)), style="bold")
    yield facts(dict(_facts(told)))
    yield Text("")
    if told.items:
        grid = empty_grid(4)
        for rank, one in enumerate(told.items, start=1):
            grid.add_row(*_item(rank, one))
        yield grid
    elif not told.missing:
        yield Text("Nothing was given.")
    if told.missing:
        missing = count_of(told.missing, "memory", "memories")
        yield Text(f"Missing: {missing}, forgotten since or not yours to read.", style="yellow")
    yield Text(_SAME[told.same_today], style="dim")


def _facts(told: Receipt) -> Iterator[tuple[str, Any]]:
    yield "answer", told.recall_id
    yield "asked by", f"{told.principal} of {told.tenant}"
    yield "at", f"{told.at}, kept until {told.until}"
    yield "with", f"{told.verb} {' '.join(_narrowed(told))}".strip()
    if told.revision is not None:
        yield "revision", told.revision
    yield "tokens", told.tokens_used
    if told.degraded:
        yield "degraded", ", ".join(told.degraded)
    if told.digest is not None:
        yield "SHA-256", told.digest


def _narrowed(told: Receipt) -> Iterator[str]:
    """Yield what was asked for beside the question, as far as it is not what it always is."""
    usual = {**RecallRequest().to_dict(), "tags": [], "frame": None}
    for name, value in (told.request or {}).items():
        if name != "query" and value != usual.get(name):
            yield f"{name}={value}"


def _item(rank: int, one: ReceiptItem) -> tuple[RenderableType, ...]:
    state, style = _STATES[one.state or "unchanged"]
    title = shortened(one.title or "", _SHOWN_CHARS)
    part = "  [instruction]" if one.part == "instructions" else ""
    return (
        Text(str(rank), style="dim"),
        Text(f"{one.score:.3f}", style="green"),
        Text.assemble(title, (part, "magenta"), ("\n" + plain(one.pak_id), "dim")),
        Text(state, style=style),
    )
