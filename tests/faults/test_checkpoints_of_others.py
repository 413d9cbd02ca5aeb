"""Checkpoints of another process at any moment: none is taken for a replaced file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from recollect import Recollect
from recollect.paks.overwritten import is_overwritten

ROUNDS = 150

# It writes one page over and over, so that the log's first pages are not what the database holds.
_CHECKPOINTS = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
conn.execute("CREATE TABLE IF NOT EXISTS other (id INTEGER PRIMARY KEY, what BLOB)")
for turn in range(int(sys.argv[2])):
    for part in range(20):
        conn.execute("INSERT OR REPLACE INTO other VALUES (?, randomblob(3000))", (part % 3,))
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
"""


def test_a_log_that_is_cut_short_is_no_overwritten_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Recollect.open(path, embedder="none") as memory:
        kept = memory.remember("Lea prefers tea").pak_id
        stamp = path.stat().st_mtime_ns, path.stat().st_size
        other = subprocess.Popen([sys.executable, "-c", _CHECKPOINTS, path, str(ROUNDS)])
        looks = 0
        while other.poll() is None:
            assert not is_overwritten(path, stamp)
            looks += 1
        assert [one.fact.pak_id for one in memory.recall("tea").results] == [kept]
    assert other.returncode == 0
    assert looks > ROUNDS
