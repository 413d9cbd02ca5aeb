"""Memories, small and alike, as Hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = ("queue", "queues", "redis", "worker", "value", "kind", "release", "café", "zebra", "the")
TAGS = ("self/value", "self/goal", "self/constitutional", "work/a", "work/b", "x")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
tags = st.lists(st.sampled_from(TAGS), max_size=2, unique=True)


def item(pak_id: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy of arguments for `remember`, without the time."""
    return st.fixed_dictionaries(
        {
            "content": texts,
            "pak_id": pak_id,
            "tags": tags,
            "project": st.sampled_from([None, "shop"]),
            "confidence": st.sampled_from([0.0, 0.3, 0.9, 1.0]),
            "category": st.sampled_from(["knowledge", "observation"]),
            "valid_until": st.sampled_from([None, "2025-12-31T00:00:00Z", "2027-01-01"]),
        }
    )


def items(most: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return a strategy of lists of memories with ids of their own."""
    ids = st.integers(0, 99).map("p{:02d}".format)
    return st.lists(item(ids), max_size=most, unique_by=lambda one: str(one["pak_id"]))


def pairs(most: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Return a strategy of pairs of numbers, to be taken modulo the memories there are."""
    return st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=most)
