"""Who is signed in: sessions of browsers, shared by all workers of a server, ended with it.

In: what may be noted of keys that were found good. Out: a name for a cookie, and what was noted,
for whoever brings it. A session is a file that is called by a digest of its name: no key is in it,
and none can be made of it. One that nobody used for a while is at its end (ADR-0082).
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from recollect.edge.http.identity import Noted
from recollect.values import dataclass

__all__ = ["Held", "Session", "Sessions", "form_token", "is_form_token"]

_NAME_BYTES = 32
_MOST_KEYS = 8


@dataclass(frozen=True, slots=True)
class Held:
    """What is noted of a key, and the name of whom it stands for."""

    who: str
    key: Noted


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is signed in. The first of its keys is who asks, unless it says otherwise."""

    name: str
    held: tuple[Held, ...]
    said: str = ""

    @property
    def key(self) -> Noted:
        """What is noted of the key of who asks."""
        return self.held[0].key

    def key_of(self, who: str) -> Noted | None:
        """Return what is noted of the key of another that may be asked as."""
        return next((one.key for one in self.held if one.who == who), None)

    def with_key(self, held: Held) -> tuple[Held, ...]:
        """Return the keys with one more, which comes first."""
        others = tuple(one for one in self.held if one.who != held.who)
        return (held, *others)[:_MOST_KEYS]


class Sessions:
    """The sessions of a server, in a folder of its own."""

    def __init__(
        self, folder: str | None, *, idle_seconds: float, clock: Callable[[], float]
    ) -> None:
        self._given = None if folder is None else Path(folder) / "sessions"
        self._own: Path | None = None
        self._idle_seconds = idle_seconds
        self._clock = clock

    def begin(self, held: tuple[Held, ...]) -> Session:
        """Begin a session; what nobody used any more is cleared away."""
        self._clear()
        session = Session(secrets.token_urlsafe(_NAME_BYTES), held)
        self._write(session)
        return session

    def find(self, name: str | None) -> Session | None:
        """Return a session that is not at its end; it was used now."""
        if not name:
            return None
        path = self._path(name)
        try:
            is_over = self._is_over(path)
            told = json.loads(path.read_bytes())
        except OSError:
            return None
        if is_over:
            path.unlink(missing_ok=True)
            return None
        self._use(path)
        held = tuple(Held(who, Noted(*key)) for who, *key in told["held"])
        return Session(name, held, told["said"])

    def say(self, session: Session, said: str) -> None:
        """Keep a sentence for the next page; nothing is said when it was."""
        self._write(replace(session, said=said))

    def end(self, name: str | None) -> None:
        """End a session: its name opens nothing any more."""
        if name:
            self._path(name).unlink(missing_ok=True)

    def first_with(self, code: str) -> bool:
        """Return whether nobody came in with this code before: it is good for one."""
        try:
            (self._folder() / f"code-{_digest(code)}").touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            return False
        return True

    def close(self) -> None:
        """Clear away what no server of this folder's needs."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)

    def _folder(self) -> Path:
        if self._given is not None:
            self._given.mkdir(mode=0o700, exist_ok=True)
            return self._given
        if self._own is None:
            self._own = Path(tempfile.mkdtemp(prefix="recollect-sessions-"))
        return self._own

    def _path(self, name: str) -> Path:
        return self._folder() / _digest(name)

    def _write(self, session: Session) -> None:
        held = [(one.who, one.key.kind, one.key.store, one.key.prefix) for one in session.held]
        told = json.dumps({"held": held, "said": session.said}).encode()
        path = self._path(session.name)
        beside = path.with_name(f"new-{secrets.token_hex(8)}")
        # Written whole or not at all: another worker may be reading it.
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(told)
        beside.replace(path)
        self._use(path)

    def _use(self, path: Path) -> None:
        now = self._clock()
        os.utime(path, (now, now))

    def _is_over(self, path: Path) -> bool:
        return self._clock() - path.stat().st_mtime > self._idle_seconds

    def _clear(self) -> None:
        for path in self._folder().iterdir():
            if not path.name.startswith("code-") and self._is_over(path):
                path.unlink(missing_ok=True)


def form_token(name: str) -> str:
    """Return the token that forms of a session are sent with."""
    return blake2b(b"form", key=name.encode()[:64], digest_size=16).hexdigest()


def is_form_token(shown: str | None, name: str) -> bool:
    """Return whether a form comes from a page of this session."""
    return shown is not None and hmac.compare_digest(shown.encode(), form_token(name).encode())


def _digest(name: str) -> str:
    return blake2b(name.encode(), digest_size=20).hexdigest()
