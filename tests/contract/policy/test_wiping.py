"""A `forget` whose bytes could not be wiped is known, by every later handle, until they were."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.bytes_on_disk import found_in
from tests.contract.policy.test_erasure import ROOT, item, words

from recollect import Recollect
from recollect.errors import StoreBusy
from recollect.paks import RecallStore
from recollect.stores.sqlite.store import SqliteStore
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]


@pytest.fixture
def memory(open_memory: Open) -> Recollect:
    memory = open_memory(timeout=0.05)
    memory.remember_many([item(number) for number in range(5)])
    return memory


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Read in the middle of something, as another process might."""
    with RecallStore.open(path) as reader:
        reader.conn.execute("BEGIN")
        reader.conn.execute("SELECT count(*) FROM paks").fetchone()
        yield
        reader.conn.execute("ROLLBACK")


def test_a_second_forget_does_not_say_wiped_while_the_bytes_stay(
    memory: Recollect, tmp_path: Path
) -> None:
    with reading(memory.path):
        assert not memory.forget("pak-1").wiped
        assert not memory.forget("pak-1").wiped
        assert not memory.forget("nothing").wiped
        assert any("bytes" in note for note in memory.examine().notes)
        assert found_in(tmp_path, words(1).values())
    assert memory.forget("pak-1").wiped
    assert memory.examine().notes == ()
    assert found_in(tmp_path, words(1).values()) == []


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), StoreBusy("busy")])
def test_a_disk_that_fails_while_wiping_costs_nothing_but_time(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def failing(*_: object, **__: object) -> bool:
        raise failure

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "scrub", failing)
        forgotten = memory.forget("pak-1")
        assert forgotten.pak_ids == ("pak-1",)
        assert not forgotten.wiped
        assert not memory.forget("pak-1").wiped
    assert memory.get("pak-1") is None
    assert memory.forget("pak-1").wiped


def test_closing_makes_up_for_it(memory: Recollect, tmp_path: Path) -> None:
    with reading(memory.path):
        assert not memory.forget("pak-1").wiped
    memory.close()
    assert found_in(tmp_path, words(1).values()) == []


def test_opening_makes_up_for_it(memory: Recollect, open_memory: Open, tmp_path: Path) -> None:
    with reading(memory.path):
        assert not memory.forget("pak-1").wiped
        memory.close()
        assert found_in(tmp_path, words(1).values())
    open_memory()
    assert found_in(tmp_path, words(1).values()) == []


_KILLED = """
import os, signal, sys
from recollect import Recollect
from recollect.stores.sqlite.store import SqliteStore
from recollect.testing import FakeClock, FakeEmbedder
SqliteStore.scrub = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
options = {"embedder": FakeEmbedder(), "clock": FakeClock(), "hours": "wall"}
Recollect.open(sys.argv[1], **options).forget("pak-1")
"""


def test_who_is_killed_between_the_commit_and_the_wiping_leaves_word(
    memory: Recollect, open_memory: Open, tmp_path: Path
) -> None:
    memory.close()
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(memory.path)], cwd=ROOT, check=False, timeout=60
    )
    assert killed.returncode == -9
    assert found_in(tmp_path, words(1).values())
    again = open_memory()
    assert again.get("pak-1") is None
    assert found_in(tmp_path, words(1).values()) == []
    assert again.forget("pak-1").wiped


def test_nobody_waits_at_opening_for_who_reads(memory: Recollect, open_memory: Open) -> None:
    with reading(memory.path):
        assert not memory.forget("pak-1").wiped
        again = open_memory()
        assert again.examine().notes
        assert again.get("pak-2") is not None


MANY = 2100


def filled(open_memory: Open, name: Any = "agent.db") -> None:
    with open_memory(name) as memory:
        memory.remember_many([item(number) for number in range(MANY)])
        memory.recall("lorem")


def test_a_cache_file_is_wiped_wherever_the_process_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_memory: Open
) -> None:
    filled(open_memory)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    with Recollect.open("agent.db", embedder=FakeEmbedder(), clock=FakeClock()) as memory:
        monkeypatch.chdir(elsewhere)
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []
    assert list(elsewhere.iterdir()) == []
    assert found_in(tmp_path, words(1).values()) == []


def test_a_cache_file_is_wiped_by_whichever_name_the_store_was_opened(
    tmp_path: Path, open_memory: Open
) -> None:
    filled(open_memory)
    (tmp_path / "link.db").symlink_to(tmp_path / "agent.db")
    with open_memory("link.db") as memory:
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []
    assert found_in(tmp_path, words(1).values()) == []


def test_a_handle_that_keeps_no_cache_file_wipes_the_one_that_is_there(
    tmp_path: Path, open_memory: Open
) -> None:
    filled(open_memory)
    with open_memory(cache_file=False) as memory:
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []


def test_the_draft_of_a_killed_process_is_wiped_too(tmp_path: Path, open_memory: Open) -> None:
    filled(open_memory)
    killed = subprocess.run([sys.executable, "-c", _KILLED_SAVING, str(tmp_path / "agent.db")],
                            cwd=ROOT, check=False, timeout=60)  # fmt: skip
    assert killed.returncode == -9
    assert len(list(tmp_path.glob("*agent.db.index*"))) == 2
    with open_memory() as memory:
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []


_KILLED_SAVING = """
import os, signal, sys
from pathlib import Path
from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder
options = {"embedder": FakeEmbedder(), "clock": FakeClock(), "hours": "wall"}
memory = Recollect.open(sys.argv[1], **options)
memory.remember_many([f"another lorem {n}" for n in range(2100)])
memory.recall("lorem")
replace = os.replace
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = os.rename = die
Path.replace = Path.rename = die
memory.close()
"""


def test_a_folder_where_the_cache_file_should_be_fails_nothing(
    tmp_path: Path, open_memory: Open
) -> None:
    filled(open_memory)
    (tmp_path / "agent.db.index").unlink()
    (tmp_path / "agent.db.index").mkdir()
    (tmp_path / "agent.db.index" / "file").touch()
    with open_memory() as memory:
        memory.remember("one more", pak_id="more")
        assert memory.recall("one more").results
        assert memory.forget("pak-1").pak_ids == ("pak-1",)
        assert memory.check() == ()
    with open_memory() as memory:
        assert memory.get("more") is not None
        assert memory.get("pak-1") is None


def test_who_may_only_read_wipes_nothing_and_leaves_word(tmp_path: Path, open_memory: Open) -> None:
    filled(open_memory)
    with open_memory(timeout=0.05) as memory, reading(memory.path):
        assert not memory.forget("pak-1").wiped
    files = {path.name for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm"))}
    with open_memory(read_only=True) as reader:
        assert reader.get("pak-2") is not None
    assert files <= {path.name for path in tmp_path.iterdir()}
    with open_memory() as memory:
        assert memory.forget("pak-1").wiped
    assert found_in(tmp_path, words(1).values()) == []
