from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recollect.index.columns import Columns, epoch_microseconds, place_from, place_text
from recollect.model import Memory, Place
from recollect.ports.store import IndexColumns, IndexRow

FIRST = Memory(
    "p1",
    "x",
    "x",
    project="shop",
    thread="t",
    position=4,
    speaker="ann",
    valid_until="1970-01-01T00:00:00Z",
    updated_at="1970-01-01T00:00:01.000002Z",
    place=Place(tenant="acme", team="red"),
)
SECOND = Memory("p2", "y", "y", status="archived", valid_until="nonsense", reinforced=2**40)


def filled(*memories: Memory) -> Columns:
    columns = Columns()
    count = len(memories)
    numbers = np.arange(count)
    columns.extend(
        IndexColumns.of([IndexRow(*row, None) for row in enumerate(memories)]),
        lengths=np.ones(count, np.int64),
        digests=numbers,
        words=numbers,
        marks=np.zeros(count, np.uint8),
    )
    return columns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000001+00:00", 1),
        ("1970-01-01T01:00:01+01:00", 1_000_000),
        ("1970-01-02", 86_400_000_000),
        ("1970-01-01 00:00:01", 1_000_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_instants_are_microseconds_and_what_cannot_be_read_is_nothing(
    text: str, expected: int
) -> None:
    assert epoch_microseconds(text) == expected


def test_columns_hold_what_a_pak_says() -> None:
    columns = filled(FIRST, SECOND)

    assert columns["updated_at"].tolist() == [1_000_002, 0]
    assert columns["valid_until"].tolist() == [0.0, inf]
    assert columns["position"].tolist() == [4, -1]
    assert columns["reinforced"].tolist() == [0, 2**31 - 1]
    projects = columns.vocabularies["project"].in_order
    assert [projects[code] for code in columns["project"]] == ["shop", None]
    places = columns.vocabularies["place"].in_order
    assert [place_from(places[code]) for code in columns["place"]] == [FIRST.place, SECOND.place]


def test_overwriting_changes_one_slot_only() -> None:
    columns = filled(FIRST, SECOND)
    columns.overwrite(0, replace(FIRST, confidence=0.25, project="home"))

    assert columns["confidence"].tolist() == [0.25, 1.0]
    values = columns.vocabularies["project"].in_order
    assert [values[code] for code in columns["project"]] == ["home", None]


def test_compaction_forgets_values_that_nobody_has() -> None:
    columns = filled(FIRST, SECOND)
    columns.compact(np.array([1]))

    assert columns.size == 1
    assert columns.vocabularies["place"].in_order == [place_text(SECOND.place)]
    assert columns.vocabularies["project"].get("shop", -1) == -1
    assert columns["row_id"].tolist() == [1]
