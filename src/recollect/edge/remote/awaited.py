"""`AsyncRemoteRecollect`: a memory on a server, its verbs awaited, those of its rooms too.

A method is the signature of its twin in `Recollect` and one await of what `calls` describes. No
second implementation: a test compares the signatures.
"""

from __future__ import annotations

import functools
import inspect
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect.edge.remote.calls import CALLS, exported, given_to
from recollect.edge.remote.transports import AsyncTransport
from recollect.engine import Recollect
from recollect.frames.registry import FrameRegistry
from recollect.model import Principal
from recollect.verbs.catalogue import ViewedCatalogue
from recollect.verbs.gardens import Gardens
from recollect.verbs.keys import Keys
from recollect.verbs.quarantine import Quarantine
from recollect.verbs.trust import Trust

__all__ = [
    "AsyncRemoteFrames",
    "AsyncRemoteGardens",
    "AsyncRemoteKeys",
    "AsyncRemoteQuarantine",
    "AsyncRemoteRecollect",
    "AsyncRemoteTrust",
]

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class _Room:
    """What is asked of one server: verbs, sent over one transport."""

    def __init__(self, transport: AsyncTransport, retries: int) -> None:
        self._transport = transport
        self._retries = retries


def _awaited(
    verb: Callable[Concatenate[Any, _Given], _Answer], name: str = ""
) -> Callable[Concatenate[Any, _Given], Coroutine[Any, Any, _Answer]]:
    described, signature = CALLS[name or verb.__name__], inspect.signature(verb)

    @functools.wraps(verb)
    async def call(self: _Room, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        given = given_to(signature, args, kwargs)
        steps = described.steps(given, retries=self._retries)
        answer: _Answer = await self._transport.run(steps)
        return answer

    return call


class AsyncRemoteFrames(_Room):
    """The frames: register your own, look at, change and delete them."""

    register = _awaited(FrameRegistry.register, "frames.register")
    update = _awaited(FrameRegistry.update, "frames.update")
    list = _awaited(FrameRegistry.list, "frames.list")
    get = _awaited(FrameRegistry.get, "frames.get")
    extends = _awaited(FrameRegistry.extends, "frames.extends")
    delete = _awaited(FrameRegistry.delete, "frames.delete")
    invalidate = _awaited(FrameRegistry.invalidate, "frames.invalidate")


class AsyncRemoteGardens(_Room):
    """Named access lists: make them, and say who is in them."""

    create = _awaited(Gardens.create, "gardens.create")
    update = _awaited(Gardens.update, "gardens.update")
    delete = _awaited(Gardens.delete, "gardens.delete")
    list = _awaited(Gardens.list, "gardens.list")
    members = _awaited(Gardens.members, "gardens.members")
    add = _awaited(Gardens.add, "gardens.add")
    remove = _awaited(Gardens.remove, "gardens.remove")


class AsyncRemoteQuarantine(_Room):
    """Facts that wait for a moderator."""

    list = _awaited(Quarantine.list, "quarantine.list")
    promote = _awaited(Quarantine.promote, "quarantine.promote")
    reject = _awaited(Quarantine.reject, "quarantine.reject")


class AsyncRemoteKeys(_Room):
    """Keys by which programs say who they are."""

    create = _awaited(Keys.create, "keys.create")
    list = _awaited(Keys.list, "keys.list")
    revoke = _awaited(Keys.revoke, "keys.revoke")


class AsyncRemoteCatalogue(_Room):
    """The catalogue of the memories that may be read."""

    list = _awaited(ViewedCatalogue.list, "catalogue.list")
    get = _awaited(ViewedCatalogue.get, "catalogue.get")
    search = _awaited(ViewedCatalogue.search, "catalogue.search")
    set_reason_codes = _awaited(ViewedCatalogue.set_reason_codes, "catalogue.set_reason_codes")
    set_risk_flags = _awaited(ViewedCatalogue.set_risk_flags, "catalogue.set_risk_flags")


class AsyncRemoteTrust(_Room):
    """How far the word of each source counts."""

    set = _awaited(Trust.set, "trust.set")
    of = _awaited(Trust.of, "trust.of")
    list = _awaited(Trust.list, "trust.list")


class AsyncRemoteRecollect(_Room):
    """An agent's memory on a server; use it in an `async with` statement.

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
        super().__init__(AsyncTransport(url, key, timeout=timeout, tls=tls), retries)

    @property
    def frames(self) -> AsyncRemoteFrames:
        """The frames: register your own, look at, change and delete them."""
        return AsyncRemoteFrames(self._transport, self._retries)

    @property
    def gardens(self) -> AsyncRemoteGardens:
        """Named access lists: make them, and say who is in them."""
        return AsyncRemoteGardens(self._transport, self._retries)

    @property
    def quarantine(self) -> AsyncRemoteQuarantine:
        """Facts that wait for a moderator."""
        return AsyncRemoteQuarantine(self._transport, self._retries)

    @property
    def keys(self) -> AsyncRemoteKeys:
        """Keys by which programs say who they are."""
        return AsyncRemoteKeys(self._transport, self._retries)

    @property
    def trust(self) -> AsyncRemoteTrust:
        """How far the word of each source counts."""
        return AsyncRemoteTrust(self._transport, self._retries)

    @property
    def catalogue(self) -> AsyncRemoteCatalogue:
        """The catalogue of the memories that may be read."""
        return AsyncRemoteCatalogue(self._transport, self._retries)

    async def me(self) -> Principal:
        """Return who asks, as the server knows it by the key."""
        who: Principal = await self._transport.run(CALLS["me"].steps({}, retries=self._retries))
        return who

    remember = _awaited(Recollect.remember)
    remember_many = _awaited(Recollect.remember_many)
    update = _awaited(Recollect.update)
    supersede = _awaited(Recollect.supersede)
    history = _awaited(Recollect.history)
    recall = _awaited(Recollect.recall)
    frame = _awaited(Recollect.frame)
    preview = _awaited(Recollect.preview)
    select = _awaited(Recollect.select)
    explain = _awaited(Recollect.explain)
    why = _awaited(Recollect.why)
    receipts = _awaited(Recollect.receipts)
    inspect = _awaited(Recollect.inspect)
    respond = _awaited(Recollect.respond)
    get = _awaited(Recollect.get)
    ids = _awaited(Recollect.ids)
    list = _awaited(Recollect.list)
    link = _awaited(Recollect.link)
    dispute = _awaited(Recollect.dispute)
    resolve = _awaited(Recollect.resolve)
    disputes = _awaited(Recollect.disputes)
    forget = _awaited(Recollect.forget)
    archive = _awaited(Recollect.archive)
    unarchive = _awaited(Recollect.unarchive)
    touch = _awaited(Recollect.touch)
    tidy = _awaited(Recollect.tidy)
    ingest = _awaited(Recollect.ingest)
    import_ = _awaited(Recollect.import_)
    audit = _awaited(Recollect.audit)
    retry_pending = _awaited(Recollect.retry_pending)
    stats = _awaited(Recollect.stats)

    async def export(
        self,
        principal: Principal | None = None,
        *,
        everything: bool = False,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
    ) -> AsyncIterator[str]:
        """Yield what whoever asks may read as lines of JSON, as they come from the server."""
        request = exported({"principal": principal, "everything": everything, "filter": filter})
        async for line in self._transport.lines(request):
            yield line

    async def close(self) -> None:
        """Let go of the connections; closing twice is fine."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncRemoteRecollect:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
