"""A path or URL becomes a store. The only room that knows which stores there are.

In: `agent.db`, `sqlite:///agent.db`, `memory://`, or nothing for the default place. Out: an open
store, or an error that says what could be written instead. Passwords in a URL are never repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias
from urllib.parse import unquote

from recollect.errors import InvalidInput
from recollect.paks.opening import HowToOpen, resolve
from recollect.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Hashable

    from recollect.errors import UnknownStore
    from recollect.model import Restored
    from recollect.stores.memory import MemoryStore
    from recollect.stores.sqlite.salvage import Salvage

__all__ = ["OpenableStore", "Stores", "wire_restore", "wire_salvage", "wire_store", "wire_stores"]

OpenableStore: TypeAlias = "SqliteStore | MemoryStore"

_FORMS = "agent.db, sqlite:///agent.db, sqlite:////srv/agent.db or memory://"


class Stores(Protocol):
    """Stores by name, wherever they are kept; names were checked before."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all stores, in order."""

    def identity(self, name: str) -> Hashable | None:
        """Return what tells a store from others of its name, before and after; None: no store."""

    def size(self, name: str) -> int:
        """Return how many bytes of disk a store takes."""

    def open(self, name: str, *, store_id: str, how: HowToOpen | None = None) -> OpenableStore:
        """Open a store that is there; raise UnknownStore for one that is not."""

    def make(self, name: str, *, store_id: str, how: HowToOpen | None = None) -> None:
        """Make a store, whole or not at all; raise StoreExists rather than write over one."""

    def remove(self, name: str, *, removal_id: str) -> None:
        """Remove a store for good; whoever has it open, in whatever process, finds it gone."""

    def unknown(self, name: str) -> UnknownStore:
        """Return what is raised for a name that no store has."""


def wire_stores(place: Path | str) -> Stores:
    """Return the stores below a folder, which is made if it is new."""
    scheme, _ = _parts(place)
    if scheme is not None:
        raise InvalidInput(
            "a node keeps its stores in a folder, in this release.", hint="name a folder: stores."
        )
    # Whoever opens one file need not wait for what holds many.
    from recollect.stores.sqlite.folder import StoreFolder

    return StoreFolder(resolve(place))


def wire_store(
    place: Path | str | None, *, store_id: str, how: HowToOpen | None = None
) -> OpenableStore:
    """Open the store at a path or URL, making it with `store_id` if it is new."""
    scheme, rest = _parts(place)
    if scheme == "memory":
        return _in_memory(rest, store_id, how or HowToOpen())
    if scheme == "sqlite":
        place = _file(rest)
    elif scheme in ("postgres", "postgresql"):
        raise InvalidInput(
            "there is no PostgreSQL store in this release.",
            hint="open a file: sqlite:///agent.db, or plainly agent.db.",
        )
    elif scheme is not None:
        raise InvalidInput(f"no store is opened by {scheme[:40]}://.", hint=f"write {_FORMS}.")
    return SqliteStore.open(place, store_id=store_id, how=how)


def wire_salvage(
    place: Path | str | None, *, store_id: str, at: str
) -> AbstractContextManager[Salvage]:
    """Begin to put what can be read of a damaged file into a new one."""
    from recollect.stores.sqlite.salvage import salvaging

    scheme, rest = _parts(place)
    if scheme not in (None, "sqlite"):
        raise InvalidInput("there is no file to salvage.", hint="name a file: agent.db.")
    return salvaging(resolve(_file(rest) if scheme else place), store_id=store_id, at=at)


def wire_restore(
    source: Path,
    place: Path | str | None,
    *,
    replace: bool,
    store_id: str,
    progress: Callable[[int, int], None] | None,
) -> Restored:
    """Put what a backup holds into a store at a path."""
    from recollect.stores.sqlite.restore import restore

    scheme, rest = _parts(place)
    if scheme not in (None, "sqlite"):
        raise InvalidInput("a backup is restored to a file.", hint="name a file: agent.db.")
    path = resolve(_file(rest) if scheme else place)
    return restore(source, path, replace=replace, store_id=store_id, progress=progress)


def _parts(place: Path | str | None) -> tuple[str | None, str]:
    """Return the scheme of a URL and what follows it; a path has no scheme."""
    if not isinstance(place, str) or "://" not in place:
        return None, ""
    scheme, _, rest = place.partition("://")
    return scheme.lower(), rest


def _in_memory(rest: str, store_id: str, how: HowToOpen) -> MemoryStore:
    if how.read_only:
        raise InvalidInput(
            "a new store in memory holds nothing to read.", hint="leave read_only out."
        )
    if rest:
        raise InvalidInput(
            "memory:// is a store of its own each time, and has no name.",
            hint="write memory:// alone; handles of one store come from as_principal.",
        )
    # Whoever opens a file need not wait for the other kind of store.
    from recollect.stores.memory import MemoryStore

    return MemoryStore(store_id=store_id)


def _file(rest: str) -> str:
    """Return the path in a sqlite URL: what stands after the third slash."""
    host, slash, path = rest.partition("/")
    if host or not slash or not path:
        raise InvalidInput(
            "a sqlite URL has three slashes and then a path.",
            hint="sqlite:///agent.db is in this folder, sqlite:////srv/agent.db is not.",
        )
    if "?" in path or "#" in path:
        raise InvalidInput(
            "a sqlite URL has no options.",
            hint="leave out what follows ? or #; in a name, write them as %3F and %23.",
        )
    return unquote(path)
