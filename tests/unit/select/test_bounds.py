"""Numbers of a selection that no machine holds are refused, not run into."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.recall.select import SelectQuery


@pytest.mark.parametrize(
    "asked",
    [
        SelectQuery(text="tea", recency_window_days=7e307),
        SelectQuery(text="tea", weights={"user_pinned": 1e300}),
        SelectQuery(text="tea", weights={"user_pinned": -1e300}),
    ],
)
def test_a_number_past_all_use_is_refused(tmp_path: Path, asked: SelectQuery) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none") as memory:
        memory.remember("tea")
        with pytest.raises(InvalidInput):
            memory.select(asked)


def test_the_longest_window_holds_all_there_is(tmp_path: Path) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none") as memory:
        memory.remember("tea")
        (one,) = memory.select(SelectQuery(text="tea", recency_window_days=10**7)).scores
        assert one.parts["recency"] > 0.99
