from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index.ranking import best
from recollect.index.strings import Strings

blocks = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 0.2]),
        st.integers(0, 2),
        st.text(alphabet="ab\0é", max_size=18),
    ),
    max_size=30,
    unique_by=lambda block: block[2],
)


@settings(deadline=None)
@given(blocks, st.integers(-1, 32))
def test_the_best_are_those_of_a_plain_sort(
    blocks: list[tuple[float, int, str]], keep: int
) -> None:
    pak_ids = Strings()
    pak_ids.extend(pak_id for _, _, pak_id in blocks)
    found = best(
        np.arange(len(blocks)),
        np.array([score for score, _, _ in blocks], dtype=np.float64),
        keep,
        updated_at=np.array([time for _, time, _ in blocks], dtype=np.int64),
        pak_ids=pak_ids,
    )

    assert [blocks[slot] for slot in found] == sorted(blocks, reverse=True)[: max(keep, 0)]


def test_a_tie_of_very_many_is_settled_by_pak_id() -> None:
    names = [f"pak_{number:07d}" for number in np.random.default_rng(1).permutation(50_000)]
    pak_ids = Strings()
    pak_ids.extend(names)
    slots, scores = np.arange(50_000), np.full(50_000, 0.5)  # a slot's place is its number
    found = best(slots, scores, 3, updated_at=np.zeros(50_000, np.int64), pak_ids=pak_ids)

    assert pak_ids.texts_at(found) == ["pak_0049999", "pak_0049998", "pak_0049997"]
