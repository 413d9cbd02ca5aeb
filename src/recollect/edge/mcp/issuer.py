"""Tokens of an outside issuer: who somebody is, by a signature that we can check.

In: a bearer token, and what the operator said of the issuer. Out: a principal, or `KeyNeeded`. The
issuer's keys are fetched from where it says that they are, kept for a while, and fetched again when
a token names one that is not among them; while it is out of reach they hold for an hour. A token
must be for us and for now; which claims are the tenant and the principal is configured, and what it
may do is in its scopes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import jwt

from recollect.edge.http.identity import key_needed
from recollect.edge.http.options import LOOPBACK, OutsideIssuer
from recollect.errors import InvalidInput, KeyNeeded
from recollect.model import Principal

__all__ = ["SCOPES", "Issuer", "check_issuer", "metadata"]

# What a scope lets its holder do.
SCOPES = {"recollect:read": "read", "recollect:write": "write"}
# Signatures that take a key which the issuer keeps to itself.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
_KEPT_S = 300.0
# A token with a key that nobody knows makes us ask again, and so does an issuer that did not
# answer, but not more often than this.
_SELDOM_S = 10.0
# So long an issuer may be out of reach: a short outage shuts nobody out, and a key that it took
# back meanwhile is good no longer than most tokens are.
_OUTAGE_S = 3_600.0
# What may come of asking for keys, and of looking at a token.
_NO_ANSWER = (jwt.PyJWTError, httpx2.HTTPError, ValueError, KeyError, TypeError)
_TIMEOUT_S = 5.0
_CLOCKS_DIFFER_S = 30


def check_issuer(given: OutsideIssuer) -> None:
    """Refuse an issuer that could be somebody else's, or that no client could use."""
    for name, url in (("--issuer", given.issuer), ("--resource", given.resource)):
        parts = urlsplit(url)
        is_private = parts.scheme == "http" and parts.hostname in LOOPBACK
        if not parts.hostname or not (parts.scheme == "https" or is_private):
            raise InvalidInput(f"{name} {url!r:.200} is no https address.", hint="https://…")


def metadata(given: OutsideIssuer) -> dict[str, Any]:
    """Return what a client reads to find the issuer (RFC 9728)."""
    return {
        "resource": given.resource,
        "authorization_servers": [given.issuer],
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": "Recollect",
    }


class Issuer:
    """One issuer, and its keys."""

    def __init__(
        self, given: OutsideIssuer, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._given = given
        self._clock = clock
        self._renewing = threading.Lock()
        self._keys: Mapping[str, Any] = {}
        # When the issuer told its keys last, and when it was asked last.
        self._heard_at: float | None = None
        self._tried_at: float | None = None

    def principal_of(self, token: str) -> Principal:
        """Return who showed a token; anything wrong with it is one and the same answer."""
        try:
            claims = self._claims(token)
            return self._principal(claims)
        except (*_NO_ANSWER, InvalidInput):
            raise _refused() from None

    def _claims(self, token: str) -> dict[str, Any]:
        key = self._key(str(jwt.get_unverified_header(token).get("kid", "")))
        claims: dict[str, Any] = jwt.decode(
            token,
            key=key,
            algorithms=list(_ALGORITHMS),
            audience=self._given.resource,
            issuer=self._given.issuer,
            leeway=_CLOCKS_DIFFER_S,
            options={"require": ["exp", "iss", "aud", self._given.principal_claim]},
        )
        return claims

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        given = self._given
        tenant = claims[given.tenant_claim] if given.tenant_claim else "local"
        teams = claims.get(given.teams_claim, ()) if given.teams_claim else ()
        scopes = claims.get("scope", claims.get("scp", ""))
        named = scopes.split() if isinstance(scopes, str) else scopes
        allowed = tuple(SCOPES[one] for one in named if one in SCOPES)
        return Principal(tenant, claims[given.principal_claim], tuple(teams), allowed)  # type: ignore[arg-type]

    def _key(self, kid: str) -> Any:
        """Return a key of the issuer's; those that are old, or lack it, are fetched again.

        An issuer that does not answer is asked again soon, and what it said last holds for a while.
        """
        if self._is_due(kid):
            with self._renewing:
                if self._is_due(kid):
                    self._renew()
        if self._heard_at is None or self._clock() - self._heard_at > _OUTAGE_S:
            raise KeyError(kid)
        return self._keys[kid]

    def _is_due(self, kid: str) -> bool:
        now, heard, tried = self._clock(), self._heard_at, self._tried_at
        if tried is not None and now - tried <= _SELDOM_S:
            return False
        return heard is None or now - heard > _KEPT_S or kid not in self._keys

    def _renew(self) -> None:
        # Set first: while one waits for the issuer, others go on with what is known.
        self._tried_at = self._clock()
        with suppress(*_NO_ANSWER):
            self._keys = self._fetch()
            self._heard_at = self._tried_at

    def _fetch(self) -> Mapping[str, Any]:
        with httpx2.Client(timeout=_TIMEOUT_S) as client:
            told = client.get(str(self._where(client))).raise_for_status().json()
        if not isinstance(told, dict):
            raise TypeError("keys are told in an object")
        return {str(one.key_id): one for one in jwt.PyJWKSet.from_dict(told).keys}

    def _where(self, client: httpx2.Client) -> str:
        """Return where the issuer says that its keys are."""
        for address in _addresses(self._given.issuer):
            answer = client.get(address)
            told = answer.json() if answer.is_success else None
            if isinstance(told, dict) and told.get("issuer") == self._given.issuer:
                return str(told["jwks_uri"])
        raise KeyError("jwks_uri")


def _addresses(issuer: str) -> tuple[str, ...]:
    """Return where an issuer describes itself: RFC 8414, then as OpenID Connect has it."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    known = (
        f"/.well-known/oauth-authorization-server{path}",
        f"/.well-known/openid-configuration{path}",
        f"{path}/.well-known/openid-configuration",
    )
    return tuple(urlunsplit((parts.scheme, parts.netloc, one, "", "")) for one in known)


def _refused() -> KeyNeeded:
    needed = key_needed()
    return KeyNeeded(needed.message, hint="sign in again: this token is not good here.")
