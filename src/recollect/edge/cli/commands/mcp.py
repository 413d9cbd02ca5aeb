"""`recollect mcp`: the same memory for agents that speak the Model Context Protocol.

In: where the memory is, which tools to list. Out: a server on standard input and output that runs
until its client goes away, or one that listens for many. What it does is in `recollect.edge.mcp`;
the SDK is loaded there.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from recollect.edge.cli.given import chosen_url
from recollect.edge.cli.options import (
    Db,
    Embedder,
    Issuer,
    KeyOfMcp,
    PrincipalClaim,
    Resource,
    TenantClaim,
    UrlOfMcp,
)
from recollect.errors import InvalidInput

__all__ = ["mcp"]

_LIBRARIES = "the libraries of the Model Context Protocol are not installed."


def mcp(
    context: typer.Context,
    tools: Annotated[
        str,
        typer.Option(
            "--tools",
            metavar="NAMES",
            help="default: the eight that an agent needs; all: each verb; chatgpt: search and"
            " fetch.",
        ),
    ] = "default",
    over_http: Annotated[
        bool, typer.Option("--http", help="Listen for many clients, at /mcp of an address.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="With --http: where to listen.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, metavar="N", help="With --http; 0 takes a free one."
        ),
    ] = 8377,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="With --http: answer for this name; may be given again.",
            show_default=False,
        ),
    ] = None,
    issuer: Issuer = None,
    resource: Resource = None,
    tenant_claim: TenantClaim = None,
    principal_claim: PrincipalClaim = "sub",
    db: Db = None,
    embedder: Embedder = None,
    url: UrlOfMcp = None,  # noqa: ARG001 - its callback keeps it
    key: KeyOfMcp = None,  # noqa: ARG001 - as does this one's
) -> None:
    """Serve the memory to agents over MCP: on standard input and output, or over HTTP.

    With --url it asks a running `recollect serve`, so that many clients share one warm memory. Who
    asks is known from --key alone; over HTTP, from the bearer token of each request.
    """
    from recollect.edge.cli.commands.serve import outside_issuer, serve_with
    from recollect.edge.mcp.tools import profile

    profile(tools)
    _need_one_memory(db, over_http=over_http)
    if over_http:
        serve_with(
            context,
            host=host,
            port=port,
            allowed_hosts=tuple(allow_host or ()),
            mcp_tools=tools,
            only_mcp=True,
            outside=outside_issuer(issuer, resource, tenant_claim, principal_claim),
            db=db,
            embedder=embedder,
        )
    _serve_stdio(db, embedder, tools)


def _need_one_memory(db: str | None, *, over_http: bool) -> None:
    if chosen_url() is None:
        return
    if db is not None:
        raise InvalidInput("--db and --url name two memories.", hint="leave one of them out.")
    if over_http:
        raise InvalidInput(
            "--http serves a file, and --url names a server.",
            hint="`recollect serve` answers at /mcp already.",
        )


def _serve_stdio(db: str | None, embedder: str | None, tools: str) -> None:
    from recollect.edge.cli.open_memory import new_or_existing

    try:
        from recollect.edge.mcp.stdio import serve_stdio
    except ImportError as error:
        raise InvalidInput(_LIBRARIES, hint='pip install "recollect[mcp]".') from error
    serve_stdio(partial(new_or_existing, db, embedder), tools=tools)
