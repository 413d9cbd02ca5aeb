"""Several processes on one store: no errors, own writes at once, and others' right after."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.e2e.conftest import Start
from tests.e2e.engine.stores import WRITTEN, answers, opened, row

from recollect import Recollect
from recollect.testing import FakeClock, FakeEmbedder


def told(process: subprocess.Popen[str], line: str) -> str:
    """Say a line to a process and return its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def at_once(processes: list[subprocess.Popen[str]]) -> list[int]:
    """Let processes go when all are ready; return the number that each printed at its end."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    printed = [process.communicate() for process in processes]
    assert [complaint for _, complaint in printed] == [""] * len(processes)
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [int(said) for said, _ in printed]


@pytest.mark.parametrize(
    ("links", "seconds"),
    [("no links", 2), ("links", 2), pytest.param("no links", 10, marks=pytest.mark.soak)],
)
def test_two_write_while_a_third_recalls(
    tmp_path: Path, start: Start, links: str, seconds: int
) -> None:
    path, linking = tmp_path / "agent.db", links == "links"
    with opened(path, links=linking) as memory:
        memory.remember_many([row("first", number) for number in range(20)], now=WRITTEN)
    first, second, full = at_once(
        [
            start("write_for_seconds.py", path, "a", seconds, links),
            start("write_for_seconds.py", path, "b", seconds, links),
            start("recall_for_seconds.py", path, seconds),
        ]
    )
    assert min(first, second, full) > 0
    with opened(path) as memory:
        followed = answers(memory)
        assert memory.check() == ()
        memory.reindex()
        assert answers(memory) == followed
    with opened(tmp_path / "replay.db", links=linking) as replay:
        written = [
            *(row("first", number) for number in range(20)),
            *(
                row(writer, n)
                for writer, count in (("a", first), ("b", second))
                for n in range(count)
            ),
        ]
        replay.remember_many(written, now=WRITTEN)
        for writer, count in (("a", first), ("b", second)):
            for number in range(9, count, 10):
                replay.forget(str(row(writer, number - 5)["pak_id"]))
        assert answers(replay) == followed


def test_a_recall_here_sees_what_another_process_just_committed(
    tmp_path: Path, start: Start
) -> None:
    path = tmp_path / "agent.db"
    other = start("obey.py", path)
    pak_id = told(other, "remember the zeroth walrus")
    with opened(path) as memory:
        for number in range(20):
            found = memory.recall("walrus", top_k=50).results
            assert pak_id in [one.fact.pak_id for one in found]
            assert len(found) == 1
            assert told(other, f"forget {pak_id}") == "True"
            assert memory.recall("walrus", top_k=50).results == ()
            pak_id = told(other, f"remember walrus number {number}")


def test_frames_and_their_events_are_everybody_s(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "agent.db"
    with opened(path) as memory:
        memory.remember("Be kind.", tags=["self/value"])
        other = start("obey.py", path)
        assert told(other, "register mine") == "mine"
        assert memory.frames.extends("mine") == "task"
        assert [told(other, "frame self") for _ in range(2)] == ["False", "True"]
        memory.remember("Be brief.", tags=["self/value"])
        assert [told(other, "frame self") for _ in range(2)] == ["False", "True"]
        memory.reindex()
        assert told(other, "frame self") == "False"


def test_the_hours_are_one_counter_for_all(tmp_path: Path) -> None:
    clock = FakeClock()
    with (
        Recollect.open(tmp_path / "a.db", embedder=FakeEmbedder(), clock=clock) as one,
        Recollect.open(tmp_path / "a.db", embedder=FakeEmbedder(), clock=clock) as other,
    ):
        for number in range(6):
            (one if number % 2 else other).remember(f"note {number}")
            clock.advance(seconds=600)
        assert one.stats()["active_hours"] == other.stats()["active_hours"] == pytest.approx(1.0)
