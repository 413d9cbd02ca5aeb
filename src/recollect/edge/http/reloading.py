"""Hooks are read again by every worker: one is asked, and leaves a mark that the others see.

In: the folder that workers share. Out: whether somebody asked since this worker last looked.
Without such a folder there is one worker, which was asked itself.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.errors import HookConfigError

if TYPE_CHECKING:
    from recollect.edge.http.stores import Stores

__all__ = ["Reloads"]


class Reloads:
    """The mark of one folder, as one worker last saw it."""

    def __init__(self, run_dir: str | None) -> None:
        self._mark = None if run_dir is None else Path(run_dir) / "hooks.reload"
        self._seen = self._now()

    def reload(self, stores: Stores) -> None:
        """Read the hooks again, here and then everywhere; a file that is wrong changes nothing."""
        stores.hooks.reload()
        if self._mark is not None:
            # A file of its own each time: its number and time are not those of the one before.
            draft = self._mark.with_name(f"hooks.{os.getpid()}")
            draft.write_text(f"{self._seen}")
            draft.replace(self._mark)
            self._seen = self._now()

    def follow(self, stores: Stores) -> None:
        """Read the hooks again if another worker was asked to."""
        now = self._now()
        if now != self._seen:
            self._seen = now
            with suppress(HookConfigError):  # it was logged, and the doctor tells
                stores.hooks.reload()

    def _now(self) -> tuple[int, int] | None:
        if self._mark is None:
            return None
        try:
            found = self._mark.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino
