"""The cache file holds other bytes than were written: no answer is another for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults.damaged_stores import ASKED, flips, full_store, opened, said

from recollect.index import follow

soak = pytest.mark.soak
PAGE = 4096
# What is answered from the index; a frame would count its use, and be another answer the next time.
READS = ("recall", "recall words", "recall narrow", "recall all", "recall of a peer", "list")


def swaps(whole: bytes, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield copies of a file in which two pages have changed places, and which."""
    dice, pages = random.Random(31), range(-(-len(whole) // PAGE))
    for _ in range(count):
        one, other = sorted(dice.sample(pages, 2))
        parts = [whole[page * PAGE : (page + 1) * PAGE] for page in pages]
        parts[one], parts[other] = parts[other], parts[one]
        yield f"pages {one} and {other}", b"".join(parts)


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=soak)])
@pytest.mark.parametrize("fault", [flips, swaps])
def test_a_cache_file_with_other_bytes_changes_no_answer(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: object,
    count: int,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("tried", count)
    monkeypatch.setattr(follow, "_WORTH_SAVING", 1)
    path, cache = tmp_path / "a.db", tmp_path / "a.db.index"
    full_store(path)
    with opened(path, cache_file=True) as memory:
        expected = {name: said(ASKED[name](memory)) for name in READS}
    whole = cache.read_bytes()

    wrong = []
    for where, damaged in fault(whole, count):  # type: ignore[operator]
        cache.write_bytes(damaged)
        with opened(path, cache_file=True) as memory:
            if {name: said(ASKED[name](memory)) for name in READS} != expected:
                wrong.append(where)

    assert wrong == []
