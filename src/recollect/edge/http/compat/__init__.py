"""Dialects: what clients of other memories send and expect, spoken by the same engine.

A client is given `…/compat/stigmem` or `…/compat/mem0` as its base address. Who asks comes from the
key, as everywhere; what a dialect calls a user is something to filter by, never a principal.
"""

from __future__ import annotations

__all__: list[str] = []
