"""A hook's process: started with little, watched, and never left behind.

In: a hook's command. Out: a `ChildProcess` with non-blocking pipes, in a process group of its own.
It gets PATH, LANG, HOME and its own `env`, nothing else. Should this process die first, the child
sees the end of its stdin, and a watchdog kills its group.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recollect.hooks.failure import Failure, HookFailed

if TYPE_CHECKING:
    from recollect.hooks.spec import HookSpec
    from recollect.hooks.watchdog import Watchdog

__all__ = ["CHUNK", "LINE_BYTES", "ChildProcess", "Poller", "Tail"]

CHUNK = 64 * 1024
LINE_BYTES = 1024 * 1024
_TAIL_BYTES = 4096
_LAST_CHUNKS = 16
_REAP_S = 0.01
_TICK_S = 0.02


class Tail:
    """The last 4 KiB of a stream that is drained whatever comes."""

    def __init__(self) -> None:
        self._bytes = b""

    def add(self, chunk: bytes) -> None:
        """Take in more of the stream."""
        self._bytes = (self._bytes + chunk)[-_TAIL_BYTES:]

    def text(self) -> str:
        """Return what is kept, as text."""
        return self._bytes.decode(errors="replace").strip()


class Poller:
    """Several descriptors listened to at once. One can be lent to another thread for a while.

    `tick_s` is for systems where the exit of a process has no descriptor: it must be looked for.
    """

    def __init__(self, tick_s: float | None) -> None:
        epoll = hasattr(select, "epoll")
        self.can_lend = epoll and tick_s is None
        self._waiter: Any = select.epoll() if epoll else select.poll()
        self._second = 1 if epoll else 1000
        self._tick_s = tick_s

    def watch(self, descriptor: int, events: int = select.POLLIN) -> None:
        """Listen to a descriptor."""
        self._waiter.register(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        """Listen to it no more."""
        self._waiter.unregister(descriptor)

    def lend(self, descriptor: int) -> None:
        """Leave it to another thread; whoever waits in `wait` sleeps on."""
        self._waiter.modify(descriptor, 0)

    def take_back(self, descriptor: int) -> None:
        """Listen to it again."""
        self._waiter.modify(descriptor, select.POLLIN)

    def wait(self, seconds: float | None) -> list[int]:
        """Wait until there is something to read, or for so long; return where it is."""
        limits = [limit for limit in (seconds, self._tick_s) if limit is not None]
        found = self._waiter.poll(max(0.0, min(limits)) * self._second if limits else None)
        return [descriptor for descriptor, _ in found]

    def close(self) -> None:
        """Give back what the system holds for it."""
        if hasattr(self._waiter, "close"):
            self._waiter.close()


class ChildProcess:
    """One process of a hook, and the only place that signals and reaps it."""

    def __init__(self, spec: HookSpec, watchdog: Watchdog) -> None:
        self._process = _start(spec)
        self.pid = self._process.pid
        self._watchdog = watchdog
        watchdog.guard(self.pid)
        self.started = time.monotonic()
        self.stderr = Tail()
        self._signalling = threading.Lock()
        self._reaped = False
        self.stdin_fd, self.stdout_fd, self.stderr_fd = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        )
        for descriptor in (self.stdin_fd, self.stdout_fd, self.stderr_fd):
            os.set_blocking(descriptor, False)
        self.exit_fd = _exit_descriptor(self.pid)
        try:
            self.poller = Poller(tick_s=_TICK_S if self.exit_fd is None else None)
        except OSError as error:
            self._release()
            raise HookFailed(Failure.NOT_STARTED, f"it cannot be read: {error}") from error
        for source in (self.stdout_fd, self.stderr_fd, self.exit_fd):
            if source is not None:
                self.poller.watch(source)

    def has_exited(self, within_s: float = 0.0) -> bool:
        """Return whether the process ended, without reaping it where that can be told apart."""
        if self._reaped:
            return True
        if self.exit_fd is not None:
            poller = select.poll()
            poller.register(self.exit_fd, select.POLLIN)
            return bool(poller.poll(within_s * 1000))
        return self._process.poll() is not None

    def read(self, descriptor: int) -> bytes | None:
        """Return what there is to read: None for nothing yet, empty at the end."""
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def read_stderr(self) -> int:
        """Drain some of stderr into the tail; return how much, -1 at its end."""
        chunk = self.read(self.stderr_fd)
        if chunk:
            self.stderr.add(chunk)
        return -1 if chunk == b"" else len(chunk or b"")

    def end_input(self) -> None:
        """Close the child's stdin; that is how it is asked to go."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def terminate(self) -> None:
        """Ask the whole group to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the whole group."""
        self._signal(signal.SIGKILL)

    def reap(self) -> int | None:
        """Kill what is left of the group, reap the process, close every descriptor.

        Return the exit code, None if it is not known yet: a process that the kernel is slow to end
        is waited for by a thread, so that nobody here has to.
        """
        exited = self.has_exited()
        for _ in range(_LAST_CHUNKS):
            if self.read_stderr() <= 0:
                break
        code = self._release()
        self.poller.close()
        return code if exited else None

    def _release(self) -> int | None:
        """Kill the group, reap the process and close what leads to it; return the exit code."""
        self.kill()
        self._watchdog.release(self.pid)
        with self._signalling:
            self._reaped = True
            try:
                code = self._process.wait(_REAP_S)
            except subprocess.TimeoutExpired:
                code = None
                threading.Thread(target=self._process.wait, daemon=True).start()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        if self.exit_fd is not None:
            os.close(self.exit_fd)
            self.exit_fd = None
        return code

    def _signal(self, number: signal.Signals) -> None:
        # Under the lock, and never after the reaping: the id could be somebody else's by then.
        with self._signalling:
            if not self._reaped:
                with suppress(OSError):
                    os.killpg(self.pid, number)


def _start(spec: HookSpec) -> subprocess.Popen[bytes]:
    program = spec.program()
    if program is None:
        name = spec.command[0]
        raise HookFailed(Failure.NOT_STARTED, f"there is no program {name!r} to execute")
    try:
        return subprocess.Popen(  # noqa: S603 - the operator's own command
            [program, *spec.command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=spec.environment(),
            cwd=spec.folder,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise HookFailed(Failure.NOT_STARTED, f"it cannot be started: {error}") from error


def _exit_descriptor(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
