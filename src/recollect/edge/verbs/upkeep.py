"""The verbs that look after a store: export, import, tidy, what waits for a vector, numbers.

Rows of the table, each with the few lines that call the engine and hand its answer to `wire`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.verb import Route, Verb
from recollect.model import Forgotten, Remembered

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["VERBS", "brought_back"]


def _export(memory: Recollect, given: dict[str, Any]) -> Iterator[str]:
    return memory.export(filter=given.get("filter"))


def brought_back(memory: Recollect, given: dict[str, Any]) -> Sequence[Remembered]:
    """Take an export back; return a report for each memory."""
    return memory.import_(given.pop("lines"), **given)


def _import(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.imported(brought_back(memory, given))


def _tidy(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.forgotten("what has ended", memory.tidy(**given))


def _retry_pending(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return {"embedded": memory.retry_pending(**given)}


def _stats(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return memory.stats()


VERBS = (
    Verb(
        "export",
        "Stream what you may read, a JSON object a line, as import takes it back.",
        "reads",
        "read",
        (Field("filter", "object", "Only what fulfils this condition."),),
        str,
        _export,
        Route("GET", "/v1/export"),
        streams=True,
    ),
    Verb(
        "import",
        "Take back what export gave, into your own tenant; all lines are checked first.",
        "writes",
        "write",
        (Field("lines", "lines", "An export: a JSON object a line.", REQUIRED),),
        {"imported": int, "created": int, "pending": int, "items": list[Remembered]},
        _import,
        Route("POST", "/v1/import"),
        repeats=True,
        progresses=True,
        streams=True,
    ),
    Verb(
        "tidy",
        "Erase what has ended, as forget does: for an admin, of the tenant.",
        "destroys",
        "admin",
        (Field("dry_run", "flag", "Erase nothing; say what would be.", default=False),),
        {"forgotten": str, "": Forgotten},
        _tidy,
        Route("POST", "/v1/tidy"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "retry_pending",
        "Try again to embed what waits for a vector.",
        "writes",
        "write",
        (),
        {"embedded": int},
        _retry_pending,
        Route("POST", "/v1/retry-pending"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "stats",
        "Tell how many memories you may read.",
        "reads",
        "read",
        (),
        {"memories": int},
        _stats,
        Route("GET", "/v1/stats"),
    ),
)
