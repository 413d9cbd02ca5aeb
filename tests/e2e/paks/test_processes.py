"""Bad days with other processes: one is killed, many come at once, one keeps the lock."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

from recollect.errors import StoreBusy
from recollect.paks import PakListFilters, ReasonCodeEntry, RecallStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Start

soak = pytest.mark.soak


def pak(pak_id: str) -> dict[str, str]:
    return {
        "pak_id": pak_id,
        "pak_type": "vault",
        "source_type": "doc",
        "authority": "human",
        "title": f"title of {pak_id}",
        "content_hash": "h",
    }


@pytest.mark.parametrize("kills", [10, pytest.param(50, marks=soak)])
def test_a_writer_killed_many_times_loses_nothing_it_acknowledged(
    tmp_path: Path, start: Start, kills: int
) -> None:
    path = tmp_path / "recall.db"
    moments = random.Random()
    acknowledged: dict[str, int] = {}
    productive = 0
    for kill in range(kills):
        writer = start("write_until_killed.py", path, f"w{kill}")
        early = kill % 5 == 0  # while it starts, opens or migrates; else while it writes
        first = "" if early else writer.stdout.readline()
        time.sleep(moments.uniform(0, 0.3 if early else 0.1))
        assert writer.poll() is None, writer.stderr.read()
        writer.kill()
        out, err = writer.communicate()
        assert err == ""

        now = parsed([first, *out.splitlines(keepends=True)])
        productive += bool(now)
        acknowledged |= now
        with RecallStore.open(path) as store:
            assert store.schema_version == 3
            missing = acknowledged.keys() - store.get_paks(acknowledged).keys()
            assert missing == set()

    with RecallStore.open(path) as store:
        rows = store.get_paks(acknowledged)
        # A write may have been done and not yet acknowledged, so a title can be newer.
        stale = [
            pak_id
            for pak_id, number in acknowledged.items()
            if int(rows[pak_id].title.removeprefix("written ")) < number
        ]
        assert stale == []
        report = store.check()
        assert report == (True, store.count_paks(), ())
    assert productive >= kills // 2
    assert len(acknowledged) > kills


def parsed(lines: list[str]) -> dict[str, int]:
    whole = (line.split() for line in lines if line.endswith("\n"))
    return {pak_id: int(number) for pak_id, number in whole}


def test_eight_processes_open_one_new_file_at_once(tmp_path: Path, start: Start) -> None:
    for attempt in range(4):
        path = tmp_path / f"attempt {attempt}" / "recall.db"
        openers = [start("open_together.py", path, f"opener-{at}") for at in range(8)]
        for opener in openers:
            assert opener.stdout.readline() == "ready\n"
        for opener in openers:
            opener.stdin.write("go\n")
            opener.stdin.flush()

        results = [opener.communicate() for opener in openers]

        assert results == [("3\n", "")] * 8
        assert [opener.returncode for opener in openers] == [0] * 8
        with RecallStore.open(path) as store:
            assert {row.pak_id for row in store.iter_paks()} == {f"opener-{at}" for at in range(8)}
            assert store.check() == (True, 8, ())


@pytest.mark.parametrize("seconds", [2, pytest.param(10, marks=soak)])
def test_four_write_and_four_read_at_once(tmp_path: Path, start: Start, seconds: int) -> None:
    path = tmp_path / "recall.db"
    RecallStore.open(path).close()
    names = [f"writer-{at}" for at in range(4)]
    writers = [start("write_for_seconds.py", path, name, seconds) for name in names]
    modes = ["read_only", "read_write"] * 2
    readers = [start("read_for_seconds.py", path, mode, seconds) for mode in modes]

    results = [process.communicate() for process in (*writers, *readers)]

    assert [error for _, error in results] == [""] * 8
    assert [process.returncode for process in (*writers, *readers)] == [0] * 8
    counts = [int(out) for out, _ in results]
    assert min(counts) > 0
    with RecallStore.open(path) as store:
        for name, written in zip(names, counts[:4], strict=True):
            wanted = {f"{name}-{number}" for number in range(written)}
            assert store.get_paks(wanted).keys() == wanted
            assert store.get_pak_reason_codes(f"{name}-0") == [ReasonCodeEntry("current_task", 0.5)]
            assert len(list(store.iter_paks(PakListFilters(project=name)))) in (
                written,
                written + 1,
            )
        assert store.count_paks() == sum(counts[:4]) + 1
        assert store.check() == (True, sum(counts[:4]) + 1, ())


def test_a_locked_database_says_so_and_can_still_be_read(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "recall.db"
    with RecallStore.open(path) as store:
        store.upsert_pak(**pak("p1"))
        store.conn.execute("PRAGMA busy_timeout = 50")
        holder = start("hold_the_lock.py", path)
        assert holder.stdout.readline() == "held\n"

        for write in (
            lambda: store.upsert_pak(**pak("p2")),
            lambda: store.upsert_paks([pak("p2")]),
            lambda: store.delete_pak("p1"),
            lambda: store.set_pak_reason_codes("p1", [ReasonCodeEntry("x")]),
            lambda: store.repair(),
            lambda: store.transaction().__enter__(),
        ):
            with pytest.raises(StoreBusy) as caught:
                write()
            assert isinstance(caught.value, TimeoutError)
            assert "try again" in caught.value.hint
            assert not store.conn.in_transaction
        assert [row.pak_id for row in store.iter_paks()] == ["p1"]
        with RecallStore.open(path) as other:
            assert other.get_pak("p1") == store.get_pak("p1")

        holder.communicate("let go\n")
        assert store.upsert_pak(**pak("p2")).inserted
        assert store.check() == (True, 2, ())


def test_a_writer_waits_for_a_lock_that_is_given_back_in_time(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "recall.db"
    with RecallStore.open(path) as store:
        writer = start("write_for_seconds.py", path, "writer", 2)
        for at in range(20):
            assert store.upsert_pak(**pak(f"p{at}")).inserted
            time.sleep(0.02)
        assert writer.communicate()[1] == ""
        assert len(store.get_paks(f"p{at}" for at in range(20))) == 20
