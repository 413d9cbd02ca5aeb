"""Stores by name: each is a SQLite file in a folder of its own, below one folder that they share.

In: names that were checked. Out: open stores. What belongs to one store (its log, its cache file,
old copies) is beside it and beside nothing else, so that nobody looks through the files of others;
and a store comes and goes by one renaming, as a whole.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recollect.check import is_store_name
from recollect.errors import StoreExists, StoreUnavailable, UnknownStore
from recollect.paks.files import FileIdentity, identity
from recollect.paks.opening import HowToOpen
from recollect.stores.sqlite.store import SqliteStore

__all__ = ["StoreFolder"]

_FILE = "recall.db"
# No store has such a name: what is being made, and what is being removed.
_NEW, _GONE = ".new-", ".gone-"
_ABANDONED_AFTER_S = 3600.0


class StoreFolder:
    """The stores below one folder, which is made if it is new."""

    def __init__(self, folder: Path) -> None:
        # Wherever the process goes later.
        self._folder = folder.absolute()
        with self._reaching():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._finish_removals()

    def names(self) -> tuple[str, ...]:
        """Return the names of all stores, in order."""
        with self._reaching(), os.scandir(self._folder) as entries:
            found = [one.name for one in entries if is_store_name(one.name)]
        return tuple(sorted(name for name in found if self.identity(name) is not None))

    def path(self, name: str) -> Path:
        """Return where the database of a store is."""
        return self._folder / name / _FILE

    def identity(self, name: str) -> FileIdentity | None:
        """Return what tells a store from another one that had, or will have, its name."""
        # A link would let one store be reached, and removed, by two names.
        return identity(self.path(name)) if self._is_own(name) else None

    def size(self, name: str) -> int:
        """Return how many bytes the files of a store take."""
        with suppress(OSError), os.scandir(self._folder / name) as entries:
            return sum(one.stat(follow_symlinks=False).st_size for one in entries)
        return 0

    def open(self, name: str, *, store_id: str, how: HowToOpen | None = None) -> SqliteStore:
        """Open a store that is there."""
        if self.identity(name) is None:
            raise self.unknown(name)
        return SqliteStore.open(self.path(name), store_id=store_id, how=how)

    def make(self, name: str, *, store_id: str, how: HowToOpen | None = None) -> None:
        """Make a store: it is there as a whole or not at all, and none is written over."""
        if os.path.lexists(self._folder / name):
            raise self._exists(name)
        draft = self._folder / f"{_NEW}{store_id}"
        try:
            with self._reaching():
                draft.mkdir(mode=0o700)
                self._sweep(draft)
            SqliteStore.open(draft / _FILE, store_id=store_id, how=how).close()
            self._put(draft, name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def remove(self, name: str, *, removal_id: str) -> None:
        """Remove a store with all its files; whoever has it open finds it gone."""
        if self.identity(name) is None:
            raise self.unknown(name)
        with self._reaching():
            gone = self._folder / f"{_GONE}{removal_id}"
            with self._missing_is_unknown(name):
                os.rename(self._folder / name, gone)  # noqa: PTH104  # never over a file
            _sync(self._folder)
            shutil.rmtree(gone)

    def unknown(self, name: str) -> UnknownStore:
        """Return what is raised for a name that no store has."""
        return UnknownStore(f"there is no store {name!r}.", hint="create it first.")

    def _exists(self, name: str) -> StoreExists:
        return StoreExists(
            f"there is a store {name!r} already.", hint="use it, or choose another name."
        )

    def _is_own(self, name: str) -> bool:
        with suppress(OSError):
            return stat.S_ISDIR(os.lstat(self._folder / name).st_mode)
        return False

    def _put(self, draft: Path, name: str) -> None:
        with self._reaching():
            try:
                os.rename(draft, self._folder / name)  # noqa: PTH104  # never over a store
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise self._exists(name) from error
                raise
            _sync(self._folder)

    def _finish_removals(self) -> None:
        """Go on where a process was killed; two at once do no harm."""
        for one in self._folder.glob(f"{_GONE}*"):
            shutil.rmtree(one, ignore_errors=True)

    def _sweep(self, draft: Path) -> None:
        """Remove what was begun long before this draft, and by now by nobody."""
        newest = draft.stat().st_mtime
        for one in self._folder.glob(f"{_NEW}*"):
            with suppress(OSError):
                if one.stat().st_mtime < newest - _ABANDONED_AFTER_S:
                    shutil.rmtree(one, ignore_errors=True)

    @contextmanager
    def _missing_is_unknown(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise self.unknown(name) from error

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (StoreExists, UnknownStore):
            raise
        except OSError as error:
            raise StoreUnavailable(
                f"Cannot use {self._folder}: {error.strerror or error}.",
                hint="name a folder that you may write to.",
            ) from error


def _sync(folder: Path) -> None:
    """Make names survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
