"""All that is said between us and one process of a daemon hook, from its start to its end.

In: requests from many threads; lines from the process, read by one thread. Out: each request's own
reply, found by its id. A reply that nobody waits for any more is dropped and counted. A line that
is no reply makes what is under way fail soon; too long a line or too many of them end the process.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from recollect.hooks.child_process import LINE_BYTES
from recollect.hooks.failure import Failure, HookFailed

if TYPE_CHECKING:
    from recollect.hooks.child_process import ChildProcess
    from recollect.hooks.meters import Meter
    from recollect.hooks.request import Request

__all__ = ["Connection"]

_IN_FLIGHT = 256
_READY_S = 10.0
_AFTER_GARBAGE_S = 0.02
_WRITER_S = 0.5
_AWAKE_S = 0.0001
_QUICK_S = 0.0005
_CORES = os.cpu_count() or 1
_STRAYS_A_SECOND = 1000
_STDERR_A_SECOND = 64 * 1024 * 1024
_LAST_CHUNKS = 16
_FAREWELL_S = 0.5
_SHOWN = 80
_DIGITS = 18


class Connection:
    """Requests and replies of one process. Any thread may `ask`; one thread does `read_to_end`."""

    def __init__(
        self, child: ChildProcess, meter: Meter, became_ready: Callable[[Any], None]
    ) -> None:
        self.child = child
        self._meter = meter
        self._became_ready = became_ready
        self._numbers = itertools.count(1)
        self._last_number = 0
        self._waiting: dict[str, _Waiting] = {}
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._flood: HookFailed | None = None
        self._ended = False
        self._is_ready = False
        self._is_quick = False
        self._rest = b""
        # What a caller that reads for itself listens to.
        self._caller_poll = select.poll()
        for descriptor in (child.stdout_fd, child.exit_fd):
            if descriptor is not None:
                self._caller_poll.register(descriptor, select.POLLIN)
        self._stray_rate = _Rate(_STRAYS_A_SECOND)
        self._stderr_rate = _Rate(_STDERR_A_SECOND)

    def ask(self, request: Request, seconds: float) -> dict[str, Any]:
        """Send a request and wait for the reply that carries its id."""
        if len(self._waiting) >= _IN_FLIGHT:
            raise HookFailed(Failure.BUSY, f"{_IN_FLIGHT} requests are under way already")
        ends = time.monotonic() + seconds
        number = self._last_number = next(self._numbers)
        waiting = self._waiting[str(number)] = _Waiting()
        try:
            self._send(request.line(number, seconds), ends)
            self._read_reply_for(waiting, ends)
            return waiting.reply_by(ends)
        finally:
            self._waiting.pop(str(number), None)

    def end_input(self) -> None:
        """Close the process's stdin, unless a thread hangs in writing to it."""
        if self._writing.acquire(timeout=_WRITER_S):
            try:
                self._ended = True
                self.child.end_input()
            finally:
                self._writing.release()

    def close(self, why: HookFailed) -> None:
        """Reap the process, and tell all who wait that no reply will come."""
        self._tell_all(why)
        if why.kind is Failure.EXITED:
            self.child.has_exited(_FAREWELL_S)  # its stdout ends a moment before it does
        self.child.kill()  # first: it ends a write that hangs
        with self._writing, self._reading:
            self._ended = True
            code = self.child.reap()
        if why.kind is Failure.EXITED and code is not None:
            why.detail = f"it exited with code {code}" if code >= 0 else f"signal {-code} ended it"
        why.stderr = self.child.stderr.text()
        self._tell_all(why)

    def read_to_end(self) -> HookFailed:
        """Read the process to its end; return why it ended."""
        child = self.child
        parts: dict[int | None, Callable[[], HookFailed | None]] = {
            child.stdout_fd: self._read_stdout,
            child.stderr_fd: self._read_stderr,
            child.exit_fd: self._read_leftovers,
        }
        why = None
        while why is None:
            heard = child.poller.wait(self._patience_s())
            for descriptor in heard:
                why = why or parts[descriptor]()
            why = why or self._check_silence(bool(heard))
        return self._flood or why

    def _tell_all(self, why: HookFailed) -> None:
        for waiting in list(self._waiting.values()):
            waiting.failure = why
            waiting.wake()

    def _send(self, line: bytes, ends: float) -> None:
        """Write a whole line; one that was cut off would garble the next, so the process goes."""
        if not self._writing.acquire(timeout=max(0.0, ends - time.monotonic())):
            raise HookFailed(Failure.TIMEOUT, "it does not read its requests")
        try:
            rest = memoryview(line)
            while rest := rest[self._write(rest) :]:
                if not _takes_more(self.child.stdin_fd, ends):
                    if len(rest) < len(line):
                        self.child.kill()
                    raise HookFailed(Failure.TIMEOUT, "it does not read its requests")
        finally:
            self._writing.release()

    def _write(self, data: memoryview) -> int:
        if self._ended:
            raise HookFailed(Failure.EXITED, "it is gone")
        try:
            return os.write(self.child.stdin_fd, data)
        except BlockingIOError:
            return 0
        except OSError:
            raise HookFailed(Failure.EXITED, "it closed its stdin") from None

    def _read_reply_for(self, waiting: _Waiting, ends: float) -> None:
        """Read the reply without the reading thread, when nobody else waits for one.

        To be woken by another thread costs as much as the whole answer of a quick process.
        """
        poller, stdout = self.child.poller, self.child.stdout_fd
        if (
            not poller.can_lend
            or len(self._waiting) > 1
            or not self._reading.acquire(blocking=False)
        ):
            return
        try:
            if not self._ended:
                poller.lend(stdout)
                try:
                    self._read_until_answered(waiting, ends)
                finally:
                    poller.take_back(stdout)
        finally:
            self._reading.release()

    def _read_until_answered(self, waiting: _Waiting, ends: float) -> None:
        """Read stdout; an end that is met here is left to the reading thread, who meets it too."""
        began = time.monotonic()
        if self._is_quick:
            # To fall asleep and be woken again takes longer than a quick process does.
            while not self._caller_poll.poll(0) and time.monotonic() < began + _AWAKE_S:
                pass
        while waiting.is_open() and (heard := self._caller_poll.poll(_ms_until(ends))):
            if heard[0][0] != self.child.stdout_fd or self._read_some() is not None:
                break
        self._is_quick = _CORES > 1 and time.monotonic() - began < _QUICK_S

    def _patience_s(self) -> float | None:
        """Return how long to listen: for ever, once it said that it is ready."""
        return None if self._is_ready else self.child.started + _READY_S - time.monotonic()

    def _read_stdout(self) -> HookFailed | None:
        if not self._reading.acquire(blocking=False):
            return None  # a caller reads for itself; to wait for it would leave stderr undrained
        try:
            return self._read_some()
        finally:
            self._reading.release()

    def _read_some(self) -> HookFailed | None:
        """Take in what there is on stdout; return why the process must go, if it must."""
        chunk = self.child.read(self.child.stdout_fd)
        if chunk is None:
            return None
        why = (
            self._take_chunk(chunk) if chunk else HookFailed(Failure.EXITED, "it closed its stdout")
        )
        if why is not None and why.kind is Failure.FLOOD:
            self._flood = why
            self.child.kill()
        return why

    def _read_stderr(self) -> HookFailed | None:
        count = self.child.read_stderr()
        if count < 0:
            self.child.poller.unwatch(self.child.stderr_fd)
        elif self._stderr_rate.exceeded_by(count):
            return HookFailed(Failure.FLOOD, "it floods its stderr")
        return None

    def _read_leftovers(self) -> HookFailed:
        """Take what the process left in the pipe."""
        with self._reading:
            for _ in range(_LAST_CHUNKS):
                if not (chunk := self.child.read(self.child.stdout_fd)):
                    break
                self._take_chunk(chunk)
        return HookFailed(Failure.EXITED, "it exited")

    def _check_silence(self, heard: bool) -> HookFailed | None:
        """Return why to stop listening although nothing says so: no word of being ready."""
        if not self._is_ready and time.monotonic() >= self.child.started + _READY_S:
            return HookFailed(Failure.TIMEOUT, f"it did not say ready within {_READY_S:g} s")
        if self.child.exit_fd is None and not heard and self.child.has_exited():
            return self._read_leftovers()
        return None

    def _take_chunk(self, chunk: bytes) -> HookFailed | None:
        """Take in a piece of stdout: whole lines now, the rest when it is complete."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if max(map(len, (*lines, self._rest))) > LINE_BYTES:
            return HookFailed(Failure.FLOOD, f"it wrote a line of more than {LINE_BYTES:,} bytes")
        for line in lines:
            if not self._deliver(line) and self._stray_rate.exceeded_by(1):
                return HookFailed(Failure.FLOOD, "it floods its stdout")
        return None

    def _deliver(self, line: bytes) -> bool:
        """Hand a line to whoever waits for it; return whether anybody did."""
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            return self._note_garbage(line)
        if not self._is_ready:
            return self._take_greeting(reply, line)
        number = reply.get("id")
        waiting = self._waiting.pop(number, None) if isinstance(number, str) else None
        if waiting is not None:
            waiting.reply = reply
            waiting.wake()
            return True
        if not isinstance(number, str):
            return self._note_garbage(line)
        self._meter.count("late" if self._was_asked(number) else "strays")
        return False

    def _was_asked(self, number: str) -> bool:
        """Return whether a request had this id; its caller gave up, or was answered before."""
        known = number.isascii() and number.isdigit() and len(number) < _DIGITS
        return known and 0 < int(number) <= self._last_number

    def _take_greeting(self, reply: dict[str, Any], line: bytes) -> bool:
        if reply.get("ready") is not True:
            return self._note_garbage(line)
        self._is_ready = True
        self._became_ready(self)
        return True

    def _note_garbage(self, line: bytes) -> bool:
        """Note a line that answers nothing; whoever waits now will not wait long any more."""
        self._meter.count("garbage")
        for waiting in list(self._waiting.values()):
            waiting.garbage = waiting.garbage or repr(line[:_SHOWN])
            waiting.wake()
        return False


class _Waiting:
    """One request whose reply is awaited: a lock that the reader opens."""

    __slots__ = ("_lock", "failure", "garbage", "reply")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self.reply: dict[str, Any] | None = None
        self.failure: HookFailed | None = None
        self.garbage: str | None = None

    def wake(self) -> None:
        """Let the waiting thread look; only the reading thread calls this."""
        if self._lock.locked():
            self._lock.release()

    def is_open(self) -> bool:
        """Return whether there is still something to wait for."""
        return self.reply is None and self.garbage is None

    def reply_by(self, ends: float) -> dict[str, Any]:
        """Wait for the reply. After a line that was none, the reply itself may still follow."""
        suspicious = False
        while self._lock.acquire(timeout=max(0.0, ends - time.monotonic())):
            if self.reply is not None:
                return self.reply
            if self.failure is not None:
                raise HookFailed(self.failure.kind, self.failure.detail, stderr=self.failure.stderr)
            if not suspicious:
                suspicious = True
                ends = min(ends, time.monotonic() + _AFTER_GARBAGE_S)
        if self.reply is not None:
            return self.reply
        if self.garbage is not None:
            raise HookFailed(Failure.BAD_REPLY, f"it wrote a line that is no reply: {self.garbage}")
        raise HookFailed(Failure.TIMEOUT, "it did not answer in time")


class _Rate:
    """So much in any one second, and no more."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._since = 0.0
        self._seen = 0

    def exceeded_by(self, count: int) -> bool:
        """Add to the count; return whether it is too much."""
        now = time.monotonic()
        if now - self._since >= 1.0:
            self._since, self._seen = now, 0
        self._seen += count
        return self._seen > self._limit


def _takes_more(descriptor: int, ends: float) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLOUT)
    return bool(poller.poll(_ms_until(ends)))


def _ms_until(ends: float) -> float:
    return max(0.0, (ends - time.monotonic()) * 1000)
