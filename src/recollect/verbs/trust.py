"""Trust: how far the word of a source counts here. A number a source, ours alone.

In: a source and a number from 0 to 1. Out: the numbers that were set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect import check
from recollect.policy.permit import need
from recollect.policy.trust import UNKNOWN_SOURCE
from recollect.verbs.requests import Request, answered, keep, nothing, raise_if_repeated

if TYPE_CHECKING:
    from recollect.model import Principal
    from recollect.open_store import OpenStore

__all__ = ["Trust"]


class Trust:
    """One tenant's trust in its sources."""

    def __init__(self, open_store: OpenStore, principal: Principal) -> None:
        self._open_store = open_store
        self._principal = principal
        self._access = open_store.store.access

    def set(self, source: str, trust: float, *, request_id: str | None = None) -> None:
        """Say how far a source is trusted: the confidence of what it says is multiplied by that.

        It counts at once for what is already here. A source that nothing was said about counts in
        full, and by one half for facts that it ingested. Facts that are ingested while it is below
        one half wait in quarantine.
        """
        need(self._principal, "admin")
        name = check.filled_text("source", source)
        share = check.share("trust", trust, hint="1 is full trust.")
        body = [name, share]
        request = Request.of(
            self._open_store, self._principal, request_id, verb="trust.set", body=body
        )
        answered(request, lambda: self._set(name, share, request), told=nothing)

    def _set(self, source: str, share: float, request: Request | None) -> None:
        with self._open_store.administering(self._principal, "trust.set", source, str(share)):
            raise_if_repeated(request)
            self._access.set_trust(self._principal.tenant, source, share)
            keep(request, None)

    def of(self, source: str) -> float:
        """Return how far what a source ingests is trusted."""
        return self.list().get(source, UNKNOWN_SOURCE)

    def list(self) -> Mapping[str, float]:
        """Return the sources that something was said about."""
        need(self._principal, "read")
        self._open_store.check_open()
        self._open_store.need_living_key(self._principal)
        return self._access.trusts(self._principal.tenant)
