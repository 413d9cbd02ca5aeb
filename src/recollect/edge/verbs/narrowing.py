"""The fields of a recall as the table has them, made from `RecallRequest` itself.

In: what the request says of each field: its type, its default, its limit, a sentence. Out: rows of
the table, in groups that several verbs share. A filter that is added there is in every door.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from recollect.edge.verbs.fields import REQUIRED, Field, Kind
from recollect.model.request import NOT_OF_FRAMES, RecallRequest

__all__ = ["NARROWING", "NOW", "OF_FRAMES", "PAK_ID", "REQUEST", "SCOPE", "WINDOW"]

_KINDS: Mapping[Any, Kind] = {
    str: "text",
    int: "whole",
    float: "number",
    bool: "flag",
    Sequence: "texts",
    Mapping: "object",
    date: "time",
}
# What does not narrow: how much is wanted, and how well it must fit.
_OF_ANSWERS = ("query", "top_k", "token_budget", "min_score", "min_match")


def _row(one: dataclasses.Field[Any], hint: Any) -> Field:
    kinds = [kind for kind in (get_args(hint) or (hint,)) if kind is not NoneType]
    # A choice is a Literal; what may be a date is a time, however it is written.
    choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else _literals(hint)
    kind = "text" if choices else _KINDS[_plain(kinds[-1])]
    return Field(
        one.name,
        kind,
        one.metadata["help"],
        one.default,
        choices=choices,
        least=_LEAST.get(kind),
        most=one.metadata["most"] or (1 if kind == "number" else None),
    )


# Numbers of a request are shares; whole ones count something.
_LEAST: Mapping[str, float] = {"whole": 1, "number": 0}


def _literals(hint: Any) -> tuple[str, ...]:
    values = [one for one in get_args(hint) if isinstance(one, str)]
    return tuple(values)


def _plain(hint: Any) -> Any:
    return get_origin(hint) or hint


_HINTS = get_type_hints(RecallRequest)
REQUEST = {one.name: _row(one, _HINTS[one.name]) for one in dataclasses.fields(RecallRequest)}
OF_FRAMES = tuple(one for name, one in REQUEST.items() if name not in NOT_OF_FRAMES)
NARROWING = tuple(one for one in OF_FRAMES if one.name not in _OF_ANSWERS)
SCOPE = REQUEST["scope"]
NOW = REQUEST["now"]
WINDOW = (REQUEST["since"], REQUEST["until"])
PAK_ID = Field("pak_id", "text", "The id of a memory.", REQUIRED, example="kiln-booking")
