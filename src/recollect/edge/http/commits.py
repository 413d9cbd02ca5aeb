"""How far a store has come, as a token that tells nobody what others did.

In: a write that was answered, or a read that must not be older than one. Out: a token, sealed with
the store's own id: two of one commit differ, none has an order, and how many writes lie between two
is not to be seen. Every worker reads the head of the store before it answers, so what was asked for
is there unless the store was put back to an older state.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, StoreBusy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.edge.http.stores import Served

__all__ = ["ASKED", "TOLD", "Commits"]

# What a reader asks with, and what tells it how far an answer has come.
ASKED = "recollect-at-least"
TOLD = "recollect-commit"
_NONCE, _PART = 12, 8
_MOST_KEPT = 4_096
_LENGTH = _NONCE + 3 * _PART


class Commits:
    """The tokens of one worker's stores; any other worker reads them, and a later server."""

    def __init__(self) -> None:
        # By the file, whose number is another's once a store was dropped and made again.
        self._keys: dict[tuple[str, int], bytes] = {}

    def token(self, served: Served) -> str:
        """Return how far a store has come, now that something was written there."""
        nonce = secrets.token_bytes(_NONCE)
        revision, commit_id = served.opener.head()
        plain = revision.to_bytes(_PART, "big") + _short(commit_id)
        key = self._key(served)
        sealed = _mixed(plain, key, nonce)
        return base64.urlsafe_b64encode(nonce + sealed + _seal(nonce + sealed, key)).decode()

    def asked(self, served: Served, headers: Mapping[str, str]) -> str | None:
        """Return the token that an answer must be at least of, if one was shown; refuse if not."""
        shown = headers.get(ASKED)
        if shown is None:
            return None
        wanted, wanted_id = self._read(served, shown)
        revision, commit_id = served.opener.head()
        if revision < wanted or (revision == wanted and _short(commit_id) != wanted_id):
            raise StoreBusy(
                "the store has not come as far as at_least asks.",
                hint="ask again in a while; one that was put back to a backup may never get there.",
            )
        return shown

    def _read(self, served: Served, shown: str) -> tuple[int, bytes]:
        try:
            raw = base64.b64decode(shown.encode("ascii", "replace"), b"-_", validate=True)
        except binascii.Error:
            raw = b""
        key, end = self._key(served), _LENGTH - _PART
        if len(raw) != _LENGTH or not hmac.compare_digest(_seal(raw[:end], key), raw[end:]):
            raise InvalidInput(
                "at_least is no commit of this store.",
                hint=f"send back what {TOLD} said in the answer to a write.",
            )
        plain = _mixed(raw[_NONCE:end], key, raw[:_NONCE])
        return int.from_bytes(plain[:_PART], "big"), plain[_PART:]

    def _key(self, served: Served) -> bytes:
        path = served.opener.path
        place = str(path), path.stat().st_ino if path.exists() else 0
        known = self._keys.get(place)
        if known is None:
            known = blake2b(served.opener.figures().store.encode(), person=b"at_least").digest()
            if len(self._keys) >= _MOST_KEPT:
                self._keys.clear()
            self._keys[place] = known
        return known


def _short(commit_id: str | None) -> bytes:
    return blake2b((commit_id or "").encode(), digest_size=_PART).digest()


def _mixed(plain: bytes, key: bytes, nonce: bytes) -> bytes:
    stream = blake2b(nonce, key=key, person=b"mix", digest_size=2 * _PART).digest()
    return bytes(one ^ other for one, other in zip(plain, stream, strict=True))


def _seal(sealed: bytes, key: bytes) -> bytes:
    return blake2b(sealed, key=key, person=b"seal", digest_size=_PART).digest()
