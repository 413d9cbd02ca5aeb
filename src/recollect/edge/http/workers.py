"""The parent of workers: it starts them, replaces one that died, and ends them with itself.

In: a configuration of uvicorn and the address. Out: nothing. It answers no request.
"""

from __future__ import annotations

from uvicorn.supervisors import Multiprocess

__all__ = ["Workers"]


class Workers(Multiprocess):
    """Uvicorn's parent, which asks its workers how they are only when one of them has died.

    It asks in turn and waits for each: one that dies after the question keeps it waiting, and so
    does one that still loads.
    """

    def keep_subprocess_alive(self) -> None:
        """Replace who died."""
        if not all(one.process.is_alive() for one in self.processes):
            super().keep_subprocess_alive()
