"""All or nothing without a database: what takes each change back, until the change is kept.

Whoever changes something inside `transaction` notes how to undo it; if the body fails, the notes
are run, last first. One thread at a time is inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

__all__ = ["UndoLog"]


class UndoLog:
    """The notes of one store, and the lock that its threads take turns by."""

    def __init__(self) -> None:
        self.lock = RLock()
        self._undos: list[Callable[[], object]] = []
        self._depth = 0

    @property
    def is_open(self) -> bool:
        """Whether a transaction is under way; only the thread that holds the lock may ask."""
        return self._depth > 0

    def note(self, undo: Callable[[], object]) -> None:
        """Remember how to take back what was just changed."""
        self._undos.append(undo)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all changes of the body, or none; one inside another fails by itself."""
        with self.lock:
            before = len(self._undos)
            self._depth += 1
            try:
                yield
            except BaseException:
                while len(self._undos) > before:
                    self._undos.pop()()
                raise
            finally:
                self._depth -= 1
                if not self._depth:
                    self._undos.clear()
