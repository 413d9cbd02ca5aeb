"""One answer at a time, and nobody waits for one that does not come out again."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.gate import Gate


def test_one_is_at_work_at_a_time() -> None:
    gate, inside, most = Gate(), 0, 0

    def work() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        threading.Event().wait(0.001)
        inside -= 1
        return inside

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(gate.pass_through, work) for _ in range(40)]:
            done.result()
    assert most == 1


def test_whoever_fails_lets_the_next_in() -> None:
    gate = Gate()
    with pytest.raises(ZeroDivisionError):
        gate.pass_through(lambda: 1 / 0)
    assert gate.pass_through(lambda: "next") == "next"


def test_one_that_never_comes_out_keeps_nobody() -> None:
    gate, entered, leave = Gate(), threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        leave.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(gate.pass_through, stay)
        entered.wait()
        assert [gate.pass_through(lambda: "past it") for _ in range(3)] == ["past it"] * 3
        leave.set()


def test_one_with_much_to_do_lets_an_answer_come_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recollect.gate._PATIENCE_S", 60.0)
    gate, entered, leave = Gate(), threading.Event(), threading.Event()
    order: list[str] = []

    def answer() -> None:
        entered.set()
        leave.wait()
        order.append("answer")

    def write() -> None:
        gate.give_way()
        order.append("write")

    gate.give_way()  # nobody is there
    with ThreadPoolExecutor(2) as pool:
        answered = pool.submit(gate.pass_through, answer)
        entered.wait()
        written = pool.submit(write)
        leave.set()
        answered.result()
        written.result()
    assert order == ["answer", "write"]
    assert gate.pass_through(lambda: "next") == "next"


def test_one_who_gives_way_often_waits_in_vain_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.gate._PATIENCE_S", 0.01)
    gate, entered, leave = Gate(), threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        leave.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(gate.pass_through, stay)
        entered.wait()
        gate.give_way()
        monkeypatch.setattr("recollect.gate._PATIENCE_S", 60.0)
        gate.give_way()  # would wait until the end of the test
        leave.set()
