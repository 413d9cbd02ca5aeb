"""A memory that is opened for reading answers, refuses every write, and leaves the disk alone."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.faults.verbs import ON_NOTHING, VERBS, seeded

from recollect import Recollect
from recollect.errors import InvalidInput, StoreOutdated, StoreReadOnly, StoreUnavailable
from recollect.recall.select import SelectQuery
from recollect.testing import FakeClock, FakeEmbedder

SCRIPT = Path(__file__).parent / "scripts" / "read_without_rights.py"
# What they write is declared, and an answer says when it could not be written.
READS_ONLY = {"frame", "recall with a receipt", "respond with a receipt", "close"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return seeded(folder, "remember")


@contextmanager
def opened_for_reading(path: Path) -> Iterator[Recollect]:
    with Recollect.open(
        path, embedder=FakeEmbedder(8), clock=FakeClock(), read_only=True
    ) as memory:
        yield memory


@pytest.fixture
def reader(path: Path) -> Iterator[Recollect]:
    with opened_for_reading(path) as memory:
        yield memory


def dump(path: Path) -> list[str]:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    conn = sqlite3.connect(copy)
    try:
        return list(conn.iterdump())
    finally:
        conn.close()
        copy.unlink()


@pytest.mark.parametrize("verb", sorted(set(VERBS) - READS_ONLY))
def test_every_verb_that_writes_refuses_and_changes_nothing(tmp_path: Path, verb: str) -> None:
    path = seeded(tmp_path, verb)
    before = dump(path)
    with opened_for_reading(path) as reader:
        with pytest.raises(StoreReadOnly) as refusal:
            VERBS[verb](reader)
        assert refusal.value.hint
        assert reader.recall("celery").results or verb in ON_NOTHING
    assert dump(path) == before


READS: dict[str, Callable[[Recollect], object]] = {
    "recall": lambda m: m.recall("celery jobs").to_dict(),
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
    "version": lambda m: m.paks.schema_version,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_every_verb_that_reads_answers_the_same(
    path: Path, reader: Recollect, read: Callable[[Recollect], object]
) -> None:
    found = read(reader)
    with Recollect.open(path, embedder=FakeEmbedder(8), clock=FakeClock()) as memory:
        assert read(memory) == found


def test_a_frame_answers_and_says_that_its_use_was_not_counted(reader: Recollect) -> None:
    found = reader.frame("attention", "celery jobs")
    assert found.blocks
    assert "reinforcement" in found.degraded


def test_a_reader_sees_what_others_write_meanwhile(path: Path, reader: Recollect) -> None:
    with Recollect.open(path, embedder=FakeEmbedder(8), clock=FakeClock()) as memory:
        memory.remember("A new broker for celery", pak_id="broker")
        assert reader.get("broker") is not None


def test_a_folder_that_may_not_be_written_is_read_and_left_as_it_is() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.db"
        with Recollect.open(path, embedder="none") as memory:
            memory.remember("Celery runs the jobs", pak_id="celery")
        path.chmod(0o444)
        path.parent.chmod(0o555)
        done = subprocess.run(
            [sys.executable, SCRIPT, path], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.stderr, done.stdout) == ("", "['celery']\n")
        assert list(path.parent.iterdir()) == [path]
        path.parent.chmod(0o700)


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        Recollect.open(tmp_path / "missing" / "memory.db", embedder="none", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", [":memory:", "memory://"])
def test_a_store_in_memory_has_nothing_to_read(place: str) -> None:
    with pytest.raises(InvalidInput, match="nothing to read"):
        Recollect.open(place, embedder="none", read_only=True)


def test_what_must_be_migrated_first_is_refused(tmp_path: Path) -> None:
    from recollect.paks import RecallStore

    path = tmp_path / "catalogue.db"
    RecallStore.open(path).close()
    with pytest.raises(StoreOutdated):
        Recollect.open(path, embedder="none", read_only=True)
