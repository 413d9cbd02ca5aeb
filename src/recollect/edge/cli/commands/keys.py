"""`recollect keys …`: make, list and end the keys by which programs say who they are.

In: who a key stands for and what it may do. Out: calls of the engine. A secret is shown once, when
its key is made; it is kept nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json, RequestId
from recollect.errors import UnknownKey

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Make, list and end the keys by which programs say who they are.",
)

_MAKING = (
    "Example: recollect keys create --principal ann --permissions read,write --expires"
    " 2027-01-31T12:00:00Z"
)


@app.command(epilog=_MAKING)
def create(
    context: typer.Context,
    principal: Annotated[
        str,
        typer.Option(
            "--principal",
            metavar="ID",
            help="The id of a principal of the tenant. What it remembers is this name's.",
            show_default=False,
        ),
    ],
    permissions: Annotated[
        str,
        typer.Option(
            "--permissions",
            metavar="NAMES",
            help="What it may do: read, write, admin, moderate, instruct. With commas between.",
        ),
    ] = "read",
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="NAME",
            help="Tenants are sealed from each other; your own unless told.",
            show_default=False,
        ),
    ] = None,
    teams: Annotated[
        list[str] | None,
        typer.Option(
            "--team",
            metavar="NAME",
            help="The teams it is in. One at a time; may be given again.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="What the key is for.")] = "",
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires",
            metavar="TIME",
            help="Until when it holds. Such as 2027-01-31T12:00:00Z.",
            show_default=False,
        ),
    ] = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Make a key and show its secret, this once; only a hash of it is stored."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory
    from recollect.policy import Principal

    with open_memory.existing(db, embedder) as memory:
        who = Principal(
            tenant=memory.principal.tenant if tenant is None else tenant,
            id=principal,
            teams=tuple(teams or ()),
            # What is no permission is refused there, with the names there are.
            permissions=tuple(_words(permissions)),  # type: ignore[arg-type]
        )
        issued = memory.keys.create(who, name=name, expires_at=expires, request_id=request_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import keys as view

        # Alone on its line and never wrapped, to be copied whole.
        console.print(view.new_key(issued.row))
        console.print(issued.secret, style="bold green", soft_wrap=True)
        console.print(view.secret_warning(issued.row))

    output.of(context).show(wire.issued(issued), draw)


@app.command("list", epilog="Example: recollect keys list --tenant acme")
def list_(
    context: typer.Context,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", metavar="NAME", help="Only keys of this tenant.", show_default=False
        ),
    ] = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """List the keys, oldest first, without their secrets."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.keys.list(tenant)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import keys as view

        console.print(view.table(found) if found else "There are no keys.")

    output.of(context).show(wire.keys(found), draw)


@app.command(epilog="Example: recollect keys revoke 9f2c41d07ab3")
def revoke(
    context: typer.Context,
    prefix: Annotated[
        str,
        typer.Argument(
            metavar="PREFIX", help="The public part of the key. All of the key will do."
        ),
    ],
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """End a key at once and for good."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory
    from recollect.policy.keys import public_part

    # A secret that was pasted here is not repeated.
    shown = public_part(prefix)
    with open_memory.existing(db, embedder) as memory:
        if shown is None or not memory.keys.revoke(prefix, request_id=request_id):
            raise UnknownKey(
                "there is no living key of this prefix.", hint="`recollect keys list` names them."
            )
    output.of(context).show(
        wire.revoked(shown),
        lambda console: console.print(f"Revoked {shown}. Nobody gets in with it any more."),
    )


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
