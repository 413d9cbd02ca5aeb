"""What a repair costs, and for how long others cannot write meanwhile.

In: how many memories, 100,000 unless told. Out: CPU seconds of the whole repair, how many commits
it makes, and CPU seconds of the longest: so long whoever wants to write waits. Before, one vector
in a hundred is damaged, and the full text of one memory in a thousand. Readers wait for nothing.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.recall_stores import built, copied, opened
from recollect.ports.state import Commit
from recollect.stores.sqlite.session import Session

__all__ = ["measure"]

_DAMAGE = (
    "UPDATE memories SET vector_0 = zeroblob(length(vector_0)) WHERE row_id % 100 = 0",
    "UPDATE paks_fts_content SET c1 = 'other' WHERE id % 1000 = 0",
)


def measure(size: int) -> dict[str, float]:
    """Return what a repair of a damaged store of this size takes."""
    with tempfile.TemporaryDirectory(prefix="recollect-repair-") as folder:
        path = copied(built(size), Path(folder), "damaged.db")
        _damage(path)
        with opened(path) as memory, _commits() as commits:
            began = time.process_time()
            done = memory.repair()
            took = time.process_time() - began
    if done.problems or done.vectors != size // 100:
        raise RuntimeError(f"The repair left {done.problems}, and mended {done.vectors} vectors.")
    return {
        "CPU seconds": took,
        "commits": len(commits),
        "CPU seconds of the longest commit": max(commits),
    }


def _damage(path: Path) -> None:
    """Change a file as damage would: no trigger hears of it."""
    with closing(sqlite3.connect(path)) as conn:
        made = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in made:
            conn.execute(f"DROP TRIGGER {name}")
        for statement in _DAMAGE:
            conn.execute(statement)
        for _, sql in made:
            conn.execute(sql)
        conn.commit()


@contextmanager
def _commits() -> Iterator[list[float]]:
    """Collect how long each commit takes, in CPU seconds of its thread."""
    plain, took = Session.commit, list[float]()

    @contextmanager
    def timed(self: Session, commit_id: str, at: str) -> Iterator[Commit]:
        with plain(self, commit_id, at) as commit:
            began = time.thread_time()
            yield commit
        took.append(time.thread_time() - began)

    Session.commit = timed  # type: ignore[method-assign]
    try:
        yield took
    finally:
        Session.commit = plain  # type: ignore[method-assign]


if __name__ == "__main__":
    for what, figure in measure(int(sys.argv[1]) if sys.argv[1:] else 100_000).items():
        print(f"{figure:8.1f}  {what}")
