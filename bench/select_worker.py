"""One library's selections in one process: runs a block of them and says what it cost.

In: the library's name and a path as arguments, then a request a line. Out: CPU seconds of this
process, and a digest of what was selected. A write or an opening that must come before a selection
is done while the clock stands still.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import logging
import platform
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench import select_data
from bench.paks_data import PROJECTS
from bench.paks_worker import MODULES, _own_stdout

LIMIT = 25
DAYS = 30
ROWS_A_STATEMENT = 1000

Selector = Callable[[str, str | None], Sequence[tuple[str, float]]]


class Store:
    """A catalogue of one library, filled alike in all of them."""

    def __init__(self, library: str, path: Path) -> None:
        self._library, self._path = library, path
        self.open()

    def open(self) -> None:
        """Open the store; nothing that was read before is known."""
        library = self._library
        recall = importlib.import_module(MODULES[library])
        self.store = recall.RecallStore.open(self._path)
        self._select = (
            _ours(self.store) if library == "recollect" else _straight(self.store, recall)
        )

    def load(self, size: int) -> None:
        """Fill the store; nothing of this is measured."""
        conn = self.store.conn
        conn.execute("BEGIN IMMEDIATE")
        for table, rows in (
            ("paks", map(select_data.pak_row, range(size))),
            ("pak_reason_codes", _flat(select_data.code_rows, size)),
            ("pak_risk_flags", _flat(select_data.flag_rows, size)),
        ):
            for chunk in _chunks(list(rows)):
                marks = ", ".join([f"({', '.join('?' * len(chunk[0]))})"] * len(chunk))
                conn.execute(
                    f"INSERT INTO {table} VALUES {marks}", [cell for row in chunk for cell in row]
                )
        conn.execute("COMMIT")

    def reopen(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.open()

    def touch(self) -> None:
        """Change something that no answer depends on."""
        self.store.conn.execute("UPDATE paks SET topic = 'touched' WHERE rowid = 1")
        self.store.conn.commit()

    def run(self, queries: Sequence[tuple[str, str | None]], *, before: str) -> dict[str, Any]:
        """Select for each query; return the cost, how many, and what was found."""
        gc.collect()
        prepare = {"": lambda: None, "write": self.touch, "open": self.reopen}[before]
        spent, found = 0.0, []
        for text, project in queries:
            prepare()
            started = time.process_time()
            picked = self._select(text, project)
            spent += time.process_time() - started
            found.append([(pak_id, round(score, 6)) for pak_id, score in picked])
        digest = hashlib.sha256(json.dumps(found).encode()).hexdigest()
        return {"cpu_s": spent, "count": len(found), "digest": digest}


def queries(kind: str, start: int, count: int) -> list[tuple[str, str | None]]:
    """Return the queries of a block: words and projects by turns."""
    by_kind: dict[str, Callable[[int], tuple[str, str | None]]] = {
        "rare": lambda n: (select_data.RARE[n % len(select_data.RARE)], None),
        "common": lambda n: (select_data.COMMON[n % len(select_data.COMMON)], None),
        "project": lambda n: ("", PROJECTS[n % len(PROJECTS)]),
        "both": lambda n: (select_data.RARE[n % len(select_data.RARE)], PROJECTS[n % 8]),
    }
    return [by_kind[kind](number) for number in range(start, start + count)]


def _ours(store: Any) -> Selector:
    select = importlib.import_module("recollect.recall.select")

    def run(text: str, project: str | None) -> list[tuple[str, float]]:
        query = select.SelectQuery(
            text, project=project, limit=LIMIT, recency_window_days=DAYS, now=select_data.NOW
        )
        return [(score.pak_id, score.score) for score in select.select(store, query).scores]

    return run


def _straight(store: Any, recall: Any) -> Selector:
    from bench.straight import Straight

    selector = Straight(store, recall.PakListFilters)

    def run(text: str, project: str | None) -> list[tuple[str, float]]:
        picked = selector.select(text, project, limit=LIMIT, days=DAYS, now=select_data.NOW)
        return [(pak_id, score) for pak_id, score, _ in picked]

    return run


def _flat(rows_of: Callable[[int], Iterator[tuple[Any, ...]]], size: int) -> Iterator[Any]:
    return (row for number in range(size) for row in rows_of(number))


def _chunks(rows: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), ROWS_A_STATEMENT):
        yield rows[start : start + ROWS_A_STATEMENT]


def main() -> None:
    answers = _own_stdout()
    library, path = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    store = Store(library, Path(path))
    versions = {
        library: version(library),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    print(json.dumps(versions), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            store.load(request["load"])
            answer: dict[str, Any] = {}
        else:
            before = request.pop("before")
            answer = store.run(queries(**request), before=before)
        print(json.dumps(answer), file=answers, flush=True)
    store.store.close()


if __name__ == "__main__":
    main()
