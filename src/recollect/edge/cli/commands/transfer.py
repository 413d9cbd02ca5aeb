"""`recollect export` and `recollect import`: memories as lines of JSON, out of a file and into one.

In: a file, or the pipe. Out: calls of the engine. Lines go to stdout alone; what there is to say
about them goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO

import typer

from recollect.edge.cli import output
from recollect.edge.cli.given import as_filter
from recollect.edge.cli.options import Db, Embedder, Filter, Json, RequestId
from recollect.errors import InvalidInput, RecollectError
from recollect.spool import Spool
from recollect.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["export", "import_"]

_PIPE = Path("-")
_TRANSCRIPTS = ("claude-code", "codex")
_MOST_TOLD = 20
_PARTS = (("memory", "memories"), ("link", "links"), ("dispute", "disputes"))
# What an export of everything holds beside, and how one and many of it are called.
_OTHERS = (
    ("garden", "garden", "gardens"),
    ("member", "member of a garden", "members of gardens"),
    ("trust", "trusted source", "trusted sources"),
    ("frame", "frame", "frames"),
    ("pak", "entry of the catalogue", "entries of the catalogue"),
    ("successor", "successor", "successors"),
    ("reason", "reason code", "reason codes"),
    ("flag", "risk flag", "risk flags"),
    ("anchor", "anchor", "anchors"),
    ("relation", "relation", "relations"),
    ("use", "count of uses", "counts of uses"),
    ("link_use", "count of uses of a link", "counts of uses of links"),
)
_NEVER = "Keys, the audit log and vectors are in no export."


def export(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="[FILE]", help="Where to; - or nothing is stdout."),
    ] = _PIPE,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="All of the store: everybody's memories, gardens, trust, frames, history."
        ),
    ] = False,
    filter_: Filter = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Write your memories, links and disputes as lines of JSON, for `import` to take back.

    What is left out is told on stderr; exit 1 if that is all that there is.
    """
    from recollect.edge.cli import open_memory

    out = output.of(context)
    with open_memory.existing(db, embedder) as memory:
        total = memory.stats()["memories"]
        lines = memory.export(everything=everything, filter=as_filter(filter_))
        if file == _PIPE:
            # Always UTF-8, whatever the terminal speaks: this is for `import` to read.
            with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as pipe:
                done = _written(lines, pipe, lambda _done, _total: None, total)
        else:
            with out.progress("Exporting", total) as progress, _replacing(file) as target:
                done = _written(lines, target, progress, total)
    if file != _PIPE:
        _tell_written(out, file, done)
    _tell_left_out(done, everything=everything)
    if done.holds_none_of_it:
        raise typer.Exit(1)


def _tell_written(out: output.Output, file: Path, done: _Exported) -> None:
    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import plain

        told = ", ".join(
            f"{done.counts[many]:,} {one if done.counts[many] == 1 else many}"
            for one, many in _PARTS
        )
        console.print(f"Exported {told} to {plain(str(file))}.", soft_wrap=True)

    answer = {"file": str(file), **done.counts}
    out.show({**answer, "left_out": done.left_out, "tenants": done.tenants}, draw)


