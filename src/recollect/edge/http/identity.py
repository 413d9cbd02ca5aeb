"""Who asks: the bearer key says it, and nothing else does.

In: the Authorization header of a request, or what a session has noted of a key that was shown
before. Out: a memory that acts for whoever that is. While a
store has no key at all, the local principal may read and write, if it shows the token that was
printed at the start or comes through the user's own socket; the first key ends that. A key that is
wrong, expired, revoked or missing is one and the same answer.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from recollect.errors import KeyNeeded, NotAllowed
from recollect.model import LOCAL_PRINCIPAL, Principal
from recollect.policy.keys import prefix_of, store_of
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.edge.http.options import ServerOptions
    from recollect.engine import Recollect

__all__ = [
    "LOCAL_READER",
    "Noted",
    "Presented",
    "bearer",
    "identify",
    "is_local_token",
    "is_operator",
    "is_owner_token",
    "key_needed",
    "noted",
]

# Whoever is at the machine, as far as a server lets it: the file itself is for the command line.
LOCAL_READER = Principal(permissions=("read", "write"))
_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class Noted:
    """A key that was found good, as it may be written down: by its public part, never itself.

    `kind` is "key", or "owner" or "local" for a token of the server's own.
    """

    kind: str
    store: str | None = None
    prefix: str = ""


Presented = str | Noted | None


def bearer(header: str | None) -> str | None:
    """Return the key in a header, if there is one."""
    if header is None or header[: len(_SCHEME)].lower() != _SCHEME:
        return None
    return header[len(_SCHEME) :].strip() or None


def noted(shown: str, options: ServerOptions) -> Noted:
    """Return what may be noted of a key that was found good."""
    if is_owner_token(shown, options):
        return Noted("owner")
    if _is_same(shown, options.token):
        return Noted("local")
    return Noted("key", store_of(shown), prefix_of(shown))


def identify(memory: Recollect, shown: Presented, options: ServerOptions) -> Recollect:
    """Return the memory as whoever showed this key may use it."""
    if is_owner_token(shown, options):
        return memory.as_principal(LOCAL_PRINCIPAL)
    if shown is not None and not _is_token(shown, options):
        try:
            return memory.as_principal(_principal(memory, shown))
        except NotAllowed:
            raise key_needed() from None
    came_in = shown is not None or options.socket is not None
    if came_in and options.is_local and not memory.keys.list():
        return memory.as_principal(LOCAL_READER)
    raise key_needed()


def _principal(memory: Recollect, shown: str | Noted) -> Principal:
    if isinstance(shown, Noted):
        return memory.keys.principal_by(shown.prefix)
    return memory.keys.principal_for(shown)


def is_operator(shown: str | None, options: ServerOptions) -> bool:
    """Return whether a key is the operator's, who looks after stores and reads no memory."""
    return _is_same(shown, options.operator_token)


def is_local_token(shown: Presented, options: ServerOptions) -> bool:
    """Return whether a key is the token that was printed at the start of a local server."""
    return options.is_local and _is_token(shown, options)


def is_owner_token(shown: Presented, options: ServerOptions) -> bool:
    """Return whether a key stands for whoever opened the file, on this machine."""
    return options.is_local and _is_the(shown, "owner", options.owner_token)


def key_needed() -> KeyNeeded:
    """Return the one answer to a key that is not good."""
    return KeyNeeded(
        "this takes a key.",
        hint="send Authorization: Bearer rk_…; `recollect keys create` makes one.",
    )


def _is_token(shown: Presented, options: ServerOptions) -> bool:
    return _is_the(shown, "local", options.token)


def _is_the(shown: Presented, kind: str, token: str | None) -> bool:
    if isinstance(shown, Noted):
        return shown.kind == kind and token is not None
    return _is_same(shown, token)


def _is_same(shown: str | None, known: str | None) -> bool:
    if shown is None or known is None:
        return False
    return hmac.compare_digest(shown.encode("utf-8", "replace"), known.encode())
