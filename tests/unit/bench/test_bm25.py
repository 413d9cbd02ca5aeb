"""Plain BM25 by hand."""

from __future__ import annotations

from math import log

import pytest
from bench.peers.bm25 import BM25


def test_a_score_is_the_one_of_the_textbook() -> None:
    index = BM25({"a": "kiln kiln glaze", "b": "bread"})
    rarity = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert index._score(["kiln"], index._counts["a"]) == pytest.approx(expected)


def test_stems_meet_and_strangers_are_no_answer() -> None:
    index = BM25({"a": "Glazes dry slowly.", "b": "Bread rises.", "c": "A drying glaze, glazed."})
    assert index.search("drying a glaze", 5) == ["c", "a"]
    assert index.search("kiln", 5) == []


def test_equals_stand_in_the_order_of_their_names() -> None:
    assert BM25({"b": "tea", "a": "tea"}).search("tea", 1) == ["a"]
