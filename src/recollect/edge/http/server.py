"""A server: one worker's stores, places, tags and counts, and how a request passes through them.

In: requests that a route understood. Out: responses. The order is: is it for us (Host, Origin), is
there a place, who asks, how often may that ask, then the verb. All that blocks happens in a thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.edge.http.bodies import read_whole
from recollect.edge.http.commits import Commits
from recollect.edge.http.counts import Counts
from recollect.edge.http.guard import Guard
from recollect.edge.http.identity import Presented, bearer
from recollect.edge.http.places import Places
from recollect.edge.http.quotas import Quotas
from recollect.edge.http.rates import Rates
from recollect.edge.http.reloading import Reloads
from recollect.edge.http.slow import SlowCalls
from recollect.edge.http.spans import Spans
from recollect.edge.http.tags import Tags
from recollect.edge.inspector.sessions import Sessions

if TYPE_CHECKING:
    from starlette.requests import Request

    from recollect.edge.http.options import ServerOptions
    from recollect.edge.http.stores import Served, Stores
    from recollect.edge.verbs import Verb

__all__ = ["Server"]

Answer = TypeVar("Answer")


class Server:
    """One worker."""

    def __init__(
        self,
        options: ServerOptions,
        stores: Stores,
        *,
        counts: Counts | None = None,
        reloads: Reloads | None = None,
        slow: SlowCalls | None = None,
    ) -> None:
        self.options = options
        self.stores = stores
        self.guard = Guard(options)
        self.tags = Tags()
        self.commits = Commits()
        self.reloads = reloads or Reloads(options.run_dir)
        self.places = Places(
            at_once=options.at_once, waiting=options.waiting, seconds=options.seconds
        )
        self.clock: Callable[[], float] = time.time
        self.counts = counts or Counts(options.run_dir)
        self.slow = slow or SlowCalls(options.run_dir)
        self.rates = Rates(options.rate, burst=options.burst, folder=options.run_dir)
        self.quotas = Quotas(
            most_memories=options.most_memories,
            most_bytes=options.most_bytes,
            folder=options.run_dir,
        )
        self.spans = Spans(texts=options.log_texts)
        self.sessions = Sessions(
            options.run_dir, idle_seconds=options.idle_seconds, clock=lambda: self.clock()
        )
        self.is_ending = False

    async def begin(self, request: Request, verb: Verb, act: Callable[[Served], Answer]) -> Answer:
        """Return what is done in a thread for a request, as whoever asks."""
        shown = bearer(request.headers.get("Authorization"))
        return await self.begin_as(request, verb.name, shown=shown, act=act)

    async def begin_as(
        self, request: Request, name: str, *, shown: Presented, act: Callable[[Served], Answer]
    ) -> Answer:
        """Return what is done in a thread, as whoever has the key that was shown somewhere."""
        request.state.verb = name

        def call() -> Answer:
            self.reloads.follow(self.stores)
            with self.spans.within(request.headers), self.stores.serve(shown) as served:
                key = served.memory.principal.key
                request.state.store, request.state.key = served.store, key
                request.state.who = served.memory.principal
                self.rates.take(served.store, key or "")
                return act(served)

        return await self.places.run(call, gone=lambda: _until_gone(request))

    async def body_of(self, request: Request, *, most: int | None = None) -> bytes:
        """Return the body of a request, which came in time and is not too large."""
        most = self.options.most_body_bytes if most is None else most
        return await read_whole(request, most=most, patience_s=self.options.body_seconds)

    async def go_on(self, call: Callable[[], Answer]) -> Answer:
        """Return what is done in a thread for a request that was let in before."""
        return await self.places.run(call)

    def close(self) -> None:
        """Come to an end: what was begun is done, and the stores are closed."""
        self.is_ending = True
        self.places.close()
        self.stores.close()
        self.rates.close()
        self.quotas.close()
        self.sessions.close()


async def _until_gone(request: Request) -> None:
    """Come back when whoever asked has gone away."""
    while True:
        message: Any = await request.receive()
        if message["type"] == "http.disconnect":
            return
