"""Bad days: a process that dies at any moment leaves everything that it acknowledged."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Start
from tests.e2e.engine.stores import answers, opened, row

from recollect import Recollect
from recollect.embed import EmbedderMismatch
from recollect.testing import FakeEmbedder


@pytest.fixture(scope="module")
def with_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store that is large enough for a cache file, and that file."""
    folder = tmp_path_factory.mktemp("with-cache")
    with opened(folder / "agent.db") as memory:
        memory.remember_many([row("a", number) for number in range(2100)])
        memory.recall("walrus")
    assert (folder / "agent.db.index").is_file()
    return folder


def killed_after(process: subprocess.Popen[str], lines: int) -> int:
    """Kill a process once it printed so many lines; return the number in the last one."""
    assert process.stdout is not None
    for _ in range(lines - 1):
        process.stdout.readline()
    last = process.stdout.readline()
    process.kill()
    _, complaint = process.communicate()
    assert process.returncode == -signal.SIGKILL, complaint
    return int(last)


def same_as_rebuilt(memory: Recollect) -> bool:
    followed = answers(memory)
    memory.reindex()
    return answers(memory) == followed


@pytest.mark.parametrize(("batches", "links"), [(1, "links"), (4, "no links")])
def test_killed_while_remembering_many_keeps_what_was_acknowledged(
    tmp_path: Path, start: Start, batches: int, links: str
) -> None:
    path = tmp_path / "agent.db"
    acknowledged = killed_after(start("remember_many.py", path, links), 1 + batches)
    with opened(path) as memory:
        expected = [row("a", number) for number in range(acknowledged)]
        kept = [memory.get(str(one["pak_id"])) for one in expected]
        assert [one and one.content for one in kept] == [one["content"] for one in expected]
        # A transaction is there as a whole or not at all.
        assert memory.stats()["memories"] % 512 == 0
        assert memory.paks.count_paks() == memory.stats()["memories"]
        assert memory.check() == ()
        assert same_as_rebuilt(memory)
        assert memory.remember("life goes on").created


def test_killed_while_reembedding_serves_the_old_model_and_goes_on(
    tmp_path: Path, start: Start
) -> None:
    path = tmp_path / "agent.db"
    with opened(path) as memory:
        memory.remember_many([row("a", number) for number in range(4000)])
        before = answers(memory)
    done = killed_after(start("reembed.py", path), 2)
    with opened(path) as memory:
        assert answers(memory) == before
        assert memory.stats()["reembedding_to"] == "new"
        assert memory.check() == ()
        new = FakeEmbedder(24, model_id="new")
        assert memory.reembed(new) == new.calls <= 4000 - done
        assert memory.recall("ax7 tea").results[0].fact.pak_id == "a-00007"
        assert memory.stats()["pending"] == 0
        assert memory.check() == ()
    with pytest.raises(EmbedderMismatch):
        opened(path)


@pytest.mark.parametrize(
    "point", ["the draft is written", "the file has its name", "before all of it"]
)
@pytest.mark.parametrize("cached", [True, False], ids=["over an old cache", "with no cache"])
def test_killed_while_writing_the_cache_changes_no_answer(
    tmp_path: Path, with_cache: Path, start: Start, point: str, cached: bool
) -> None:
    path = shutil.copytree(with_cache, tmp_path / "copy") / "agent.db"
    if not cached:
        path.with_name("agent.db.index").unlink()
    process = start("die_while_closing.py", path, point)
    _, complaint = process.communicate()
    assert process.returncode == -signal.SIGKILL, complaint
    with opened(path) as memory:
        assert memory.stats()["memories"] == 4150
        assert same_as_rebuilt(memory)
        assert memory.check() == ()
    with opened(path) as memory:
        assert same_as_rebuilt(memory)


def test_a_cache_of_an_older_state_is_brought_up_to_date(tmp_path: Path, with_cache: Path) -> None:
    path = shutil.copytree(with_cache, tmp_path / "copy") / "agent.db"
    index = path.with_name("agent.db.index")
    older = index.read_bytes()
    with opened(path) as memory:
        memory.forget("a-00007")
        memory.remember("walrus plan", pak_id="new")
        expected = answers(memory)
    # As if the newer file had never reached the disk, or only a part of it.
    for left in (older, older[: len(older) // 2], b""):
        index.write_bytes(left)
        with opened(path) as memory:
            assert answers(memory) == expected


def test_a_folder_that_takes_no_cache_file_is_no_reason_to_fail(
    tmp_path: Path, with_cache: Path
) -> None:
    path = shutil.copytree(with_cache, tmp_path / "copy") / "agent.db"
    # A folder of that name: the draft can be written, but not be given its name.
    path.with_name("agent.db.index").unlink()
    path.with_name("agent.db.index").mkdir()
    memory = opened(path)
    memory.remember("one more", pak_id="more")
    memory.recall("walrus")
    memory.close()
    with opened(path) as memory:
        assert len(memory.recall("walrus plan").results) == 5
