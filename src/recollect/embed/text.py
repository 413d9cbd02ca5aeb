"""Make any Python string fit for a tokeniser or for JSON."""

from __future__ import annotations

import re

__all__ = ["well_formed"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Return the text with every lone surrogate replaced; UTF-8 cannot carry one."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
