"""All or nothing without a database: what takes each change back, until the change is kept.

Whoever changes something inside `transaction` notes first how to undo it; if the body fails, the
notes are run, last first. One thread at a time is inside. An exception may come at any instant: so
an undo can be run twice, and what an interrupted turn left is taken back before the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock, get_ident

__all__ = ["UndoLog"]


class UndoLog:
    """The notes of one store, and the turns that its threads take."""

    def __init__(self) -> None:
        # Taken once by whoever has the turn, however deep inside it is.
        self._lock = RLock()
        self._holder: int | None = None
        self._undos: list[Callable[[], object]] = []
        self._depth = 0
        self._resets: list[Callable[[], object]] = []

    @property
    def is_open(self) -> bool:
        """Whether a transaction is under way; only the thread whose turn it is may ask."""
        return self._depth > 0

    def note(self, undo: Callable[[], object]) -> None:
        """Remember how to take back what will be changed now; it may be run twice, or too early."""
        self._undos.append(undo)

    def at_each_turn(self, reset: Callable[[], object]) -> None:
        """Let somebody know that a turn begins, and that nothing is under way."""
        self._resets.append(reset)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let no other thread in; inside of a turn of its own a thread goes on."""
        if self._holder == get_ident():
            yield
            return
        # An exception may come in the midst of letting go too: then that is done again.
        try:
            try:
                self._lock.acquire()
                self._holder = get_ident()
                self._begin_anew()
                yield
            finally:
                self._let_go()
        finally:
            self._let_go()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all changes of the body, or none; one inside another fails by itself."""
        with self.turn():
            before, depth = len(self._undos), self._depth
            try:
                self._depth = depth + 1
                yield
                # From here on all of it is kept, unless an exception comes first.
                if not depth:
                    self._undos.clear()
            except BaseException:
                try:
                    self._take_back(before)
                finally:
                    self._take_back(before)
                raise
            finally:
                self._depth = depth

    def _begin_anew(self) -> None:
        self._take_back(0)
        self._depth = 0
        for reset in self._resets:
            reset()

    def _take_back(self, before: int) -> None:
        while len(self._undos) > before:
            self._undos[-1]()
            self._undos.pop()

    def _let_go(self) -> None:
        if self._holder == get_ident():
            self._holder = None
        with suppress(RuntimeError):  # somebody else's, or nobody's
            self._lock.release()
