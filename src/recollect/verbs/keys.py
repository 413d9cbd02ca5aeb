"""Keys: made, shown once, looked up, ended.

In: who a key stands for, or a key that is presented. Out: the key, once; or the principal. Only
a hash of the secret is stored, so nobody can read a key out of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from recollect import check
from recollect.errors import InvalidInput, NotAllowed, RequestIdReused
from recollect.hours import iso
from recollect.policy.keys import (
    PREFIX_BYTES,
    SECRET_BYTES,
    IssuedKey,
    KeyRow,
    invalid_key,
    is_living,
    matches,
    new_key,
    prefix_of,
    public_part,
)
from recollect.policy.permit import need
from recollect.verbs.requests import Request, answered, keep, raise_if_repeated

if TYPE_CHECKING:
    from recollect.model import Principal
    from recollect.open_store import OpenStore

__all__ = ["Keys"]


class Keys:
    """The keys of one principal's tenant; whoever opened the file has those of all tenants."""

    def __init__(
        self,
        open_store: OpenStore,
        principal: Principal,
        *,
        of_all: bool,
        random_bytes: Callable[[int], bytes],
        store_name: str | None = None,
    ) -> None:
        self._open_store = open_store
        self._principal = principal
        self._of_all = of_all
        self._random_bytes = random_bytes
        self._store_name = store_name
        self._access = open_store.store.access

    def create(
        self,
        principal: Principal,
        *,
        name: str = "",
        expires_at: str | None = None,
        request_id: str | None = None,
    ) -> IssuedKey:
        """Make a key for a principal. Its secret is in the answer and nowhere else.

        A call that is repeated with the same `request_id` makes no other key and tells which one
        it made; the secret is None then. If nobody has it, revoke that key and make another.
        """
        need(self._principal, "admin")
        if not self._of_all and principal.tenant != self._principal.tenant:
            raise NotAllowed(
                f"{self._principal.id} makes no keys for another tenant.",
                hint="leave the tenant out.",
            )
        for permission in principal.permissions:
            need(self._principal, permission)
        body = [asdict(principal), name, expires_at]
        request = Request.of(
            self._open_store, self._principal, request_id, verb="key.create", body=body
        )
        return answered(
            request,
            lambda: self._create(principal, name, expires_at, request),
            told=lambda prefix: IssuedKey(None, self._made_before(prefix)),
        )

    def _create(
        self, principal: Principal, name: str, expires_at: str | None, request: Request | None
    ) -> IssuedKey:
        prefix, secret, digest = new_key(
            self._random_bytes(PREFIX_BYTES), self._random_bytes(SECRET_BYTES), self._store_name
        )
        now = self._open_store.clock.now()
        row = KeyRow(
            prefix=prefix,
            digest=digest,
            principal=principal,
            name=check.optional_text("name", name) or "",
            created_at=iso(now),
            expires_at=None if expires_at is None else _ahead(expires_at, now),
        )
        with self._open_store.administering(self._principal, "key.create", prefix, principal.id):
            raise_if_repeated(request)
            self._access.put_key(row)
            keep(request, prefix)
        return IssuedKey(secret, row)

    def _made_before(self, prefix: str) -> KeyRow:
        row = self._access.key(prefix)
        if row is None:
            raise RequestIdReused(
                f"this request made the key {prefix}, which is gone.",
                hint="send it under another request id to make another key.",
            )
        return row

    def list(self, tenant: str | None = None) -> tuple[KeyRow, ...]:
        """Return the keys, oldest first, without their secrets."""
        need(self._principal, "admin")
        self._open_store.check_open()
        self._open_store.need_living_key(self._principal)
        return tuple(self._access.keys(self._tenant(tenant)))

    def revoke(
        self, prefix: str, *, tenant: str | None = None, request_id: str | None = None
    ) -> bool:
        """End a key at once, by its prefix or all of it; return whether there was a living one."""
        need(self._principal, "admin")
        own, known = self._tenant(tenant), public_part(prefix)
        if known is None:
            return False
        body = [known, own]
        request = Request.of(
            self._open_store, self._principal, request_id, verb="key.revoke", body=body
        )
        return answered(request, lambda: self._revoke(known, own, request), told=bool)

    def _revoke(self, known: str, own: str | None, request: Request | None) -> bool:
        now = iso(self._open_store.clock.now())
        with self._open_store.administering(self._principal, "key.revoke", known):
            raise_if_repeated(request)
            key = self._access.key(known)
            is_there = key is not None and key.revoked_at is None
            if key is None or not is_there or own not in (None, key.principal.tenant):
                keep(request, False)
                return False
            self._access.put_key(replace(key, revoked_at=now))
            keep(request, True)
        return True

    def principal_for(self, secret: str) -> Principal:
        """Return who a key stands for; a wrong, revoked or expired key is one and the same."""
        prefix = prefix_of(secret)
        self._open_store.check_open()
        row = self._access.key(prefix)
        if not matches(secret, row, now=iso(self._open_store.clock.now())) or row is None:
            raise invalid_key()
        return replace(row.principal, key=prefix)

    def principal_by(self, prefix: str) -> Principal:
        """Return who a living key stands for, by its public part: the key itself was seen before.

        A session of a browser is kept so: what is written down of it gives nobody a key.
        """
        need(self._principal, "admin")
        self._open_store.check_open()
        row = self._access.key(prefix)
        if row is None or not is_living(row, now=iso(self._open_store.clock.now())):
            raise invalid_key()
        if self._tenant(row.principal.tenant) != row.principal.tenant:
            raise invalid_key()
        return replace(row.principal, key=prefix)

    def _tenant(self, tenant: str | None) -> str | None:
        """Return whose keys are meant; None, those of every tenant, for whoever opened the file."""
        return tenant if self._of_all else self._principal.tenant


def _ahead(expires_at: object, now: float) -> str:
    stamp = check.time_in_utc("expires_at", expires_at)
    if stamp <= iso(now):
        raise InvalidInput(
            f"expires_at must be a time to come, not {stamp}.", hint="2027-01-31T12:00:00Z"
        )
    return stamp
