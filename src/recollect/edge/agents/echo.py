"""Echoes: what came out of memory and comes back is known, and not stored as new.

In: a text that is about to be kept, and texts that were given out before. Out: the text without
blocks that we put into a prompt, and whether nothing of its own is left. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["BLOCK", "is_echo", "texts_in", "without_blocks"]

# The name of the element that what is given out stands in.
BLOCK = "recollect-memory"
_BLOCKS = re.compile(rf"<{BLOCK}\b[^>]*>.*?(?:</{BLOCK}>|\Z)", re.DOTALL)
_ITEM = re.compile(r"- (.*) \([^()]*; id [^()]*\)")
_WORDS = re.compile(r"\w+")
# What stands around a memory in a block, and may be said again with it.
_LABELS = frozenset(("user", "assistant", "source", "trust", "id", "memory", "said", "on", "and"))


def without_blocks(text: str) -> str:
    """Return a text without the blocks that we put into prompts."""
    return _BLOCKS.sub("", text).strip() if f"<{BLOCK}" in text else text


def texts_in(text: str) -> list[str]:
    """Return the texts of the memories that blocks of ours in a text hold."""
    found: list[str] = []
    for block in _BLOCKS.findall(text) if f"<{BLOCK}" in text else ():
        for line in block.splitlines():
            if item := _ITEM.fullmatch(line):
                found.append(item[1])
            elif found and line.startswith("  "):
                found[-1] += "\n" + line.strip().removeprefix("> ")
    return found


def is_echo(text: str, given_out: Iterable[str]) -> bool:
    """Return whether a text says nothing but what was given out: word for word, in any order.

    A text that says one word more is a new one: the word may be "not".
    """
    said = _plain(text)
    if not said.strip():
        return True
    before = said
    for known in sorted((_plain(one) for one in given_out), key=len, reverse=True):
        if known.strip():
            # Twice: two in a row share the space between them.
            said = said.replace(known, "  ").replace(known, "  ")
    rest = said.split()
    return said != before and all(one.isdigit() or one in _LABELS for one in rest)


def _plain(text: str) -> str:
    return f" {' '.join(_WORDS.findall(text.casefold()))} "
