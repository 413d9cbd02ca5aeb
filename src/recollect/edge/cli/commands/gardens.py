"""`recollect gardens …`: named access lists, and who is in them.

In: slugs, names and roles. Out: calls of the engine. What is allowed is decided there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import as_role
from recollect.edge.cli.options import Db, Embedder, Json, RequestId

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.edge import wire
    from recollect.model import Scope

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Make gardens, and say who is in them."
)

Slug = Annotated[str, typer.Argument(metavar="SLUG", help="The name of the garden.")]
Who = Annotated[
    str, typer.Argument(metavar="PRINCIPAL", help="The id of a principal of the tenant.")
]
Name = Annotated[str | None, typer.Option("--name", metavar="TEXT", help="What people call it.")]
Tier = Annotated[
    float | None,
    typer.Option("--tier", metavar="0-1", help="How far it counts.", show_default=False),
]


@app.command("list", epilog="Example: recollect gardens list")
def list_(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """List the gardens that you are in; as an admin, all of the tenant."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.gardens.list()

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import gardens as view

        console.print(view.table(found) if found else "There are no gardens.")

    output.of(context).show(wire.gardens(found), draw)


@app.command(epilog="Example: recollect gardens create lab --scope company")
def create(
    context: typer.Context,
    slug: Slug,
    name: Name = None,
    scope: Annotated[
        str,
        typer.Option(
            "--scope", metavar="SCOPE", help="Its scope. It is local, team, company or public."
        ),
    ] = "company",
    team: Annotated[
        str | None, typer.Option("--team", metavar="NAME", help="Whose it is, with the scope team.")
    ] = None,
    tier: Annotated[
        float,
        typer.Option("--tier", metavar="0-1", help="How far what is in it counts."),
    ] = 1.0,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Make a garden; whoever makes it is its first admin."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        made = memory.gardens.create(
            slug,
            name=name,
            scope=cast("Scope", scope),
            team=team,
            tier=tier,
            request_id=request_id,
        )
    _tell(context, wire.gardens([made]), f"Made the garden {slug}; you are its admin.")


@app.command(epilog="Example: recollect gardens update lab --tier 0.5")
def update(
    context: typer.Context,
    slug: Slug,
    name: Name = None,
    tier: Tier = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Rename a garden, or change how far what is in it counts."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        changed = memory.gardens.update(slug, name=name, tier=tier, request_id=request_id)
    _tell(context, wire.gardens([changed]), f"Changed the garden {slug}.")


@app.command(epilog="Example: recollect gardens delete lab")
def delete(
    context: typer.Context,
    slug: Slug,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Drop a garden; no memory is deleted, each goes back to its owner."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        freed = memory.gardens.delete(slug, request_id=request_id)
    answer = wire.deleted(slug, memories=freed)
    _tell(
        context, answer, f"Dropped the garden {slug}; memories back with their owners: {freed:,}."
    )


@app.command(epilog="Example: recollect gardens members lab")
def members(
    context: typer.Context,
    slug: Slug,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Show who is in a garden."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = memory.gardens.members(slug)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import gardens as view

        console.print(view.members(found))

    output.of(context).show(wire.members(slug, found), draw)


@app.command(epilog="Example: recollect gardens add lab ann --role writer")
def add(
    context: typer.Context,
    slug: Slug,
    principal: Who,
    role: Annotated[
        str,
        typer.Option(
            "--role", metavar="ROLE", help="Its role. It is reader, writer, moderator or admin."
        ),
    ] = "reader",
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Give a principal a role in a garden, or another role."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        member = memory.gardens.add(slug, principal, as_role(role), request_id=request_id)
    _tell(
        context, wire.members(slug, [member]), f"{member.principal} is {member.role} in {slug} now."
    )


@app.command(epilog="Example: recollect gardens remove lab ann")
def remove(
    context: typer.Context,
    slug: Slug,
    principal: Who,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Take a principal out of a garden."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        gone = memory.gardens.remove(slug, principal, request_id=request_id)
    sentence = f"{principal} is out of {slug}." if gone else f"{principal} was not in {slug}."
    _tell(context, wire.removed(slug, was_there=gone), sentence)


def _tell(context: typer.Context, answer: wire.Object, sentence: str) -> None:
    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import plain

        console.print(plain(sentence), soft_wrap=True)

    output.of(context).show(answer, draw)
