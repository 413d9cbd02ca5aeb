"""An import of any length is held a part at a time: its texts wait in a file."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput

# More than two transactions write: of each of two imports only a part is ever held.
FEW, MANY = 1_030, 1_600
# What ids and numbers of rows may take, which are held; it is a fraction of the texts.
MOST = (MANY - FEW) * 600
TEXT = "A kiln is a thing that burns. " * 50


def _lines(count: int) -> Iterator[str]:
    for number in range(count):
        fields = {"kind": "memory", "pak_id": f"note-{number}", "content": f"{number} {TEXT}"}
        yield json.dumps(fields)


def _whole(folder: Path, count: int) -> Iterator[str]:
    """All of a store that holds so many, from a file."""
    export = folder / f"{count}.jsonl"
    with Recollect.open(folder / f"{count}-from.db", embedder="none", links=False) as memory:
        memory.import_(_lines(count))
        with export.open("w") as target:
            target.writelines(f"{line}\n" for line in memory.export(everything=True))
    return _lines_of(export)


def _lines_of(export: Path) -> Iterator[str]:
    with export.open() as lines:
        yield from lines


def _held_meanwhile(path: Path, lines: Iterable[str]) -> int:
    """Return how many bytes an import held and gave back: index and answer stay."""
    with Recollect.open(path, embedder="none", links=False) as memory:
        gc.collect()
        tracemalloc.start()
        try:
            done = memory.import_(lines)
            now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert done[-1].created
    return peak - now


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_held_does_not_grow_with_the_texts_of_an_import(
    tmp_path: Path, whole: bool
) -> None:
    held = [
        _held_meanwhile(
            tmp_path / f"{count}.db", _whole(tmp_path, count) if whole else _lines(count)
        )
        for count in (FEW, MANY)
    ]
    assert held[1] - held[0] < MOST


def test_what_is_held_does_not_grow_with_the_texts_of_an_export(tmp_path: Path) -> None:
    held = []
    for count in (FEW, MANY):
        with Recollect.open(tmp_path / f"{count}.db", embedder="none", links=False) as memory:
            memory.import_(_lines(count))
            memory.recall("kiln")  # the index is made for the first question
            for everything in (False, True):
                gc.collect()
                tracemalloc.start()
                try:
                    told = sum(1 for _ in memory.export(everything=everything))
                    held.append(tracemalloc.get_traced_memory()[1])
                finally:
                    tracemalloc.stop()
                assert told >= count
    for few, many in zip(held[:2], held[2:], strict=True):
        assert many - few < MOST


def test_a_line_that_is_wrong_at_the_very_end_lets_nothing_be_written(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none", links=False) as memory:
        with pytest.raises(InvalidInput, match="line 1031"):
            memory.import_((*_lines(FEW), json.dumps({"kind": "memory", "content": ""})))
        assert memory.list().items == ()
