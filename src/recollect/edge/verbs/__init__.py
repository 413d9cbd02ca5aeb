"""Every verb described once: name, fields, limits, answer, permission, effect, help, route.

HTTP routes, the OpenAPI document and the reference page are made from this table; the command line
is checked against it. Nothing here knows a door.
"""

from __future__ import annotations

from recollect.edge.verbs import access, answers, frames, memories, paks, upkeep
from recollect.edge.verbs.fields import Field, from_texts, object_schema
from recollect.edge.verbs.verb import REQUEST_ID, Effect, Route, Verb

__all__ = [
    "REQUEST_ID",
    "VERBS",
    "Effect",
    "Field",
    "Route",
    "Verb",
    "by_name",
    "from_texts",
    "object_schema",
]

VERBS: tuple[Verb, ...] = (
    *memories.VERBS,
    *answers.VERBS,
    *paks.VERBS,
    *frames.VERBS,
    *access.VERBS,
    *upkeep.VERBS,
)

_BY_NAME = {verb.name: verb for verb in VERBS}


def by_name(name: str) -> Verb:
    """Return one verb."""
    return _BY_NAME[name]
