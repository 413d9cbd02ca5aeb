"""The words of a search text: any text in, words out, never query syntax."""

from __future__ import annotations

import unicodedata

__all__ = ["MAX_CHARACTERS", "MAX_WORDS", "search_words"]

# A search text is a question, not a document: what follows this many characters or distinct words
# is left out, so that a pasted file cannot make a query that takes seconds.
MAX_CHARACTERS = 10_000
MAX_WORDS = 200


def search_words(text: str) -> list[str]:
    """Return the distinct words of any text: split as SQLite's unicode61 tokenizer does.

    Words are made of letters, numbers, private use and accents.
    Accents with no letter to stand on are no word; asked for all words, no Pak would have them.
    """
    spaced = "".join(
        character if _in_word(character) else " " for character in text[:MAX_CHARACTERS]
    )
    words = (word for word in spaced.split() if not all(map(_is_accent, word)))
    return list(dict.fromkeys(words))[:MAX_WORDS]


def _in_word(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LN" or category in ("Co", "Mn")


def _is_accent(character: str) -> bool:
    return unicodedata.category(character) == "Mn"
