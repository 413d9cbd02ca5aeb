"""Open a store of an older version and die by SIGKILL after so many statements, or once done."""

import os
import signal
import sys
from typing import Any

from recollect import Recollect
from recollect.stores.sqlite import opening
from recollect.stores.sqlite.migrations import ENGINE_MIGRATIONS
from recollect.stores.sqlite.session import Session

path, when = sys.argv[1:]


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Statements(tuple[str, ...]):
    """The statements of a migration, of which only some are reached."""

    __slots__ = ()

    def __iter__(self) -> Any:
        for number, statement in enumerate(tuple.__iter__(self)):
            if number == int(when):
                die()
            yield statement
        die()


if when == "committed":
    Session.state = die  # type: ignore[assignment, method-assign]
else:
    last = ENGINE_MIGRATIONS[-1]
    dying = last._replace(statements=Statements(last.statements))
    opening.ENGINE_MIGRATIONS = (*ENGINE_MIGRATIONS[:-1], dying)  # type: ignore[assignment, attr-defined]
Recollect.open(path)
