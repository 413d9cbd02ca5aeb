"""The executors of the hooks that are in force, one each, and their meters.

In: hooks. Out: decisions. On a reload the new ones are started before the chain changes and the
removed ones stopped after it; those that did not change run on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from recollect.hooks.failure import Failure, HookFailed
from recollect.hooks.meters import Meter

if TYPE_CHECKING:
    from recollect.hooks.decisions import Decision
    from recollect.hooks.request import Executor, Request
    from recollect.hooks.spec import HookSpec
    from recollect.hooks.watchdog import Watchdog

__all__ = ["SETTLE_S", "ExecutorRegistry"]

# How long loading waits for daemons to be ready; slower ones go on in the background.
SETTLE_S = 2.0


class ExecutorRegistry:
    """What runs. Safe for threads; `close` leaves no process behind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executors: dict[tuple[object, ...], Executor] = {}
        self._meters: dict[str, Meter] = {}
        self._retired: set[tuple[object, ...]] = set()
        self._watchdog: Watchdog | None = None
        self._closed = False

    def start(self, hooks: Iterable[HookSpec], *, settle_s: float = SETTLE_S) -> None:
        """Start those enabled hooks that do not run yet, and wait a little until they are ready."""
        new = [hook for hook in hooks if hook.enabled and hook.executor_key not in self._executors]
        with self._lock:
            self._retired -= {hook.executor_key for hook in new}
        started = [self.executor(hook) for hook in new]
        ends = time.monotonic() + settle_s
        for executor in started:
            executor.wait_until_settled(ends - time.monotonic())

    def retire_all_but(self, hooks: Iterable[HookSpec]) -> None:
        """Stop what is not among the enabled hooks any more."""
        wanted = {hook.executor_key for hook in hooks if hook.enabled}
        with self._lock:
            gone = {runs: self._executors[runs] for runs in self._executors.keys() - wanted}
            for runs in gone:
                del self._executors[runs]
            self._retired |= gone.keys()
        _stop(list(gone.values()))

    def call(self, hook: HookSpec, request: Request, seconds: float) -> Decision:
        """Ask one hook; a system that is out of processes or threads is the hook's failure too."""
        try:
            executor = self._executors.get(hook.executor_key) or self.executor(hook)
            return executor.call(request, seconds)
        except (OSError, RuntimeError) as error:
            raise HookFailed(Failure.NOT_STARTED, f"the system refused: {error}") from error

    def executor(self, hook: HookSpec) -> Executor:
        """Return what runs a hook, starting it if nothing does yet."""
        with self._lock:
            if self._closed or hook.executor_key in self._retired:
                raise HookFailed(Failure.NOT_READY, "it is not ready: it was stopped")
            found = self._executors.get(hook.executor_key)
            if found is None:
                found = self._new_executor(hook)
                found.start()
                self._executors[hook.executor_key] = found
            return found

    def meter(self, hook: HookSpec) -> Meter:
        """Return the counters of a hook; they outlive a reload."""
        found = self._meters.get(hook.name)
        if found is None:
            with self._lock:
                found = self._meter(hook.name)
        return found

    def stats(self, hook: HookSpec) -> dict[str, Any]:
        """Return how a hook is and what it did so far."""
        executor = self._executors.get(hook.executor_key)
        state = "disabled" if not hook.enabled else executor.state() if executor else "stopped"
        return {"state": state, **self.meter(hook).to_dict()}

    def close(self) -> None:
        """Stop everything; closing twice is fine."""
        with self._lock:
            self._closed = True
            executors = list(self._executors.values())
            self._executors.clear()
            watchdog, self._watchdog = self._watchdog, None
        _stop(executors)
        if watchdog is not None:
            watchdog.close()

    def _new_executor(self, hook: HookSpec) -> Executor:
        # Loaded with the first hook: a memory without any need not wait for it.
        from recollect.hooks.daemon import DaemonExecutor
        from recollect.hooks.exec import ExecExecutor
        from recollect.hooks.in_process import PythonExecutor
        from recollect.hooks.watchdog import Watchdog

        meter = self._meter(hook.name)
        if hook.mode == "python":
            return PythonExecutor(hook, meter)
        if self._watchdog is None:
            self._watchdog = Watchdog()
        kind = DaemonExecutor if hook.mode == "daemon" else ExecExecutor
        return kind(hook, meter, self._watchdog)

    def _meter(self, name: str) -> Meter:
        return self._meters.setdefault(name, Meter())


def _stop(executors: list[Executor]) -> None:
    """Stop all at once: each may take its time to end, but they take it together."""
    for executor in executors:
        executor.begin_stop()
    for executor in executors:
        executor.stop()
