"""`recollect why`: the receipt of an answer, and what became of it since.

In: the id of an answer. Out: one call of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json
from recollect.errors import UnknownReceipt

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["why"]


def why(
    context: typer.Context,
    recall_id: Annotated[
        str,
        typer.Argument(metavar="RECALL_ID", help="The id of the answer. `receipts` shows them."),
    ],
    principal: Annotated[
        str | None,
        typer.Option(
            "--principal",
            metavar="NAME",
            help="Whose, for an admin: answers to several may be the same.",
            show_default=False,
        ),
    ] = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Show who asked what, what was given, and what became of it since; changes nothing."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        told = memory.why(recall_id, principal=principal)
    if told is None:
        raise UnknownReceipt(
            f"there is no receipt {recall_id!r:.80}.",
            hint="`recollect receipts` names those there are; `recall --receipt` keeps one.",
        )

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import why as view

        console.print(view.receipt(told))

    output.of(context).show(wire.receipt(told), draw)
