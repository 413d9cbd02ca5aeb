"""`recollect inspector`: the file in the browser, for whoever holds it.

In: where the memory is. Out: a server on loopback that runs until it is told to end, and a browser
that it lets in: by a code that is good once, as the one who may do everything with the file.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.commands.serve import LIBRARIES, options_of
from recollect.edge.cli.options import Db, Embedder, Json
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.edge.http.options import ServerOptions

__all__ = ["inspector"]

_SECRET_BYTES = 24
# A browser at one's own machine, which nobody else was let into, may rest over lunch.
_IDLE_SECONDS = 8 * 3_600.0


def inspector(
    context: typer.Context,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="A free one, unless told.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Start no browser; show the address alone.")
    ] = False,
    receipts: Annotated[
        bool, typer.Option("--receipts", help="Keep receipts of what is asked there.")
    ] = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Look into the memory with the browser, until Ctrl-C.

    It listens on this machine alone. A new file is begun where there is none, and the first page
    offers the demo's memories.
    """
    from recollect.edge.cli.open_catalogue import need_holder

    need_holder("the inspector")
    options = options_of(
        db=db,
        embedder=embedder,
        port=port,
        workers=1,
        receipts=receipts,
        owner_token=f"owner_{secrets.token_urlsafe(_SECRET_BYTES)}",
        entrance=secrets.token_urlsafe(_SECRET_BYTES),
        idle_seconds=_IDLE_SECONDS,
        log="quiet",
    )
    _need_one_file(options)
    try:
        from recollect.edge.http.run import serve as run
    except ImportError as error:
        raise InvalidInput(LIBRARIES, hint='pip install "recollect[serve]".') from error
    out = output.of(context)

    def announce(address: str) -> None:
        _announce(out, options, address, is_opened=not no_open)

    raise typer.Exit(run(options, announce=announce))


def _need_one_file(options: ServerOptions) -> None:
    from recollect.edge.http.stores import is_folder

    if is_folder(options.db):
        raise InvalidInput(
            f"{options.db} holds many memories.", hint="name the file of one of them with --db."
        )


def _announce(out: output.Output, options: ServerOptions, address: str, *, is_opened: bool) -> None:
    """Say where it is, and open it; the code in the address lets in whoever comes first."""
    entrance = f"{address}/enter?code={options.entrance}"
    if out.as_json:
        import json
        import sys

        sys.stdout.write(json.dumps({"address": address, "entrance": entrance}) + "\n")
        sys.stdout.flush()
    else:
        screen = output.console(stderr=True)
        screen.print(f"The inspector shows {options.db} at", soft_wrap=True)
        screen.print(f"  {entrance}", soft_wrap=True, highlight=False)
        screen.print("This address lets one browser in. Ctrl-C ends it.", soft_wrap=True)
    if is_opened:
        _open(entrance)


def _open(address: str) -> None:
    """Open a page in the user's browser, without waiting for it."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
