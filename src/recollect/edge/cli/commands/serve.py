"""`recollect serve`: the same memory over HTTP.

In: where the memory is, where to listen, and how much anybody may ask. Out: a server that runs
until it is told to end. What it does is in `recollect.edge.http`, which is loaded here and nowhere
else.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import wants_read_only
from recollect.edge.cli.options import (
    Db,
    Embedder,
    Issuer,
    Json,
    McpTools,
    PrincipalClaim,
    Resource,
    TenantClaim,
)
from recollect.errors import InvalidInput, KeyNeeded

if TYPE_CHECKING:
    from recollect.edge.http.options import OutsideIssuer, ServerOptions

__all__ = ["LIBRARIES", "options_of", "outside_issuer", "serve", "serve_with"]

_TOKEN_BYTES = 24
LIBRARIES = "the server's libraries are not installed."


def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")
    ] = 8377,
    socket: Annotated[
        Path | None,
        typer.Option("--socket", metavar="PATH", help="Listen on a socket of your own instead."),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=64, metavar="N", help="Processes that answer.")
    ] = 1,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="A certificate, for https.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="And its key.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="Answer for this name; may be given again.",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", min=0.001, metavar="N", help="Requests a second for each key."),
    ] = None,
    burst: Annotated[
        int, typer.Option("--burst", min=1, metavar="N", help="So many at once, with --rate.")
    ] = 20,
    most_memories: Annotated[
        int | None,
        typer.Option("--most-memories", min=1, metavar="N", help="Memories of a tenant."),
    ] = None,
    most_bytes: Annotated[
        int | None, typer.Option("--most-bytes", min=1, metavar="N", help="Text of a tenant.")
    ] = None,
    operator_token: Annotated[
        Path | None,
        typer.Option(
            "--operator-token",
            metavar="FILE",
            help="The operator's token: for /metrics, /v1/stores and /v1/hooks; it reads no"
            " memory.",
        ),
    ] = None,
    receipts: Annotated[
        bool, typer.Option("--receipts", help="Keep receipts of what was answered.")
    ] = False,
    log: Annotated[
        str, typer.Option("--log", metavar="FORM", help="people or json: one line a request.")
    ] = "people",
    log_texts: Annotated[
        bool, typer.Option("--log-texts", help="Log questions and texts, too.")
    ] = False,
    mcp_tools: McpTools = "default",
    issuer: Issuer = None,
    resource: Resource = None,
    tenant_claim: TenantClaim = None,
    principal_claim: PrincipalClaim = "sub",
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Serve the memory over HTTP, until Ctrl-C or SIGTERM.

    Without a key nobody but you on this machine may ask, with the token that is shown; the first
    key that `recollect keys create` makes ends that.
    """
    serve_with(
        context,
        host=host,
        port=port,
        socket=None if socket is None else str(socket.expanduser()),
        workers=workers,
        tls_cert=_file("--tls-cert", tls_cert),
        tls_key=_file("--tls-key", tls_key),
        allowed_hosts=tuple(allow_host or ()),
        rate=rate,
        burst=burst,
        most_memories=most_memories,
        most_bytes=most_bytes,
        operator_token=_token_in(operator_token),
        receipts=receipts,
        log=_form(log),
        log_texts=log_texts,
        mcp_tools=mcp_tools,
        outside=outside_issuer(issuer, resource, tenant_claim, principal_claim),
        db=db,
        embedder=embedder,
    )


def serve_with(context: typer.Context, **given: Any) -> None:
    """Serve until it is told to end, as options say; both commands that listen come here."""
    options = _with_token(options_of(**given))
    try:
        from recollect.edge.http.run import serve as run
    except ImportError as error:
        raise InvalidInput(LIBRARIES, hint='pip install "recollect[serve]".') from error
    out = output.of(context)
    raise typer.Exit(run(options, announce=lambda address: _announce(out, options, address)))


def outside_issuer(
    issuer: str | None, resource: str | None, tenant_claim: str | None, principal_claim: str
) -> OutsideIssuer | None:
    """Return who else may say who asks at /mcp."""
    if issuer is None:
        return None
    from recollect.edge.http.options import OutsideIssuer
    from recollect.edge.mcp.issuer import check_issuer

    if resource is None:
        raise InvalidInput(
            "--issuer takes --resource: the address of /mcp as clients know it.",
            hint="--resource https://memory.example.com/mcp",
        )
    outside = OutsideIssuer(issuer, resource, principal_claim, tenant_claim)
    check_issuer(outside)
    return outside


