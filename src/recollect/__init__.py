"""Recollect: the recall engine for AI agents.

Public names only. Importing this package reads no environment, opens no file and loads no
numeric library; `recollect.paks` holds the catalogue.
"""

from __future__ import annotations

from recollect.errors import RecollectError

__all__ = ["RecollectError", "__version__"]

__version__ = "0.1.0"
