"""What two texts say otherwise, word by word.

In: a text and one that came after it. Out: pieces in their order, each the same, added or removed;
None where the two are too long to be compared while somebody waits.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from recollect.edge.inspector.page import Data

__all__ = ["pieces"]

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_WORDS = 3_000


def pieces(before: str, after: str) -> list[Data] | None:
    """Return the two as one text, in pieces."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        return None
    found: list[Data] = []
    for how, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if how == "equal":
            found.append({"how": "same", "text": "".join(old[a:b])})
            continue
        found += [{"how": "removed", "text": "".join(old[a:b])}] if b > a else []
        found += [{"how": "added", "text": "".join(new[c:d])}] if d > c else []
    return found