def options_of(*, db: str | None, embedder: str | None, **given: object) -> ServerOptions:
    """Return how to serve: as was said, at the place that was named, as it is opened elsewhere."""
    from recollect.edge.cli.open_catalogue import file_of, is_url
    from recollect.edge.http.options import ServerOptions
    from recollect.edge.mcp.tools import profile
    from recollect.settings import default_hooks_path, default_opening

    opening, hooks = default_opening(), default_hooks_path()
    place = str(db) if is_url(db) else str(file_of(db).absolute())
    profile(str(given.get("mcp_tools", "default")))
    if given.get("outside") is not None and Path(place).is_dir():
        raise InvalidInput(
            "a key names its store, and a token of an issuer none.", hint="serve one file."
        )
    if place.startswith("memory:") and given.get("workers", 1) != 1:
        raise InvalidInput(
            "a memory that is kept nowhere has one process.", hint="leave --workers out."
        )
    given["receipts"] = bool(given.get("receipts")) or opening.receipts
    return ServerOptions(
        db=place,
        embedder=embedder,
        hooks=None if hooks is None else str(hooks),
        receipt_days=opening.receipt_days,
        read_only=wants_read_only(),
        any_filesystem=opening.any_filesystem,
        **given,  # type: ignore[arg-type]
    )


def _with_token(options: ServerOptions) -> ServerOptions:
    """Return the options with a token for whoever is at the machine, if nobody has a key yet."""
    from dataclasses import replace

    if _has_keys(options):
        return options
    if not options.is_local and options.outside is not None:
        return options
    if not options.is_local:
        raise KeyNeeded(
            f"there is no key yet, and {options.host} is reached from other machines.",
            hint="`recollect keys create` makes one; without --host only this machine may ask.",
        )
    return replace(options, token=f"local_{secrets.token_urlsafe(_TOKEN_BYTES)}")


def _has_keys(options: ServerOptions) -> bool:
    from recollect.edge.cli.open_memory import embedder_for
    from recollect.edge.http.stores import is_folder
    from recollect.settings import one_blas_thread

    with one_blas_thread():
        from recollect.engine import Recollect
    if is_folder(options.db):
        # Each store of a node has keys of its own, made by its operator.
        return True
    if options.db.startswith("memory:"):
        return False
    with Recollect.open(
        options.db,
        embedder=embedder_for(options.embedder),
        any_filesystem=options.any_filesystem,
        read_only=options.read_only,
    ) as memory:
        return bool(memory.keys.list())


def _announce(out: output.Output, options: ServerOptions, address: str) -> None:
    """Say where the server is, and who may ask; on stderr, so that stdout stays free."""
    if out.as_json:
        import json
        import sys

        told = {"address": address, "token": options.token, "workers": options.workers}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        return
    screen = output.console(stderr=True)
    screen.print(f"Recollect serves {options.db} at {address}", soft_wrap=True)
    if options.token is None:
        screen.print("Each request takes a key: Authorization: Bearer rk_…", soft_wrap=True)
    elif options.socket is not None:
        screen.print("There is no key yet: whoever reaches the socket may read and write.")
    else:
        screen.print(
            "There is no key yet: only this machine may ask, to read and write, with\n"
            f"  Authorization: Bearer {options.token}\n"
            "`recollect keys create` makes the first key, which ends that.",
            soft_wrap=True,
        )
    if options.only_mcp:
        screen.print(f"Clients of MCP come to {address}/mcp. Ctrl-C ends it.", soft_wrap=True)
    elif options.socket is None:
        screen.print(
            f"The inspector is at {address}, the reference at {address}/reference. Ctrl-C ends it.",
            soft_wrap=True,
        )


def _form(log: str) -> str:
    if log not in ("people", "json"):
        raise InvalidInput(f"--log is people or json, not {log!r:.60}.", hint="--log json")
    return log


def _file(option: str, path: Path | None) -> str | None:
    if path is None:
        return None
    if not path.expanduser().is_file():
        raise InvalidInput(f"{option}: there is no file {path}.", hint="check the path.")
    return str(path.expanduser())


def _token_in(path: Path | None) -> str | None:
    name = _file("--operator-token", path)
    if name is None:
        return None
    token = Path(name).read_text(encoding="utf-8").strip()
    if len(token) < _TOKEN_BYTES:
        raise InvalidInput(
            f"the token in {path} is shorter than {_TOKEN_BYTES} characters.",
            hint="make one with `openssl rand -hex 32`.",
        )
    return token
