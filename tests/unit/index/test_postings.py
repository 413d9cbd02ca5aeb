from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import postings as module
from recollect.index.postings import MOST_COUNTED, Postings

names = st.sampled_from(["a", "ab", "abc", "b", ""])
batches = st.lists(st.lists(st.lists(names, max_size=6), max_size=5), max_size=8)


def plain(postings: Postings, name: str) -> dict[int, int]:
    posting = postings.get([name])[0]
    assert posting.slots.tolist() == sorted(set(posting.slots.tolist()))
    return dict(zip(posting.slots.tolist(), posting.counts.tolist(), strict=True))


def held(texts: list[list[str]], name: str) -> dict[int, int]:
    return {slot: Counter(text)[name] for slot, text in enumerate(texts) if name in text}


@settings(deadline=None)
@given(batches, st.sets(st.integers(0, 40)), st.sampled_from([0, 1, 3, 2048]))
def test_postings_hold_what_was_added_through_freezing_merging_and_compaction(
    batches: list[list[list[str]]], dead: set[int], tail_rows: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TAIL_ROWS", tail_rows)
        postings, texts = Postings(), list[list[str]]()
        for batch in batches:
            postings.extend(batch, len(texts))
            postings.settle()
            texts += batch
            for name in ("a", "ab", "abc", "b", "", "unknown"):
                assert plain(postings, name) == held(texts, name)
        kept = [slot for slot in range(len(texts)) if slot not in dead]
        moved = np.full(len(texts), -1, dtype=np.int32)
        moved[kept] = np.arange(len(kept))
        postings.compact(moved)
        postings.extend([["b", "b"]], len(kept))
        postings.settle()

    left = [texts[slot] for slot in kept] + [["b", "b"]]
    for name in ("a", "ab", "abc", "b", ""):
        assert plain(postings, name) == held(left, name)
    assert postings.starting_with("") == sorted({name for text in left for name in text})


@settings(deadline=None)
@given(
    batches,
    st.sampled_from([0, 1, 3]),
    st.sampled_from([1, 2, 5, 1 << 16]),
    st.sampled_from([1, 4, 1 << 22]),
)
def test_what_waits_is_all_there_once_it_is_settled(
    batches: list[list[list[str]]], tail_rows: int, piece: int, most_waiting: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TAIL_ROWS", tail_rows)
        patch.setattr(module, "_PIECE", piece)
        patch.setattr(module, "_MOST_WAITING", most_waiting)
        postings, texts = Postings(), list[list[str]]()
        for batch in batches:
            postings.extend(batch, len(texts))
            texts += batch
        postings.settle()

        for name in ("a", "ab", "abc", "b", "", "unknown"):
            assert plain(postings, name) == held(texts, name)


def test_names_are_found_by_their_beginning_as_they_arrive() -> None:
    postings = Postings()
    postings.extend([["self/goal", "self", "selfish"]], 0)
    assert postings.starting_with("self/") == ["self/goal"]

    postings.extend([["self/aim"], ["self/value"]], 1)

    assert postings.starting_with("self/") == ["self/aim", "self/goal", "self/value"]
    assert postings.starting_with("z") == []


def test_a_term_repeated_beyond_counting_counts_as_the_most() -> None:
    few, many = Postings(), Postings()
    few.extend([["a"] * (MOST_COUNTED + 5)], 0)
    many.extend([["a"] * (MOST_COUNTED + 5)] + [["b"]] * 3000, 0)
    many.settle()

    assert plain(few, "a") == plain(many, "a") == {0: MOST_COUNTED}


def test_segments_stay_few_as_rows_arrive_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TAIL_ROWS", 4)
    postings = Postings()
    for slot in range(3000):
        postings.extend([["a", f"n{slot % 7}"]], slot)

    assert len(postings._segments) <= 6
    assert len(plain(postings, "a")) == 3000
