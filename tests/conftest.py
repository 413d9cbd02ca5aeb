"""The same examples every time, so that a run tells of the code and not of the dice.

`HYPOTHESIS_PROFILE=explore make test` throws the dice.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from recollect.hooks import events

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture
def patient_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the hooks of a recall ten seconds: what they decide must not hang on a busy machine."""
    hurried = events.HookEvent.PRE_RECALL_EXPAND
    monkeypatch.setitem(events._DEADLINES_S, hurried, 10.0)
