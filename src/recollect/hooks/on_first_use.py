"""The hooks of a memory, made when somebody first wants them: most memories have none.

In: the file of hooks, if there is one. Out: the loop around the verbs. Hooks of a file are made at
once, so that one that is wrong is told of at opening.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from recollect.locks import fresh_in_child

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.hooks.dispatcher import Dispatcher
    from recollect.hooks.handle import Hooks

__all__ = ["HooksOnFirstUse", "SharedHooks"]


class HooksOnFirstUse:
    """What runs the verbs with hooks around them, once it is needed; safe for threads."""

    def __init__(self, path: Path | None, *, k_max: int) -> None:
        self._path, self._k_max = path, k_max
        self._dispatcher: Dispatcher | None = None
        self._making = threading.Lock()
        fresh_in_child(self, "_making", threading.Lock)
        if path is not None:
            self.dispatcher()

    @property
    def is_idle(self) -> bool:
        """Whether there is no hook at all."""
        return self._dispatcher is None or self._dispatcher.hooks.is_idle

    def dispatcher(self) -> Dispatcher:
        """Return the loop around the verbs, the same at each call."""
        with self._making:
            if self._dispatcher is None:
                from recollect.hooks.dispatcher import Dispatcher
                from recollect.hooks.handle import Hooks

                self._dispatcher = Dispatcher(Hooks(self._path, k_max=self._k_max))
            return self._dispatcher

    def hooks(self) -> Hooks:
        """Return the hooks themselves, to register others and see how they are."""
        return self.dispatcher().hooks

    def close(self) -> None:
        """Stop whatever runs; closing twice is fine."""
        if self._dispatcher is not None:
            self._dispatcher.hooks.close()


class SharedHooks:
    """The hooks that several memories share; who closes a memory leaves them as they are."""

    def __init__(self, shared: HooksOnFirstUse) -> None:
        self._shared = shared

    @property
    def is_idle(self) -> bool:
        """Whether there is no hook at all."""
        return self._shared.is_idle

    def dispatcher(self) -> Dispatcher:
        """Return the loop around the verbs, the same for all."""
        return self._shared.dispatcher()

    def close(self) -> None:
        """Leave them to whoever made them."""
