"""`recollect get`, `forget`, `tidy`, `touch`, `archive`, `link`, `dispute` and their like.

Verbs on memories with a name. In: ids. Out: one call of the engine each, and what was done.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import ids
from recollect.edge.cli.given import as_filter, as_scope
from recollect.edge.cli.options import (
    Db,
    Embedder,
    Filter,
    Json,
    PakId,
    RequestId,
    Since,
    Until,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "archive",
    "dispute",
    "forget",
    "get",
    "link",
    "resolve",
    "tidy",
    "touch",
    "unarchive",
]

Other = Annotated[
    str,
    typer.Argument(
        metavar="OTHER_ID", help="The id of another memory. The beginning of one will do."
    ),
]


def get(
    context: typer.Context,
    pak_id: PakId,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Show one memory in full."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found = open_memory.known(memory, pak_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import memories as view

        console.print(view.card(found))

    output.of(context).show(wire.memory(found), draw)


def forget(
    context: typer.Context,
    pak_ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAK_ID...]",
            help="The id of a memory, or several. The beginning of one will do.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option("--entity", metavar="NAME", help="All facts about this entity."),
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="All turns of this conversation.")
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="NAME", help="All of this project, and what lies below it."
        ),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="TAG", help="All with this tag.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="ID", help="All of this owner.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="All that came from this source.")
    ] = None,
    since: Since = None,
    until: Until = None,
    filter_: Filter = None,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope", metavar="SCOPE", help="Leave other scopes alone.", show_default=False
        ),
    ] = None,
    versions: Annotated[
        bool, typer.Option("--versions", help="What it superseded goes along, back to the first.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Erase nothing; say what would be.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Search all files for words on standard input.")
    ] = False,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Erase a memory, or all that share something, with all that hangs on it: for good."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    chosen: dict[str, Any] = {
        "entity": entity,
        "thread": thread,
        "project": project,
        "tag": tag,
        "owner": owner,
        "source": source,
        "since": since,
        "until": until,
        "filter": as_filter(filter_),
    }
    given = {name: value for name, value in chosen.items() if value is not None}
    if verify:
        if pak_ids or given or dry_run:
            raise typer.BadParameter("--verify stands alone: forget first, then verify.", context)
        _verify(context, db)
        return
    if (not pak_ids) == (not given):
        raise typer.BadParameter(
            "name either a PAK_ID, or what they share: --entity, --project, --since, …", context
        )
    with open_memory.existing(db, embedder) as memory:
        names = [open_memory.whole_id(memory, one) for one in pak_ids or ()]
        gone = memory.forget(
            names or None,
            **given,
            scope=as_scope(scope),
            versions=versions,
            request_id=request_id,
            dry_run=dry_run,
        )
    if len(names) == 1 and not gone:
        raise open_memory.unknown(names[0])
    target = ", ".join(names or map(str, given.values()))

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import memories as view

        console.print(view.erasure(target, gone), soft_wrap=True)

    output.of(context).show(wire.forgotten(target, gone), draw)


def _verify(context: typer.Context, db: str | None) -> None:
    """Search the files of a store for words, and say which lines were found; exit 1 if any."""
    from recollect.edge import wire
    from recollect.edge.cli.open_catalogue import locate, need_holder
    from recollect.index.evidence import search

    need_holder("a search of the files")
    place = locate(db)
    words = sys.stdin.buffer.read().decode("utf-8", "replace").splitlines()
    searched = search(place, words)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import memories as view

        console.print(view.evidence(searched), soft_wrap=True)

    output.of(context).show(wire.evidence(searched), draw)
    if any(one.found for one in searched):
        raise typer.Exit(1)


def touch(
    context: typer.Context,
    pak_id: PakId,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Let a memory that was given a time to live hold for that long from now on."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        pak_id = open_memory.whole_id(memory, pak_id)
        touched = memory.touch(pak_id, request_id=request_id)
        found = open_memory.known(memory, pak_id)
    holds = f"holds until {found.valid_until}" if touched else "was given no time to live"
    _tell(context, wire.touched(found, is_touched=touched), f"{pak_id} {holds}.")


def tidy(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Erase nothing; say what would be.")
    ] = False,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Erase what has ended, as `forget` does."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        gone = memory.tidy(dry_run=dry_run, request_id=request_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import memories as view

        ended = view.erasure("what has ended", gone) if gone else "Nothing has ended."
        console.print(ended, soft_wrap=True)

    output.of(context).show(wire.forgotten("what has ended", gone), draw)


def archive(
    context: typer.Context,
    pak_id: PakId,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Take a memory out of every answer without erasing it; `unarchive` brings it back."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        pak_id = open_memory.whole_id(memory, pak_id)
        changed = memory.archive(pak_id, request_id=request_id)
        found = open_memory.known(memory, pak_id)
    sentence = f"Archived {pak_id}." if changed else f"{pak_id} stays {found.status}."
    _tell(context, wire.archived(found, changed=changed), sentence)


def unarchive(
    context: typer.Context,
    pak_id: PakId,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Bring an archived memory back into answers."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        pak_id = open_memory.whole_id(memory, pak_id)
        changed = memory.unarchive(pak_id, request_id=request_id)
        found = open_memory.known(memory, pak_id)
    sentence = f"Brought {pak_id} back." if changed else f"{pak_id} stays {found.status}."
    _tell(context, wire.archived(found, changed=changed), sentence)


def link(
    context: typer.Context,
    pak_id: PakId,
    other: Other,
    weight: Annotated[
        float,
        typer.Option("--weight", metavar="0-1", help="How strongly, above 0. 1 is strongest."),
    ] = 1.0,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Join two memories; recall then follows one to the other."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        pak_id, other = (open_memory.whole_id(memory, one) for one in (pak_id, other))
        memory.link(pak_id, other, weight=weight, request_id=request_id)
    _tell(
        context,
        wire.linked(pak_id, other, weight=weight),
        f"Linked {pak_id} and {other} ({weight:g}).",
    )


def dispute(
    context: typer.Context,
    pak_id: PakId,
    other: Other,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Say that two memories contradict each other; answers then hold the better one only."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        pak_id, other = (open_memory.whole_id(memory, one) for one in (pak_id, other))
        memory.dispute(pak_id, other, note=note, request_id=request_id)
    _tell(
        context,
        wire.disputed(pak_id, other, note=note),
        f"{pak_id} and {other} contradict each other until you resolve it.",
    )


def resolve(
    context: typer.Context,
    pak_id: PakId,
    other: Other,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Settle a dispute: both memories may be answers again."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        pak_id, other = (open_memory.whole_id(memory, one) for one in (pak_id, other))
        settled = memory.resolve(pak_id, other, request_id=request_id)
    between = f"between {pak_id} and {other}"
    _tell(
        context,
        wire.resolved(pak_id, other, was_open=settled),
        f"Settled the dispute {between}." if settled else f"There was no open dispute {between}.",
    )


def _tell(context: typer.Context, answer: dict[str, object], sentence: str) -> None:
    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import plain

        console.print(plain(sentence), soft_wrap=True)

    output.of(context).show(answer, draw)
