"""Names that could be mistaken for others: one normal form, and what is refused in it.

In: a name as somebody wrote it. Out: the form in which names are compared, or what is wrong with
it, in words with a hint. It knows the lookalikes of a few alphabets, not every pair of signs that
a font may draw alike. What a name is for is not known here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from recollect.normalise import normalise
from recollect.patterns import regex

__all__ = ["complaint", "normal_name"]

# Drawn as nothing, though some count as letters: fillers, joiners, selectors of a glyph.
_UNSEEN = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Alphabets with letters that are drawn like Latin ones.
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET")
# A word of nothing but these reads as another one in Latin letters.
_TWINS = frozenset(
    # Cyrillic
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u04cf\u0410\u0412\u0421\u0415\u041d\u0406\u0408\u041a\u041c\u041e\u0420\u0405\u0422"
    "\u0425\u0423\u04ae\u051a\u051c"
    # Greek
    "\u03bf\u03bd\u03b1\u03c1\u03b9\u03c5\u03b3\u0391\u0392\u0395\u0396\u0397\u0399\u039a"
    "\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    # Armenian
    "\u0585\u057d\u0570\u0578"
)


def normal_name(name: str) -> str:
    """Return the form in which names are compared: composed, so that one look is one name."""
    return normalise("NFC", name)


def complaint(name: str) -> tuple[str, str] | None:
    """Return why a name in its normal form could be mistaken for another, and a hint, or None."""
    if name.isascii():
        return None
    if _UNSEEN.search(name):
        return "holds a character that nobody sees", "leave it out."
    if any(unicodedata.category(one) in ("Cn", "Co") for one in name):
        return "holds a character that Unicode has not assigned", "use letters that everybody has."
    plain = normalise("NFKC", name)
    if plain != name:
        return "holds another form of plain characters", f"write {plain!a:.60}."
    if any(unicodedata.category(one) == "Pd" for one in name if one != "-"):
        return "holds a dash that looks like a hyphen", "write -."
    for word in _words(name):
        found = _alphabets(word)
        if len(found) > 1:
            mixed = " and ".join(sorted(found)).title()
            return f"mixes {mixed} letters in one word", "write a word in one alphabet."
        if found and "LATIN" not in found and all(one in _TWINS for one in word):
            return (
                "reads as a word in Latin letters and is none",
                "add a letter that tells it apart.",
            )
    return None


def _words(name: str) -> Iterator[str]:
    """Yield runs of letters, marks included: a mark must not part what the eye joins."""
    word = ""
    for one in f"{name} ":
        if unicodedata.category(one)[0] in "LM":
            word += one
        elif word:
            yield word
            word = ""


def _alphabets(word: str) -> set[str]:
    named = (unicodedata.name(one, "").split(" ")[0] for one in word)
    return {alphabet for alphabet in named if alphabet in _ALIKE}
