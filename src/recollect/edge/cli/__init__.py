"""The command line: `recollect`. The installed script calls `main`; `app` holds the commands."""

from __future__ import annotations

from recollect.edge.cli.process import main

__all__ = ["main"]
