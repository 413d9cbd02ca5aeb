"""Filters of a listing as SQL: conditions, values, page size.

In: a caller's `PakListFilters`. Out: text made of constants only, and the values to bind.
"""

from __future__ import annotations

from typing import Any

from recollect.errors import InvalidInput
from recollect.model.pak import LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, PakListFilters
from recollect.paks import validate

__all__ = ["checked", "conditions", "page_size", "where"]


def checked(filters: PakListFilters | None) -> PakListFilters:
    """Return the filters to use, refusing what is not text."""
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
    """Return the conditions of a listing and the values they bind."""
    wanted = {"paks.project": filters.project, "paks.pak_type": filters.pak_type}
    if filters.project is not None:
        # The plus keeps SQLite from walking the type's index: a project is the narrower of the two.
        wanted = {"paks.project": filters.project, "+paks.pak_type": filters.pak_type}
    chosen = {column: value for column, value in wanted.items() if value is not None}
    return [f"{column} = ?" for column in chosen], list(chosen.values())


def where(conditions: list[str]) -> str:
    """Return a WHERE clause, or nothing."""
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def page_size(limit: Any) -> int:
    """Return the page size in force: what was asked for, within bounds."""
    if not isinstance(limit, int) or isinstance(limit, bool) or limit <= 0:
        return LIST_LIMIT_DEFAULT
    return min(limit, LIST_LIMIT_MAX)
