"""Which store a request is for, and that store as whoever asks may use it.

In: the key that was shown. Out: a `Served` for the length of a `with`. A server of one file has one
store, whatever a key says; who may ask is in `identity`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from recollect.edge.http.identity import Noted, Presented, identify, key_needed
from recollect.errors import InvalidInput
from recollect.policy.keys import store_of
from recollect.values import dataclass

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from recollect.edge.http.options import ServerOptions
    from recollect.engine import Recollect
    from recollect.hooks import Hooks
    from recollect.model import Principal
    from recollect.node import Node
    from recollect.open_store import Figures

__all__ = ["NodeStores", "OneStore", "Served", "Stores", "is_folder"]


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """A store by its name, as it was opened, and as whoever asks may use it."""

    store: str
    opener: Recollect
    memory: Recollect


class Stores(Protocol):
    """The stores that a server serves."""

    def serve(
        self, shown: Presented, *, known: Principal | None = None
    ) -> AbstractContextManager[Served]:
        """Give the store that a key is for; refuse a key that is not good.

        Who is `known` by other means needs none.
        """

    def is_ready(self) -> bool:
        """Return whether a question could be answered now."""

    def figures(self) -> Figures:
        """Return what is held of all stores: most memories, all bytes, who is furthest behind."""

    @property
    def hooks(self) -> Hooks:
        """The hooks that are asked, of whichever store."""

    @property
    def node(self) -> Node | None:
        """The node that lends them; None where there is one store."""

    def close(self) -> None:
        """Close what is open."""


def is_folder(db: str) -> bool:
    """Return whether a place holds many stores."""
    return "://" not in db and Path(db).is_dir()


class OneStore:
    """One memory, open as long as the server is."""

    def __init__(self, memory: Recollect, options: ServerOptions) -> None:
        self._memory = memory
        self._options = options

    @contextmanager
    def serve(self, shown: Presented, *, known: Principal | None = None) -> Iterator[Served]:
        """Give the one store."""
        if known is not None:
            yield Served("", self._memory, self._memory.as_principal(known))
            return
        yield Served("", self._memory, identify(self._memory, shown, self._options))

    def is_ready(self) -> bool:
        """Return whether it can be read."""
        self._memory.head()
        return True

    def figures(self) -> Figures:
        """Return those of the one store."""
        return self._memory.figures()

    @property
    def hooks(self) -> Hooks:
        """Its hooks."""
        return self._memory.hooks

    @property
    def node(self) -> Node | None:
        """There is no other store."""
        return None

    def close(self) -> None:
        """Close it."""
        self._memory.close()


class NodeStores:
    """The stores of a folder. A key names its own; where it does not lead is not told."""

    def __init__(self, node: Node, options: ServerOptions) -> None:
        self._node = node
        self._options = options

    @contextmanager
    def serve(self, shown: Presented, *, known: Principal | None = None) -> Iterator[Served]:  # noqa: ARG002
        """Give the store that a key names, as long as the request takes; nothing else names one."""
        name = shown.store if isinstance(shown, Noted) else store_of(shown)
        if name is None:
            raise key_needed()
        with ExitStack() as lent:
            try:
                opener = lent.enter_context(self._node.store(name))
            except InvalidInput:
                # No such store, or no such name: one and the same as a key that is not good.
                raise key_needed() from None
            yield Served(name, opener, identify(opener, shown, self._options))

    def is_ready(self) -> bool:
        """Return whether the folder can be read."""
        self._node.names()
        return True

    def figures(self) -> Figures:
        """Return those of the stores that the node holds; none is opened for them."""
        return self._node.figures()

    @property
    def hooks(self) -> Hooks:
        """The node's, which are those of each store."""
        return self._node.hooks

    @property
    def node(self) -> Node | None:
        """The node itself."""
        return self._node

    def close(self) -> None:
        """Close all of them."""
        self._node.close()
