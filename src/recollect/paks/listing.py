"""Filters of a listing as SQL: conditions, values, page size.

In: a caller's `PakListFilters`. Out: text made of constants only, and the values to bind.
"""

from __future__ import annotations

from typing import Any

from recollect.errors import InvalidInput
from recollect.paks import validate
from recollect.paks.rows import LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, PakListFilters

__all__ = ["checked", "conditions", "page_size", "where"]


def checked(filters: PakListFilters | None) -> PakListFilters:
    if filters is None:
        return PakListFilters()
    if not isinstance(filters, PakListFilters):
        raise InvalidInput(
            f"filters must be PakListFilters or None, not {type(filters).__name__}.",
            hint="write PakListFilters(project='shop').",
        )
    validate.optional_text("project", filters.project)
    validate.optional_text("pak_type", filters.pak_type)
    return filters


def conditions(filters: PakListFilters) -> tuple[list[str], list[object]]:
    wanted = {"paks.project": filters.project, "paks.pak_type": filters.pak_type}
    chosen = {column: value for column, value in wanted.items() if value is not None}
    return [f"{column} = ?" for column in chosen], list(chosen.values())


def where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def page_size(limit: Any) -> int:
    if not isinstance(limit, int) or isinstance(limit, bool) or limit <= 0:
        return LIST_LIMIT_DEFAULT
    return min(limit, LIST_LIMIT_MAX)
