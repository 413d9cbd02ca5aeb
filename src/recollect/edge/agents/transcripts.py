"""Transcripts that are there already, brought in: file by file, each turn once.

In: a format, files, a memory. Out: what is new, what was known, what stayed out and which lines
could not be read. Files are streamed; a file that cannot be read is told and passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.edge.agents.capture import CaptureReport, Sieve, keep
from recollect.edge.agents.clients import Folders
from recollect.errors import InvalidInput
from recollect.importers import Heard, Unread, claude_code, codex
from recollect.importers.lines import numbered

if TYPE_CHECKING:
    from recollect.edge.agents.options import AgentOptions
    from recollect.engine import Recollect

__all__ = ["bring_in", "transcripts"]

_OWN: Mapping[str, Callable[[Folders], list[Path]]] = {
    claude_code.SOURCE: lambda at: claude_code.files(at.claude),
    codex.SOURCE: lambda at: codex.files(at.codex),
}
_READ: Mapping[str, Callable[..., Iterator[Heard]]] = {
    claude_code.SOURCE: claude_code.read,
    codex.SOURCE: codex.read,
}


def transcripts(format_: str, place: Path | Folders) -> list[Path]:
    """Return the files of a format: those of a path, or what the client itself has written."""
    if isinstance(place, Folders):
        return _OWN[format_](place)
    if place.is_dir():
        return sorted(place.rglob("*.jsonl"))
    if not place.is_file():
        raise InvalidInput(
            f"{place} is no file and no folder.", hint="leave it out for all that the client wrote."
        )
    return [place]


def bring_in(
    memory: Recollect,
    format_: str,
    files: Sequence[Path],
    *,
    options: AgentOptions,
    progress: Callable[[int, int], None],
) -> CaptureReport:
    """Store what transcripts hold and is new."""
    new: list[str] = []
    known, left_out, unread = 0, dict[str, int](), list[Unread]()
    for number, path in enumerate(files):
        done = keep(memory, _heard(format_, path), Sieve(options))
        new += done.new
        known += done.known
        unread += done.unread
        for reason, count in (done.left_out or {}).items():
            left_out[reason] = left_out.get(reason, 0) + count
        progress(number + 1, len(files))
    return CaptureReport(tuple(new), known, left_out, tuple(unread))


def _heard(format_: str, path: Path) -> Iterator[Heard]:
    try:
        yield from _READ[format_](numbered(path), name=str(path))
    except OSError as error:
        yield Unread(str(path), 0, f"cannot be read: {error.strerror}")
