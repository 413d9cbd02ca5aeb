"""`Hooks`: what is in force, and the handle that callers see as `memory.hooks`.

In: payloads from the engine's verbs; a file of hooks; functions registered in code. Out: what the
hooks made of them. The chain in force is swapped whole, so a reload never meets half a recall.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from recollect.errors import HookConfigError
from recollect.hooks.chain import K_MAX, HookChain
from recollect.hooks.config import check_registration, load
from recollect.hooks.decisions import AskUser, Denied
from recollect.hooks.events import EventClass
from recollect.hooks.post_queue import PostQueue
from recollect.hooks.recall import apply_pre_recall_expand
from recollect.hooks.registry import ExecutorRegistry
from recollect.hooks.spec import HookSpec, with_unique_names

if TYPE_CHECKING:
    from recollect.hooks.chain import ChainResult, Check
    from recollect.hooks.decisions import PreRecallOutcome
    from recollect.hooks.events import HookEvent
    from recollect.hooks.payload import Payload
    from recollect.hooks.spec import FailMode, Function

__all__ = ["Asker", "Hooks"]

Asker = Callable[[AskUser], str]
_log = logging.getLogger("recollect.hooks")


class Hooks:
    """The hooks of one memory: those of its file, and those registered in code."""

    def __init__(self, path: Path | None = None, *, k_max: int = K_MAX) -> None:
        self._path = path
        self._k_max = k_max
        self._changing = threading.Lock()
        self._registry = ExecutorRegistry()
        self._queue = PostQueue(self._deliver)
        self._asker: Asker | None = None
        self._from_file: tuple[HookSpec, ...] = ()
        self._registered: tuple[HookSpec, ...] = ()
        self._chain = HookChain((), k_max=k_max)
        self._problem: HookConfigError | None = None
        self._reloads = 0
        if path is not None:
            self._from_file = load(path)
            self._put_in_force()

    @property
    def path(self) -> Path | None:
        """The file that the hooks come from."""
        return self._path

    def list(self) -> Sequence[HookSpec]:
        """Return every hook, in the order of the file and then of registration."""
        return self._chain.hooks

    def register(
        self,
        event: str,
        function: Function,
        *,
        priority: int = 0,
        timeout_ms: int | None = None,
        namespace: str = "*",
        fail_mode: FailMode = "open",
        name: str | None = None,
    ) -> HookSpec:
        """Add a function as a hook; it gets the payload and returns a decision, or None to allow.

        Decisions are those of `recollect.hooks.sdk`: `allow`, `modify`, `deny` and `ask_user`.
        """
        given = {
            "event": event,
            "priority": priority,
            "namespace": namespace,
            "fail_mode": fail_mode,
            **({} if timeout_ms is None else {"timeout_ms": timeout_ms}),
        }
        fields = check_registration(function, given)
        spec = HookSpec(name=name or "", mode="python", function=function, **fields)
        with self._changing:
            taken = [hook.name for hook in self._chain.hooks]
            (spec,) = with_unique_names([replace(spec, name=spec.name or spec.own_name())], taken)
            self._registered = (*self._registered, spec)
            self._put_in_force()
        return spec

    def unregister(self, name: str) -> bool:
        """Remove a function that was registered; return whether there was one of that name."""
        with self._changing:
            left = tuple(hook for hook in self._registered if hook.name != name)
            found = len(left) < len(self._registered)
            self._registered = left
            self._put_in_force()
        return found

    def on_ask(self, asker: Asker | None) -> None:
        """Have questions of hooks put to a person: the function returns the chosen option.

        Without one, the question's default decides. Recalls are never held up by questions.
        """
        self._asker = asker

    def reload(self) -> Sequence[HookSpec]:
        """Read the file again. A file that is wrong raises, and the hooks in force stay."""
        if self._path is None:
            return self.list()
        with self._changing:
            try:
                self._from_file = load(self._path)
            except HookConfigError as error:
                self._problem = error
                _log.error("hooks stay as they were: %s", error)
                raise
            self._problem = None
            self._reloads += 1
            self._put_in_force()
        _log.info("hooks were loaded again from %s", self._path)
        return self.list()

    def reload_on_sighup(self) -> None:
        """Read the file again whenever this process gets SIGHUP; for a program's main thread.

        Nothing does this by itself: a signal handler belongs to the program, not to a library. A
        handler that was there before is still called.
        """
        previous = signal.getsignal(signal.SIGHUP)

        def reload(number: int, frame: FrameType | None) -> None:
            # Not here: the signal may have come while this very thread was in a reload.
            threading.Thread(target=self._try_reload, daemon=True).start()
            if callable(previous):
                previous(number, frame)

        try:
            signal.signal(signal.SIGHUP, reload)
        except ValueError:
            raise HookConfigError(
                "SIGHUP can be listened to by the main thread only.",
                hint="call reload_on_sighup() there, or call reload() yourself.",
            ) from None

    @property
    def is_idle(self) -> bool:
        """Whether there is no hook at all: then nothing is even prepared for one."""
        return not self._chain.hooks

    def expand(self, query: str, namespace: str, k: int) -> PreRecallOutcome:
        """Let hooks rewrite or refuse a recall before anything else happens to it."""
        return apply_pre_recall_expand(query, namespace, k, self._chain, self._registry)

    def listens(self, event: HookEvent) -> bool:
        """Return whether any enabled hook wants to hear of the event."""
        return self._chain.listens(event)

    def before(self, payload: Payload, check: Check | None = None) -> ChainResult:
        """Let hooks change or refuse what is about to happen; the caller looks at `denied`.

        A question on the way of a write is put to a person, or decided by its default; on the way
        of a read it only leaves a warning.
        """
        result = self._chain.fire(payload, self._registry, check)
        if payload.event.event_class is EventClass.WRITE:
            return self._answer_questions(result)
        return result.without_questions()

    def after(self, payload: Payload) -> None:
        """Tell hooks what was done, without waiting for them."""
        if self._chain.listens(payload.event):
            self._queue.put(payload)

    def stats(self) -> dict[str, Any]:
        """Return how each hook is and what it did: counters, latencies, its last failure."""
        return {
            "file": None if self._path is None else str(self._path),
            "problem": None if self._problem is None else str(self._problem),
            "reloads": self._reloads,
            "post": self._queue.stats(),
            "hooks": [
                {"hook": hook.name, "event": hook.event.value, "mode": hook.mode}
                | self._registry.stats(hook)
                for hook in self.list()
            ],
        }

    def close(self) -> None:
        """Tell what is still queued, then stop every process; closing twice is fine."""
        self._queue.close()
        self._registry.close()

    def _deliver(self, payload: Payload) -> None:
        self._chain.fire(payload, self._registry)

    def _answer_questions(self, result: ChainResult) -> ChainResult:
        if result.denied is not None:
            return result
        for ask in result.asks:
            answer = ask.default if self._asker is None else self._asker(ask)
            if answer != ask.options[0]:
                reason = f"{ask.prompt} Answer: {answer or 'nobody was there to ask'}"
                return replace(result, denied=Denied(reason))
        return result

    def _try_reload(self) -> None:
        with suppress(HookConfigError):  # it was logged, and `stats` tells of it
            self.reload()

    def _put_in_force(self) -> None:
        from_file = tuple(
            with_unique_names(self._from_file, [hook.name for hook in self._registered])
        )
        hooks = (*from_file, *self._registered)
        self._registry.start(hooks)
        self._chain = HookChain(hooks, k_max=self._k_max)
        self._registry.retire_all_but(hooks)
