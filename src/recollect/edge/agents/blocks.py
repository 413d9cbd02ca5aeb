"""The element that what is given to a prompt stands in, found again in a text.

In: a text. Out: the text without such elements, or the texts of the memories that they hold. `give`
makes them. Pure.
"""

from __future__ import annotations

import re

__all__ = ["BLOCK", "texts_in", "without_blocks"]

# The name of the element that what is given out stands in.
BLOCK = "recollect-memory"
_BLOCKS = re.compile(rf"<{BLOCK}\b[^>]*>.*?(?:</{BLOCK}>|\Z)", re.DOTALL)
_ITEM = re.compile(r"- (.*) \([^()]*; id [^()]*\)")


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
