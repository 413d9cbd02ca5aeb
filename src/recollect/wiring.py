"""A path or URL becomes a store. The only room that knows which stores there are.

In: `agent.db`, `sqlite:///agent.db`, `memory://`, or nothing for the default place. Out: an open
store, or an error that says what could be written instead. Passwords in a URL are never repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from recollect.errors import InvalidInput
from recollect.paks.opening import HowToOpen, resolve
from recollect.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from recollect.model import Restored
    from recollect.stores.memory import MemoryStore
    from recollect.stores.sqlite.salvage import Salvage

__all__ = ["OpenableStore", "wire_restore", "wire_salvage", "wire_store"]

OpenableStore: TypeAlias = "SqliteStore | MemoryStore"

_FORMS = "agent.db, sqlite:///agent.db, sqlite:////srv/agent.db or memory://"


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
