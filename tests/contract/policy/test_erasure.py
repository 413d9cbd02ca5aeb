"""After `forget` no byte of what was forgotten is left: not in the file, the log, or a cache."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.bytes_on_disk import found_in
from tests.contract.policy.conftest import People

from recollect import Recollect
from recollect.paks import PakAnchorEntry, RecallStore

ROOT = Path(__file__).parents[3]
FIELDS = (
    *("content", "title", "summary", "entity", "relation", "value", "speaker", "thread"),
    *("project", "topic", "source", "category"),
)


def words(number: int, version: int = 0) -> dict[str, str]:
    """Return a word of its own for every field of a Pak."""
    return {field: f"{field}zq{number:05d}v{version}xyzzy" for field in (*FIELDS, "tag")}


def item(number: int, version: int = 0, *, filler: int = 0) -> dict[str, Any]:
    own = words(number, version)
    tag = own.pop("tag")
    own["content"] += " lorem" * filler
    return {**own, "tags": [tag], "pak_id": f"pak-{number}"}


def test_a_forgotten_pak_leaves_no_word_behind(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory = open_memory(links=True)
    memory.remember_many([item(number) for number in range(50)])
    assert found_in(tmp_path, words(7).values())
    memory.frame("attention", "lorem")
    assert memory.forget("pak-7").wiped
    assert found_in(tmp_path, [*words(7).values(), "pak-7\x00"]) == []
    assert found_in(tmp_path, words(8).values())


def test_no_earlier_version_of_it_is_left_either(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory = open_memory()
    for version in range(6):
        for number in range(40):
            memory.remember(**item(number, version, filler=version * 40))
    for number in range(0, 40, 3):
        memory.forget(f"pak-{number}")
    gone = [word for n in range(0, 40, 3) for v in range(6) for word in words(n, v).values()]
    assert found_in(tmp_path, gone) == []


def test_what_the_catalogue_knew_of_it_is_gone_too(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory = open_memory()
    memory.remember_many([item(number) for number in range(20)])
    with RecallStore.open(memory.path) as catalogue:
        for version in range(1, 5):
            catalogue.upsert_pak(
                pak_id="pak-3",
                pak_type="memory",
                source_type="user",
                authority="user_approved",
                title=f"retitledzq{version} " + "lorem " * 20 * version,
                content_hash="x",
            )
        catalogue.add_pak_anchor("pak-3", PakAnchorEntry("anchorzq", "somewherezq/a.py", "file"))
    memory.dispute("pak-3", "pak-4", note="notezqxyzzy")
    memory.forget("pak-3")
    told = [*words(3).values(), *(f"retitledzq{n}" for n in range(1, 5))]
    assert found_in(tmp_path, [*told, "anchorzq", "somewherezq", "notezqxyzzy"]) == []


def test_the_cache_file_holds_none_of_it(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    with open_memory() as memory:
        memory.remember_many([item(number) for number in range(2100)])
        memory.recall("lorem")
    assert (tmp_path / "agent.db.index").exists()
    with open_memory() as memory:
        assert found_in(tmp_path, [words(5)["content"]])
        memory.forget([f"pak-{number}" for number in range(0, 2100, 7)])
        gone = [word for number in range(0, 2100, 7) for word in words(number).values()]
        assert found_in(tmp_path, gone[:200]) == []
    assert (tmp_path / "agent.db.index").exists()
    assert found_in(tmp_path, gone[:200]) == []
    with open_memory() as memory:
        found = memory.recall(words(7)["content"], top_k=1000)
        assert "pak-7" not in {one.fact.pak_id for one in found.results}
        assert memory.get("pak-7") is None


def test_everything_about_an_entity_goes_also_where_it_is_the_value(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory = open_memory(links=True)
    for number in range(30):
        about = {"entity": "Zqentity Person"} if number % 3 else {"value": "zqentity  PERSON"}
        memory.remember(**{**item(number), **about})
    memory.remember(**item(99))
    assert len(memory.forget(entity="ZQENTITY person").pak_ids) == 30
    gone = ["zqentity", *(word for n in range(30) for word in words(n).values())]
    assert found_in(tmp_path, gone) == []
    assert memory.get("pak-99") is not None


def test_another_handle_that_is_open_does_not_keep_it(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory, other = open_memory(), open_memory()
    memory.frames.register("kept", extends="attention", cache={"ttl_seconds": 9999})
    memory.remember_many([item(number) for number in range(2100)])
    memory.link("pak-1", "pak-2")
    before = other.frame("kept", words(1)["content"], top_k=2)
    assert "pak-1" in before.text or words(1)["content"] in before.text
    assert other.frame("kept", words(1)["content"], top_k=2).cached
    assert memory.forget("pak-1").wiped
    assert found_in(tmp_path, words(1).values()) == []
    after = other.frame("kept", words(1)["content"], top_k=2)
    assert not after.cached
    assert "'pak-1'" not in repr(after)
    assert words(1)["content"] not in repr(after)
    other.close()
    memory.close()
    assert found_in(tmp_path, words(1).values()) == []


def test_a_cached_frame_does_not_even_name_what_another_handle_forgot(
    open_memory: Callable[..., Recollect],
) -> None:
    memory, other = open_memory(), open_memory()
    memory.frames.register("kept", extends="attention", cache={"ttl_seconds": 9999})
    for number in range(6):
        memory.remember(f"redis queue number {number}", pak_id=f"zq{number}")
    first = other.frame("kept", "redis queue", top_k=2)
    dropped = {one.pak_id for one in first.dropped}
    assert dropped
    for pak_id in dropped:
        memory.forget(pak_id)
        after = other.frame("kept", "redis queue", top_k=2)
        assert pak_id not in repr(after)


_IDLE = """
import sys
from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder
options = {"embedder": FakeEmbedder(), "clock": FakeClock(), "hours": "wall"}
with Recollect.open(sys.argv[1], **options) as memory:
    print(len(memory.recall("lorem").results), flush=True)
    sys.stdin.readline()
    found = memory.recall(sys.argv[2], top_k=1000)
    said = repr(found.results)
    print(memory.get("pak-1"), "'pak-1'" in said, sys.argv[2] in said, flush=True)
    sys.stdin.readline()
