"""Wipe what was forgotten out of every file of a store, and say of each how that went.

In: an open store, its index, and where it lies. Out: a proof, one line for each file. What cannot
be wiped now stays known to the store until it was. Rows are erased elsewhere, before this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import StoreError, StoreReadOnly
from recollect.paks.footprint import files_of

if TYPE_CHECKING:
    from recollect.index.follow import Follower
    from recollect.model import Looked
    from recollect.paks.footprint import FileKind, StoreFile
    from recollect.ports.store import Store

__all__ = ["Wiping"]

_WIPED: dict[FileKind, str] = {
    "database": "full text wiped, freed pages overwritten, the log written back",
    "log": "emptied",
    "map": "holds page numbers, no text",
    "journal": "left alone: SQLite's own, of no database of ours",
}
_NOT_WIPED: dict[FileKind, str] = {
    "database": "pages from before stay until the log is written back",
    "log": "could not be emptied: somebody is reading or writing",
}
_NOT_OURS: dict[FileKind, str] = {
    "aside": "put aside by a salvage or a restore and left alone: it holds what stood there until"
    " you delete it",
}
# Drafts first, and each kind looked for anew: a draft becomes a cache, and never the reverse.
_REMOVED: tuple[FileKind, ...] = ("draft", "cache", "copy")


class Wiping:
    """Wipes one store. `path` is how it was opened; where that leads is asked once."""

    def __init__(self, store: Store, follower: Follower, path: Path) -> None:
        self._store = store
        self._follower = follower
        # As it was called, since links beside it have files too; wherever the process goes later.
        self._path = path.absolute() if path.is_file() else None

    def wipe(self, *, patient: bool = True) -> tuple[Looked, ...]:
        """Wipe what was forgotten out of index, caches and store; return what was looked at."""
        from recollect.model import Looked

        try:
            erased = self._store.state.wiping_due()
            # After the commit that erased: whatever is made from here on holds nothing of it.
            before = self._files()
            is_scrubbed = self._scrub(patient=patient)
            self._follower.wipe()
            self._remove()
            proof = tuple(self._looked(before, is_scrubbed=is_scrubbed))
            if is_scrubbed and all(one.is_clean for one in proof):
                self._store.state.set_wiped(erased)
        except (StoreError, OSError) as error:
            return (Looked(self._name, f"could not be wiped: {_said(error)}", is_clean=False),)
        return proof

    def finish(self, *, patient: bool = True) -> bool:
        """Wipe what somebody forgot and could not wipe; return whether nothing is left to do."""
        try:
            if not self._store.state.wiping_due():
                return True
        except StoreError:
            return False
        return all(one.is_clean for one in self.wipe(patient=patient))

    @property
    def _name(self) -> str:
        return "memory" if self._path is None else self._path.name

    def _files(self) -> tuple[StoreFile, ...]:
        return () if self._path is None else files_of(self._path)

    def _scrub(self, *, patient: bool) -> bool:
        try:
            return self._store.scrub(patient=patient)
        except StoreReadOnly:
            raise  # then the caches are not ours to remove either
        except (StoreError, OSError):
            return False

    def _remove(self) -> None:
        """Remove what can be made anew, under every name; what stays is found by who looks."""
        for kind in _REMOVED:
            for one in self._files():
                if one.kind == kind:
                    with suppress(OSError):
                        one.path.unlink(missing_ok=True)

    def _looked(self, before: Iterable[StoreFile], *, is_scrubbed: bool) -> Iterator[Looked]:
        from recollect.model import Looked

        left = set(self._files())
        for one in before:
            name = one.path.name
            if one.kind in _REMOVED:
                is_gone = one not in left
                yield Looked(name, "removed" if is_gone else "could not be removed", is_gone)
            elif one.kind in _NOT_OURS:
                yield Looked(name, _NOT_OURS[one.kind], is_clean=False)
            elif is_scrubbed or one.kind not in _NOT_WIPED:
                yield Looked(name, _WIPED[one.kind], is_clean=True)
            else:
                yield Looked(name, _NOT_WIPED[one.kind], is_clean=False)


def _said(error: Exception) -> str:
    return getattr(error, "message", None) or getattr(error, "strerror", None) or str(error)
