from __future__ import annotations

import numpy as np

from recollect.index.bars import Bars
from recollect.ports.state import Head

BEFORE, MINE, THEIRS = Head(1, "before"), Head(2, "mine"), Head(2, "theirs")
ROWS = np.array([1, 5, 9])


def known(bars: Bars, head: Head) -> list[float | None]:
    return [None if value != value else value for value in bars.of(ROWS, head).tolist()]


def test_what_a_commit_learned_is_known_inside_of_it_and_after_it() -> None:
    bars = Bars()
    bars.learn({5: 0.7, 9: 0.0}, MINE)
    assert known(bars, MINE) == [None, 0.7, 0.0]
    assert known(bars.following(MINE, only_came=False), THEIRS) == [None, 0.7, 0.0]


def test_what_a_commit_learned_that_came_to_nothing_is_not_known() -> None:
    bars = Bars()
    bars.learn({5: 0.7}, MINE)
    assert known(bars, THEIRS) == [None, None, None]
    assert known(bars.following(THEIRS, only_came=True), THEIRS) == [None, None, None]


def test_bars_outlive_the_commits_of_others_to_which_memories_only_came() -> None:
    bars = Bars()
    bars.learn({5: 0.7}, BEFORE)
    mine = bars.following(BEFORE, only_came=True)
    later = mine.following(THEIRS, only_came=True)
    assert known(later, THEIRS) == [None, 0.7, None]
    assert known(later.following(MINE, only_came=False), MINE) == [None, None, None]


def test_bars_that_were_handed_on_are_not_those_of_the_index_before() -> None:
    bars = Bars()
    bars.learn({5: 0.7}, BEFORE)
    mine = bars.following(BEFORE, only_came=True)
    mine.learn({5: 0.9}, MINE)
    later = mine.following(MINE, only_came=True)
    assert known(later, MINE) == [None, 0.9, None]
    assert known(mine, BEFORE) == [None, None, None]


def test_many_rows_are_told_the_same_as_few() -> None:
    rows = np.arange(1, 400)
    bars = Bars(np.where(rows % 3, rows / 400, np.nan))
    bars.learn({row: row / 1000 for row in range(0, 500, 7)}, MINE)
    for head in (MINE, THEIRS):
        each = [bars.of(np.array([row]), head)[0] for row in rows]
        np.testing.assert_array_equal(bars.of(rows, head), each)
    assert bars.of(np.array([7]), THEIRS)[0] == 8 / 400
