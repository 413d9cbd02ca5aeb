"""Whichever way in, and on each store, a case is answered with the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.runners import RUNNERS, place_for
from tests.conformance.stories import STORIES, expected, expected_at_a_shell, story

# Over stdio each person of a story is a process that loads the protocol's library: of these ways in
# one story is always told, and all by `make soak`.
_ALWAYS = "frames"
TOLD = [
    pytest.param(
        runner, name, marks=[pytest.mark.soak] if "stdio" in runner and name != _ALWAYS else []
    )
    for runner in RUNNERS
    for name in STORIES
]


@pytest.mark.parametrize(("runner", "name"), TOLD)
def test_a_story_is_told_the_same(runner: str, name: str, tmp_path: Path) -> None:
    with RUNNERS[runner](place_for(runner, tmp_path)) as ask:
        wanted = expected_at_a_shell if runner.startswith("shell") else expected
        for number, case in enumerate(story(name)):
            assert ask(case) == wanted(case), f"{number}: {case['as']} {case['verb']}"
