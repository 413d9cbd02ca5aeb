"""Keep an index in step with its store, whoever writes to it.

In: a store, and where the cache file may be. Out: an index that knows all that was committed when
it was asked for. A cache file saves the first loading; it is used only if the store named it.
"""

from __future__ import annotations

from pathlib import Path

from recollect.index.cache_file import load, save
from recollect.index.index import MemoryIndex
from recollect.ports.store import Changes, Commit, Store, StoreState

__all__ = ["Follower"]

# Fewer changed rows than this are read from the store faster than a file is written.
_WORTH_SAVING = 2000


class Follower:
    """Holds the index of one store and brings it up to date on demand."""

    def __init__(self, store: Store, cache_path: Path | None) -> None:
        self._store = store
        self._cache_path = cache_path
        self._index: MemoryIndex | None = None
        self._unsaved_rows = 0
        self._state: StoreState | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether there is an index that need only be brought up to date."""
        return self._index is not None

    @property
    def state(self) -> StoreState:
        """What the store said of itself when it was last looked at, for the index or a commit."""
        return self._state or self._store.state.read()

    def saw(self, state: StoreState) -> None:
        """Take note of what the store said of itself."""
        self._state = state

    def current(self, state: StoreState | None = None) -> MemoryIndex:
        """Return the index, up to date with everything committed so far, or as of this state."""
        state = self._state = state or self._store.state.read()
        if self._index is not None and self._index.head == state.head:
            return self._index
        with self._store.snapshot() as self._state:
            return self._caught_up(self._state)

    def before(self, commit: Commit) -> MemoryIndex:
        """Return the index as of when a commit began.

        To be asked from inside the commit, before it has written anything about memories.
        """
        index = self._index
        if index is None or index.head != commit.before.head:
            index = self._caught_up(commit.before)
            # What others committed counts; the head of the commit itself does not yet.
            index.head = commit.before.head
        return index

    def take(self, changes: Changes) -> bool:
        """Take over what this process has just committed; return whether nothing else was missed.

        The next `current` reads what was missed, and this with it.
        """
        index = self._index
        if index is None or index.revision != changes.revision - 1:
            return False
        index.apply(changes)
        self._unsaved_rows += len(changes.used)
        return True

    def forget(self) -> None:
        """Drop the index and its cache file; the next use builds it from the store."""
        self._index = self._state = None
        if self._cache_path is not None:
            self._cache_path.unlink(missing_ok=True)

    def wipe(self) -> None:
        """Let go of all that was deleted, here and in the cache file; it is written anew later."""
        self.current().compact()
        if self._cache_path is not None and self._cache_path.exists():
            self._unsaved_rows = _WORTH_SAVING
            self._cache_path.unlink(missing_ok=True)

    def save(self, token: str) -> None:
        """Write the cache file if that saves the next opening real work."""
        if self._index is None or self._cache_path is None:
            return
        index = self.current()
        if self._unsaved_rows < _WORTH_SAVING:
            return
        index.compact()  # words of what was deleted must not get into the file
        try:
            save(index, self._cache_path, token)
        except OSError:
            return  # a full disk, or a folder that may not be written: the store has it all
        self._store.state.set_cache_token(token)

    def _caught_up(self, state: StoreState) -> MemoryIndex:
        index = self._index
        if index is None or not self._continues(index, state):
            self._unsaved_rows = 0
            index = self._index = self._loaded(state) or MemoryIndex(state.dimension or 0)
        for changes in self._store.memories.changes(index.head):
            index.apply(changes)
            self._unsaved_rows += len(changes.rows) + len(changes.gone)
        return index

    def _loaded(self, state: StoreState) -> MemoryIndex | None:
        if self._cache_path is None or state.cache_token is None:
            return None
        index = load(self._cache_path, state.cache_token)
        return index if index is not None and self._continues(index, state) else None

    def _continues(self, index: MemoryIndex, state: StoreState) -> bool:
        return index.dimension == (state.dimension or 0) and self._store.state.knows(index.head)
