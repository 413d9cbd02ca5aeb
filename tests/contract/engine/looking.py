"""What the tests of the engine read out of answers and stores."""

from __future__ import annotations

from collections.abc import Iterable

from recollect import Recollect
from recollect.model import RecallResponse, RecallResult, ScoredBlock
from recollect.ports.uses import strength


def ids(blocks: Iterable[ScoredBlock]) -> list[str]:
    return [block.pak_id for block in blocks]


def recalled(answer: RecallResponse) -> list[str]:
    return [result.fact.pak_id for result in answer.results]


def by_id(answer: RecallResponse) -> dict[str, RecallResult]:
    return {result.fact.pak_id: result for result in answer.results}


def edge_weights(memory: Recollect) -> dict[tuple[str, str], float]:
    """Return all links with the weights that they have for whoever opened the store."""
    rows = memory.paks.conn.execute(
        "SELECT one.pak_id, other.pak_id, weight, ifnull(uses, 0) FROM memory_edges"
        " JOIN memories AS one ON one.row_id = memory_edges.low"
        " JOIN memories AS other ON other.row_id = memory_edges.high"
        " LEFT JOIN link_uses ON (link_uses.low, link_uses.high) = (one.row_id, other.row_id)"
        " AND (link_uses.tenant, principal) = ('local', 'local') WHERE weight > 0"
    )
    return {(one, other): strength(weight, uses) for one, other, weight, uses in rows}


def everything_stored(memory: Recollect) -> list[str]:
    """Return the whole database as SQL; equal lists mean that nothing at all was written."""
    return list(memory.paks.conn.iterdump())
