"""Fork in one of the ways that programs do; print what was acknowledged, a line each.

Run as `forks.py <way> <database>`. Whoever acknowledges a write says so in one write to standard
output, so lines of several processes do not mix.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from recollect import Recollect
from recollect.errors import StoreUnavailable

WRITES = 15


def opened(path: str) -> Recollect:
    return Recollect.open(path, embedder="none", links=False)


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


def write(memory: Recollect, who: str, count: int = WRITES) -> None:
    for number in range(count):
        name = f"{who}-{number}"
        if memory.remember(f"{who} says {number}", pak_id=name).created:
            say(name)


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def ended(*children: int) -> None:
    for child in children:
        os.waitpid(child, 0)


class Bell:
    """One process waits until another rings."""

    def __init__(self) -> None:
        self._ear, self._rope = os.pipe()

    def ring(self) -> None:
        os.write(self._rope, b"!")

    def wait(self) -> None:
        os.read(self._ear, 1)


def parent_closes(path: str) -> None:
    memory, begun, closed = opened(path), Bell(), Bell()
    write(memory, "parent")

    def child() -> None:
        write(memory, "early")
        begun.ring()
        closed.wait()
        write(memory, "late")

    pid = forked(child)
    begun.wait()
    memory.close()
    closed.ring()
    ended(pid)


def child_closes(path: str) -> None:
    memory = opened(path)
    write(memory, "before")

    def child() -> None:
        write(memory, "child")
        memory.close()

    pid = forked(child)
    write(memory, "meanwhile")
    ended(pid)
    write(memory, "after")
    memory.close()


def daemonised(path: str) -> None:
    memory, gone = opened(path), Bell()
    write(memory, "parent")
    done, out = os.pipe()
    if os.fork():
        os.close(out)
        os.read(done, 1)  # until the child is done: it must have something to print to
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    write(memory, "daemon")
    memory.close()
    gone.ring()
    os._exit(0)


def left_open(path: str) -> None:
    """The parent exits without closing, the child goes on."""
    memory, begun = opened(path), Bell()
    write(memory, "parent")
    middle = os.fork()
    if middle:
        os.waitpid(middle, 0)
        return
    begun_pid = os.fork()
    if begun_pid:
        begun.wait()
        sys.exit(0)  # destructors and all
    write(memory, "early")
    begun.ring()
    while os.getppid() == middle:
        pass
    write(memory, "late")
    os._exit(0)


def workers(path: str) -> None:
    memory = opened(path)
    write(memory, "parent")
    pids = [forked(lambda who=f"worker{n}": write(memory, who)) for n in range(4)]  # type: ignore[misc]
    memory.close()
    ended(*pids)


def threads(path: str) -> None:
    memory, stop = opened(path), threading.Event()

    def go_on() -> None:
        number = 0
        while not stop.is_set():
            write(memory, f"thread-{number}", 1)
            number += 1

    thread = threading.Thread(target=go_on)
    thread.start()
    pids = [forked(lambda who=f"child{n}": write(memory, who)) for n in range(3)]  # type: ignore[misc]
    ended(*pids)
    stop.set()
    thread.join()
    memory.close()


def _in_process(path: str, way: str) -> None:
    memory = opened(path)
    write(memory, "parent")
    context: Any = multiprocessing.get_context(way)
    if way == "fork":
        processes = [
            context.Process(target=write, args=(memory, f"process{number}")) for number in range(2)
        ]
    else:
        processes = [
            context.Process(target=open_and_write, args=(path, f"process{number}"))
            for number in range(2)
        ]
    for process in processes:
        process.start()
    memory.close()
    for process in processes:
        process.join()


def open_and_write(path: str, who: str) -> None:
    with opened(path) as memory:
        write(memory, who)


def multiprocessing_fork(path: str) -> None:
    _in_process(path, "fork")


def multiprocessing_forkserver(path: str) -> None:
    _in_process(path, "forkserver")


def opened_again(path: str) -> None:
    """The child opens the file anew beside the handle that it inherited."""
    memory, begun, closed = opened(path), Bell(), Bell()
    write(memory, "parent")

    def child() -> None:
        with opened(path) as own:
            write(own, "early")
            begun.ring()
            closed.wait()
            write(own, "late")

    pid = forked(child)
    begun.wait()
    memory.close()
    closed.ring()
    ended(pid)


def inside_a_transaction(path: str) -> None:
    memory = opened(path)
    write(memory, "before")

    def child() -> None:
        try:
            write(memory, "child")
        except StoreUnavailable:
            say("refused")
        try:
            open_and_write(path, "again")
        except StoreUnavailable:
            say("refused")

    with memory.paks.transaction():
        memory.paks.upsert_pak(
            pak_id="held",
            pak_type="note",
            source_type="file",
            authority="user_approved",
            title="held",
            content_hash="0" * 64,
        )
        pid = os.fork()
        if not pid:
            try:
                memory.paks.get_pak("held")
            except StoreUnavailable:
                say("refused")
            try:
                child()
            finally:
                os._exit(0)
        ended(pid)
    write(memory, "after")
    memory.close()


def in_memory(_: str) -> None:
    memory = opened(":memory:")
    memory.remember("in the parent")

    def child() -> None:
        try:
            memory.remember("in the child")
        except StoreUnavailable:
            say("refused")

    ended(forked(child))
    memory.remember("in the parent again")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
