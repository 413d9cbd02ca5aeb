"""How a hook fails. What callers see of hooks is in `recollect.errors`.

`HookFailed` never reaches a caller: the chain turns it into an allowance or a denial.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Failure", "HookFailed"]


class Failure(StrEnum):
    """How a hook failed."""

    TIMEOUT = "timeout"
    BAD_REPLY = "bad_reply"
    EXITED = "exited"
    NOT_READY = "not_ready"
    NOT_STARTED = "not_started"
    BREAKER_OPEN = "breaker_open"
    BUSY = "busy"
    FLOOD = "flood"
    RAISED = "raised"


class HookFailed(Exception):
    """A hook gave no usable decision; `stderr` is the end of what it wrote there."""

    def __init__(self, kind: Failure, detail: str, *, stderr: str = "") -> None:
        super().__init__(detail)
        self.kind, self.detail, self.stderr = kind, detail, stderr

    def in_full(self, stderr_chars: int = 4096) -> str:
        """Return what happened, with the end of stderr."""
        said = f"; stderr ended with: {self.stderr[-stderr_chars:]}" if self.stderr else ""
        return f"{self.kind}: {self.detail}{said}"

    @property
    def status(self) -> int:
        """The code of the denial when the hook is closed: 504 when time ran out, else 503."""
        return 504 if self.kind is Failure.TIMEOUT else 503
