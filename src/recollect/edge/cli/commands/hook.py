"""`recollect hook`: what a coding agent's hook runs where it cannot call a server.

In: the name of an event, and its JSON on stdin. Out: the answer's JSON on stdout, and exit code 0
whatever happens: other codes stop a prompt in some clients. `main` calls the same without loading
what reads command lines; this is for its help.
"""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.edge.cli.given import Chosen
from recollect.edge.cli.options import Db, Embedder

__all__ = ["hook"]


def hook(
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            help="session-start, user-prompt-submit, stop, post-tool-use, pre-compact or"
            " session-end.",
        ),
    ] = "",
    client: Annotated[
        str | None,
        typer.Option("--client", metavar="NAME", help="Which client asks.", show_default=False),
    ] = None,
    tools: Annotated[
        bool, typer.Option("--tools", help="Keep a line of each act of a tool.")
    ] = False,
    db: Db = None,
    embedder: Embedder = None,
) -> None:
    """Answer an event of a coding agent: its JSON on stdin, the answer's on stdout.

    A server that listens at serve.sock below ~/.recollect is asked, where there is one; --url names
    another. Always exits with 0: a memory that fails must not stop a prompt.
    """
    from recollect.edge.agents import waiting

    waiting.hook(
        waiting.Asked(
            *(event, client, tools, db, embedder),
            url=Chosen.url,
            key=Chosen.key,
            read_only=Chosen.read_only,
        )
    )
