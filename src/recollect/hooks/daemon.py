"""The daemon executor: one process that stays, and one thread that reads it and starts it again.

In: requests from many threads at once. Out: decisions. The thread owns the process: it starts it,
reads it to its end, reaps it, and waits before the next start, so that no caller ever does.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from recollect.hooks.breaker import Backoff, Breaker
from recollect.hooks.child_process import ChildProcess
from recollect.hooks.connection import Connection
from recollect.hooks.failure import Failure, HookFailed

if TYPE_CHECKING:
    from recollect.hooks.decisions import Decision
    from recollect.hooks.meters import Meter
    from recollect.hooks.request import Request
    from recollect.hooks.spec import HookSpec
    from recollect.hooks.watchdog import Watchdog

__all__ = ["DaemonExecutor"]

_GRACE_S = 0.5


class DaemonExecutor:
    """A hook's process, kept running. A call never waits for a start."""

    def __init__(self, spec: HookSpec, meter: Meter, watchdog: Watchdog) -> None:
        self._spec = spec
        self._watchdog = watchdog
        self._meter = meter
        self._breaker = Breaker()
        self._backoff = Backoff()
        self._stopping = threading.Event()
        self._settled = threading.Event()
        self._changing = threading.Lock()
        self._running: Connection | None = None
        self._ready: Connection | None = None
        self._trouble = HookFailed(Failure.NOT_READY, "it is starting")
        self._thread = threading.Thread(
            target=self._keep, name=f"recollect-hook-{spec.name}", daemon=True
        )

    def start(self) -> None:
        """Start the process in the background."""
        self._thread.start()

    def wait_until_settled(self, seconds: float) -> None:
        """Wait until the process said that it is ready, or failed to."""
        self._settled.wait(max(0.0, seconds))

    def call(self, request: Request, seconds: float) -> Decision:
        """Ask the process; fail at once when it is not there to answer."""
        if not self._breaker.admits(time.monotonic()):
            raise self._refusal(Failure.BREAKER_OPEN, "its breaker is open")
        connection = self._ready
        if connection is None:
            self._breaker.unused()
            raise self._refusal(Failure.NOT_READY, "it is not ready")
        try:
            decision = request.decide(connection.ask(request, seconds))
        except HookFailed as failure:
            failure.stderr = failure.stderr or connection.child.stderr.text()
            self._note(failure, connection)
            raise
        self._breaker.succeeded()
        return decision

    def state(self) -> str:
        """Return how it is, in a word: ready, starting, down, open, half_open or stopped."""
        if self._stopping.is_set():
            return "stopped"
        breaker = self._breaker.state(time.monotonic())
        if breaker != "closed":
            return breaker
        if self._ready is not None:
            return "ready"
        return "down" if self._settled.is_set() else "starting"

    def trouble(self) -> HookFailed | None:
        """Return why it is not ready, None when it is."""
        return None if self._ready is not None else self._trouble

    def begin_stop(self) -> None:
        """Close the process's stdin, and start it no more."""
        with self._changing:
            self._stopping.set()
            running = self._running
        if running is not None:
            running.end_input()

    def stop(self) -> None:
        """End the process: by the end of its stdin, then by SIGTERM, then by SIGKILL."""
        self.begin_stop()
        self._thread.join(_GRACE_S)
        for end in (ChildProcess.terminate, ChildProcess.kill):
            running = self._running
            if running is not None:
                end(running.child)
                self._thread.join(_GRACE_S)

    def _refusal(self, kind: Failure, problem: str) -> HookFailed:
        return HookFailed(kind, f"{problem}: {self._trouble.detail}", stderr=self._trouble.stderr)

    def _note(self, failure: HookFailed, connection: Connection) -> None:
        if failure.kind is Failure.BUSY:
            self._breaker.unused()
        elif self._breaker.failed(time.monotonic()):
            self._trouble = failure
            if failure.kind is Failure.TIMEOUT:
                # Five in a row went unanswered: it hangs, and a new one may not.
                connection.child.kill()

    def _keep(self) -> None:
        """Keep a process running until told to stop: the body of the thread."""
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                trouble = self._run_one()
            except HookFailed as failure:
                trouble = failure
            if not self._stopping.is_set():
                self._trouble = trouble
                self._meter.count("deaths")
                self._meter.failed(trouble.in_full())
                self._settled.set()
                self._stopping.wait(self._backoff.delay_s(time.monotonic() - began))
        self._settled.set()

    def _run_one(self) -> HookFailed:
        """Start a process, read it to its end and reap it; return why it ended."""
        connection = Connection(
            ChildProcess(self._spec, self._watchdog), self._meter, self._became_ready
        )
        self._meter.count("starts")
        why = HookFailed(Failure.EXITED, "it was stopped")
        try:
            with self._changing:
                self._running = connection
                wanted = not self._stopping.is_set()
            if wanted:
                why = connection.read_to_end()
        finally:
            self._ready = None
            with self._changing:
                self._running = None
            connection.close(why)
        return why

    def _became_ready(self, connection: Connection) -> None:
        self._ready = connection
        self._settled.set()