def import_(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="An export: a JSON object a line. - is stdin. Or claude-code or codex.",
        ),
    ],
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]", help="Of transcripts, a file or a folder; else all of the client's."
        ),
    ] = None,
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Take back what `export` wrote, or what coding agents wrote down; may start a new file.

    Every line of an export is checked before the first is stored. What is there already stays one
    memory. Of transcripts, a line that cannot be read is told, and the rest is taken.
    """
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    if str(file) in _TRANSCRIPTS:
        _import_transcripts(context, str(file), path, db, embedder)
        return
    if path is not None:
        raise InvalidInput(
            f"{file} is no format that we know.",
            hint=f"name one file, or one of {', '.join(_TRANSCRIPTS)} and a path.",
        )
    lines = Spool(_read(file))
    out = output.of(context)
    with (
        open_memory.new_or_existing(db, embedder) as memory,
        out.progress("Importing", len(lines)) as progress,
    ):
        done = memory.import_(lines, progress=progress, request_id=request_id)

    def draw(console: Console) -> None:
        tally = wire.imported(done)
        console.print(f"Imported {len(done):,} memories, {tally['created']:,} of them new.")
        if tally["pending"]:
            console.print(f"{tally['pending']:,} of them wait for a vector: the embedder failed.")

    out.show(wire.imported(done), draw)


def _import_transcripts(
    context: typer.Context, format_: str, path: Path | None, db: str | None, embedder: str | None
) -> None:
    from recollect.edge.agents.clients import Folders
    from recollect.edge.agents.options import agent_options
    from recollect.edge.agents.transcripts import bring_in, transcripts
    from recollect.edge.cli import open_memory
    from recollect.settings import clients_folders

    out, options = output.of(context), agent_options()
    own = Folders(Path.home(), sys.platform, clients_folders())
    files = transcripts(format_, own if path is None else path.expanduser())
    with (
        open_memory.new_or_existing(db, embedder) as memory,
        out.progress("Importing", len(files)) as progress,
    ):
        done = bring_in(memory, format_, files, options=options, progress=progress)
    left_out = dict(done.left_out or {})
    told = {
        "files": len(files),
        "imported": len(done.new),
        "known": done.known,
        "left_out": left_out,
        "unread": [
            {"file": one.file, "line": one.line, "reason": one.reason} for one in done.unread
        ],
    }

    def draw(console: Console) -> None:
        console.print(
            f"Imported {len(done.new):,} turns of {len(files):,} transcripts;"
            f" {done.known:,} were there already.",
            soft_wrap=True,
        )
        for reason, count in left_out.items():
            console.print(f"Left out, {reason}: {count:,}.", soft_wrap=True)

    out.show(told, draw)
    if not out.as_json:
        _tell_unread([f"{one.file}, line {one.line}: {one.reason}" for one in done.unread])


def _tell_unread(lines: Sequence[str]) -> None:
    from recollect.edge.cli.views.elements import plain

    for line in lines[:_MOST_TOLD]:
        typer.echo(f"Not read: {plain(line)}", err=True)
    if len(lines) > _MOST_TOLD:
        typer.echo(f"{len(lines) - _MOST_TOLD:,} more lines were not read.", err=True)


@dataclass(frozen=True, slots=True)
class _Exported:
    """How many lines there are of each kind; what else there is, and whose memories that are."""

    counts: dict[str, int]
    left_out: dict[str, int]
    tenants: dict[str, int]

    @property
    def holds_none_of_it(self) -> bool:
        """Whether there are memories, and not one of them was exported."""
        return not self.counts["memories"] and bool(self.left_out.get("memory"))


def _written(
    lines: Iterable[str], target: TextIO, progress: Callable[[int, int], None], total: int
) -> _Exported:
    """Write lines; return how many there are of each kind, and what the last one leaves out."""
    counts: Counter[str] = Counter()
    rest: dict[str, dict[str, int]] = {"counts": {}, "tenants": {}}
    for line in lines:
        target.write(line + "\n")
        said = json.loads(line)
        counts[said["kind"]] += 1
        if said["kind"] == "left_out":
            rest = said
        progress(min(counts["memory"], total), total)
    parts = {name: counts[kind] for kind, name in _PARTS}
    return _Exported(parts, rest["counts"], rest["tenants"])


def _tell_left_out(done: _Exported, *, everything: bool) -> None:
    if everything:
        typer.echo(_NEVER, err=True)
    elif done.left_out:
        typer.echo("\n".join(_said_left_out(done)), err=True)


def _said_left_out(done: _Exported) -> Iterator[str]:
    from recollect.edge.cli.views.elements import plain

    if done.holds_none_of_it:
        yield "Not one memory was exported: all there are belong to others."
    told = ", ".join(
        f"{done.left_out[kind]:,} {one if done.left_out[kind] == 1 else many}"
        for kind, one, many in (*((one, one, many) for one, many in _PARTS), *_OTHERS)
        if kind in done.left_out
    )
    yield f"Left out: {told}."
    if done.tenants:
        whose = ", ".join(f"{plain(name)} {count:,}" for name, count in done.tenants.items())
        yield f"Memories left out, by tenant: {whose}."
    yield "`recollect export --all` writes all of the store."


@contextmanager
def _replacing(file: Path) -> Iterator[TextIO]:
    """Write beside the file and rename: it is there as a whole, readable by its owner alone."""
    place = file.expanduser()
    try:
        handle, draft = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as target:
                yield target
            Path(draft).replace(place)
        finally:
            Path(draft).unlink(missing_ok=True)
    except RecollectError:
        raise  # some of ours are errors of the system too
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be written: {error.strerror}.",
            hint="name a file in a folder that may be written to.",
        ) from error


def _read(file: Path) -> Iterator[str]:
    place = 0
    try:
        with _opened(file) as source:
            for line in source:
                yield line.decode("utf-8-sig" if place == 0 else "utf-8")
                place += len(line)
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be read: {error.strerror}.", hint="name a file that `export` wrote."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{file} is not UTF-8: byte {place + error.start} cannot be read.",
            hint="name a file that `export` wrote.",
        ) from error


def _opened(file: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == _PIPE else file.expanduser().open("rb")
