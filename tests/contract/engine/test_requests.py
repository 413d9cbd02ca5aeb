"""A request that is sent again is done once, and answered as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import NotAllowed, RequestIdReused
from recollect.model import Remembered
from recollect.policy import Principal
from recollect.testing import FakeClock, FakeEmbedder


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["file", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Recollect]:
    place = tmp_path / "a.db" if request.param == "file" else "memory://"
    with Recollect.open(place, clock=clock, embedder=FakeEmbedder()) as opened:
        yield opened


def revision(memory: Recollect) -> int:
    found: int = memory.stats()["revision"]
    return found


def test_a_repeated_request_is_one_commit_and_one_answer(memory: Recollect) -> None:
    memory.remember("the kettle is red", pak_id="kettle")
    first = memory.remember("the red kettle whistles", thread="talk", request_id="r1")
    before = revision(memory)
    assert memory.remember("the red kettle whistles", thread="talk", request_id="r1") == first
    assert first.created
    assert revision(memory) == before
    again = memory.remember("the red kettle whistles", thread="talk", request_id="r2")
    assert again != first
    assert revision(memory) == before + 1


def test_many_are_repeated_alike_also_where_two_are_the_same(memory: Recollect) -> None:
    items: list[str | dict[str, Any]] = [f"note {number}" for number in range(700)]
    items += [{"content": "twice", "thread": "t"}, "note 0"]
    first = memory.remember_many(items, request_id="many")
    before = revision(memory)
    assert memory.remember_many(items, request_id="many") == first
    assert revision(memory) == before


def test_many_that_were_cut_off_go_on_where_they_were(memory: Recollect) -> None:
    items = [f"note {number}" for number in range(1100)]

    def stop(done: int, _: int) -> None:
        if done > 600:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.remember_many(items, progress=stop, request_id="many")
    before = revision(memory)
    reports = memory.remember_many(items, request_id="many")
    assert all(report.created for report in reports)
    assert [report.pak_id for report in reports] == [
        one.pak_id for one in memory.remember_many(items)
    ]
    assert revision(memory) == before + 1 + 3


def test_links_and_disputes_are_made_once(memory: Recollect) -> None:
    for name in "ab":
        memory.remember(f"the text of {name}", pak_id=name)
    for _ in range(2):
        memory.link("a", "b", weight=0.5, request_id="link")
        memory.dispute("a", "b", note="which?", request_id="dispute")
    assert revision(memory) == 4
    memory.resolve("a", "b")
    memory.dispute("a", "b", note="which?", request_id="dispute")
    assert list(memory.disputes()) == []


def test_another_request_under_the_same_id_is_refused(memory: Recollect) -> None:
    memory.remember("one", request_id="r")
    memory.remember("linked to", pak_id="b")
    before = revision(memory)
    with pytest.raises(RequestIdReused, match="another request"):
        memory.remember("two", request_id="r")
    with pytest.raises(RequestIdReused, match="another request"):
        memory.remember("one", tags=["t"], request_id="r")
    with pytest.raises(RequestIdReused, match="another request"):
        memory.link("b", "b2", request_id="r")
    assert revision(memory) == before


def test_anothers_id_tells_nothing_and_blocks_nothing(memory: Recollect) -> None:
    memory.remember("mine", request_id="r")
    for stranger in (Principal("acme", "ann"), Principal("local", "ann")):
        theirs = memory.as_principal(stranger).remember("theirs", request_id="r")
        assert theirs.created


def test_what_is_not_allowed_is_not_answered_from_before(memory: Recollect) -> None:
    memory.as_principal(Principal("acme", "ann")).remember("a note", request_id="r")
    reader = memory.as_principal(Principal("acme", "ann", permissions=("read",)))
    with pytest.raises(NotAllowed):
        reader.remember("a note", request_id="r")


def test_an_answer_is_kept_for_a_day(memory: Recollect, clock: FakeClock) -> None:
    memory.remember("a note", request_id="r")
    clock.advance(hours=23.9)
    assert memory.remember("a note", request_id="r").created
    clock.advance(hours=0.2)
    assert not memory.remember("a note", request_id="r").created
    assert not memory.remember("a note", request_id="r").created


def test_what_was_forgotten_is_not_written_again_by_a_late_repeat(memory: Recollect) -> None:
    first = memory.remember("a secret", request_id="r")
    memory.forget(first.pak_id)
    with pytest.raises(RequestIdReused, match="forgotten"):
        memory.remember("a secret", request_id="r")
    assert memory.get(first.pak_id) is None
    assert memory.remember("a secret", request_id="another").created


def test_forgetting_erases_the_answers_that_name_a_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with Recollect.open(path, embedder=FakeEmbedder()) as memory:
        old = memory.remember("the red kettle whistles", pak_id="old-kettle")
        new = memory.remember("the red kettle whistles loud", pak_id="new-kettle", request_id="r")
        assert old.pak_id in new.linked
        kept = b"".join(one.read_bytes() for one in tmp_path.iterdir())
        assert kept.count(b"old-kettle")
        memory.forget("old-kettle")
        left = [one for one in tmp_path.iterdir() if b"old-kettle" in one.read_bytes()]
        assert left == []


@pytest.mark.parametrize("wrong", ["", "  ", 7])
def test_an_id_is_a_name(memory: Recollect, wrong: Any) -> None:
    with pytest.raises(ValueError, match="request_id"):
        memory.remember("a note", request_id=wrong)
    assert revision(memory) == 0


def test_a_request_that_failed_may_be_sent_again(memory: Recollect) -> None:
    with pytest.raises(ValueError, match="confidence"):
        memory.remember("a note", confidence=7, request_id="r")
    assert memory.remember("a note", request_id="r").created


def test_threads_that_send_it_at_once_do_it_once(memory: Recollect) -> None:
    barrier, answers = Barrier(4), list[Remembered]()

    def send() -> None:
        barrier.wait()
        answers.append(memory.remember("at once", request_id="r"))

    threads = [Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(answer == answers[0] and answer.created for answer in answers)
    assert revision(memory) == 1


_SEND = """
import sys
from recollect import Recollect
from recollect.testing import FakeEmbedder
with Recollect.open(sys.argv[1], embedder=FakeEmbedder()) as memory:
    memory.recall("anything")
    print("ready", flush=True)
    sys.stdin.readline()
    print([memory.remember(f"note {n}", request_id=f"r{n}").created for n in range(20)])
"""


def test_processes_that_send_it_at_once_do_it_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Recollect.open(path, embedder=FakeEmbedder()).close()
    senders = [
        subprocess.Popen(
            [sys.executable, "-c", _SEND, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        for _ in range(3)
    ]
    for sender in senders:
        assert sender.stdout is not None
        assert sender.stdout.readline() == "ready\n"
    outputs = []
    for sender in senders:
        assert sender.stdin is not None
        sender.stdin.write("\n")
        sender.stdin.flush()
    for sender in senders:
        out, _ = sender.communicate()
        outputs.append(out.strip())
    assert outputs == [str([True] * 20)] * 3
    with Recollect.open(path, embedder=FakeEmbedder()) as memory:
        assert (revision(memory), memory.stats()["memories"]) == (20, 20)
