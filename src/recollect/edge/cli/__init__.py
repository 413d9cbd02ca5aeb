"""The command line: `recollect`. The installed script calls `main`; `app` holds the commands.

A hook of a coding agent is told apart before anything is loaded: a prompt waits for it.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave with its exit code."""
    if "hook" in sys.argv:
        from recollect.edge.agents import waiting

        asked = waiting.read(sys.argv[1:])
        if asked is not None:
            waiting.hook(asked)
    from recollect.edge.cli import process

    process.main()
