"""Keys: how a program on the other side of a door says which principal it is.

In: random bytes, or a key as a caller presents it. Out: the key to hand out once, what of it may be
stored, and whether two match. A stored row gives nobody a key: it holds a hash of 256 random bits.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from recollect.errors import NotAllowed
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.model import Principal

__all__ = [
    "PREFIX_BYTES",
    "SECRET_BYTES",
    "IssuedKey",
    "KeyRow",
    "invalid_key",
    "is_living",
    "matches",
    "new_key",
    "prefix_of",
    "public_part",
    "store_of",
]

PREFIX_BYTES = 6
SECRET_BYTES = 32
_PREFIX = re.compile(r"[0-9a-f]{12}")
# Prefix and secret have their lengths, so a store's name may have a line or two in it.
_KEY = re.compile(r"rk_(?:([a-z0-9][a-z0-9_-]*)_)?([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as it is stored: who it stands for and until when, but not the key."""

    prefix: str
    digest: str
    principal: Principal
    name: str
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A key as it is shown, once: a request that is sent again is told the row alone."""

    secret: str | None
    row: KeyRow


def new_key(prefix: bytes, secret: bytes, store: str | None = None) -> tuple[str, str, str]:
    """Return a key's public prefix, the key, and the digest to store.

    A key of a store among others names it: whoever gets the key knows where to look.
    """
    name = prefix.hex()
    place = name if store is None else f"{store}_{name}"
    key = f"rk_{place}_{base64.urlsafe_b64encode(secret).decode().rstrip('=')}"
    return name, key, _digest(key)


def prefix_of(key: object) -> str:
    """Return the public part by which a key is looked up."""
    found = _KEY.fullmatch(key) if isinstance(key, str) else None
    if found is None:
        raise invalid_key()
    return found[2]


def store_of(key: object) -> str | None:
    """Return the store that a key names; None if it names none, or is no key."""
    found = _KEY.fullmatch(key) if isinstance(key, str) else None
    return None if found is None else found[1]


def public_part(text: object) -> str | None:
    """Return the prefix that a text is, or that the key has which it is: that much may be noted."""
    if not isinstance(text, str):
        return None
    found = _KEY.fullmatch(text)
    if found is not None:
        return found[2]
    return text if _PREFIX.fullmatch(text) else None


def matches(key: str, row: KeyRow | None, *, now: str) -> bool:
    """Return whether a key is this row's and still good; takes as long for a row that is not."""
    stored = row.digest if row else _digest("")
    is_same = hmac.compare_digest(_digest(key), stored)
    return is_same and is_living(row, now=now)


def is_living(row: KeyRow | None, *, now: str) -> bool:
    """Return whether a key is there, was not revoked and has not expired."""
    if row is None or row.revoked_at is not None:
        return False
    return row.expires_at is None or now < row.expires_at


def invalid_key() -> NotAllowed:
    """Return the one answer to a key that is wrong, revoked, expired or unknown."""
    return NotAllowed("this key is not valid.", hint="create one with `recollect keys create`.")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
