"""The HTTP door: `recollect serve`. Everything that only a server needs is loaded from here on."""

from __future__ import annotations

__all__: list[str] = []
