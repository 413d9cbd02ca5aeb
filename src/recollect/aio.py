"""`AsyncRecollect`: the same verbs, awaited. Each call runs the synchronous one in a thread.

No second implementation: a method here is its twin's signature and one await. A test compares the
two.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from recollect.engine import Recollect
from recollect.frames.registry import FrameRegistry
from recollect.hooks import Hooks
from recollect.model import Principal
from recollect.paks.catalogue import PakCatalogue
from recollect.verbs.gardens import Gardens
from recollect.verbs.keys import Keys
from recollect.verbs.quarantine import Quarantine
from recollect.verbs.trust import Trust

__all__ = ["AsyncRecollect"]

Twin = TypeVar("Twin", bound=Callable[..., Any])


def _signed_like(verb: Callable[..., Any]) -> Callable[[Twin], Twin]:
    def sign(twin: Twin) -> Twin:
        functools.update_wrapper(twin, verb)
        return twin

    return sign


def _awaited(name: str) -> Callable[..., Any]:
    verb = getattr(Recollect, name)

    @functools.wraps(verb)
    async def call(self: AsyncRecollect, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(verb, self.memory, *args, **kwargs)

    return call


class AsyncRecollect:
    """An agent's memory for `asyncio`. Open one with `await AsyncRecollect.open(...)`."""

    def __init__(self, memory: Recollect) -> None:
        self.memory = memory

    @classmethod
    @_signed_like(vars(Recollect)["open"].__func__)
    async def open(cls, *args: Any, **kwargs: Any) -> AsyncRecollect:
        """Open the memory; the arguments are those of `Recollect.open`."""
        return cls(await asyncio.to_thread(Recollect.open, *args, **kwargs))

    @property
    def path(self) -> Path:
        """Where the database file is."""
        return self.memory.path

    @property
    def paks(self) -> PakCatalogue:
        """The catalogue; its calls are not awaited."""
        return self.memory.paks

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

    remember = _awaited("remember")
    remember_many = _awaited("remember_many")
    update = _awaited("update")
    supersede = _awaited("supersede")
    history = _awaited("history")
    recall = _awaited("recall")
    frame = _awaited("frame")
    select = _awaited("select")
    explain = _awaited("explain")
    inspect = _awaited("inspect")
    respond = _awaited("respond")
    get = _awaited("get")
    ids = _awaited("ids")
    list = _awaited("list")
    link = _awaited("link")
    dispute = _awaited("dispute")
    resolve = _awaited("resolve")
    disputes = _awaited("disputes")
    forget = _awaited("forget")
    archive = _awaited("archive")
    unarchive = _awaited("unarchive")
    ingest = _awaited("ingest")
    import_ = _awaited("import_")
    audit = _awaited("audit")
    retry_pending = _awaited("retry_pending")
    reembed = _awaited("reembed")
    reindex = _awaited("reindex")
    check = _awaited("check")
    examine = _awaited("examine")
    repair = _awaited("repair")
    backup = _awaited("backup")
    prune_versions = _awaited("prune_versions")
    stats = _awaited("stats")
    close = _awaited("close")

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
