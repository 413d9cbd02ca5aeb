from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index.strings import Strings

texts = st.lists(st.text(st.characters(exclude_categories=[]), max_size=20), max_size=20)


@settings(deadline=None)
@given(texts, texts)
def test_texts_come_out_as_they_went_in(first: list[str], second: list[str]) -> None:
    column = Strings()
    column.extend(first)
    column.extend(second)

    assert column.texts_at(range(len(column))) == first + second


@settings(deadline=None)
@given(texts, st.randoms(use_true_random=False))
def test_compaction_keeps_the_rows_asked_for(texts: list[str], random: object) -> None:
    column = Strings()
    column.extend(texts)
    kept = np.arange(0, len(texts), 2)
    column.compact(kept)
    column.extend(["more"])

    assert column.texts_at(range(len(column))) == [*texts[::2], "more"]


@settings(deadline=None)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=20))
def test_words_and_lengths_sort_as_the_texts_do(texts: list[str]) -> None:
    column = Strings()
    column.extend(texts)
    rows = np.arange(len(texts))
    words = [column.sort_keys(rows, level).tolist() for level in range(column.levels(rows))]
    keys = list(zip(*words, column.lengths(rows).tolist(), strict=True))

    assert [texts[row] for row in sorted(rows, key=lambda row: keys[row])] == sorted(texts)
