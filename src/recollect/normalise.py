"""Unicode normal forms at a bounded price: the only place that normalises text.

In: any text. Out: the same text in a normal form, with runs of combining marks cut to thirty, as
Unicode's stream-safe format does. To put marks in order takes time by the square of their number:
one text of nothing but marks would stop every process that reads it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

__all__ = ["MOST_MARKS", "cut_marks", "is_composed", "normalise"]

MOST_MARKS = 30

# No mark is a letter, a digit or a space: only in such runs can there be too many of them.
_RUN = re.compile(rf"[^\w\s]{{{MOST_MARKS + 1},}}")


def normalise(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normal form."""
    return text if text.isascii() else unicodedata.normalize(form, cut_marks(text))


def is_composed(text: str) -> bool:
    """Return whether a text is as `normalise("NFC", text)` would leave it."""
    if text.isascii():
        return True
    return cut_marks(text) is text and unicodedata.is_normalized("NFC", text)


def cut_marks(text: str) -> str:
    """Return a text without those combining marks that stand behind thirty others."""
    if text.isascii() or _RUN.search(text) is None:
        return text
    cut = _RUN.sub(_cut_run, text)
    return text if cut == text else cut


def _cut_run(run: re.Match[str]) -> str:
    characters, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MOST_MARKS:
            characters.append(character)
    return "".join(characters)
