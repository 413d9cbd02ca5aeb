"""Look for words in every byte that a store keeps on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["found_in"]


def found_in(folder: Path, words: Iterable[str]) -> list[tuple[str, str]]:
    """Return the words that any file of a folder holds, in any spelling, with its name."""
    held = {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return [
        (name, word)
        for name, data in held.items()
        for word in words
        if any(form in data for form in _forms(word))
    ]


def _forms(word: str) -> set[bytes]:
    """Return a word as text, as JSON and as full text and the index fold it."""
    return {
        spelling.encode(code)
        for spelling in (
            word,
            word.lower(),
            word.casefold(),
            word.encode("unicode_escape").decode(),
        )
        for code in ("utf-8", "utf-16-le")
    }
