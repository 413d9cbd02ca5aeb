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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from recollect.edge.cli import output
from recollect.edge.cli.options import Db, Embedder, Json, RequestId
from recollect.errors import InvalidInput, RecollectError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["export", "import_"]

_PIPE = Path("-")
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
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001 - its callback sets the output
) -> None:
    """Write your memories, links and disputes as lines of JSON, for `import` to take back.

    What is left out is told on stderr.
    """
    from recollect.edge.cli import open_memory

    out = output.of(context)
    with open_memory.existing(db, embedder) as memory:
        total = memory.stats()["memories"]
        if file == _PIPE:
            # Always UTF-8, whatever the terminal speaks: this is for `import` to read.
            with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as pipe:
                lines = memory.export(everything=everything)
                _, left_out = _written(lines, pipe, lambda _done, _total: None, total)
            _tell_left_out(left_out, everything=everything)
            return
        with out.progress("Exporting", total) as progress, _replacing(file) as target:
            lines = memory.export(everything=everything)
            counts, left_out = _written(lines, target, progress, total)
    _tell_left_out(left_out, everything=everything)

    def draw(console: Console) -> None:
        from recollect.edge.cli.views.elements import plain

        told = ", ".join(
            f"{counts[many]:,} {one if counts[many] == 1 else many}" for one, many in _PARTS
        )
        console.print(f"Exported {told} to {plain(str(file))}.", soft_wrap=True)

    out.show({"file": str(file), **counts, "left_out": left_out}, draw)


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export; - is stdin.")],
    request_id: RequestId = None,
    db: Db = None,
    embedder: Embedder = None,
    as_json: Json = False,  # noqa: ARG001
) -> None:
    """Take back what `export` wrote, starting a new file if there is none.

    Every line is checked before the first is stored. What is there already stays one memory.
    """
    from recollect.edge import wire
    from recollect.edge.cli import open_memory

    lines = _read(file)
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


def _written(
    lines: Iterable[str], target: TextIO, progress: Callable[[int, int], None], total: int
) -> tuple[dict[str, int], dict[str, int]]:
    """Write lines; return how many there are of each kind, and what the last one leaves out."""
    counts: Counter[str] = Counter()
    left_out: dict[str, int] = {}
    for line in lines:
        target.write(line + "\n")
        said = json.loads(line)
        counts[said["kind"]] += 1
        if said["kind"] == "left_out":
            left_out = said["counts"]
        progress(min(counts["memory"], total), total)
    return {name: counts[kind] for kind, name in _PARTS}, left_out


def _tell_left_out(left_out: Mapping[str, int], *, everything: bool) -> None:
    if everything:
        typer.echo(_NEVER, err=True)
    elif left_out:
        told = ", ".join(
            f"{left_out[kind]:,} {one if left_out[kind] == 1 else many}"
            for kind, one, many in (*((one, one, many) for one, many in _PARTS), *_OTHERS)
            if kind in left_out
        )
        typer.echo(f"Left out: {told}. `export --all` writes all of the store.", err=True)


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


def _read(file: Path) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if file == _PIPE else file.expanduser().read_bytes()
        return data.decode("utf-8-sig").split("\n")
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be read: {error.strerror}.", hint="name a file that `export` wrote."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{file} is not UTF-8: byte {error.start} cannot be read.",
            hint="name a file that `export` wrote.",
        ) from error
