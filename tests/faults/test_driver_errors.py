"""Whatever becomes of the file, a verb says it in our words, with a hint, and comes to an end."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from tests.faults.verbs import VERBS, Verb, seeded

from recollect import Recollect
from recollect.errors import (
    InvalidInput,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReplaced,
)
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

Fault = Callable[[Recollect, ExitStack], None]

READS: dict[str, Verb] = {
    "recall": lambda m: m.recall("celery jobs"),
    "select": lambda m: m.select(SelectQuery("celery", now="2026-01-01T00:00:00Z")),
    "get": lambda m: m.get("celery"),
    "list": lambda m: m.list(),
    "inspect": lambda m: m.inspect("ada"),
    "explain": lambda m: m.explain("celery", "jobs"),
    "disputes": lambda m: m.disputes(),
    "export": lambda m: list(m.export()),
    "check": lambda m: m.check(),
    "stats": lambda m: m.stats(),
    "audit": lambda m: m.audit(),
    "search": lambda m: m.paks.search("celery"),
}
# What these write is declared, and an answer says when it could not be written.
DECLARED = ("frame", "recall with a receipt", "respond with a receipt")
WRITES = {name: verb for name, verb in VERBS.items() if name not in ("close", *DECLARED)}


def locked(memory: Recollect, until: ExitStack) -> None:
    other = until.enter_context(closing(sqlite3.connect(memory.path, isolation_level=None)))
    other.execute("BEGIN IMMEDIATE")


def fill_up(memory: Recollect) -> None:
    conn = memory.paks.conn
    (pages,) = conn.execute("PRAGMA page_count").fetchone()
    conn.execute(f"PRAGMA max_page_count = {pages}")


def deleted(memory: Recollect, _: ExitStack) -> None:
    memory.path.unlink()


def truncated(memory: Recollect, _: ExitStack) -> None:
    checkpoint(memory)
    with memory.path.open("r+b") as file:
        file.truncate(8192)


def overwritten(memory: Recollect, _: ExitStack) -> None:
    checkpoint(memory)
    with memory.path.open("r+b") as file:
        file.write(b"\xff" * memory.path.stat().st_size)


def checkpoint(memory: Recollect) -> None:
    with closing(sqlite3.connect(memory.path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")


FAULTS: dict[str, tuple[Fault, type[StoreError]]] = {
    "locked": (locked, StoreBusy),
    "deleted": (deleted, StoreReplaced),
    "truncated": (truncated, StoreDamaged),
    "overwritten": (overwritten, StoreDamaged),
}


@contextmanager
def opened(path: Path) -> Iterator[Recollect]:
    with Recollect.open(path, embedder=FakeEmbedder(8), clock=FakeClock(), timeout=0.05) as memory:
        yield memory


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeded(tmp_path_factory.mktemp("seed"), "remember")


@pytest.fixture
def memory(seed: Path, tmp_path: Path) -> Iterator[Recollect]:
    with opened(Path(shutil.copy(seed, tmp_path))) as memory:
        yield memory


def said(memory: Recollect, verb: Verb) -> RecollectError | None:
    """Return how a verb refused, None if it did not. What else is raised fails the test."""
    try:
        verb(memory)
    except RecollectError as error:
        assert error.hint, error
        return error
    return None


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_write_refuses_in_our_words(tmp_path: Path, fault: str, name: str) -> None:
    harm, kind = FAULTS[fault]
    with opened(seeded(tmp_path, name)) as memory, ExitStack() as until:
        harm(memory, until)
        found = said(memory, WRITES[name])
    if kind is StoreDamaged:
        # What a verb does not look at, it cannot find damaged.
        assert found is None or isinstance(found, StoreError)
    else:
        assert isinstance(found, kind)


@pytest.mark.parametrize("name", [*READS, "frame"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_read_answers_or_refuses_in_our_words(memory: Recollect, fault: str, name: str) -> None:
    harm, _ = FAULTS[fault]
    with ExitStack() as until:
        harm(memory, until)
        found = said(memory, {**READS, "frame": VERBS["frame"]}[name])
        if fault == "locked":
            assert found is None
        if fault == "deleted":
            assert isinstance(found, StoreReplaced) or name == "check"


@pytest.mark.parametrize("name", ["remember", "remember_many", "ingest", "import_"])
def test_a_full_disk_is_said_in_our_words_and_nothing_is_half_written(
    memory: Recollect, name: str
) -> None:
    fill_up(memory)
    before = memory.stats()["memories"]
    many = {
        "remember": lambda m: m.remember("jobs " * 4000),
        "remember_many": lambda m: m.remember_many([f"{n} " + "jobs " * 4000 for n in range(3)]),
        "ingest": lambda m: m.ingest([{"content": "jobs " * 4000}], source="peer"),
        "import_": lambda m: m.import_(['{"kind": "memory", "content": "' + "jobs " * 4000 + '"}']),
    }
    assert isinstance(said(memory, many[name]), StoreFull)
    assert memory.stats()["memories"] == before
    assert memory.recall("celery").results


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70])
def test_a_number_beyond_what_sqlite_keeps_is_no_driver_error(
    memory: Recollect, number: int
) -> None:
    line = f'{{"kind": "memory", "content": "x", "reinforced": {number}}}'
    calls: list[Verb] = [
        lambda m: m.audit(limit=10, before=number),
        lambda m: m.import_([line]),
        lambda m: m.recall("x", top_k=number),
    ]
    assert [type(said(memory, call)) for call in calls] == [InvalidInput] * len(calls)
    # The catalogue takes any limit for the nearest that there is.
    assert said(memory, lambda m: m.paks.search("x", limit=number)) is None
