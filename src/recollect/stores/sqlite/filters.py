"""Which rows are meant, as conditions of SQL.

In: a `RowFilter`. Out: text of ours with question marks, and the values for them. Names are
compared by the keys that stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from recollect.model import name_key
from recollect.stores.sqlite.session import chunks, marks

if TYPE_CHECKING:
    from recollect.ports.memories import RowFilter

__all__ = ["conditions"]


def conditions(where: RowFilter) -> Iterator[tuple[str, list[Any]]]:
    """Yield the conditions of a filter, each with its values, so that none has too many."""
    plain, values = _plain_conditions(where)
    lists = {
        "memories.pak_id IN ({})": where.pak_ids,
        "memories.row_id IN ({})": where.row_ids,
        "memories.pak_id IN (SELECT pak_id FROM paks WHERE superseded_by IN ({}))": (
            where.superseded_by
        ),
    }
    for parts in product(*map(_parts, lists.values())):
        given = [(said, part) for said, part in zip(lists, parts, strict=True) if part is not None]
        all_of = [*plain, *(said.format(_named(part)) for said, part in given)]
        yield " AND ".join(all_of) or "TRUE", [*values, *(one for _, part in given for one in part)]


def _named(wanted: Sequence[Any]) -> str:
    """Return marks for names; for none what no row is called: an empty list is a scan of all."""
    return marks(wanted) or "NULL"


def _parts(wanted: tuple[Any, ...] | None) -> Iterable[Sequence[Any] | None]:
    """Return names in parts; no names are one part without any, and not asked for is one None."""
    return (None,) if wanted is None else list(chunks(tuple(dict.fromkeys(wanted)))) or [()]


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
