"""Values that wait in a file come back as they were, as often as somebody walks over them."""

from __future__ import annotations

from itertools import islice

import pytest

from recollect.spool import Spool


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128, 1_000])
def test_what_was_kept_comes_back_in_its_order_each_time(count: int) -> None:
    values = [{"number": number, "text": "é\ud800" * number} for number in range(count)]
    spool = Spool(values)
    assert len(spool) == count
    assert list(spool) == values
    assert list(spool) == values


def test_two_walks_do_not_disturb_each_other() -> None:
    spool = Spool(range(300))
    slow = iter(spool)
    assert list(islice(slow, 100)) == list(range(100))
    assert list(spool) == list(range(300))
    assert list(slow) == list(range(100, 300))


def test_more_can_be_kept_after_a_walk() -> None:
    spool = Spool(range(100))
    assert sum(1 for _ in spool) == 100
    for number in range(100, 200):
        spool.append(number)
    assert list(spool) == list(range(200))
    assert 150 in spool
    assert 200 not in spool
