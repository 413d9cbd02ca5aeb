"""`RemoteRecollect`: a memory on a server, with the verbs and types of one that is open here.

A method is the signature of its twin in `Recollect` and what `calls` describes. What needs the file
itself is not here: backups, repairs, other principals.
"""

from __future__ import annotations

import functools
import inspect
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect.edge.remote.calls import CALLS, exported, given_to
from recollect.edge.remote.transports import Transport
from recollect.engine import Recollect
from recollect.frames.registry import FrameRegistry
from recollect.model import Principal
from recollect.verbs.catalogue import ViewedCatalogue
from recollect.verbs.gardens import Gardens
from recollect.verbs.keys import Keys
from recollect.verbs.quarantine import Quarantine
from recollect.verbs.trust import Trust

__all__ = [
    "RemoteFrames",
    "RemoteGardens",
    "RemoteKeys",
    "RemoteQuarantine",
    "RemoteRecollect",
    "RemoteTrust",
]

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class _Room:
    """What is asked of one server: verbs, sent over one transport."""

    def __init__(self, transport: Transport, retries: int) -> None:
        self._transport = transport
        self._retries = retries


def _sent(
    verb: Callable[Concatenate[Any, _Given], _Answer], name: str = ""
) -> Callable[Concatenate[Any, _Given], _Answer]:
    described, signature = CALLS[name or verb.__name__], inspect.signature(verb)

    @functools.wraps(verb)
    def call(self: _Room, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        given = given_to(signature, args, kwargs)
        steps = described.steps(given, retries=self._retries)
        answer: _Answer = self._transport.run(steps)
        return answer

    return call


class RemoteFrames(_Room):
    """The frames: register your own, look at, change and delete them."""

    register = _sent(FrameRegistry.register, "frames.register")
    update = _sent(FrameRegistry.update, "frames.update")
    list = _sent(FrameRegistry.list, "frames.list")
    get = _sent(FrameRegistry.get, "frames.get")
    extends = _sent(FrameRegistry.extends, "frames.extends")
    delete = _sent(FrameRegistry.delete, "frames.delete")
    invalidate = _sent(FrameRegistry.invalidate, "frames.invalidate")


class RemoteGardens(_Room):
    """Named access lists: make them, and say who is in them."""

    create = _sent(Gardens.create, "gardens.create")
    update = _sent(Gardens.update, "gardens.update")
    delete = _sent(Gardens.delete, "gardens.delete")
    list = _sent(Gardens.list, "gardens.list")
    members = _sent(Gardens.members, "gardens.members")
    add = _sent(Gardens.add, "gardens.add")
    remove = _sent(Gardens.remove, "gardens.remove")


class RemoteQuarantine(_Room):
    """Facts that wait for a moderator."""

    list = _sent(Quarantine.list, "quarantine.list")
    promote = _sent(Quarantine.promote, "quarantine.promote")
    reject = _sent(Quarantine.reject, "quarantine.reject")


class RemoteKeys(_Room):
    """Keys by which programs say who they are."""

    create = _sent(Keys.create, "keys.create")
    list = _sent(Keys.list, "keys.list")
    revoke = _sent(Keys.revoke, "keys.revoke")


class RemoteCatalogue(_Room):
    """The catalogue of the memories that may be read."""

    list = _sent(ViewedCatalogue.list, "catalogue.list")
    get = _sent(ViewedCatalogue.get, "catalogue.get")
    search = _sent(ViewedCatalogue.search, "catalogue.search")
    set_reason_codes = _sent(ViewedCatalogue.set_reason_codes, "catalogue.set_reason_codes")
    set_risk_flags = _sent(ViewedCatalogue.set_risk_flags, "catalogue.set_risk_flags")


class RemoteTrust(_Room):
    """How far the word of each source counts."""

    set = _sent(Trust.set, "trust.set")
    of = _sent(Trust.of, "trust.of")
    list = _sent(Trust.list, "trust.list")


class RemoteRecollect(_Room):
    """An agent's memory on a server; use it in a `with` statement.

    `url` is an address, or `unix:` and the path of a socket. `key` says who asks. A request that
    changes nothing, and a write, which is sent under a name of its own, are sent again up to
    `retries` times when the connection breaks or the server is busy: a write is done once. Each
    waits `timeout` seconds. `tls` is what certificates are checked by.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(Transport(url, key, timeout=timeout, tls=tls), retries)

    @property
    def frames(self) -> RemoteFrames:
        """The frames: register your own, look at, change and delete them."""
        return RemoteFrames(self._transport, self._retries)

    @property
    def gardens(self) -> RemoteGardens:
        """Named access lists: make them, and say who is in them."""
        return RemoteGardens(self._transport, self._retries)

    @property
    def quarantine(self) -> RemoteQuarantine:
        """Facts that wait for a moderator."""
        return RemoteQuarantine(self._transport, self._retries)

    @property
    def keys(self) -> RemoteKeys:
        """Keys by which programs say who they are."""
        return RemoteKeys(self._transport, self._retries)

    @property
    def trust(self) -> RemoteTrust:
        """How far the word of each source counts."""
        return RemoteTrust(self._transport, self._retries)

    @property
    def catalogue(self) -> RemoteCatalogue:
        """The catalogue of the memories that may be read."""
        return RemoteCatalogue(self._transport, self._retries)

    @property
    def principal(self) -> Principal:
        """Who asks, as the server knows it by the key."""
        return self.me()

    def me(self) -> Principal:
        """Return who asks, as the server knows it by the key."""
        who: Principal = self._transport.run(CALLS["me"].steps({}, retries=self._retries))
        return who

    remember = _sent(Recollect.remember)
    remember_many = _sent(Recollect.remember_many)
    update = _sent(Recollect.update)
    supersede = _sent(Recollect.supersede)
    history = _sent(Recollect.history)
    recall = _sent(Recollect.recall)
    frame = _sent(Recollect.frame)
    preview = _sent(Recollect.preview)
    select = _sent(Recollect.select)
    explain = _sent(Recollect.explain)
    why = _sent(Recollect.why)
    receipts = _sent(Recollect.receipts)
    inspect = _sent(Recollect.inspect)
    respond = _sent(Recollect.respond)
    get = _sent(Recollect.get)
    ids = _sent(Recollect.ids)
    list = _sent(Recollect.list)
    link = _sent(Recollect.link)
    dispute = _sent(Recollect.dispute)
    resolve = _sent(Recollect.resolve)
    disputes = _sent(Recollect.disputes)
    forget = _sent(Recollect.forget)
    archive = _sent(Recollect.archive)
    unarchive = _sent(Recollect.unarchive)
    touch = _sent(Recollect.touch)
    tidy = _sent(Recollect.tidy)
    ingest = _sent(Recollect.ingest)
    import_ = _sent(Recollect.import_)
    audit = _sent(Recollect.audit)
    retry_pending = _sent(Recollect.retry_pending)
    stats = _sent(Recollect.stats)

    def export(
        self,
        principal: Principal | None = None,
        *,
        everything: bool = False,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
    ) -> Iterator[str]:
        """Yield what whoever asks may read as lines of JSON, as they come from the server."""
        request = exported({"principal": principal, "everything": everything, "filter": filter})
        yield from self._transport.lines(request)

    def close(self) -> None:
        """Let go of the connections; closing twice is fine."""
        self._transport.close()

    def __enter__(self) -> RemoteRecollect:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
