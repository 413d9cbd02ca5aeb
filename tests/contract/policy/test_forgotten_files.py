"""`wiped` is true only when every file of the store was looked at, and the proof names each."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.policy.bytes_on_disk import found_in
from tests.contract.policy.conftest import People
from tests.contract.policy.test_erasure import ROOT, item, words
from tests.contract.policy.test_wiping import reading

from recollect import Recollect
from recollect.index import MemoryIndex, cache_file, follow
from recollect.testing import FakeClock, FakeEmbedder

Open = Callable[..., Recollect]


@pytest.fixture(autouse=True)
def every_index_is_worth_saving(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_WORTH_SAVING", 1)


def filled(open_memory: Open) -> None:
    with open_memory() as memory:
        memory.remember_many([item(number) for number in range(30)])
        memory.recall("lorem")


def opened(path: Path | str) -> Recollect:
    return Recollect.open(path, embedder=FakeEmbedder(), clock=FakeClock(), links=False)


def test_an_index_of_before_is_not_even_drafted_once_something_was_forgotten(
    tmp_path: Path, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process closes, and forgetting comes between its look and its file."""
    memory, other = open_memory(), open_memory()
    memory.remember_many([item(number) for number in range(30)])
    other.recall("lorem")
    seen: list[object] = []
    replace, sync = Path.replace, os.fsync

    def look(*_: object) -> None:
        seen.extend(found_in(tmp_path, words(1).values()))

    def replaced(self: Path, target: Path) -> Path:
        look()
        return replace(self, target)

    def synced(handle: int) -> None:
        look()
        sync(handle)

    export = MemoryIndex.export
    doomed = ["pak-1"]

    def exported(self: MemoryIndex) -> object:
        if doomed:
            assert memory.forget(doomed.pop()).wiped
        return export(self)

    monkeypatch.setattr(MemoryIndex, "export", exported)
    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synced)
    other.close()
    assert doomed == []
    assert seen == []
    assert found_in(tmp_path, words(1).values()) == []


def test_a_cache_that_is_put_in_place_while_it_is_removed_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db.index"
    draft = tmp_path / "a.db.index.1234.tmp"
    draft.write_bytes(b"secret")
    unlink = Path.unlink

    def slow(self: Path, missing_ok: bool = False) -> None:
        unlink(self, missing_ok=missing_ok)
        if draft.exists():
            draft.replace(path)

    monkeypatch.setattr(Path, "unlink", slow)
    cache_file.remove(path)
    assert list(tmp_path.iterdir()) == []


def test_a_second_forget_looks_again(tmp_path: Path, open_memory: Open) -> None:
    """Somebody put an index of before back: a release that does not ask, or a restored backup."""
    filled(open_memory)
    old = (tmp_path / "agent.db.index").read_bytes()
    with open_memory() as memory:
        assert memory.forget("pak-1").wiped
        (tmp_path / "agent.db.index").write_bytes(old)
        (tmp_path / "agent.db.index.77.tmp").write_bytes(old)
        assert found_in(tmp_path, words(1).values())
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []


def test_the_cache_under_another_name_goes_too(tmp_path: Path, open_memory: Open) -> None:
    filled(open_memory)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "beside.db").symlink_to("agent.db")
    (elsewhere / "first.db").symlink_to(elsewhere / "second.db")
    (elsewhere / "second.db").symlink_to(tmp_path / "agent.db")
    for name in ("beside.db", "elsewhere/first.db", "elsewhere/second.db"):
        shutil.copy(tmp_path / "agent.db.index", tmp_path / f"{name}.index")
        shutil.copy(tmp_path / "agent.db.index", tmp_path / f"{name}.index.1.tmp")
    with opened(elsewhere / "first.db") as memory:
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []
    assert found_in(tmp_path, words(1).values()) == []


def test_copies_before_a_migration_go_by_whichever_name_and_wherever_the_process_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    old = (ROOT / "tests/data/stores/engine-4.db.gz").read_bytes()
    (home / "agent.db").write_bytes(gzip.decompress(old))
    (elsewhere / "link.db").symlink_to(home / "agent.db")
    monkeypatch.chdir(elsewhere)
    with Recollect.open("link.db") as memory:
        copies = list(tmp_path.rglob("*.before-v*"))
        assert [copy.parent for copy in copies] == [home]
        monkeypatch.chdir(tmp_path)
        proof = memory.forget("nothing").proof
    assert [one.name for one in proof if "before-v" in one.name] == [copies[0].name]
    assert list(tmp_path.rglob("*.before-v*")) == []


