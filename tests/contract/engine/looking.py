"""What the tests of the engine read out of answers and stores."""

from __future__ import annotations

from collections.abc import Iterable

from recollect import Recollect
from recollect.model import RecallResponse, RecallResult, ScoredBlock


def ids(blocks: Iterable[ScoredBlock]) -> list[str]:
    return [block.pak_id for block in blocks]


def recalled(answer: RecallResponse) -> list[str]:
    return [result.fact.pak_id for result in answer.results]


def by_id(answer: RecallResponse) -> dict[str, RecallResult]:
    return {result.fact.pak_id: result for result in answer.results}


def edge_weights(memory: Recollect) -> dict[tuple[str, str], float]:
    rows = memory.paks.conn.execute(
        "SELECT one.pak_id, other.pak_id, weight FROM memory_edges"
        " JOIN memories AS one ON one.row_id = low JOIN memories AS other ON other.row_id = high"
        " WHERE weight > 0"
    )
    return {(one, other): weight for one, other, weight in rows}


def everything_stored(memory: Recollect) -> list[str]:
    """Return the whole database as SQL; equal lists mean that nothing at all was written."""
    return list(memory.paks.conn.iterdump())
