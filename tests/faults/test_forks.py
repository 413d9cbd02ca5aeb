"""After a fork a handle works in the child or refuses, and neither side's close harms the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import pytest

from recollect import Recollect

SCRIPT = Path(__file__).parent / "scripts" / "forks.py"
WAYS = {
    "parent_closes": {"parent": 15, "early": 15, "late": 15},
    "child_closes": {"before": 15, "child": 15, "meanwhile": 15, "after": 15},
    "daemonised": {"parent": 15, "daemon": 15},
    "left_open": {"parent": 15, "early": 15, "late": 15},
    "workers": {"parent": 15, **{f"worker{number}": 15 for number in range(4)}},
    "threads": {f"child{number}": 15 for number in range(3)},
    "multiprocessing_fork": {"parent": 15, "process0": 15, "process1": 15},
    "multiprocessing_forkserver": {"parent": 15, "process0": 15, "process1": 15},
    "opened_again": {"parent": 15, "early": 15, "late": 15},
}


def acknowledged(way: str, path: Path) -> list[str]:
    command = [sys.executable, str(SCRIPT), way, str(path)]
    with subprocess.Popen(
        command, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True
    ) as process:
        try:
            told, complaints = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert (process.returncode, complaints) == (0, "")
    return told.split("\n")[:-1]


@pytest.mark.parametrize("way", WAYS)
def test_no_acknowledged_write_is_lost(
    way: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "memory.db"
    names = acknowledged(way, path)
    record_property("tried", len(names))
    with Recollect.open(path, embedder="none") as memory:
        assert [name for name in names if memory.get(name) is None] == []
        assert memory.check() == ()
    for who, count in WAYS[way].items():
        assert sum(name.startswith(f"{who}-") for name in names) == count, who


def test_a_child_of_a_fork_inside_a_transaction_refuses_and_the_parent_goes_on(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    names = acknowledged("inside_a_transaction", path)
    assert names.count("refused") == 3
    with Recollect.open(path, embedder="none") as memory:
        assert [name for name in names if name != "refused" and memory.get(name) is None] == []
        assert memory.paks.get_pak("held") is not None


def test_a_store_in_memory_refuses_in_a_child(tmp_path: Path) -> None:
    assert acknowledged("in_memory", tmp_path / "unused") == ["refused"]
