"""The worker's side of a line to the driver: requests in, one answer each out, as lines of JSON.

Standard library only: it also runs inside the environments of the peers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Operations", "serve"]


class Operations(Protocol):
    """What a worker can do: its public methods, called by name."""

    versions: dict[str, str]

    def close(self) -> None:
        """Let go of everything."""


def serve(make: Callable[[], Operations]) -> None:
    """Answer requests until nobody can ask any more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    operations = make()

    def answer(value: Any) -> None:
        print(json.dumps(value), file=answers, flush=True)

    answer(operations.versions)
    for line in sys.stdin:
        request = json.loads(line)
        answer(getattr(operations, request.pop("operation"))(**request))
    operations.close()
