"""An answer as a pipe gets it: the bytes that Rich would write, without waiting for it to load.

In: an answer and the width of the drawing. Out: its text, or None where more than a plain table is
to be drawn, or where signs are wider than one column: then Rich draws. A test holds both to the
same bytes.
"""

from __future__ import annotations

import re
from itertools import chain, starmap, zip_longest
from typing import TYPE_CHECKING

from recollect.edge.cli.views.words import CLOSEST, is_all_weak, left_out, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.model import RecallResponse, RecallResult

__all__ = ["BAR", "recalled"]

# Cells of a bar, which is as wide as the column of scores.
BAR = 8
_TITLE = "Memory, and why"
_GAP = "   "
# Of narrower drawings Rich makes something else than a column of text beside two of numbers.
_NARROWEST = 60
# Signs of European letters, none of which is wider or narrower than one column.
_PLAIN_LINE = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02af\u0391-\u03a9\u03b1-\u03c9\u0410-\u044f\u2026]*"
)


def recalled(answer: RecallResponse, columns: int) -> str | None:
    """Return an answer's table, and what was left out of it; None: Rich is to draw it."""
    # An answer that is degraded, or holds instructions, has more to say.
    if not answer.results or answer.degraded or answer.instructions or columns < _NARROWEST:
        return None
    closest = [CLOSEST] if is_all_weak(answer) else []
    table = _table(answer.results, columns)
    notes = _wrapped(f"Left out: {left_out(answer.dropped)}", columns) if answer.dropped else []
    if table is None or notes is None:
        return None
    return "\n".join([*closest, *table, *notes, ""])


def _table(results: Sequence[RecallResult], columns: int) -> list[str] | None:
    """Return rank, score and text of each, in three columns; None if a line is no plain one."""
    ranks = len(str(len(results)))
    texts = [_lines(result) for result in results]
    longest = max(map(len, [_TITLE, *chain.from_iterable(texts)]))
    width = min(longest, columns - ranks - BAR - 2 * len(_GAP) - 2)
    rule = "\u2500" * (ranks + BAR + width + 2 * len(_GAP))
    blank = " " * (len(rule) + 2)

    def row(rank: str, score: str, text: str) -> str:
        return f" {rank:>{ranks}}{_GAP}{score:<{BAR}}{_GAP}{text:<{width}} "

    drawn = [blank, row("#", "Score", _TITLE), f" {rule} "]
    for rank, (result, lines) in enumerate(zip(results, texts, strict=True), start=1):
        wrapped = [_wrapped(line, width) for line in lines]
        if None in wrapped:
            return None
        scored = (f"{result.score:.3f}", _bar(result.score))
        text = chain.from_iterable(filter(None, wrapped))
        ranked = zip_longest((str(rank),), scored, text, fillvalue="")
        drawn += [*starmap(row, ranked), blank]
    return drawn


def _lines(result: RecallResult) -> list[str]:
    parts = (part if isinstance(part, str) else part[0] for part in told(result))
    return "".join(parts).split("\n")


def _wrapped(line: str, width: int) -> list[str] | None:
    """Return a line in pieces no longer than that, broken at spaces; None if that is not plain."""
    if not _PLAIN_LINE.fullmatch(line):
        return None
    if len(line) <= width:
        return [line]
    words = line.split(" ")
    # What is broken elsewhere, or between two spaces, is broken by rules that Rich knows.
    if "" in words or max(map(len, words)) > width:
        return None
    pieces = [words[0]]
    for word in words[1:]:
        if len(pieces[-1]) + 1 + len(word) <= width:
            pieces[-1] += f" {word}"
        else:
            # The space that a line was broken at stays where there is room for it.
            pieces[-1] = f"{pieces[-1]} "[:width]
            pieces.append(word)
    return pieces


def _bar(share: float) -> str:
    halves = int(BAR * 2 * min(max(abs(share), 0.0), 1.0))
    return "\u2501" * (halves // 2) + "\u2578" * (halves % 2)
