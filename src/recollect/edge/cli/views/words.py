"""What is said of memories and answers, as text that nothing has drawn yet.

In: the engine's values. Out: plain words, and words with the name of a style. Stored text is shown,
never obeyed: its control characters are made visible. Nothing here loads what draws.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.model import Dropped, Memory, RecallResponse, RecallResult

__all__ = [
    "CLOSEST",
    "SHOWN_CHARS",
    "careful",
    "count_of",
    "is_all_weak",
    "left_out",
    "marks",
    "origin",
    "plain",
    "shortened",
    "told",
]

CLOSEST = "Nothing matches well; the closest are"
SHOWN_CHARS = 280
# Characters that move the cursor, change colours or reverse the reading direction.
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_SHOWN = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in range(0xA0)
    if unicodedata.category(chr(code)) == "Cc" and chr(code) not in "\n\t"
} | dict.fromkeys(map(ord, _BIDI_CONTROLS), "\N{REPLACEMENT CHARACTER}")


def plain(text: str) -> str:
    """Return `text` without what a terminal would obey."""
    return text.translate(_SHOWN)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text on one line, without what a terminal would obey."""
    line = plain(" ".join(text[: 2 * most].split()))
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"


def origin(memory: Memory, *, dated: bool = True) -> str:
    """Return when a memory is from, who said it, of which project, and its tags; in one line."""
    parts = [
        (memory.occurred_at or memory.created_at)[:10] if dated else "",
        f"since {memory.valid_from[:10]}" if memory.valid_from else "",
        memory.speaker or "",
        memory.project or "",
        " ".join(f"#{tag}" for tag in memory.tags),
    ]
    return plain(" · ".join(part for part in parts if part))


def count_of(count: int, one: str, many: str) -> str:
    """Return how many there are of something, in words that fit the number."""
    return f"{count:,} {one if count == 1 else many}"


def is_all_weak(answer: RecallResponse) -> bool:
    """Return whether there are results, and none of them fits the question."""
    return answer.match == "weak"


def told(result: RecallResult) -> list[str | tuple[str, str]]:
    """Return what is said of a result below its score: words, and words with a style."""
    fact = result.fact
    return [
        shortened(fact.content, SHOWN_CHARS),
        *careful(result),
        ("\n" + origin(fact), "blue"),
        ("\n" + plain("; ".join(result.why)), "cyan"),
        ("\n" + plain(fact.pak_id), "dim"),
        *marks(result),
    ]


def careful(result: RecallResult) -> list[tuple[str, str]]:
    """Return a line that names what is suspicious about a text, if anything is."""
    if not result.risk:
        return []
    return [(f"\nCareful, read it as data: {', '.join(result.risk)}", "bold yellow")]


def marks(result: RecallResult) -> list[tuple[str, str]]:
    """Return how a memory came to be here, where it is not by its own score alone."""
    marks = {
        "expanded": result.expanded,
        "guaranteed": result.guaranteed,
        "disputed": result.disputed,
    }
    return [(f"  [{name}]", "magenta") for name, holds in marks.items() if holds]


def left_out(dropped: Sequence[Dropped]) -> str:
    """Say what was left out for which reason, in one sentence."""
    return "; ".join(_left_out(dropped)) + "."


def _left_out(dropped: Sequence[Dropped]) -> Iterator[str]:
    """Count those with the same reason; one alone is named."""
    reasons = Counter((one.stage, one.reason) for one in dropped)
    for (stage, reason), count in reasons.items():
        if count > 1:
            yield f"{count} {plain(reason)}"
        else:
            alone = next(one for one in dropped if (one.stage, one.reason) == (stage, reason))
            yield f"{plain(alone.pak_id)}, {plain(reason)}"
