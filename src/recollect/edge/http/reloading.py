"""Hooks are read again by every worker: one is asked, and leaves a mark that the others see.

In: the folder that workers share. Out: whether somebody asked since this worker last looked.
Without such a folder there is one worker, which was asked itself.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from recollect.errors import HookConfigError

if TYPE_CHECKING:
    from recollect.edge.http.stores import Stores

__all__ = ["Reloads"]


class Reloads:
    """The mark of one folder, as one worker last saw it.

    It is made before the hooks are read for the first time: what is marked meanwhile is read again.
    """

    def __init__(self, run_dir: str | None) -> None:
        self._mark = None if run_dir is None else Path(run_dir) / "hooks.reload"
        self._seen = self._now()
        self._lock = Lock()

    def reload(self, stores: Stores) -> None:
        """Read the hooks again, here and then everywhere; a file that is wrong changes nothing."""
        with self._lock:
            stores.hooks.reload()
            if self._mark is not None:
                # A file of its own each time: its number and time are not those of the one before.
                draft = self._mark.with_name(f"hooks.{os.getpid()}")
                draft.unlink(missing_ok=True)
                draft.write_text(f"{self._seen}")
                # Of our own mark alone: one that another worker leaves now is followed later.
                self._seen = _stamp(draft)
                draft.replace(self._mark)

    def follow(self, stores: Stores) -> None:
        """Read the hooks again if another worker was asked to; nobody answers meanwhile."""
        if self._now() == self._seen:
            return
        with self._lock:
            now = self._now()
            if now != self._seen:
                with suppress(HookConfigError):  # it was logged, and the doctor tells
                    stores.hooks.reload()
                self._seen = now

    def _now(self) -> tuple[int, int] | None:
        return None if self._mark is None else _stamp(self._mark)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
