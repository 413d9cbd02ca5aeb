"""One question to one hook, whatever runs it.

In: a payload and the hook's name. Out: a line for a process, a dictionary for a function, and the
decision that a reply means. The payload becomes JSON once for all the hooks that see it unchanged.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from recollect.hooks.decisions import decision_of
from recollect.hooks.failure import Failure, HookFailed

if TYPE_CHECKING:
    from recollect.hooks.decisions import Decision
    from recollect.hooks.payload import Payload

__all__ = ["EncodedPayload", "Executor", "Request"]


def _plain(value: object) -> object:
    """Return what JSON can hold for a value that it cannot."""
    return dict(value) if isinstance(value, Mapping) else str(value)


_compact = json.JSONEncoder(separators=(",", ":"), default=_plain).encode
_quoted = functools.lru_cache(maxsize=256)(_compact)


class EncodedPayload:
    """A payload, and its JSON once somebody needs it."""

    __slots__ = ("_json", "payload")

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self._json: str | None = None

    @property
    def json(self) -> str:
        """The payload as JSON on one line, ASCII only."""
        if self._json is None:
            try:
                self._json = _compact(self.payload.values)
            except (TypeError, ValueError, RecursionError) as error:
                raise HookFailed(
                    Failure.NOT_STARTED, f"its payload cannot be written as JSON: {error}"
                ) from error
        return self._json


class Request:
    """What one hook is asked."""

    __slots__ = ("_hook", "_written")

    def __init__(self, written: EncodedPayload, hook: str) -> None:
        self._written = written
        self._hook = hook

    def line(self, number: int, seconds: float) -> bytes:
        """Return the request as a process reads it; `number` is its id."""
        written = self._written
        return (
            f'{{"v":1,"id":"{number}","event":"{written.payload.event}"'
            f',"hook":{_quoted(self._hook)},"deadline_ms":{max(1, int(seconds * 1000))}'
            f',"payload":{written.json}}}\n'
        ).encode("ascii")

    def arguments(self) -> dict[str, Any]:
        """Return the payload as a function gets it: what a process would read, its own to keep."""
        arguments: dict[str, Any] = json.loads(self._written.json)
        return arguments

    def decide(self, reply: object) -> Decision:
        """Return what a reply means."""
        return decision_of(reply, self._written.payload.shape)


class Executor(Protocol):
    """What runs a hook. Whatever happens, `call` is back in time: a decision or `HookFailed`."""

    def start(self) -> None:
        """Make ready, without waiting."""

    def wait_until_settled(self, seconds: float) -> None:
        """Wait until it is ready, or is known not to be."""

    def call(self, request: Request, seconds: float) -> Decision:
        """Ask the hook; the answer must come within so many seconds."""

    def state(self) -> str:
        """Return how it is, in a word."""

    def trouble(self) -> HookFailed | None:
        """Return why it cannot be asked, None when it can."""

    def begin_stop(self) -> None:
        """Begin to stop, without waiting."""

    def stop(self) -> None:
        """Stop for good: when this returns, nothing of it is left running."""
