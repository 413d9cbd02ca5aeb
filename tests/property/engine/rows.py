"""Memories, small and alike, as Hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = ("queue", "queues", "redis", "worker", "value", "kind", "release", "café", "zebra", "the")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
tags = st.lists(
    st.sampled_from(
        ["self/value", "self/goal", "self/constitutional", "work/a", "work/b", "x"],
    ),
    max_size=2,
    unique=True,
)
