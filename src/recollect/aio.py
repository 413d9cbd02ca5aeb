"""`AsyncRecollect`: the same verbs, awaited. Each call runs the synchronous one in a thread.

No second implementation: a method here is its twin's signature and one await. A test compares the
two.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect.engine import Recollect
from recollect.frames.registry import FrameRegistry
from recollect.hooks import Hooks
from recollect.model import Principal
from recollect.paks.catalogue import PakCatalogue
from recollect.verbs.catalogue import ViewedCatalogue
from recollect.verbs.gardens import Gardens
from recollect.verbs.keys import Keys
from recollect.verbs.quarantine import Quarantine
from recollect.verbs.trust import Trust

__all__ = ["AsyncRecollect"]

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


def _awaited(
    verb: Callable[Concatenate[Recollect, _Given], _Answer],
) -> Callable[Concatenate[AsyncRecollect, _Given], Coroutine[Any, Any, _Answer]]:
    @functools.wraps(verb)
    async def call(self: AsyncRecollect, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        return await asyncio.to_thread(verb, self.memory, *args, **kwargs)

    return call


def _opened(
    verb: Callable[_Given, Recollect],
) -> Callable[_Given, Coroutine[Any, Any, AsyncRecollect]]:
    @functools.wraps(verb)
    async def call(*args: _Given.args, **kwargs: _Given.kwargs) -> AsyncRecollect:
        return AsyncRecollect(await asyncio.to_thread(verb, *args, **kwargs))

    return call


class AsyncRecollect:
    """An agent's memory for `asyncio`. Open one with `await AsyncRecollect.open(...)`."""

    def __init__(self, memory: Recollect) -> None:
        self.memory = memory

    open = staticmethod(_opened(Recollect.open))

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self.memory.path

    @property
    def paks(self) -> PakCatalogue:
        """The catalogue; its calls are not awaited."""
        return self.memory.paks

    @property
    def catalogue(self) -> ViewedCatalogue:
        """The catalogue as far as it may be read; its calls are not awaited."""
        return self.memory.catalogue

    @property
    def frames(self) -> FrameRegistry:
        """The frames; looking them up and changing them is not awaited."""
        return self.memory.frames

    @property
    def hooks(self) -> Hooks:
        """The hooks; their calls are not awaited."""
        return self.memory.hooks

    @property
    def principal(self) -> Principal:
        """Who asks through this handle."""
        return self.memory.principal

    @property
    def gardens(self) -> Gardens:
        """Named access lists; their calls are not awaited."""
        return self.memory.gardens

    @property
    def quarantine(self) -> Quarantine:
        """Facts that wait for a moderator; its calls are not awaited."""
        return self.memory.quarantine

    @property
    def keys(self) -> Keys:
        """Keys by which programs say who they are; its calls are not awaited."""
        return self.memory.keys

    @property
    def trust(self) -> Trust:
        """How far the word of each source counts; its calls are not awaited."""
        return self.memory.trust

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
    reembed = _awaited(Recollect.reembed)
    reindex = _awaited(Recollect.reindex)
    check = _awaited(Recollect.check)
    examine = _awaited(Recollect.examine)
    repair = _awaited(Recollect.repair)
    backup = _awaited(Recollect.backup)
    prune_versions = _awaited(Recollect.prune_versions)
    head = _awaited(Recollect.head)
    figures = _awaited(Recollect.figures)
    holdings = _awaited(Recollect.holdings)
    stats = _awaited(Recollect.stats)
    close = _awaited(Recollect.close)

    async def as_principal(self, principal: Principal) -> AsyncRecollect:
        """Return a handle on the same store for another principal."""
        return AsyncRecollect(self.memory.as_principal(principal))

    async def export(
        self,
        principal: Principal | None = None,
        *,
        everything: bool = False,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - what it is called everywhere
    ) -> AsyncIterator[str]:
        """Yield what the principal may read as lines of JSON, or all of the store."""
        lines = self.memory.export(principal, everything=everything, filter=filter)
        while (line := await asyncio.to_thread(next, lines, None)) is not None:
            yield line

    async def __aenter__(self) -> AsyncRecollect:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
