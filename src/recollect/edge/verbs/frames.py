"""The verbs about frames as definitions: list, show, make, change, delete, let go of the cache.

Rows of the table, each with the few lines that call the engine and hand its answer to `wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.verb import Route, Verb
from recollect.errors import UnknownFrame
from recollect.model import FrameDefinition
from recollect.model.request import BUDGET_MAX

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["VERBS"]

_NAME = Field("name", "text", "The name of the frame.", REQUIRED, example="support")
_PARTS = (
    Field("weights", "numbers", "How much each signal counts; all five, together 1."),
    Field("filters", "object", "tag_patterns, categories, search_window_hours."),
    Field("guarantees", "texts", "Tags, or beginnings with %, whose memories are always in it."),
    Field("template", "text", "The name of a template, or a format string of your own."),
    Field("token_budget", "whole", "How long its text may be.", least=1, most=BUDGET_MAX),
    Field("cache", "object", "ttl_seconds and invalidate_on; null for none."),
)
_ONE = {"frame": FrameDefinition}


def _list(memory: Recollect, _: dict[str, Any]) -> wire.Object:
    return wire.frames(memory.frames.list())


def _get(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    name = given["name"]
    return wire.frame(memory.frames.get(name), memory.frames.extends(name))


def _register(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    extends = given.pop("extends", None)
    return wire.frame(memory.frames.register(given.pop("name"), extends=extends, **given), extends)


def _update(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    name = given.pop("name")
    return wire.frame(memory.frames.update(name, **given), _extends(memory, name))


def _extends(memory: Recollect, name: str) -> str | None:
    """Return what a frame extends; one that is told of again may have been deleted since."""
    try:
        return memory.frames.extends(name)
    except UnknownFrame:
        return None


def _delete(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    memory.frames.delete(**given)
    return wire.deleted(given["name"])


def _invalidate(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    memory.frames.invalidate(**given)
    return wire.invalidated(given["name"])


VERBS = (
    Verb(
        "frames.list",
        "List the frames: the built-in ones, then the tenant's own by name.",
        "reads",
        "read",
        (),
        {"frames": list[FrameDefinition]},
        _list,
        Route("GET", "/v1/frames"),
    ),
    Verb(
        "frames.get",
        "Show one frame's recipe.",
        "reads",
        "read",
        (_NAME,),
        _ONE,
        _get,
        Route("GET", "/v1/frames/{name}"),
    ),
    Verb(
        "frames.register",
        "Keep a new frame; what is not given comes from the one that it extends.",
        "writes",
        "admin",
        (_NAME, Field("extends", "text", "The frame that it starts from."), *_PARTS),
        _ONE,
        _register,
        Route("POST", "/v1/frames"),
        repeats=True,
    ),
    Verb(
        "frames.update",
        "Change a frame; what is not given stays.",
        "writes",
        "admin",
        (_NAME, *_PARTS),
        _ONE,
        _update,
        Route("PATCH", "/v1/frames/{name}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "frames.delete",
        "Remove a frame; frames that were registered on it stay as they are.",
        "destroys",
        "admin",
        (_NAME,),
        {"deleted": str},
        _delete,
        Route("DELETE", "/v1/frames/{name}"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "frames.invalidate",
        "Let go of the cached answers of a frame, wherever they are cached.",
        "writes",
        "admin",
        (_NAME,),
        {"invalidated": str},
        _invalidate,
        Route("POST", "/v1/frames/{name}/invalidate"),
        repeats=True,
        is_idempotent=True,
    ),
)
