"""The python executor: a function of the user's own, called in a thread of ours.

In: a request. Out: the decision that the function returned. A function cannot be killed, so one
that takes too long is left to itself: its caller goes on, what it returns in the end is dropped
and counted, and while too many of its threads hang, it is not called at all.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from recollect.hooks.failure import Failure, HookFailed

if TYPE_CHECKING:
    from recollect.hooks.decisions import Decision
    from recollect.hooks.meters import Meter
    from recollect.hooks.request import Request
    from recollect.hooks.spec import Function, HookSpec

__all__ = ["PythonExecutor"]

_THREADS = 32


class PythonExecutor:
    """A function, and the threads that call it."""

    def __init__(self, spec: HookSpec, meter: Meter) -> None:
        if spec.function is None:
            raise ValueError(f"hook {spec.name} has no function")
        self._function = spec.function
        self._name = spec.name
        self._meter = meter
        self._lock = threading.Lock()
        self._idle: deque[_Worker] = deque()
        self._workers = 0
        self._stopped = False

    def start(self) -> None:
        """Make one thread ready."""
        self._idle.append(self._worker())

    def wait_until_settled(self, seconds: float) -> None:
        """There is nothing to wait for."""

    def call(self, request: Request, seconds: float) -> Decision:
        """Call the function in a thread, and wait no longer than that."""
        job = _Job(self._function, request)
        self._take_worker().give(job)
        if not job.done.acquire(timeout=seconds):
            with self._lock:
                job.abandoned = not job.finished
            if job.abandoned:
                raise HookFailed(Failure.TIMEOUT, "it did not return in time")
        if job.error is not None:
            error = job.error
            raise HookFailed(Failure.RAISED, f"it raised {type(error).__name__}: {error}")
        return request.decide(job.result)

    def state(self) -> str:
        """Return how it is, in a word."""
        return "stopped" if self._stopped else "ready"

    def trouble(self) -> HookFailed | None:
        """A function can always be called."""
        return None

    def begin_stop(self) -> None:
        """Let idle threads end; a thread that is busy ends when its function returns."""
        with self._lock:
            self._stopped = True
            idle = list(self._idle)
            self._idle.clear()
        for worker in idle:
            worker.give(None)

    def stop(self) -> None:
        """Let go of the threads."""
        self.begin_stop()

    def _worker(self) -> _Worker:
        self._workers += 1
        return _Worker(f"recollect-hook-{self._name}", self._take_back)

    def _take_worker(self) -> _Worker:
        with self._lock:
            if self._stopped:
                raise HookFailed(Failure.NOT_READY, "it is not ready: it was stopped")
            if self._idle:
                return self._idle.pop()
            if self._workers >= _THREADS:
                raise HookFailed(Failure.BUSY, f"all of its {_THREADS} threads are busy")
            return self._worker()

    def _take_back(self, worker: _Worker, job: _Job) -> bool:
        """Take a worker back after its job; return whether it should go on."""
        with self._lock:
            job.finished = True
            late, stopped = job.abandoned, self._stopped
            if not stopped:
                self._idle.append(worker)
        if late:
            self._meter.count("late")
        job.done.release()
        return not stopped


class _Job:
    """One call of the function."""

    __slots__ = ("_function", "_request", "abandoned", "done", "error", "finished", "result")

    def __init__(self, function: Function, request: Request) -> None:
        self._function = function
        self._request = request
        self.done = threading.Lock()
        self.done.acquire()
        self.finished = self.abandoned = False
        self.result: object = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Call the function and keep whatever comes of it."""
        try:
            self.result = self._function(self._request.arguments())
        except BaseException as error:  # noqa: BLE001 - also sys.exit: it must not end our thread
            self.error = error


class _Worker:
    """A thread that does one job after the other."""

    def __init__(self, name: str, back: Callable[[_Worker, _Job], bool]) -> None:
        self._given = threading.Semaphore(0)
        self._job: _Job | None = None
        self._take_back = back
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def give(self, job: _Job | None) -> None:
        """Hand over a job; None ends the thread."""
        self._job = job
        self._given.release()

    def _work(self) -> None:
        while True:
            self._given.acquire()
            job = self._job
            if job is None:
                return
            job.run()
            if not self._take_back(self, job):
                return
