"""Which rows are meant, as conditions of SQL.

In: a `RowFilter`. Out: text of ours with question marks, and the values for them. Names are
compared by the keys that stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Any

from recollect.model import name_key
from recollect.ports.memories import RowFilter
from recollect.stores.sqlite.session import chunks, marks

__all__ = ["conditions"]

_FEW = 64


def conditions(where: RowFilter) -> Iterator[tuple[str, list[Any]]]:
    """Yield the conditions of a filter, each with its values, so that none has too many."""
    if where.row_ids and len(where.row_ids) <= _FEW and where == RowFilter(row_ids=where.row_ids):
        # As every recall asks.
        wanted = tuple(dict.fromkeys(where.row_ids))
        yield f"memories.row_id IN ({marks(wanted)})", [*wanted]
        return
    plain, values = _plain_conditions(where)
    lists = (
        ("memories.pak_id IN ({})", where.pak_ids),
        ("memories.row_id IN ({})", where.row_ids),
        (
            "memories.pak_id IN (SELECT pak_id FROM paks WHERE superseded_by IN ({}))",
            where.superseded_by,
        ),
    )
    given = [(said, _parts(wanted)) for said, wanted in lists if wanted is not None]
    for parts in product(*(parts for _, parts in given)):
        named = (said.format(_named(part)) for (said, _), part in zip(given, parts, strict=True))
        yield " AND ".join((*plain, *named)) or "TRUE", [*values, *chain.from_iterable(parts)]


def _named(wanted: Sequence[Any]) -> str:
    """Return marks for names; for none what no row is called: an empty list is a scan of all."""
    return marks(wanted) or "NULL"


def _parts(wanted: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    """Return names in parts; no names are one part without any."""
    return list(chunks(tuple(dict.fromkeys(wanted)))) or [()]


def _plain_conditions(where: RowFilter) -> tuple[list[str], list[Any]]:
    given = {
        "tenant": where.tenant,
        "garden": where.garden,
        "entity_key": _key(where.entity),
        "relation_key": _key(where.relation),
        "source_key": _key(where.source),
    }
    named = {column: value for column, value in given.items() if value is not None}
    all_of, values = [f"memories.{column} = ?" for column in named], list(named.values())
    if where.about is not None:
        all_of.append(
            "memories.row_id IN (SELECT row_id FROM memories WHERE entity_key = ?"
            " UNION SELECT row_id FROM memories WHERE value_key = ?)"
        )
        values += [name_key(where.about)] * 2
    return all_of, values


def _key(name: str | None) -> str | None:
    return None if name is None else name_key(name)
