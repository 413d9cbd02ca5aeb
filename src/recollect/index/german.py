"""German: told by the small words that hold its sentences together, and stemmed by its own rules.

The words of a text or of a question come in, folded; out goes whether they are German, and the
German stems of those that English rules cut otherwise. A German text is held under both, so that
whoever asks in whatever way still meets it (ADR-0044). This room must not know the index.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import Stemmer  # type: ignore[import-not-found]

from recollect.index.analyse import LONGEST_TERM, term_of
from recollect.locks import fresh_in_child

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "GERMAN_COMMON",
    "HOLDS_ENGLISH",
    "HOLDS_GERMAN",
    "german_stem",
    "german_stems",
    "is_english",
    "is_german",
]

_MOST_STEMS = 1 << 16
# They are written as they are folded: "für" is "fur".
_each = str.split
# What no sentence of another language is made of: not "die", "war", "man", "mit" or "von".
HOLDS_GERMAN = frozenset(
    _each(
        "aber als auch auf bei beim bis das dass dein deine dem denn der diese diesem diesen "
        "dieser dieses doch durch ein eine einem einen einer eines fur gegen gibt habe haben "
        "hatte ich ihr ihre ihren ist kann kannst kein keine keinen konnen konnte mein meine "
        "meinem meinen meiner muss mussen nach nicht noch nur oder ohne sein seine sich sie "
        "sind soll sollte sowie uber und uns unser unsere unter vom wann warum weil welche "
        "welchem welchen welcher welches wenn werden wie wieder wir wird wo worden wurde wurden "
        "zu zum zur zwischen"
    )
)
# Those of English that German does not have as well.
HOLDS_ENGLISH = frozenset(
    _each(
        "the of and to is that for with are you it this have not be or from by at as what how "
        "do does did can i my we they he she his her their our your when where why which who if "
        "but has had there would could should about into than then them these those been"
    )
)
# Words of a German question that say how, not what, it asks.
GERMAN_COMMON = HOLDS_GERMAN | frozenset(
    _each(
        "am an ans aus da damit dann den des die dies du er es euch euer hat hier hast ihm ihn "
        "im in ins ja jede jeden jeder jedes man mich mir mit nein ob sei seit so um viel von "
        "vor war waren was wer wem wen will wollen wozu wofur womit wird wurde"
    )
)


class _Stems(dict[str, str]):
    """Word to German stem, remembering a bounded number of words."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmer = Stemmer.Stemmer("german", 0)
        self._lock = Lock()
        fresh_in_child(self, "_lock", Lock)

    def of_many(self, words: list[str]) -> list[str]:
        """Return the stems of words, which are not worth remembering."""
        with self._lock:
            found: list[str] = self._stemmer.stemWords(words)
        return found

    def __missing__(self, word: str) -> str:
        with self._lock:  # a stemmer keeps state while it works
            stem: str = self._stemmer.stemWord(word)
        if len(self) >= _MOST_STEMS:
            self.clear()
        self[word] = stem
        return stem


_stems = _Stems()


def is_german(written: Collection[str]) -> bool:
    """Return whether more of the words hold German sentences together than English ones."""
    if HOLDS_GERMAN.isdisjoint(written):
        return False
    said = set(written)
    return len(said & HOLDS_GERMAN) > len(said & HOLDS_ENGLISH)


def is_english(written: Collection[str]) -> bool:
    """Return whether words hold an English sentence together, and more of them than a German."""
    return not HOLDS_ENGLISH.isdisjoint(written) and not is_german(written)


def german_stem(word: str) -> str | None:
    """Return a word's German stem; None where it is the term that the word is anyway."""
    if not _is_stemmed(word):
        return None
    stem = _stems[word]
    return None if stem == term_of(word) else stem


def german_stems(words: list[str], terms: list[str]) -> list[str | None]:
    """Return the same of many words, the terms of which are known."""
    plain = [word if _is_stemmed(word) else "" for word in words]
    return [
        stem if stem != term and word else None
        for word, stem, term in zip(plain, _stems.of_many(plain), terms, strict=True)
    ]


def _is_stemmed(word: str) -> bool:
    return len(word) <= LONGEST_TERM and word.isascii() and word.isalpha()
