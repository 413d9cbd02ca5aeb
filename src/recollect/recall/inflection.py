"""One form for a word's inflections: plurals, tenses, no more.

In: a folded English word. Out: its base, the same for "ship", "ships", "shipped" and "shipping".
The stems of the index go further ("police" meets "policy" there); whoever asks whether two texts
say the same must not.
"""

from __future__ import annotations

__all__ = ["MOST_WORDS", "base_form", "is_inflected"]

MOST_WORDS = 1 << 16

# Inflections that no rule gives, each line a base and its forms.
_IRREGULAR = """
become became
begin began begun
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
bus buses
buy bought
catch caught
child children
choose chose chosen
come came
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feel felt
fight fought
find found
fly flew flown
foot feet
forget forgot forgotten
get got gotten
give gave given
go went gone goes
grow grew grown
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
leave left
lend lent
lose lost
make made
man men
mean meant
meet met
mouse mice
news news
pay paid
person people
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
sell sold
send sent
shake shook shaken
shoot shot
sing sang sung
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
swim swam swum
take took taken
teach taught
tell told
think thought
throw threw thrown
tooth teeth
understand understood
use used using
wake woke woken
wear wore worn
win won
woman women
write wrote written
"""


# How forms end that any rule changes: "ships", "shipped", "shipping", "install", "use".
_INFLECTED = ("s", "d", "g", "ll", "e")
# Of each ASCII sign but "y" whether it is a vowel.
_SHAPES = "".join("v" if sign in "aeiou" else "c" for sign in map(chr, range(128)))


class _Bases(dict[str, str]):
    """Word to base form, remembering a bounded number of words."""

    def __missing__(self, word: str) -> str:
        # Most words are their own base, which their last letters tell.
        base = _closed(_present(_singular(word))) if word.endswith(_INFLECTED) else word
        if len(self) >= MOST_WORDS:
            self.clear()
            self.update(_irregular)
        self[word] = base
        return base


def base_form(word: str) -> str:
    """Return the form that a word shares with its inflections; not always a word itself."""
    return _bases[word]


def is_inflected(word: str) -> bool:
    """Return whether a word may be a past form: one of the irregular, or with the ending."""
    return word in _irregular or (word.endswith("ed") and len(word) > 4)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else word[:-1]


def _present(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 1 and "v" in _shape(stem):
            return _whole(stem)
    return word


def _whole(stem: str) -> str:
    """Return what an ending was hung on: "ship" of "shipp", "hope" of "hop", "book" of "book"."""
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        return stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _closed(word: str) -> str:
    """Return a word without a last letter that some of its own inflections lose or double."""
    if word.endswith("ll") and _measure(word) > 1:
        return word[:-1]
    stem = word.removesuffix("e")
    if stem == word or len(stem) < 3:
        return word
    measure = _measure(stem)
    return stem if measure > 1 or (measure == 1 and not _ends_short(stem)) else word


def _shape(word: str) -> str:
    """Return which letters are vowels and which consonants; a "y" after a consonant is a vowel."""
    if word.isascii() and "y" not in word:
        return word.translate(_SHAPES)
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """Return how often a vowel is followed by a consonant."""
    return _shape(word).count("vc")


def _ends_short(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _irregular_forms() -> dict[str, str]:
    lines = [line.split() for line in _IRREGULAR.split("\n") if line]
    return {form: _closed(base) for base, *forms in lines for form in forms}


_irregular = _irregular_forms()
_bases = _Bases(_irregular)
