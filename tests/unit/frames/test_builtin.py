from __future__ import annotations

import json
from dataclasses import astuple
from typing import Any

import pytest

from recollect.frames import BUILTIN_FRAMES, CACHE_EVENTS
from recollect.frames.check import checked
from recollect.model import CachePolicy, FrameDefinition
from recollect.recall.render import TEMPLATES


@pytest.mark.parametrize(
    ("name", "weights", "tags", "guarantees", "window", "budget"),
    [
        ("self", (0.10, 0.30, 0.05, 0.25, 0.30), ("self/%",), ("self/constitutional",), 200, 600),
        ("attention", (0.35, 0.15, 0.25, 0.15, 0.10), (), (), 200, 2000),
        ("task", (0.20, 0.20, 0.20, 0.20, 0.20), (), ("self/goal",), 200, 800),
        ("evidence", (0.90, 0.10, 0.0, 0.0, 0.0), (), (), None, 2000),
    ],
)
def test_built_in_frames_have_the_promised_numbers(
    name: str,
    weights: tuple[float, ...],
    tags: tuple[str, ...],
    guarantees: tuple[str, ...],
    window: float | None,
    budget: int,
) -> None:
    frame = BUILTIN_FRAMES[name]

    assert astuple(frame.weights) == weights
    assert frame.filters.tag_patterns == tags
    assert frame.filters.categories == ()
    assert frame.filters.search_window_hours == window
    assert frame.guarantees == guarantees
    assert frame.token_budget == budget
    assert (frame.name, frame.template, frame.source) == (name, name, "builtin")


def test_only_the_self_frame_is_cached() -> None:
    cached = {name: frame.cache for name, frame in BUILTIN_FRAMES.items() if frame.cache}

    assert cached == {"self": CachePolicy(3600, ("self_block_change", "curate_complete"))}
    assert CACHE_EVENTS == ("self_block_change", "curate_complete")


def test_there_are_four_and_nobody_can_add_one() -> None:
    frames: Any = BUILTIN_FRAMES

    assert list(frames) == ["self", "attention", "task", "evidence"]
    with pytest.raises(TypeError):
        frames["mine"] = frames["self"]


@pytest.mark.parametrize("frame", BUILTIN_FRAMES.values(), ids=lambda frame: frame.name)
def test_a_built_in_frame_passes_the_checks_and_survives_json(frame: FrameDefinition) -> None:
    assert checked(frame) == frame
    assert frame.template in TEMPLATES
    assert FrameDefinition.from_dict(json.loads(json.dumps(frame.to_dict()))) == frame
