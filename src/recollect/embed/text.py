"""Make any Python string fit for a tokeniser or for JSON."""

from __future__ import annotations

from recollect.patterns import regex

__all__ = ["replace_surrogates"]

_SURROGATE = regex("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """Return the text with every lone surrogate replaced; UTF-8 cannot carry one."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
