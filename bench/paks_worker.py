"""One library's catalogue in one process: does a block of one operation and says what it cost.

In: the library's name and a path as arguments, then a request a line. Out: CPU seconds, user and
system, of this process. What a block needs is made before the clock starts, and what it found is
digested after it stops. Standard library only: it also runs inside the environments of the peers.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import logging
import os
import platform
import resource
import sqlite3
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any, TextIO

from bench import paks_data

MODULES = {"recollect": "recollect.paks", "tokenpak": "tokenpak.companion.recall"}

# Two fixed shuffles, so that the Paks deleted are not those changed just before.
UPDATE_STEP = 7919
DELETE_STEP = 6007

# What shows that a write did its work: a write that finds nothing to do is cheap.
DID_ITS_WORK: dict[str, Callable[[Any], bool]] = {
    "insert": attrgetter("inserted"),
    "insert_batch": attrgetter("inserted"),
    "update": attrgetter("body_changed"),
    "delete": bool,
}

Block = Callable[[], Iterable[Any]]


class Catalogue:
    """The operations, each as a block ready to run. The calls are those a user would write."""

    def __init__(self, library: str, path: Path) -> None:
        recall = importlib.import_module(MODULES[library])
        self._store = recall.RecallStore.open(path)
        self._filters = recall.PakListFilters
        self._delete = getattr(self._store, "delete_pak", self._delete_by_sql)
        self._cursor: str | None = None

    def close(self) -> None:
        self._store.close()

    def insert(self, start: int, count: int, size: int) -> Block:
        del size
        paks = [paks_data.pak(number) for number in range(start, start + count)]
        return lambda: [self._store.upsert_pak(**pak) for pak in paks]

    def insert_batch(self, start: int, count: int, size: int) -> Block:
        del size
        paks = [paks_data.pak(number) for number in range(start, start + count)]
        return lambda: self._store.upsert_paks(paks)

    def update(self, start: int, count: int, size: int) -> Block:
        paks = [
            paks_data.pak(
                paks_data.ids_in_random_order(place, size=size, step=UPDATE_STEP),
                revision=1 + place // size,
                at=size + place,
            )
            for place in range(start, start + count)
        ]
        return lambda: [self._store.upsert_pak(**pak) for pak in paks]

    def delete(self, start: int, count: int, size: int) -> Block:
        ids = [
            paks_data.pak_id(paks_data.ids_in_random_order(place, size=size, step=DELETE_STEP))
            for place in range(start, start + count)
        ]
        return lambda: [self._delete(pak_id) for pak_id in ids]

    def walk(self, start: int, count: int, size: int) -> Block:
        del size
        return lambda: self._pages(None, start, count)

    def walk_project(self, start: int, count: int, size: int) -> Block:
        del size
        return lambda: self._pages(paks_data.PROJECTS[0], start, count)

    def first_page(self, start: int, count: int, size: int) -> Block:
        del size
        projects = [
            paks_data.PROJECTS[number % len(paks_data.PROJECTS)]
            for number in range(start, start + count)
        ]
        return lambda: [
            self._store.list_paks(self._filters(project=project)) for project in projects
        ]

    def _pages(self, project: str | None, start: int, count: int) -> list[Any]:
        """Walk on from where the last block stopped, or from the first page when start is 0."""
        cursor = self._cursor if start else None
        pages = []
        for _ in range(count):
            page = self._store.list_paks(self._filters(project=project, cursor=cursor))
            pages.append(page)
            cursor = page.next_cursor
            if cursor is None:
                break
        self._cursor = cursor
        return pages

    def _delete_by_sql(self, pak_id: str) -> bool:
        cursor = self._store.conn.execute("DELETE FROM paks WHERE pak_id = ?", (pak_id,))
        self._store.conn.commit()  # nothing to do in autocommit, right otherwise
        return bool(cursor.rowcount > 0)


def cpu_s() -> float:
    """Return the CPU seconds, user and system, that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(block: Block, did_its_work: Callable[[Any], bool] | None) -> dict[str, Any]:
    """Run a block; return its cost, how many operations it did and a digest of what it read."""
    gc.collect()
    before = cpu_s()
    found = block()
    spent = cpu_s() - before
    found = list(found)
    if did_its_work and not all(map(did_its_work, found)):
        raise RuntimeError("A write found nothing to do; its time would mean nothing.")
    return {"cpu_s": spent, "count": len(found), "digest": _digest(found)}


def _digest(found: list[Any]) -> str | None:
    if not found or not hasattr(found[0], "items"):
        return None
    rows = [tuple(row) for page in found for row in page.items]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _versions(library: str) -> dict[str, str]:
    return {
        library: version(library),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def _own_stdout() -> TextIO:
    """Return the line to the driver; whatever a library prints goes to stderr instead."""
    line = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return line


def main() -> None:
    answers = _own_stdout()
    library, path = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    catalogue = Catalogue(library, Path(path))
    print(json.dumps(_versions(library)), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        operation = request.pop("operation")
        block = getattr(catalogue, operation)(**request)
        answer = measured(block, DID_ITS_WORK.get(operation))
        print(json.dumps(answer), file=answers, flush=True)
    catalogue.close()


if __name__ == "__main__":
    main()
