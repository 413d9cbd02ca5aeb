"""The same examples every time, so that a run tells of the code and not of the dice.

`HYPOTHESIS_PROFILE=explore make test` throws the dice; `make soak` throws them far more often.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from tests.examples import PROFILE

from recollect.hooks import events

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.register_profile("soak", deadline=None)
settings.load_profile(PROFILE)


@pytest.fixture
def patient_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the hooks of a recall ten seconds: what they decide must not hang on a busy machine."""
    hurried = events.HookEvent.PRE_RECALL_EXPAND
    monkeypatch.setitem(events._DEADLINES_S, hurried, 10.0)
