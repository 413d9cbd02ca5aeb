"""Words without SQLite are the words that SQLite finds."""

from __future__ import annotations

import random
from collections.abc import Iterator

from recollect.stores.memory.catalogue_words import words_of
from recollect.stores.sqlite.catalogue_words import words_of as words_of_fts5

TEXTS = 1000
CODE_POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def test_every_code_point_separates_or_folds_as_in_fts5() -> None:
    """Between two letters, 256 at a time: what separates, what vanishes, what becomes what."""
    for first in range(0, len(CODE_POINTS), 256):
        text = " ".join(f"q{chr(point)}q" for point in CODE_POINTS[first : first + 256])
        assert words_of(text) == list(words_of_fts5(text)), hex(CODE_POINTS[first])


def texts() -> Iterator[str]:
    """Yield texts that mix scripts, accents, signs and code points from anywhere."""
    dice = random.Random(61)
    alphabets = [
        "abc XYZ-09_.,'",
        "éÉe\u0301ñçÅøß ",
        "ПриветЁё \u0483",
        "日本語カナ・「」",
        "한국어 \u1100\u1161",
        "עִבְרִית عَرَبِيّ",
        "हिन्दी ไทย",
        "👩\u200d👧🇩🇪🏳️\u200d🌈",
        "\u0300\u0301\u0308\u0323 ",
        "ﬁ①Ⅷ½ªº",
        "\x00\n\t\u00a0\u2028",
        "ẞİıŉǅ",
    ]
    for _ in range(TEXTS):
        parts = []
        for _ in range(dice.randrange(1, 12)):
            if dice.random() < 0.2:
                parts.append(chr(dice.choice(CODE_POINTS)))
            else:
                alphabet = dice.choice(alphabets)
                parts.append("".join(dice.choices(alphabet, k=dice.randrange(1, 9))))
        yield "".join(parts)


def test_a_thousand_texts_have_the_words_of_fts5() -> None:
    for text in texts():
        assert words_of(text) == list(words_of_fts5(text)), ascii(text)


def test_an_endless_word_is_cut_where_fts5_cuts_it() -> None:
    assert words_of("x" * 40_000) == list(words_of_fts5("x" * 40_000)) == ["x" * 32_768]
