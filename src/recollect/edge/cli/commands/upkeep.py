"""`recollect stats`, `check`, `repair`, `reindex`, `reembed`: how a memory is, and keeping it so.

In: the options of every command. Out: one call of the engine each, and its report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["check", "reembed", "reindex", "repair", "stats"]


def stats(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Show how much is remembered, by which model, and what waits."""
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        answer = {"db": str(memory.path), **memory.stats()}

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import facts

        shown = dict(answer)
        if "hooks" in shown:  # a principal is told of its own memories alone
            hooks = shown["hooks"]["hooks"]
            shown["hooks"] = ", ".join(f"{one['hook']} {one['state']}" for one in hooks) or None
        console.print(facts(shown))

    output.of(context).show(answer, draw)


def check(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Look for damage: each row against its checksum or its second copy; exit 1 if any."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        found, place = memory.examine(), str(memory.path)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import elements

        console.print(
            elements.verdict(bool(found), place, found.memories, ("memory", "memories")),
            soft_wrap=True,
        )
        elements.problems(console, found.problems)
        for note in found.notes:
            console.print(f"Note: {note}.", soft_wrap=True, markup=False)
        if not found:
            console.print(f"Try: recollect repair --db {place}", soft_wrap=True)

    output.of(context).show(wire.condition(found), draw)
    if not found:
        raise typer.Exit(1)


def repair(
    context: typer.Context,
    discard: Annotated[
        bool,
        typer.Option("--discard", help="First delete what earlier repairs put aside, for good."),
    ] = False,
    salvage: Annotated[
        bool,
        typer.Option(
            "--salvage",
            help="Bring all that can be read into a new file, and keep the old one beside it.",
        ),
    ] = False,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Restore what can be derived again, and put aside what cannot; exit 1 if problems are left."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    if salvage:
        _salvage(context, db, embedder)
        return
    with open_memory.existing(db, embedder) as memory:
        done, place = memory.repair(discard=discard), str(memory.path)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import elements

        console.print(
            f"Repaired {place}: {len(done.restored)} restored, {len(done.aside)} put aside,"
            f" {done.vectors} vectors and {done.full_text} rows of full text made anew,"
            f" {done.dropped} links dropped.",
            soft_wrap=True,
            markup=False,
        )
        for name in done.aside:
            console.print(f"Put aside: {name}", soft_wrap=True, markup=False)
        elements.problems(console, done.problems)
        if done.problems:
            console.print("These are left: restore a backup, or try --salvage.")

    output.of(context).show(wire.repaired(done), draw)
    if done.problems:
        raise typer.Exit(1)


def _salvage(context: typer.Context, db: str | None, embedder: str | None) -> None:
    """Bring what can be read of a damaged file into a new one; exit 1 if anything is missing."""
    from recollect.edge import wire
    from recollect.edge.cli import open_catalogue, open_memory
    from recollect.engine import salvage

    open_catalogue.need_holder("a salvage")
    path = open_catalogue.writable(db)
    done = salvage(path, embedder=open_memory.embedder_for(embedder))

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import elements

        lines = (
            f"Salvaged {path}: {done.memories} memories are in the new file, {len(done.lost)} could"
            f" not be read. The old file stays beside it as {Path(done.aside).name}.",
            *(f"Lost: {name}" for name in done.lost),
            *(f"May lack rows: {name}" for name in done.tables),
            *(f"Put aside: {name}" for name in done.repaired.aside),
        )
        for line in lines:
            console.print(line, soft_wrap=True, markup=False)
        elements.problems(console, done.repaired.problems)

    answer = wire.salvaged(done)
    output.of(context).show(answer, draw)
    if not answer["ok"]:
        raise typer.Exit(1)


def reindex(
    context: typer.Context,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Throw the index away and build it anew from the database."""
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        memory.reindex()
        count = memory.stats()["memories"]
    output.of(context).show(
        {"indexed": count},
        lambda console: console.print(f"Built the index of {count:,} memories anew."),
    )


def reembed(
    context: typer.Context,
    to: Annotated[
        str,
        typer.Argument(
            metavar="NEW_EMBEDDER",
            help="static, none, minilm, onnx:FOLDER, openai:MODEL or fastembed:MODEL.",
        ),
    ],
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Switch to another embedder; run it again to go on after it was cut off.

    The old vectors serve until the new ones are complete. `--embedder` names the old embedder.
    """
    from recollect.edge.cli import open_memory

    out = output.of(context)
    with open_memory.existing(db, embedder) as memory:
        chosen = open_memory.embedder_for(to)
        count = memory.stats()["memories"]
        with out.progress("Embedding", count) as progress:
            done = memory.reembed(chosen or to, progress=progress)
        model_id = memory.stats()["model_id"]

    def draw(console: Console) -> None:
        console.print(
            f"Embedded {done:,} texts now; all {count:,} memories are of {model_id}.\n"
            f"From now on every command uses it; name it with --embedder if it is not built in.",
            soft_wrap=True,
        )

    answer = {"embedded": done, "memories": count, "model_id": model_id}
    out.show(answer, draw)
