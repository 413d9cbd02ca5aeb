"""The same store and questions give the same bytes: in any process, after a restore, next year."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.golden import canon
from tests.house.snippets import ROOT

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    canon.build(path)
    return path


def asked_in_a_new_process(path: Path, *, threads: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.golden.canon", str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "random"} | dict.fromkeys(THREADS, str(threads)),
        stdout=subprocess.PIPE,
    )


def restored(path: Path, copy: Path) -> Path:
    """Dump a store as SQL and make another one of it; row numbers come out as they may."""
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(copy)) as new:
        # Full text comes with the tables behind it; the dump would put it in a second time.
        lines = [line for line in old.iterdump() if not line.startswith('INSERT INTO "paks_fts" ')]
        new.executescript("\n".join(lines))
    return copy


def test_ten_processes_and_a_restored_store_answer_with_the_same_bytes(
    shop: Path, tmp_path: Path
) -> None:
    stores = [Path(shutil.copy(shop, tmp_path / f"{number}.db")) for number in range(10)]
    stores[8:] = [restored(shop, tmp_path / f"restored {number}.db") for number in (8, 9)]
    expected = canon.GOLDEN.read_bytes()
    for first in range(0, len(stores), 2):
        pair = [
            asked_in_a_new_process(store, threads=threads)
            for threads, store in enumerate(stores[first : first + 2], start=1)
        ]
        for process in pair:
            said, _ = process.communicate(timeout=120)
            assert process.returncode == 0
            assert said == expected


def test_a_restored_store_has_other_row_numbers(shop: Path, tmp_path: Path) -> None:
    numbers = (
        "SELECT group_concat(f.id - p.rowid) FROM paks p JOIN paks_fts_content f ON c0 = pak_id"
    )
    with (
        closing(sqlite3.connect(shop)) as old,
        closing(sqlite3.connect(restored(shop, tmp_path / "restored.db"))) as new,
    ):
        assert old.execute(numbers).fetchone() != new.execute(numbers).fetchone()


def test_canonical_answers_do_not_change_without_an_entry_in_the_changelog() -> None:
    kept = canon.GOLDEN.read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert canon.digest(kept) in changes, (
        "answers.json changed: say in CHANGELOG.md what answers differently now, and name the "
        f"new answers there as `{canon.digest(kept)}`"
    )
