"""Stored text on a page: shown, never obeyed.

In: any text that a store may hold. Out: markup in which everything is escaped, control characters
stand as signs with their names, each text keeps its reading direction to itself, and what is too
long is cut. Words of a question are marked where they stand.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote

from markupsafe import Markup, escape

from recollect.edge.inspector.marks import places

__all__ = ["LONG_CHARS", "address", "beginning", "coded", "is_long", "month", "seen", "sentence"]

# So much of a text is shown where it is not asked for whole.
LONG_CHARS = 4_000
_SHORT_CHARS = 200
_SHOWN_AS_THEY_ARE = "\n\t"
_NAMES = {
    "\u202a": "left-to-right embedding",
    "\u202b": "right-to-left embedding",
    "\u202c": "end of direction",
    "\u202d": "left-to-right override",
    "\u202e": "right-to-left override",
    "\u2066": "left-to-right isolate",
    "\u2067": "right-to-left isolate",
    "\u2068": "first-strong isolate",
    "\u2069": "end of isolate",
    "\u200b": "zero-width space",
    "\u200e": "left-to-right mark",
    "\u200f": "right-to-left mark",
    "\u061c": "Arabic letter mark",
    "\ufeff": "byte order mark",
}
_CODE = re.compile(r"`([^`]+)`")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def seen(text: object, question: str | None = None) -> Markup:
    """Return a text as markup: escaped, its controls visible, its direction kept to itself."""
    shown = "" if text is None else str(text)
    inner = Markup().join(_marked(shown, question)) if question else _plain(shown)
    # Letters of one direction alone turn nothing round.
    return inner if shown.isascii() else Markup("<bdi>{}</bdi>").format(inner)


def beginning(text: object, most: int = _SHORT_CHARS) -> str:
    """Return how a text begins, on one line."""
    line = " ".join(str(text or "")[: 4 * most].split())
    if len(line) <= most:
        return line
    return line[:most].rsplit(" ", 1)[0] + " …"


def is_long(text: object) -> bool:
    """Return whether a text is shown in part, unless it is asked for whole."""
    return len(str(text or "")) > LONG_CHARS


def coded(text: str) -> Markup:
    """Return a message as markup in which what stands between backticks is code."""
    pieces = _CODE.split(text)
    return Markup().join(
        Markup("<code>{}</code>").format(seen(one)) if number % 2 else seen(one)
        for number, one in enumerate(pieces)
    )


def month(name: str) -> str:
    """Return what a month is called, of a year and its number."""
    return _MONTHS[int(name[5:7]) - 1]


def sentence(text: str) -> str:
    """Return a message as a sentence of a page: it begins with a capital."""
    return text[:1].upper() + text[1:]


def address(*parts: str) -> str:
    """Return a path of these parts; one that ends in .json is not taken for the page's twin."""
    named = [quote(part, safe="") for part in parts]
    if named[-1].endswith(".json"):
        named[-1] = f"{named[-1].removesuffix('.json')}%2Ejson"
    return "/" + "/".join(named)


def _marked(text: str, question: str) -> Iterable[Markup]:
    at = 0
    for start, end in places(text, question):
        yield _plain(text[at:start])
        yield Markup("<mark>{}</mark>").format(_plain(text[start:end]))
        at = end
    yield _plain(text[at:])


_HIDDEN = re.compile(
    "["
    + "".join(
        re.escape(chr(code))
        for code in range(0xA0)
        if unicodedata.category(chr(code)) == "Cc" and chr(code) not in _SHOWN_AS_THEY_ARE
    )
    + "".join(_NAMES)
    + "\U000e0000-\U000e007f\ud800-\udfff]"
)


def _plain(text: str) -> Markup:
    at, parts = 0, []
    for found in _HIDDEN.finditer(text):
        parts.append(escape(text[at : found.start()]))
        parts.append(_sign(found.group()))
        at = found.end()
    parts.append(escape(text[at:]))
    return Markup().join(parts)


def _sign(character: str) -> Markup:
    """Return what stands for a character that would not be seen, or that would act."""
    code = f"U+{ord(character):04X}"
    name = _NAMES.get(character) or unicodedata.name(character, "control character").lower()
    return Markup('<span class="control" title="{} {}">{}</span>').format(code, name, code)
