"""Hold hooks, say so, and end in the way that the second argument names."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from recollect.hooks.doctor import payload_of
from recollect.hooks.events import HookEvent
from recollect.hooks.handle import Hooks
from recollect.hooks.watchdog import Watchdog

guarded = threading.Event()
guard = Watchdog.guard


def guard_and_tell(self: Watchdog, group: int) -> None:
    guard(self, group)
    guarded.set()


Watchdog.guard = guard_and_tell  # type: ignore[method-assign]
hooks = Hooks(Path(sys.argv[1]))
end = sys.argv[2]
if end == "in_flight":
    threading.Thread(
        target=hooks.before, args=(payload_of(HookEvent.PRE_REMEMBER),), daemon=True
    ).start()
guarded.wait()
print("held", flush=True)
sys.stdin.readline()
if end == "close":
    hooks.close()
elif end == "exception":
    raise RuntimeError("on purpose")
elif end == "exit":
    os._exit(3)
