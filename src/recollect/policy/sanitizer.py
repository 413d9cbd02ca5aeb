"""Text from memory that is about to be read by a model: made plain, and its tricks named.

In: a text. Out: the text without what the eye cannot see, and the names of known shapes of
injection in it. It names; what follows (a flag, a quotation, absence) is decided by the caller.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from recollect.normalise import is_composed, normalise

__all__ = ["SHAPES", "SanitizerMode", "plain", "risks"]

SanitizerMode = Literal["off", "flag", "block"]

# Zero-width characters, marks and overrides of writing direction, and tag characters.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
# Between two words, or in their stead. Bounded like everything here: a text made to be slow to
# read (a million brackets, say) costs no more than any other of its length.
_GAP = r"\W{1,12}"
_WORD = r"\w{1,40}"
_ORDER = r"(?:ignore|disregard|forget|override|bypass|neglect|skip)"
_RULES = r"(?:instructions?|rules?|prompts?|directives?|guidelines?|messages?|orders?|context)"
_EARLIER = (
    r"(?:all|any|every|the|these|those|your|my|our|of|previous|prior|earlier|above|preceding"
    r"|foregoing|former|other|existing|original|system|safety|developer|and)"
)
_ROLES = r"(?:system|assistant|user|developer|tool|human)"

SHAPES: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "ignore_instructions": re.compile(
            rf"\b{_ORDER}\b(?:{_GAP}{_EARLIER}\b){{0,6}}{_GAP}{_RULES}\b"
            rf"|\b{_ORDER}{_GAP}(?:everything|all){_GAP}(?:above|before|previous|prior|you\b)"
        ),
        "new_instructions": re.compile(
            rf"\b(?:new|real|actual|updated|true){_GAP}{_RULES}\W{{0,3}}(?:are\b|is\b|follow|:)"
            rf"|\bfrom{_GAP}now{_GAP}on{_GAP}you\b"
        ),
        "role_play": re.compile(
            rf"\byou{_GAP}(?:are|re){_GAP}(?:now|no{_GAP}longer)\b"
            rf"|\bpretend{_GAP}(?:to{_GAP}be|you{_GAP}are)\b"
            rf"|\bact{_GAP}as{_GAP}(?:if{_GAP}you|an?{_GAP}(?:unrestricted|unfiltered|jailbroken))"
            rf"|\b(?:developer|dan|god|jailbreak){_GAP}mode\b|\bdo{_GAP}anything{_GAP}now\b"
        ),
        "fake_turn": re.compile(
            rf"<\|?\W{{0,3}}(?:im_start|im_end|endoftext|{_ROLES})\W{{0,3}}\|?>"
            r"|\[/?(?:inst|sys)\]|<</?sys>>"
            rf"|^ ?(?:\#{{1,6}} ?)?{_ROLES} ?(?:message|prompt|instructions?)? ?: ?\S"
            rf"|^ ?\#{{2,6}} ?{_ROLES}\b",
            re.MULTILINE,
        ),
        "prompt_leak": re.compile(
            rf"\b(?:reveal|print|repeat|show|output|leak|disclose|dump)\b(?:{_GAP}{_WORD}){{0,4}}"
            rf"{_GAP}(?:system|hidden|initial|developer|secret){_GAP}"
            r"(?:prompt|instructions?|message|rules?)"
        ),
        "exfiltration": re.compile(
            r"\b(?:send|post|upload|forward|email|exfiltrate|transmit|leak)\b"
            rf"(?:{_GAP}{_WORD}){{0,8}}?{_GAP}(?:api\W?keys?|passwords?|credentials?|secrets?"
            rf"|tokens?|conversation|env(?:ironment)?{_GAP}variables?)\b"
            rf"(?:{_GAP}{_WORD}){{0,6}}?{_GAP}(?:to|at|via)\b"
            r"|!\[[^\]]{0,200}\]\( ?https?://[^)\s?]{1,300}\?[^)\s=]{0,300}="
        ),
        "hidden_from_user": re.compile(
            rf"\b(?:do{_GAP}not|don\W?t|never|without){_GAP}(?:tell(?:ing)?|inform(?:ing)?"
            r"|mention(?:ing)?|notify(?:ing)?|alert(?:ing)?|reveal(?:ing)?)"
            rf"(?:{_GAP}{_WORD}){{0,4}}{_GAP}(?:users?|humans?|operators?|anyone)\b"
        ),
        "tool_call": re.compile(
            r"<\W{0,3}(?:tool_call|function_call|tool_use|invoke)\b"
            rf"|\b(?:call|invoke|run|execute|use){_GAP}(?:the{_GAP})?(?:{_WORD}{_GAP})?"
            rf"(?:tool|function|shell){_GAP}(?:now|immediately|with{_GAP}(?:arguments?|the"
            rf"{_GAP}command))"
        ),
    }
)
# Each shape holds at least one of these; a text without any is let through at once.
_HINTS = re.compile(
    r"ignor|disregard|forget|overrid|bypass|neglect|skip|instruct|rule|prompt|directive|guideline"
    r"|message|order|context|from\W|you\W|pretend|act\W|mode|anything|<|\[/?(?:inst|sys)|!\["
    rf"|{_ROLES} ?(?:message|prompt|instructions?)? ?:|\#\#"
    r"|send|post|upload|forward|email|exfil|transmit|leak|tell|inform|mention|notify|alert|reveal"
    r"|tool|function|shell"
)
_BLANKS = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\n\s+")
_REPEATED = re.compile(r"(\W)\1{3,}")


def plain(text: str) -> str:
    """Return a text in composed Unicode, without characters that nobody can see."""
    if text.isascii() or (is_composed(text) and not _UNSEEN.search(text)):
        return text
    # What the unseen kept apart may belong together without them.
    return normalise("NFC", _UNSEEN.sub("", text))


def risks(*texts: str) -> tuple[str, ...]:
    """Return the names of the shapes of injection in any of some texts, in a fixed order."""
    suspect = [_even(folded) for folded in map(_folded, texts) if _HINTS.search(folded)]
    return tuple(name for name, shape in SHAPES.items() if any(map(shape.search, suspect)))


def _even(folded: str) -> str:
    return _REPEATED.sub(r"\1\1\1", _BLANK_LINES.sub("\n", _BLANKS.sub(" ", folded)))


def _folded(text: str) -> str:
    """Return a text as a reader would take it: look-alikes of letters and digits made equal."""
    if text.isascii():
        return text.lower()
    seen = normalise("NFKC", _UNSEEN.sub("", text)).casefold()
    stripped = normalise("NFD", seen)
    letters = "".join(c for c in stripped if not unicodedata.combining(c))
    return letters.translate(_LOOK_ALIKES)


# Small letters of other alphabets that are drawn like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһոսցαορντκι",
    "aeopcyxijsdhnugaopvtki",
)
