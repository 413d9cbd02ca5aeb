"""A byte of the file is not what was written: nothing is wrong in silence, and nothing breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.damaged_stores import answers, flips, full_store, opened, outcome_of

soak = pytest.mark.soak


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store that holds one of everything."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    full_store(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def expected(whole: bytes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What that store says to everything that is asked."""
    path = tmp_path_factory.mktemp("asked") / "asked.db"
    path.write_bytes(whole)
    with opened(path) as memory:
        said = answers(memory)
        assert memory.check() == ()
    return said


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=soak)])
def test_a_flipped_byte_of_the_database_is_told_refused_or_without_effect(
    whole: bytes,
    expected: dict[str, str],
    tmp_path: Path,
    count: int,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("tried", count)
    found = []
    for number, (where, flipped) in enumerate(flips(whole, count)):
        path = tmp_path / f"{number}.db"
        path.write_bytes(flipped)
        found.append(outcome_of(where, path, expected))

    assert [one for one in found if one.kind == "silent"] == []
    assert [one for one in found if one.kind == "bare"] == []
    # The places are spread: some flips are seen in answers, others hit nothing that is asked for.
    kinds = Counter(one.kind for one in found)
    assert kinds["told"] > count // 20
    assert kinds["same"] > count // 20
