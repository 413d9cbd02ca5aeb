from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from recollect.index import MemoryIndex, cache_file, load, save
from recollect.model import Memory
from recollect.ports.store import Changes, Head, IndexRow


def small_index(count: int = 20) -> MemoryIndex:
    index = MemoryIndex.empty(4)
    rows = [
        IndexRow(
            number,
            Memory(f"pak_{number}", f"text number {number} \ud800", "title", tags=("a", "é")),
            np.array([number, 1, 2, 3], dtype=np.int8),
        )
        for number in range(1, count + 1)
    ]
    return index.after(Changes(Head(7, None), rows, (), [(1, 2, 0.5), (2, 3, 0.25)]))


def kept(folder: Path) -> Path:
    path = folder / "index"
    save(small_index(), path, "state 7")
    return path


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    index = load(kept(tmp_path), "state 7")

    assert index is not None
    assert (len(index), index.revision, index.dimension) == (20, 7, 4)
    assert index.document_frequencies(["number", "7"], index.select()) == [20, 1]
    assert index.degrees(index.select(), index.slots_of(["pak_2"])).tolist() == [0.75]


def test_a_loaded_index_follows_on_and_leaves_the_file_alone(tmp_path: Path) -> None:
    path = kept(tmp_path)
    before = path.read_bytes()
    index = load(path, "state 7")
    assert index is not None
    changed = IndexRow(3, Memory("pak_3", "text number 3 \ud800", "title", tags=("a", "é")), None)
    index = index.after(Changes(Head(8, None), [changed], [1], [(2, 3, 0.75)]))

    assert path.read_bytes() == before
    assert len(index) == 19
    assert index.has_vector(index.slots_of(["pak_3"])).tolist() == [False]


def test_another_fingerprint_no_file_and_a_folder_are_as_good_as_none(tmp_path: Path) -> None:
    assert load(kept(tmp_path), "state 8") is None
    assert load(tmp_path / "nothing", "state 7") is None
    assert load(tmp_path, "state 7") is None


def test_another_version_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept(tmp_path)
    monkeypatch.setattr(cache_file, "VERSION", cache_file.VERSION + 1)

    assert load(path, "state 7") is None


def test_a_file_cut_anywhere_is_as_good_as_none(tmp_path: Path) -> None:
    path = kept(tmp_path)
    whole = path.read_bytes()
    for length in (*range(200), *range(200, len(whole), 97), len(whole) - 1):
        path.write_bytes(whole[:length])
        assert load(path, "state 7") is None
    path.write_bytes(whole + b"\0")
    assert load(path, "state 7") is None


def test_a_changed_byte_is_noticed_or_was_padding(tmp_path: Path) -> None:
    path = kept(tmp_path)
    whole = path.read_bytes()
    expected = small_index().export()[1]
    for place in range(0, len(whole), 13):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        index = load(path, "state 7")
        if index is not None:
            assert whole[place] == 0
            arrays = index.export()[1]
            assert all(np.array_equal(arrays[name], expected[name]) for name in expected)


def test_an_empty_index_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "index"
    save(MemoryIndex.empty(0), path, "none")
    index = load(path, "none")

    assert index is not None
    assert len(index) == 0


def test_saving_replaces_and_leaves_no_draft(tmp_path: Path) -> None:
    path = kept(tmp_path)
    save(small_index(30), path, "state 9")
    index = load(path, "state 9")

    assert index is not None
    assert len(index) == 30
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_of_processes_long_gone_are_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "index"
    old, new, foreign = (tmp_path / f"{name}.tmp" for name in ("index.1", "index.2", "other.1"))
    for draft in (old, new, foreign):
        draft.write_bytes(b"half")
    past = time.time() - 7200
    os.utime(old, (past, past))
    os.utime(foreign, (past, past))
    save(small_index(), path, "state 7")

    assert sorted(tmp_path.iterdir()) == sorted([path, new, foreign])


SAVER = """
import sys
from pathlib import Path
from tests.unit.index.test_cache_file import small_index
from recollect.index import save
index = small_index(100)
print("ready", flush=True)
while True:
    save(index, Path(sys.argv[1]), "state 7")
"""


def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path: Path) -> None:
    path = kept(tmp_path)
    root = Path(__file__).parents[3]
    for delay in (0.0, 0.003, 0.01, 0.03):
        with subprocess.Popen(
            [sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, cwd=root
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(delay)
            child.send_signal(signal.SIGKILL)
        index = load(path, "state 7")
        assert index is not None
        assert len(index) in (20, 100)
