"""Errors as they leave: problem+json (RFC 9457), with a status for each class of the error tree.

In: an error. Out: a status and a body that say what went wrong and what to do next. What one may
not read and what is not there are one error by the time they come here.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from recollect import errors
from recollect.edge import wire

__all__ = ["MEDIA_TYPE", "STATUSES", "problem", "status_of"]

MEDIA_TYPE = "application/problem+json"


# The nearest class of an error's own line counts.
STATUSES: Mapping[type[errors.RecollectError], int] = {
    errors.RecollectError: 500,
    errors.StoreError: 500,
    errors.StoreUnavailable: 503,
    errors.StoreReadOnly: 403,
    errors.StoreFull: 507,
    errors.StoreBusy: 503,
    errors.StoreReplaced: 503,
    errors.StoreClosed: 503,
    errors.StoreDamaged: 500,
    errors.StoreTooNew: 500,
    errors.NotAllowed: 403,
    errors.UnknownPak: 404,
    errors.EmbedderError: 500,
    errors.EmbedderUnavailable: 503,
    errors.EmbedderBadAnswer: 502,
    errors.EmbedderMismatch: 409,
    errors.HookError: 500,
    errors.HookConfigError: 422,
    errors.HookDenied: 403,
    errors.InvalidInput: 422,
    errors.UnknownGarden: 404,
    errors.UnknownStore: 404,
    errors.StoreExists: 409,
    errors.UnknownFrame: 404,
    errors.UnknownKey: 404,
    errors.UnknownReceipt: 404,
    errors.FrameExists: 409,
    errors.FrameImmutable: 409,
    errors.PakIdTaken: 409,
    errors.RequestIdReused: 422,
    errors.BadBody: 400,
    errors.BodyTooLarge: 413,
    errors.BodyTooSlow: 408,
    errors.KeyNeeded: 401,
    errors.ServerError: 503,
    errors.ServerFault: 500,
    errors.TooManyRequests: 429,
    errors.NoSuchRoute: 404,
    errors.WrongMethod: 405,
}

_RETRY_SOON_S = 1.0
_KEY_NEEDED = 401


def status_of(error: errors.RecollectError) -> int:
    """Return the status of an error."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def problem(error: errors.RecollectError, request_id: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of an error."""
    status = status_of(error)
    headers = {"content-type": MEDIA_TYPE}
    if status == _KEY_NEEDED:
        headers["www-authenticate"] = "Bearer"
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        wait = getattr(error, "retry_after_s", _RETRY_SOON_S)
        headers["retry-after"] = str(max(1, round(wait + 0.5)))
    body: dict[str, Any] = {
        "type": f"urn:recollect:problem:{error.code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": error.message,
        "code": error.code,
        "hint": error.hint or None,
        "instance": f"urn:recollect:request:{request_id}",
    }
    return status, headers, wire.encode(body)
