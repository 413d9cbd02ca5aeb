"""`recollect hook` as it is, but that it waits longer than a prompt would.

What is answered and kept is one thing, that it is in time another: on a busy machine loading alone
may take longer than a prompt waits.
"""

from __future__ import annotations

import sys

__all__ = ["PATIENT"]

PATIENT = (
    sys.executable,
    "-c",
    "from recollect.edge.agents import waiting; waiting.PATIENCE_S = 60.0;"
    " from recollect.edge.cli import main; main()",
)