def test_the_proof_names_every_file_and_what_was_done(tmp_path: Path, open_memory: Open) -> None:
    filled(open_memory)
    (tmp_path / "agent.db.index.1.tmp").write_bytes(b"draft")
    with open_memory() as memory:
        gone = memory.forget("pak-1")
    assert gone.wiped
    assert {one.name: one.is_clean for one in gone.proof} == dict.fromkeys(
        ("agent.db", "agent.db-wal", "agent.db-shm", "agent.db.index", "agent.db.index.1.tmp"), True
    )
    assert {one.name for one in gone.proof if one.how == "removed"} == {
        "agent.db.index",
        "agent.db.index.1.tmp",
    }


def test_the_proof_of_what_could_not_be_wiped_says_which_file(open_memory: Open) -> None:
    memory = open_memory()
    memory.remember_many([item(number) for number in range(5)])
    memory.paks.conn.execute("PRAGMA busy_timeout = 50")
    with reading(memory.path):
        gone = memory.forget("pak-1")
    assert not gone.wiped
    assert {one.name for one in gone.proof if not one.is_clean} == {"agent.db", "agent.db-wal"}
    assert memory.forget("pak-1").wiped


def test_a_cache_that_cannot_be_removed_is_told_of(tmp_path: Path, open_memory: Open) -> None:
    filled(open_memory)
    (tmp_path / "agent.db.index").unlink()
    (tmp_path / "agent.db.index").mkdir()
    with open_memory() as memory:
        gone = memory.forget("pak-1")
    assert not gone.wiped
    assert [one.name for one in gone.proof if not one.is_clean] == ["agent.db.index"]


def test_a_memory_without_a_file_has_nothing_to_look_at() -> None:
    with Recollect.open("memory://", embedder="none") as memory:
        memory.remember("secret", pak_id="p")
        gone = memory.forget("p")
        assert gone.wiped
        assert gone.proof == ()


_DIES_SAVING = """
import os, signal, sys
from recollect import Recollect
from recollect.index import follow
from recollect.testing import FakeClock, FakeEmbedder
follow._WORTH_SAVING = 1
memory = Recollect.open(sys.argv[1], embedder=FakeEmbedder(), clock=FakeClock(), links=False)
memory.recall("lorem")
print("ready", flush=True)
sys.stdin.readline()
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
memory.remember_many([f"another lorem {n}" for n in range(3)])
memory.recall("lorem")
memory.close()
"""


def test_who_dies_saving_after_a_forget_leaves_no_word_of_it(
    tmp_path: Path, open_memory: Open
) -> None:
    filled(open_memory)
    with subprocess.Popen(
        [sys.executable, "-c", _DIES_SAVING, str(tmp_path / "agent.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        with open_memory() as memory:
            assert memory.forget("pak-1").wiped
        other.communicate("go on\n", timeout=60)
        assert other.returncode == -signal.SIGKILL
    assert list(tmp_path.glob("agent.db.index.*.tmp"))
    assert found_in(tmp_path, words(1).values()) == []


def test_no_id_is_plain_in_the_audit_log(people: People, tmp_path: Path) -> None:
    people.root.trust.set("peer", 0.1)
    facts = [{"content": f"the kiln is number {number}"} for number in range(2)]
    held = [one.pak_id for one in people.root.ingest(facts, source="peer").items]
    assert None not in held
    first, second = (str(pak_id) for pak_id in held)
    people.root.quarantine.promote(first)
    people.root.quarantine.reject(second)
    people.root.remember("the kiln is free", pak_id="zqid")
    people.root.archive("zqid")
    people.root.unarchive("zqid")
    ids = [first, second, "zqid"]
    for act in people.root.audit():
        assert not any(pak_id in f"{act.target} {act.detail}" for pak_id in ids), act
    assert people.root.forget(ids).wiped
    assert found_in(tmp_path, ids) == []
