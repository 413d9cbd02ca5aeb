"""Recollect: the recall engine for AI agents.

Public names only. Importing this package reads no environment, opens no file and loads no
numeric library: the engine is loaded when its name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import RecollectError

if TYPE_CHECKING:
    from recollect.aio import AsyncRecollect
    from recollect.engine import Recollect
    from recollect.node import Node

__all__ = ["AsyncRecollect", "Node", "Recollect", "RecollectError", "__version__"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "Recollect":
        from recollect.engine import Recollect

        return Recollect
    if name == "AsyncRecollect":
        from recollect.aio import AsyncRecollect

        return AsyncRecollect
    if name == "Node":
        from recollect.node import Node

        return Node
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
