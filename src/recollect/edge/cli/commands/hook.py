"""`recollect hook`: what a coding agent's hook runs where it cannot call a server.

In: the name of an event, and its JSON on stdin. Out: the answer's JSON on stdout, and exit code 0
whatever happens: other codes stop a prompt in some clients.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli.given import chosen_url
from recollect.edge.cli.options import Db, Embedder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from recollect.engine import Recollect

__all__ = ["hook"]

_SOCKET = "serve.sock"


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
    from recollect.edge.agents.process import answer_event, event_named

    given = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read()
    told = event_named(event, given, client=client, keep_tools=tools)
    answer_event(told, lambda: _memory(db, embedder), _say)


def _memory(db: str | None, embedder: str | None) -> AbstractContextManager[Recollect]:
    from recollect.edge.cli import open_memory

    if db is None and chosen_url() is None and (socket := _listening()) is not None:
        return open_memory.on_server(f"unix:{socket}")
    return open_memory.new_or_existing(db, embedder)


def _listening() -> str | None:
    """Return the socket of a server of ours, if somebody answers there."""
    import socket

    from recollect.settings import home_directory

    path = home_directory() / _SOCKET
    if not path.is_socket():
        return None
    with socket.socket(socket.AF_UNIX) as tried:
        tried.settimeout(0.2)
        try:
            tried.connect(str(path))
        except OSError:
            return None
    return str(path)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
