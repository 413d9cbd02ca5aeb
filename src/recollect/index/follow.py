"""Keep an index in step with its store, whoever writes to it.

In: a store, and where the cache file may be. Out: an index that knows all that was committed when
it was asked for. The next index is published in one assignment once it is whole: an exception on
the way, whichever, leaves the last one in its place, and readers in other threads never wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from recollect.errors import StoreError
from recollect.index.cache_file import drafted, load, remove
from recollect.index.courtesy import Pause, go_on
from recollect.index.index import MemoryIndex
from recollect.locks import fresh_in_child
from recollect.values import dataclass

if TYPE_CHECKING:
    from recollect.ports.store import Changes, Commit, Head, Store, StoreState

__all__ = ["Current", "Follower"]

# Fewer changed rows than this are read from the store faster than a file is written.
_WORTH_SAVING = 2000
# Who wrote at least this share of a store, and asked it nothing, makes its index all the same.
_MOST_OF_IT = 4


@dataclass(frozen=True, slots=True, eq=False)
class Current:
    """An index, and what the store said of itself at the same head."""

    state: StoreState
    index: MemoryIndex


class Follower:
    """Holds the index of one store and brings it up to date on demand.

    `cache_path` is where the cache file is, if the store is in a file; unless it `keeps_file`,
    one that others left is not used, but what is forgotten is wiped from it all the same. It is
    written once `worth_saving` rows have changed. `progress` is told how many memories, of how
    many, an index that is built from nothing has taken in. In a `pause` whoever is being answered
    comes first; there is one where an index is made that nobody waits for.
    """

    def __init__(
        self,
        store: Store,
        cache_path: Path | None,
        *,
        keeps_file: bool = True,
        worth_saving: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        pause: Pause = go_on,
    ) -> None:
        self._store = store
        self._pause = pause
        self._progress = progress
        self._worth_saving = _WORTH_SAVING if worth_saving is None else worth_saving
        self._cache_path = cache_path
        self._keeps_file = keeps_file
        self._index: MemoryIndex | None = None
        # True while an index is being made, and for good if that came to no end.
        self._is_building = False
        self._unsaved_rows = 0
        # Whether anybody looked since an index was last made ahead of a commit.
        self._is_asked = False
        self._building = RLock()
        fresh_in_child(self, "_building", RLock)
        self._state: StoreState | None = None
        # How far the store had come when this process began to write to it.
        self._began_to_write: int | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether there is an index that need only be brought up to date."""
        return self._index is not None

    @property
    def index(self) -> MemoryIndex | None:
        """The index as it was last published, if it is loaded."""
        return self._index

    @property
    def state(self) -> StoreState:
        """What the store said of itself when it was last looked at, for the index or a commit."""
        return self._state or self._store.state.read()

    def saw(self, state: StoreState) -> None:
        """Take note of what the store said of itself as a commit of this process began."""
        self._state = state
        if self._began_to_write is None:
            self._began_to_write = state.revision

    def current(self) -> Current:
        """Return the index, up to date with everything committed so far."""
        state, index = self._store.state.read(), self._index
        self._state, self._is_asked = state, True
        if index is not None and index.head == state.head:
            return Current(state, index)
        with self.standing_still() as current:
            return current

    @contextmanager
    def standing_still(self) -> Iterator[Current]:
        """Let the body read one state of the store, and give the index of it."""
        ahead: Head | None = None
        while True:
            # The snapshot first, as in a commit: who holds it never waits for one who has not.
            with self._store.snapshot() as state, self._building:
                index = self._index
                if index is None or index.head == ahead or index.revision <= state.revision:
                    self._state = state
                    yield Current(state, self._caught_up(state))
                    return
            # Another thread saw a later state meanwhile: so do we, unless the store went back.
            ahead = index.head

    def before(self, commit: Commit) -> MemoryIndex:
        """Return the index as of when a commit began.

        To be asked from inside the commit, before it has written anything about memories.
        """
        index = self._index
        if index is not None and index.head == commit.before.head:
            return index
        with self._building:
            return self._caught_up(commit.before)

    def take(
        self, changes: Changes, commit: Commit
    ) -> tuple[MemoryIndex | None, MemoryIndex | None]:
        """Take over what this process has just committed; return the index before and after it.

        After it there is None if something else was missed: the next `current` reads that, and
        this with it.
        """
        with self._building:
            index = self._index
            if index is None or index.head != commit.before.head:
                return index, None
            return index, self._publish(index, [changes], commit.head)

    def keep_up(self) -> None:
        """Take over what was just written, if there is an index: who asks next need not wait."""
        if self._index is not None:
            # What cannot be read now is read by who asks next.
            with suppress(StoreError):
                self.current()

    @contextmanager
    def ahead_of(self, commit: Commit) -> Iterator[None]:
        """Make the index of a commit before others can see that, and publish it afterwards.

        To be entered inside the commit when all is written, and left when it is committed. Whoever
        asks meanwhile is answered from the index before; nobody has to read what was just written.
        If nobody asks, or something else was missed, the next `current` reads it as ever.
        """
        with self._building:
            index = self._index
            if index is None or not self._is_asked or not self._leads_to(commit, index):
                yield
                return
            self._is_asked = False
            following = self._following(index, self._counted(index), commit.head, pause=self._pause)
            yield
            self._index, self._is_building = following, False

    def forget(self) -> None:
        """Drop the index and its cache file; the next use builds it from the store."""
        with self._building:
            self._index = self._state = None
            with suppress(OSError):
                self._remove_file()

    def rest(self) -> None:
        """Hold the index in as little room as it takes in a file; what answers left in it goes."""
        with self._building:
            if self._index is not None:
                self._index = self._index.packed()

    def renew(self) -> None:
        """Build the index anew from the store, and drop the cache file; the old serves meanwhile.

        What others commit until it is whole it takes over as any index does.
        """
        with suppress(OSError):
            self._remove_file()
        with self._store.snapshot() as state:
            index, rows = MemoryIndex.empty(state.dimension or 0), 0

            def counted() -> Iterator[Changes]:
                nonlocal rows
                for changes in self._store.memories.changes(index.head):
                    rows += len(changes.rows)
                    yield changes

            renewed = index.after_all(
                self._telling_how_far(counted()), head=state.head, pause=self._pause
            )
        with self._building:
            self._index, self._state, self._unsaved_rows = renewed, state, rows
            self._is_building = False

    def wipe(self) -> None:
        """Let go of what was deleted, here and in the cache file, as far as that can be."""
        with self.standing_still():
            pass
        with suppress(OSError):
            self._remove_file()

    def save(self, draft_name: str) -> None:
        """Write the cache file if that saves the next opening real work.

        Who only wrote has no index yet: it is made for the file if most of the work is of what was
        written here, so that closing after a few writes takes no longer for what others left.
        """
        path = self._cache_path
        if path is None or not self._keeps_file:
            return
        # A full disk, a folder that may not be written, a file that is gone: closing goes on.
        with suppress(OSError, StoreError):
            is_missing = self._unsaved_rows >= self._worth_saving
            if self._index is None and not is_missing and not self._wrote_most(path):
                return
            # What could not be read is not in the index, and whoever opens the file must hear it.
            self.current()
            if self._unsaved_rows < self._worth_saving or self._store.memories.unreadable():
                return
            with drafted(path, draft_name) as put:
                # Looked at anew: what was forgotten before there was a draft is not in it, and who
                # forgets from now on takes the draft away.
                current = self.current()
                # Words of what was deleted must not get into the file.
                put(current.index.compacted(), current.state.store_id)

    def _wrote_most(self, path: Path) -> bool:
        if self._began_to_write is None:
            return False
        commits = self._store.state.commits(self._began_to_write)
        written = sum(len(one.rows) + len(one.gone) for one in commits)
        if written < self._worth_saving:
            return False
        # Beside a file it is what was written that has to be read, and nothing else.
        return os.path.lexists(path) or written * _MOST_OF_IT >= self._store.state.count().memories

    def _remove_file(self) -> None:
        path = self._cache_path
        if path is not None and os.path.lexists(path):
            self._unsaved_rows = self._worth_saving
        if path is not None:
            remove(path)

    def _caught_up(self, state: StoreState) -> MemoryIndex:
        """Return the index of this state; to be called while the state stands still."""
        index = self._index
        if index is not None and index.head == state.head:
            return index
        if index is None or not self._continues(index, state):
            self._unsaved_rows = 0
            index = self._loaded(state) or MemoryIndex.empty(state.dimension or 0)
        changes = self._counted(index)
        return self._publish(
            index, self._telling_how_far(changes) if not index.size else changes, state.head
        )

    def _publish(
        self, index: MemoryIndex, changes: Iterator[Changes] | list[Changes], head: Head
    ) -> MemoryIndex:
        self._index = following = self._following(index, changes, head)
        self._is_building = False
        return following

    def _following(
        self,
        index: MemoryIndex,
        changes: Iterator[Changes] | list[Changes],
        head: Head,
        *,
        pause: Pause = go_on,
    ) -> MemoryIndex:
        """Return the index of a later head; until it is published, one is being made."""
        if self._is_building:
            index.mend()
        self._is_building = True
        return index.after_all(changes, head=head, pause=pause)

    def _counted(self, index: MemoryIndex) -> Iterator[Changes]:
        for changes in self._store.memories.changes(index.head):
            self._unsaved_rows += len(changes.rows) + len(changes.gone)
            yield changes

    def _telling_how_far(self, batches: Iterator[Changes]) -> Iterator[Changes]:
        """Yield all that a store holds, and tell how far that is taken in."""
        if self._progress is None:
            yield from batches
            return
        done, total = 0, self._store.state.count().memories
        for changes in batches:
            yield changes
            done += len(changes.rows)
            self._progress(done, total)

    def _loaded(self, state: StoreState) -> MemoryIndex | None:
        if self._cache_path is None or not self._keeps_file:
            return None
        index = load(self._cache_path, state.store_id)
        return index if index is not None and self._continues(index, state) else None

    def _leads_to(self, commit: Commit, index: MemoryIndex) -> bool:
        """Return whether an index is of what a commit under way began with, and can go on."""
        return index.head == commit.before.head and self._continues(index, self._store.state.read())

    def _continues(self, index: MemoryIndex, state: StoreState) -> bool:
        return index.dimension == (state.dimension or 0) and self._store.state.knows(index.head)
