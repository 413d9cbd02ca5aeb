"""Close a store, which writes the cache file, and die by SIGKILL at a chosen point of it."""

import os
import signal
import sys
from typing import Any

from tests.e2e.engine.stores import opened, row

from recollect.index import cache_file

path, point = sys.argv[1:]


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


memory = opened(path)
memory.remember_many([row("late", number) for number in range(2050)])
memory.recall("walrus")
if point == "the draft is written":
    os.fsync = die  # type: ignore[assignment]
elif point == "the file has its name":
    cache_file._sync_folder = die  # type: ignore[assignment]
elif point == "before all of it":
    die()
memory.close()
