"""A memory on a server, as commands use one: with a place to name, and words for what it lacks.

In: an address and a key. Out: what `RemoteRecollect` is. A verb that needs the file is refused when
a command asks for it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from recollect.edge.cli.open_catalogue import need_file
from recollect.edge.remote.blocking import RemoteRecollect

__all__ = ["OnAServer"]


class OnAServer(RemoteRecollect):
    """A memory that is asked over HTTP."""

    def __init__(self, url: str, key: str | None) -> None:
        super().__init__(url, key)
        self.path = url

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _refuse(name)


def _refuse(name: str) -> NoReturn:
    need_file(name)
    raise AttributeError(name)
