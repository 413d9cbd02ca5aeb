"""A worker whose parent is gone ends itself: nobody would tell it to, and it holds the address.

In: nothing but who the parent was. Out: a signal to this very process, as the parent sends it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from multiprocessing import parent_process

__all__ = ["end_with_parent"]

_LOOK_EVERY_S = 0.5


async def end_with_parent() -> None:
    """Wait until the parent is gone, then end as if it had said so."""
    parent = parent_process()
    while parent is None or os.getppid() == parent.pid:
        await asyncio.sleep(_LOOK_EVERY_S)
    signal.raise_signal(signal.SIGTERM)
