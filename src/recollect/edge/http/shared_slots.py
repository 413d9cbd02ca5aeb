"""Numbers that the workers of one server share: slots of a file in memory, each with a lock.

In: a name and what to do with its slot. Out: whatever that gives. A slot is found by a digest of
the name, so that their number is bounded whatever clients make up; two names may fall on one slot,
and whoever uses it says what that means. A worker that dies lets go of its locks.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

__all__ = ["SharedSlots"]

Answer = TypeVar("Answer")
_ONLY_MINE = 0o600


class SharedSlots:
    """So many slots of one form; without a folder they are this process's own."""

    def __init__(self, folder: str | None, name: str, *, form: str, slots: int = 65_536) -> None:
        self._form = struct.Struct(form)
        self._slots = slots
        # Locks of a file are between processes; threads of one have this.
        self._among_threads = Lock()
        self._file: int | None = None
        size = self._form.size * slots
        if folder is None:
            self._kept = mmap.mmap(-1, size)
            return
        self._file = os.open(Path(folder) / name, os.O_RDWR | os.O_CREAT, _ONLY_MINE)
        os.ftruncate(self._file, size)
        self._kept = mmap.mmap(self._file, size)

    def change(
        self, name: str, act: Callable[[tuple[Any, ...]], tuple[tuple[Any, ...], Answer]]
    ) -> Answer:
        """Let nobody else near a name's slot while `act` makes new values, and something else."""
        start = self._slot(name) * self._form.size
        with self._among_threads, self._held(start):
            values, answer = act(self._form.unpack_from(self._kept, start))
            self._form.pack_into(self._kept, start, *values)
        return answer

    def close(self) -> None:
        """Let go of the file; what was counted stays for the others."""
        self._kept.close()
        if self._file is not None:
            os.close(self._file)

    def _slot(self, name: str) -> int:
        return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % self._slots

    @contextmanager
    def _held(self, start: int) -> Iterator[None]:
        if self._file is None:
            yield
            return
        fcntl.lockf(self._file, fcntl.LOCK_EX, self._form.size, start)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, self._form.size, start)
