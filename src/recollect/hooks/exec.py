"""The exec executor: one process a call.

In: a request, on the process's stdin. Out: the decision on the last line of its stdout that is not
empty; no such line allows. It must exit with 0, in time. Whatever happens, its whole group is gone
when the call is back.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.hooks.child_process import LINE_BYTES, ChildProcess
from recollect.hooks.failure import Failure, HookFailed

if TYPE_CHECKING:
    from recollect.hooks.decisions import Decision
    from recollect.hooks.meters import Meter
    from recollect.hooks.request import Request
    from recollect.hooks.spec import HookSpec
    from recollect.hooks.watchdog import Watchdog

__all__ = ["ExecExecutor"]

_STDOUT_BYTES = 16 * LINE_BYTES
_ID = 1


class ExecExecutor:
    """A program that is run anew for every request."""

    def __init__(self, spec: HookSpec, meter: Meter, watchdog: Watchdog) -> None:
        self._spec = spec
        self._watchdog = watchdog
        self._meter = meter
        self._lock = threading.Lock()
        self._running: set[ChildProcess] = set()
        self._stopped = False

    def start(self) -> None:
        """There is nothing to make ready."""

    def wait_until_settled(self, seconds: float) -> None:
        """There is nothing to wait for."""

    def call(self, request: Request, seconds: float) -> Decision:
        """Run the program on the request."""
        ends = time.monotonic() + seconds
        child = self._start_child()
        try:
            return request.decide(_reply(self._last_line(child, request, ends)))
        except HookFailed as failure:
            failure.stderr = child.stderr.text()
            raise

    def state(self) -> str:
        """Return how it is, in a word."""
        return "ready" if self._spec.program() else "missing"

    def trouble(self) -> HookFailed | None:
        """Return why it cannot run, None when it can."""
        if self._spec.program():
            return None
        return HookFailed(Failure.NOT_STARTED, f"there is no program {self._spec.command[0]!r}")

    def begin_stop(self) -> None:
        """Kill what runs just now; those who wait for it are told."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                child.kill()

    def stop(self) -> None:
        """Kill what runs just now."""
        self.begin_stop()

    def _start_child(self) -> ChildProcess:
        child = ChildProcess(self._spec, self._watchdog)
        with self._lock:
            self._running.add(child)
            if self._stopped:
                child.kill()
        return child

    def _last_line(self, child: ChildProcess, request: Request, ends: float) -> bytes:
        run = _ProgramRun(child, request.line(_ID, ends - time.monotonic()))
        try:
            finished = run.until(ends)
        finally:
            with self._lock:
                self._running.discard(child)
            code = child.reap()
        if not finished:
            raise HookFailed(Failure.TIMEOUT, "it did not finish in time")
        if code != 0:
            raise HookFailed(Failure.EXITED, f"it exited with code {code}")
        return run.last_line


class _ProgramRun:
    """The three streams of one process, attended to until it exits."""

    def __init__(self, child: ChildProcess, line: bytes) -> None:
        self.child = child
        self.last_line = b""
        self._line = memoryview(line)
        self._rest = b""
        self._taken = 0

    def until(self, ends: float) -> bool:
        """Return whether the process exited by then."""
        child, poller = self.child, self.child.poller
        poller.watch(child.stdin_fd, select.POLLOUT)
        parts: dict[int | None, Callable[[], bool]] = {
            child.stdin_fd: self._write_request,
            child.stdout_fd: self._read_stdout,
            child.stderr_fd: lambda: child.read_stderr() >= 0,
            child.exit_fd: lambda: False,
        }
        while (left := ends - time.monotonic()) > 0:
            for descriptor in poller.wait(left):
                if not parts[descriptor]():
                    poller.unwatch(descriptor)
                    if descriptor == child.stdin_fd:
                        child.end_input()
            if child.has_exited():
                while self._read_stdout():
                    pass
                self._keep_line(self._rest)
                return True
        return False

    def _write_request(self) -> bool:
        """Write some of the request; return whether there is more to write."""
        try:
            self._line = self._line[os.write(self.child.stdin_fd, self._line) :]
        except BlockingIOError:
            return True
        except OSError:
            return False  # it answers without reading; that is its own business
        return bool(self._line)

    def _read_stdout(self) -> bool:
        """Read some of stdout; return whether there may be more. Only the last line is kept."""
        chunk = self.child.read(self.child.stdout_fd)
        if not chunk:
            return chunk is None and not self.child.has_exited()
        self._taken += len(chunk)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if self._taken > _STDOUT_BYTES or max(map(len, (*lines, self._rest))) > LINE_BYTES:
            raise HookFailed(Failure.FLOOD, "it floods its stdout")
        for line in lines:
            self._keep_line(line)
        return True

    def _keep_line(self, line: bytes) -> None:
        self.last_line = line.strip() or self.last_line


def _reply(line: bytes) -> object:
    """Return the reply on a line; nothing at all, or an empty object, allows."""
    if not line:
        return None
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError):
        raise HookFailed(Failure.BAD_REPLY, f"it wrote no reply but {line[:80]!r}") from None
    if not isinstance(reply, dict):
        raise HookFailed(Failure.BAD_REPLY, "a reply must be an object")
    if reply.get("id", str(_ID)) != str(_ID):
        raise HookFailed(Failure.BAD_REPLY, f"it answered another request, {reply['id']!r:.60}")
    return reply if reply.keys() - {"id"} else None
