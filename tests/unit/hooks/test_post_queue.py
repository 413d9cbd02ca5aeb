"""The queue of what is told after the fact."""

from __future__ import annotations

import threading

from recollect.hooks.doctor import payload_of
from recollect.hooks.events import HookEvent
from recollect.hooks.payload import Payload
from recollect.hooks.post_queue import PostQueue


def link(number: int) -> Payload:
    return payload_of(HookEvent.POST_LINK, {"pak_id": str(number)})


def test_events_are_told_in_order_by_another_thread() -> None:
    told: list[tuple[Payload, str]] = []
    queue = PostQueue(lambda payload: told.append((payload, threading.current_thread().name)))
    for number in range(100):
        queue.put(link(number))
    assert queue.wait_until_empty()
    assert [payload for payload, _ in told] == [link(number) for number in range(100)]
    assert {name for _, name in told} == {"recollect-hooks-post"}
    assert queue.stats() == {"queued": 0, "delivered": 100, "dropped": 0}
    queue.close()


def test_when_the_queue_is_full_events_are_dropped_and_counted_and_nobody_waits() -> None:
    gate, started, told = threading.Event(), threading.Event(), []

    def tell(payload: Payload) -> None:
        started.set()
        gate.wait(30)
        told.append(payload)

    queue = PostQueue(tell, room=10)
    queue.put(link(0))
    assert started.wait(30)
    for number in range(1, 31):
        queue.put(link(number))
    assert queue.stats() == {"queued": 10, "delivered": 0, "dropped": 20}
    gate.set()
    assert queue.wait_until_empty()
    assert told == [link(number) for number in range(11)]
    queue.close()


def test_closing_tells_what_is_queued() -> None:
    told: list[Payload] = []
    queue = PostQueue(told.append)
    for number in range(50):
        queue.put(link(number))
    queue.close()
    assert len(told) == 50
    queue.put(link(51))
    assert queue.stats() == {"queued": 0, "delivered": 50, "dropped": 1}


def test_closing_does_not_wait_for_ever() -> None:
    gate, started = threading.Event(), threading.Event()

    def tell(payload: Payload) -> None:
        started.set()
        gate.wait(30)

    queue = PostQueue(tell)
    for number in range(5):
        queue.put(link(number))
    assert started.wait(30)
    queue.close(0.01)
    assert queue.stats()["dropped"] == 4
    gate.set()


def test_a_queue_that_was_never_used_has_no_thread() -> None:
    before = threading.active_count()
    queue = PostQueue(lambda _: None)
    assert threading.active_count() == before
    queue.close()
