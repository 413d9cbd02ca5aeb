"""Whichever way in, and on each store, a case is answered with the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conformance.runners import RUNNERS, place_for
from tests.conformance.stories import STORIES, expected, story


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_story_is_told_the_same(runner: str, name: str, tmp_path: Path) -> None:
    with RUNNERS[runner](place_for(runner, tmp_path)) as ask:
        for number, case in enumerate(story(name)):
            assert ask(case) == expected(case), f"{number}: {case['as']} {case['verb']}"
