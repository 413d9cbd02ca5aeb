"""The same examples every time, so that a run tells of the code and not of the dice.

`HYPOTHESIS_PROFILE=explore make test` throws the dice.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
