"""How long to wait before asking a server again. Pure: neither clock nor chance is read here.

Attempts, chance and the server's own wish come in as arguments; seconds go out.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["Backoff", "retry_after_s"]


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double from the first to the longest, each shortened by chance to its half."""

    attempts: int = 4
    first_s: float = 0.5
    longest_s: float = 30.0

    def allows_more(self, attempt: int, *, server_wait_s: float = 0.0) -> bool:
        """Say whether another try may follow; a server that asks for too long a wait ends it."""
        return attempt + 1 < self.attempts and server_wait_s <= self.longest_s

    def wait_s(self, attempt: int, *, chance: float, server_wait_s: float = 0.0) -> float:
        """Return the wait after attempt 0, 1, …; never shorter than the server asked for."""
        full = min(self.longest_s, self.first_s * 2.0**attempt)
        return max(server_wait_s, full * (0.5 + 0.5 * chance))


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the seconds a Retry-After header asks for; 0 when it is absent or unreadable.

    A date is read against the answer's own Date header: the server's clock, not ours.
    """
    wait = headers.get("Retry-After", "")
    if wait.isascii() and wait.isdigit():
        return float(wait)
    until, now = _date(wait), _date(headers.get("Date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else 0.0


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (OverflowError, ValueError):
        return None
    # HTTP dates are in GMT; a date without a zone is not one, and cannot be compared.
    return moment if moment.tzinfo else None
