"""`recollect update`, `edit`, `supersede` and `history`: change a memory, and see what it was.

In: an id, and what shall be otherwise. Out: calls of the engine. What somebody wrote in an editor
is not lost, whatever becomes of the change.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.edge.cli import output
from recollect.edge.cli.complete import ids
from recollect.edge.cli.given import as_metadata, as_seconds
from recollect.edge.cli.options import (
    Authority,
    Category,
    Confidence,
    Db,
    Embedder,
    FromSource,
    Garden,
    Json,
    Metadata,
    NewProject,
    NewTags,
    Now,
    OccurredAt,
    OfEntity,
    OfRelation,
    OfThread,
    PakId,
    PakType,
    RequestId,
    SaidBy,
    Scope,
    Summary,
    Team,
    Title,
    Topic,
    Ttl,
    ValidFrom,
    ValidUntil,
    Value,
)
from recollect.errors import InvalidInput, RecollectError
from recollect.settings import default_editor

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.model import Remembered

__all__ = ["edit", "history", "supersede", "update"]


def update(
    context: typer.Context,
    pak_id: PakId,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT...]", help="What it says instead.", show_default=False),
    ] = None,
    tags: NewTags = None,
    project: NewProject = None,
    title: Title = None,
    summary: Summary = None,
    category: Category = None,
    topic: Topic = None,
    pak_type: PakType = None,
    authority: Authority = None,
    source: FromSource = None,
    entity: OfEntity = None,
    relation: OfRelation = None,
    value: Value = None,
    confidence: Confidence = None,
    thread: OfThread = None,
    speaker: SaidBy = None,
    occurred_at: OccurredAt = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    ttl: Ttl = None,
    metadata: Metadata = None,
    scope: Scope = None,
    team: Team = None,
    garden: Garden = None,
    now: Now = None,
    clear: Annotated[
        list[str] | None,
        typer.Option(
            "--clear",
            metavar="FIELD",
            help="Take a field away, such as project or valid-until; may be given again.",
            show_default=False,
        ),
    ] = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Change what is named of a memory, and nothing else; `history` shows what it was."""
    from recollect.edge.cli import open_memory

    given: dict[str, Any] = {
        "content": " ".join(words) if words else None,
        "tags": tags,
        "project": project,
        "title": title,
        "summary": summary,
        "category": category,
        "topic": topic,
        "pak_type": pak_type,
        "authority": authority,
        "source": source,
        "entity": entity,
        "relation": relation,
        "value": value,
        "confidence": confidence,
        "thread": thread,
        "speaker": speaker,
        "occurred_at": occurred_at,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "ttl": as_seconds(ttl),
        "metadata": as_metadata(metadata),
        "scope": scope,
        "team": team,
        "garden": garden,
    }
    fields = {name: value for name, value in given.items() if value is not None}
    fields |= {name.replace("-", "_"): None for name in clear or ()}
    if not fields:
        raise typer.BadParameter("say what shall change: a TEXT, or an option.", context)
    with open_memory.existing(db, embedder) as memory:
        name = open_memory.whole_id(memory, pak_id)
        done = memory.update(name, now=now, request_id=request_id, **fields)
    _tell(context, done)


def edit(
    context: typer.Context,
    pak_id: PakId,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Open the text of a memory in $EDITOR, and keep what you make of it."""
    from recollect.edge.cli import open_memory

    # Nobody waits for the store while somebody types.
    with open_memory.existing(db, embedder) as memory:
        before = open_memory.known(memory, pak_id)
    text = _edited(before.content)
    if text == before.content:
        answer = {"pak_id": before.pak_id, "changed": []}
        output.of(context).show(answer, lambda console: console.print("Nothing was changed."))
        return
    try:
        with open_memory.existing(db, embedder) as memory:
            now = open_memory.known(memory, before.pak_id)
            if now.content != before.content:
                raise InvalidInput(
                    f"{before.pak_id} was changed by somebody meanwhile.", hint="edit it again."
                )
            done = memory.update(before.pak_id, content=text)
    except RecollectError as error:
        hint = f"{error.hint or ''} What you wrote is in {_kept(text)}."
        raise InvalidInput(error.message, hint=hint.strip()) from error
    _tell(context, done)


def supersede(
    context: typer.Context,
    pak_id: PakId,
    new: Annotated[
        str | None,
        typer.Argument(
            metavar="[NEW_ID]",
            help="The id of the one that takes its place. The beginning of one will do.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Instead: give the memory its place back.")
    ] = False,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Let a memory take the place of another in all answers; the old one names its successor."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    if (new is None) != undo:
        raise typer.BadParameter("name either a NEW_ID, or --undo.", context)
    with open_memory.existing(db, embedder) as memory:
        pak_id = open_memory.whole_id(memory, pak_id)
        new = None if new is None else open_memory.whole_id(memory, new)
        memory.supersede(pak_id, new, request_id=request_id)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import change as view

        console.print(view.succession(pak_id, new), soft_wrap=True)

    output.of(context).show(wire.superseded(pak_id, new), draw)


def history(
    context: typer.Context,
    pak_id: PakId,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Show what a memory was: each version with who wrote it, when, and what changed."""
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    with open_memory.existing(db, embedder) as memory:
        name = open_memory.whole_id(memory, pak_id)
        found = memory.history(name)
        if not found:
            raise open_memory.unknown(name)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import change as view

        console.print(view.versions(found))

    output.of(context).show(wire.versions(found), draw)


def _tell(context: typer.Context, done: Remembered) -> None:
    from recollect.edge import wire

    def draw(console: Console) -> None:
        from recollect.edge.cli.views import change as view

        console.print(view.update(done), soft_wrap=True)

    output.of(context).show(wire.remembered(done), draw)


def _edited(text: str) -> str:
    """Return what somebody makes of a text; a line break at its end is the editor's."""
    editor = default_editor()
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        file = Path(folder) / "memory.txt"
        file.touch(mode=0o600)
        file.write_text(text, encoding="utf-8")
        try:
            failed = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode  # noqa: S603
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"The editor {editor!r} cannot be started: {error}.",
                hint="set EDITOR to a program, such as nano.",
            ) from error
        if failed:
            raise InvalidInput(
                f"The editor {editor!r} ended with {failed}; nothing was changed.",
                hint="save and leave the editor, or set EDITOR to another.",
            )
        made = file.read_bytes().decode("utf-8", "replace")
    return made if text.endswith("\n") else made.removesuffix("\n")


def _kept(text: str) -> str:
    handle, name = tempfile.mkstemp(prefix="recollect-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return name
