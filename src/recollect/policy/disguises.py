"""Other readings of a text: what it says once a disguise is taken off.

In: a text without characters that nobody sees. Out: further texts that the same characters hold for
a reader who decodes them: markup taken away, escapes resolved, base64 and its like decoded, letters
that were kept apart joined, digits read as letters, words turned round. Each reading is at most as
long as the text; what is not there costs one look. It judges nothing.
"""

from __future__ import annotations

import base64
import codecs
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from urllib.parse import unquote

from recollect.patterns import regex

__all__ = ["readings"]

_COMMENT = regex(r"<!--|-->")
_MARKED = regex(r"<|(?<!\w)[*_~`]{1,3}\w")
_MARKUP = regex(r"<[^<>]{0,200}>|[*_~`]{1,3}")
_ENTITY = regex(r"&(?:#\d|#x[0-9a-f]|[a-z]{2,8};)", re.IGNORECASE)
_PERCENT = regex(r"(?:%[0-9a-f]{2}){4}", re.IGNORECASE)
_ESCAPE = regex(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", re.IGNORECASE)
_PACKED = regex(r"[A-Za-z0-9+/_-]{16,}={0,6}")
# Bytes are written with digits or capitals, unless by a chance that says nothing.
_SMALL_LETTERS = regex(r"[a-z/_-]+")
_BITS = regex(r"(?:[01]{8}[ ,]?){6,}")
_APART = regex(
    r"(?<![^\W_])[^\W\d_](?P<between>[ ._*|/-])[^\W\d_](?:(?P=between)[^\W\d_](?![^\W_])){2,}"
)
# Where one word is written so, others are too, and these may be short.
_ALSO_APART = regex(
    r"(?<![^\W_])[^\W\d_](?P<between>[ ._*|/-])[^\W\d_](?![^\W_])"
    r"(?:(?P=between)[^\W\d_](?![^\W_]))*"
)
_BETWEEN = regex(r"[ ._*|/-]")
_MIXED = regex(r"[a-z][0134578@$!|]{1,2}[a-z]", re.IGNORECASE)
_DIGITS_AS_LETTERS = str.maketrans("01345789@$!|", "oieastbgasil")
# Words that give away a text that was turned round, or whose letters were shifted by thirteen.
_GIVEN_AWAY = (
    "ignore ignored disregard instruction instructions prompt system password override forget"
    " reveal always user rules developer the you your and"
)
_TURNED = frozenset(word[::-1][:4] for word in _GIVEN_AWAY.split() if len(word) > 4)
_SHIFTED = frozenset(codecs.encode(word, "rot13")[:4] for word in _GIVEN_AWAY.split())
_LETTER = regex(r"[^\W\d_]")
# Of what was decoded, this share must be letters and spaces: chance gives other bytes.
_READABLE = 0.8


def readings(text: str, begun: AbstractSet[str]) -> Iterator[str]:
    """Yield what a text says without each disguise that it could be wearing.

    `begun` are the first four letters of its words, folded.
    """
    signs = set(text)  # most disguises need a sign that most texts do not have
    if not signs.isdisjoint("<*_~`") and _MARKED.search(text):
        yield _MARKUP.sub("", _COMMENT.sub(" ", text))
    if "&" in signs and _ENTITY.search(text):
        # Two thousand names of signs: loaded for the few texts that hold one.
        import html

        yield html.unescape(text)
    if "%" in signs and _PERCENT.search(text):
        yield unquote(text, errors="replace")
    if "\\" in signs and _ESCAPE.search(text):
        yield _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    if packed := " ".join(_unpacked(text)):
        yield packed
    if ("_" in signs or 1 in map(len, begun)) and _APART.search(text):
        yield _ALSO_APART.sub(lambda found: _BETWEEN.sub("", found[0]), text)
    if not signs.isdisjoint("0134578@$!|") and _MIXED.search(text):
        yield text.translate(_DIGITS_AS_LETTERS)
    if not begun.isdisjoint(_TURNED):
        yield text[::-1]
    if not begun.isdisjoint(_SHIFTED):
        yield codecs.encode(text, "rot13")


def _unpacked(text: str) -> Iterator[str]:
    for found in _PACKED.finditer(text):
        if _SMALL_LETTERS.fullmatch(found[0]):
            continue
        yield from filter(None, (_decoded(data) for data in _bytes_of(found[0])))
    for found in _BITS.finditer(text):
        bits = re.sub(r"\D", "", found[0])
        data = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
        if said := _decoded(data):
            yield said


def _bytes_of(word: str) -> Iterator[bytes]:
    """Yield the bytes that a word without spaces may stand for, in each way to write them."""
    bare = word.rstrip("=")
    digits = bare.removeprefix("0x")
    standard = bare.replace("-", "+").replace("_", "/")
    # Whatever a word is not written in is refused with a ValueError of some kind.
    with suppress(ValueError):
        yield bytes.fromhex(digits)
    with suppress(ValueError):
        yield base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    with suppress(ValueError):
        yield base64.b32decode(bare + "=" * (-len(bare) % 8))


def _decoded(data: bytes) -> str:
    """Return the text that bytes are, or nothing where they are hardly one."""
    try:
        said = data.decode()
    except UnicodeDecodeError:
        return ""
    letters = len(_LETTER.findall(said)) + said.count(" ")
    return said if letters >= _READABLE * len(said) else ""
