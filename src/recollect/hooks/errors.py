"""What can go wrong with hooks: errors for callers, and one that stays inside.

    HookError                   (RecollectError)   something about hooks
    ├── HookConfigError         (ValueError)       hooks.toml, or a registration, is wrong
    └── HookDenied              (PermissionError)  a hook refused the operation

`HookFailed` never reaches a caller: the chain turns it into an allowance or a denial.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from recollect.errors import RecollectError

__all__ = ["Failure", "HookConfigError", "HookDenied", "HookError", "HookFailed"]


class HookError(RecollectError):
    """Something is wrong with a hook or its configuration."""

    code = "hook_error"


class HookConfigError(HookError, ValueError):
    """A hook is configured wrongly; whatever was loaded before is still in force."""

    code = "hook_config"

    def __init__(
        self,
        problem: str,
        *,
        path: Path | None = None,
        line: int | None = None,
        field: str | None = None,
        hint: str = "",
    ) -> None:
        where = [str(path)] if path else []
        where += [f"line {line}"] if line else []
        where += [f"field {field}"] if field else []
        super().__init__(f"{', '.join(where)}: {problem}" if where else problem, hint=hint)
        self.path, self.line, self.field = path, line, field


class HookDenied(HookError, PermissionError):
    """A hook refused the operation; nothing was written."""

    code = "hook_denied"

    def __init__(self, event: str, reason: str, status: int) -> None:
        super().__init__(
            f"{event} was denied ({status}): {reason}",
            hint="`recollect hooks list` shows the hooks; the one that denied gave the reason.",
        )
        self.event, self.reason, self.status = event, reason, status

    def of_item(self, number: int) -> HookDenied:
        """Return the same about one of many."""
        same = HookDenied(self.event, self.reason, self.status)
        same.message = f"item {number}: {self.message}"
        same.args = (same.message,)
        return same


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
