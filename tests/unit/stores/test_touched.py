"""How much of its log a store keeps."""

from __future__ import annotations

from itertools import pairwise

from recollect.stores.touched import KEPT_COMMITS, KEPT_NUMBERS, first_kept, is_time_to_trim


def test_of_small_commits_the_last_ten_thousand_stay() -> None:
    log = [(revision, 3) for revision in range(20_000, 0, -1)]
    assert first_kept(log) == 20_000 - KEPT_COMMITS + 1
    assert first_kept(log[:5]) == 19_996


def test_of_large_commits_those_stay_that_hold_a_million_row_ids() -> None:
    log = [(revision, 4_000) for revision in range(1_000, 0, -1)]
    kept = 1_000 - first_kept(log) + 1
    assert kept == KEPT_NUMBERS // 4_000


def test_the_newest_commit_stays_whatever_its_size() -> None:
    assert first_kept([(7, 10 * KEPT_NUMBERS), (6, 1)]) == 7


def test_a_log_never_holds_much_more_than_it_may() -> None:
    for size in (0, 10, 3_000, 5_000):
        log: list[tuple[int, int]] = []
        for revision in range(1, 11_000):
            log.insert(0, (revision, size))
            if is_time_to_trim(revision, size):
                first = first_kept(log)
                log = [one for one in log if one[0] >= first]
            if revision % 100:
                continue
            assert len(log) <= KEPT_COMMITS + 256
            assert sum(one for _, one in log) <= 2 * KEPT_NUMBERS
        assert all(newer[0] == older[0] + 1 for newer, older in pairwise(log))
