"""One request until it is answered: what is sent, what is sent again, when, and what came of it.

A generator asks for steps, to send or to wait, and is given what came back: so a transport that
blocks and one that is awaited carry out the same. Nothing here opens a connection. What may be sent
again is what changes nothing, and a write under a name that the server knows it by.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias, TypeVar

from recollect.edge.remote.refusals import refusal
from recollect.errors import RecollectError, ServerError, ServerTooSlow, ServerUnreachable
from recollect.values import dataclass

__all__ = ["Lost", "Pause", "Reply", "Sent", "Step", "Steps", "delivered", "failure"]

Answer = TypeVar("Answer")
# A server that wants to be left alone for longer is told to the caller.
_LONGEST_PAUSE_S = 5.0
_FIRST_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A request. `repeats`: it may be sent again although nobody knows whether it arrived."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    lines: Iterable[str] | None = None
    headers: tuple[tuple[str, str], ...] = ()
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    status: int
    body: bytes
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer: what went wrong, whether it took too long, whether anything was sent at all."""

    words: str
    is_late: bool = False
    was_sent: bool = True


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so long."""

    seconds: float


Step: TypeAlias = Sent | Pause
Steps: TypeAlias = Generator[Step, Any, Answer]


def delivered(request: Sent, *, retries: int) -> Steps[dict[str, Any]]:
    """Send a request until it is answered; give the object that answers it."""
    for left in range(retries, -1, -1):
        came = yield request
        error = failure(came)
        if error is None:
            return _object(came)
        pause = _pause(request, came, error, nth=retries - left) if left else None
        if pause is None:
            raise error
        yield Pause(pause)
    raise AssertionError("the last one returns or raises")


def failure(came: Reply | Lost) -> RecollectError | None:
    """Return the error that came back, if one did."""
    if isinstance(came, Lost):
        kind: Callable[..., ServerError] = ServerTooSlow if came.is_late else ServerUnreachable
        return kind(came.words, hint="look whether it runs; what was begun may be done.")
    if came.status < 400:
        return None
    return refusal(came.status, came.body, retry_after=came.retry_after)


def _pause(request: Sent, came: Reply | Lost, error: RecollectError, *, nth: int) -> float | None:
    """Return how long to wait before it is sent again; None: it is not."""
    if isinstance(came, Lost):
        may = not came.is_late and (request.repeats or not came.was_sent)
        return _FIRST_PAUSE_S * 2**nth if may else None
    # Refused before it was begun: busy, too often, a lock that another held.
    if not came.retry_after or not (request.repeats or isinstance(error, ServerError)):
        return None
    if isinstance(error, ServerTooSlow) and not request.repeats:
        return None
    wanted = error.retry_after_s if isinstance(error, ServerError) else float(came.retry_after)
    return wanted if wanted <= _LONGEST_PAUSE_S else None


def _object(came: Reply) -> dict[str, Any]:
    try:
        told = json.loads(came.body)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        raise ServerUnreachable(
            "what answers there is no Recollect.", hint="give the address that serve printed."
        )
    return told
