"""The verbs of the catalogue: list, get and search Paks; why one matters, what to be careful of.

Rows of the table, each with the few lines that call the engine and hand its answer to `wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.edge import wire
from recollect.edge.verbs.fields import REQUIRED, Field
from recollect.edge.verbs.memories import unknown
from recollect.edge.verbs.narrowing import PAK_ID
from recollect.edge.verbs.verb import Route, Verb
from recollect.model.pak import LIST_LIMIT_MAX, PakRow, ReasonCodeEntry, RiskFlagEntry

if TYPE_CHECKING:
    from recollect.engine import Recollect

__all__ = ["VERBS"]

_PROJECT = Field("project", "text", "Only Paks of this project.")
_TYPE = Field("pak_type", "text", "Only Paks of this type.")
_LIMIT = Field("limit", "whole", "How many at the most.", 100, least=1, most=LIST_LIMIT_MAX)
_ROW = {"": PakRow, "risk_flags": list[RiskFlagEntry]}


def _list(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.catalogue_page(memory.catalogue.list(**given))


def _get(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    found = memory.catalogue.get(given["pak_id"])
    if found is None:
        raise unknown(given["pak_id"])
    return wire.dossier(found)


def _search(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    return wire.catalogue_hits(memory.catalogue.search(given.pop("text"), **given))


def _set_codes(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, codes = given.pop("pak_id"), given.pop("reason_codes")
    return wire.coded(pak_id, memory.catalogue.set_reason_codes(pak_id, codes, **given))


def _set_flags(memory: Recollect, given: dict[str, Any]) -> wire.Object:
    pak_id, flags = given.pop("pak_id"), given.pop("risk_flags")
    return wire.flagged(pak_id, memory.catalogue.set_risk_flags(pak_id, flags, **given))


VERBS = (
    Verb(
        "paks.list",
        "List the Paks of the memories that you may read, last updated first.",
        "reads",
        "read",
        (_PROJECT, _TYPE, _LIMIT, Field("cursor", "text", "Where the page before ended.")),
        {"items": [_ROW], "next_cursor": str | None, "limit": int, "truncated": bool},
        _list,
        Route("GET", "/v1/paks"),
    ),
    Verb(
        "paks.search",
        "Find Paks by the words of their title and summary, best first.",
        "reads",
        "read",
        (
            Field("text", "text", "What to look for, as plain words.", REQUIRED, example="kiln"),
            _PROJECT,
            _TYPE,
            _LIMIT,
            Field(
                "match",
                "text",
                "Whether any of the words is enough, or all must be there.",
                "any",
                choices=("any", "all"),
            ),
        ),
        {"hits": [{"score": float, "pak": _ROW}]},
        _search,
        Route("POST", "/v1/paks/search"),
    ),
    Verb(
        "paks.get",
        "Show all that the catalogue knows of one Pak: codes, flags, anchors, relations.",
        "reads",
        "read",
        (PAK_ID,),
        {
            "pak": {
                "": PakRow,
                "reason_codes": list[ReasonCodeEntry],
                "risk_flags": list[RiskFlagEntry],
                "anchors": list[dict[str, Any]],
                "relations": list[dict[str, Any]],
            }
        },
        _get,
        Route("GET", "/v1/paks/{pak_id}"),
    ),
    Verb(
        "paks.set_reason_codes",
        "Say why a Pak matters: these codes and no others.",
        "writes",
        "write",
        (
            PAK_ID,
            Field(
                "reason_codes",
                "items",
                "Codes of the registry, each alone or an object with its weight.",
                REQUIRED,
                most=100,
                example=[{"reason_code": "stable_context", "weight": 0.5}],
            ),
        ),
        {"pak_id": str, "reason_codes": list[ReasonCodeEntry]},
        _set_codes,
        Route("PUT", "/v1/paks/{pak_id}/reason-codes"),
        repeats=True,
        is_idempotent=True,
    ),
    Verb(
        "paks.set_risk_flags",
        "Say what to be careful of with a Pak: these flags and no others.",
        "writes",
        "write",
        (
            PAK_ID,
            Field(
                "risk_flags",
                "facts",
                "Flags of the registry, each an object with its severity: info, warn or block.",
                REQUIRED,
                example=[{"risk_flag": "manual_review_recommended", "severity": "warn"}],
            ),
        ),
        {"pak_id": str, "risk_flags": list[RiskFlagEntry]},
        _set_flags,
        Route("PUT", "/v1/paks/{pak_id}/risk-flags"),
        repeats=True,
        is_idempotent=True,
    ),
)