"""


def test_another_process_that_is_open_does_not_keep_it(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory = open_memory()
    memory.remember_many([item(number, filler=3) for number in range(2100)])
    memory.close()
    memory = open_memory()
    other = subprocess.Popen(
        [sys.executable, "-c", _IDLE, str(memory.path), words(1)["content"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    with other:
        assert other.stdout.readline().strip() == "5"
        assert memory.forget("pak-1").wiped
        assert found_in(tmp_path, words(1).values()) == []
        other.stdin.write("go on\n")
        other.stdin.flush()
        assert other.stdout.readline().strip() == "None False False"
        other.stdin.write("end\n")
        other.stdin.flush()
        assert other.wait(30) == 0
    memory.close()
    assert found_in(tmp_path, words(1).values()) == []


@pytest.mark.parametrize("seed", range(2))
def test_random_histories_leave_nothing(
    open_memory: Callable[..., Recollect], tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    memory = open_memory(links=seed == 1)
    alive: dict[int, list[int]] = {}
    gone: set[tuple[int, int]] = set()
    for step in range(24):
        many = [draw.randrange(400) for _ in range(draw.choice([1, 5, 60]))]
        if draw.random() < 0.7:
            version = step
            items = {n: item(n, version, filler=draw.choice([0, 3, 200, 900])) for n in many}
            memory.remember_many(list(items.values()))
            for number in items:
                alive.setdefault(number, []).append(version)
        elif draw.random() < 0.8:
            chosen = [number for number in many if number in alive]
            assert memory.forget([f"pak-{number}" for number in chosen]).wiped
            for number in set(chosen):
                gone |= {(number, version) for version in alive.pop(number)}
        else:
            memory.frame("attention", "lorem", top_k=20)
    memory.forget([f"pak-{number}" for number in alive])
    gone |= {(number, version) for number, versions in alive.items() for version in versions}
    sample = draw.sample(sorted(gone), min(len(gone), 150))
    assert found_in(tmp_path, [word for one in sample for word in words(*one).values()]) == []


def test_a_reader_in_the_middle_of_something_is_told_of(
    open_memory: Callable[..., Recollect], tmp_path: Path
) -> None:
    memory = open_memory(timeout=0.05)
    memory.remember_many([item(number) for number in range(5)])
    with RecallStore.open(memory.path) as reader:
        reader.conn.execute("BEGIN")
        reader.conn.execute("SELECT count(*) FROM paks").fetchone()
        forgotten = memory.forget("pak-1")
        assert forgotten.pak_ids == ("pak-1",)
        assert not forgotten.wiped
        reader.conn.execute("ROLLBACK")
    assert memory.forget("pak-2").wiped
    assert found_in(tmp_path, [*words(1).values(), *words(2).values()]) == []


def test_forgetting_says_nothing_of_what_was_forgotten_in_the_log(
    people: People, tmp_path: Path
) -> None:
    people.ann.remember(**{k: v for k, v in item(1).items() if k != "category"})
    people.root.forget(entity=words(1)["entity"])
    acts = [act for act in people.root.audit() if act.act == "forget"]
    assert [(act.principal, act.detail) for act in acts] == [("root", "1 memories")]
    assert found_in(tmp_path, words(1).values()) == []


def test_every_connection_wipes_what_it_deletes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some builds of SQLite wipe by themselves, as the one of this machine may; others do not."""
    connect = sqlite3.connect

    def careless(*arguments: Any, **options: Any) -> sqlite3.Connection:
        conn = connect(*arguments, **options)
        conn.execute("PRAGMA secure_delete = OFF")
        return conn

    monkeypatch.setattr(sqlite3, "connect", careless)
    with Recollect.open(tmp_path / "a.db", embedder="none") as memory:
        assert memory.paks.conn.execute("PRAGMA secure_delete").fetchone() == (1,)
    with RecallStore.open(tmp_path / "b.db") as catalogue:
        assert catalogue.conn.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_a_cached_frame_does_not_say_what_was_forgotten_and_then_written_anew(
    open_memory: Callable[..., Recollect],
) -> None:
    memory, other = open_memory(), open_memory()
    memory.frames.register("kept", extends="attention", cache={"ttl_seconds": 9999})
    memory.remember("redis queue zqold", pak_id="p", summary="zqold")
    assert "zqold" in other.frame("kept", "redis queue").text
    memory.forget("p")
    memory.remember("redis queue renewed", pak_id="p")
    after = other.frame("kept", "redis queue")
    assert "zqold" not in repr(after)
    assert "renewed" in after.text


def test_other_principals_frames_go_on_without_it(people: People) -> None:
    people.root.frames.register("kept", extends="attention", cache={"ttl_seconds": 9999})
    people.root.remember("redis queue zqword", pak_id="p", scope="company")
    for who in (people.ann, people.bob):
        who.frame("kept", "redis queue")
        assert who.frame("kept", "redis queue").cached
    people.root.forget("p")
    for who in (people.ann, people.bob):
        assert "zqword" not in repr(who.frame("kept", "redis queue"))
