"""What a server refuses, as the error that it was there.

In: status and body of an answer that is none. Out: an error of the one tree, found by its `code`,
with the server's words and hint. A code that this release does not know is its nearest by status.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recollect import errors
from recollect.errors import HookDenied, RecollectError, ServerError

__all__ = ["refusal"]

_CLASSES = {
    one.code: one
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, RecollectError)
}
_BY_STATUS: Mapping[int, type[RecollectError]] = {
    401: errors.KeyNeeded,
    403: errors.NotAllowed,
    413: errors.BodyTooLarge,
    429: errors.TooManyRequests,
}
_FIRST_OF_THE_SERVER = 500


def refusal(status: int, body: bytes, *, retry_after: str | None) -> RecollectError:
    """Return the error that a server gave."""
    told = _problem_in(body)
    kind = _CLASSES.get(str(told.get("code"))) or _by_status(status)
    message = str(told.get("detail") or f"the server answered with status {status}.")
    hint = str(told.get("hint") or "")
    if issubclass(kind, ServerError):
        return kind(message, hint=hint, retry_after_s=_seconds(retry_after))
    # Some say more of themselves than words, and take it apart when they are made.
    error = kind.__new__(kind)
    RecollectError.__init__(error, message, hint=hint)
    if isinstance(error, HookDenied):
        error.event, error.reason, error.status = _denied(message, status)
    if isinstance(error, errors.HookConfigError):
        error.path = error.line = error.field = None
    return error


def _denied(message: str, status: int) -> tuple[str, str, int]:
    """Return event, reason and status of a denial, which stand in its words in that order."""
    before, _, reason = message.partition("): ")
    event, _, own = before.partition(" was denied (")
    return event.rpartition(" ")[2], reason or message, int(own) if own.isdigit() else status


def _problem_in(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _by_status(status: int) -> type[RecollectError]:
    if status >= _FIRST_OF_THE_SERVER:
        return ServerError
    return _BY_STATUS.get(status, errors.InvalidInput)


def _seconds(retry_after: str | None) -> float:
    try:
        return max(0.0, float(retry_after or 1.0))
    except ValueError:
        return 1.0
