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

__all__ = ["SANITIZER_VERSION", "SHAPES", "SanitizerMode", "plain", "risks"]

SanitizerMode = Literal["off", "flag", "block"]

# Raised whenever a shape is added or changed: what older versions found is looked at anew.
SANITIZER_VERSION = 1

# Zero-width characters, marks and overrides of writing direction, and tag characters.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
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
            rf"\b{_ORDER}\b(?:\W+{_EARLIER}\b){{0,6}}\W+{_RULES}\b"
            rf"|\b{_ORDER}\W+(?:everything|all)\W+(?:above|before|previous|prior|you\b)"
        ),
        "new_instructions": re.compile(
            rf"\b(?:your\W+)?(?:new|real|actual|updated|true)\W+{_RULES}\W*(?:are\b|is\b|follow|:)"
            r"|\bfrom\W+now\W+on\W+you\b"
        ),
        "role_play": re.compile(
            r"\byou\W+(?:are|re)\W+(?:now|no\W+longer)\b|\bpretend\W+(?:to\W+be|you\W+are)\b"
            r"|\bact\W+as\W+(?:if\W+you|an?\W+(?:unrestricted|unfiltered|jailbroken))"
            r"|\b(?:developer|dan|god|jailbreak)\W+mode\b|\bdo\W+anything\W+now\b"
        ),
        "fake_turn": re.compile(
            rf"<\|?\W*(?:im_start|im_end|endoftext|{_ROLES})\W*\|?>|\[/?(?:inst|sys)\]|<</?sys>>"
            rf"|^\s*(?:\#{{1,6}}\s*)?{_ROLES}\s*(?:message|prompt|instructions?)?\s*:\s*\S"
            rf"|^\s*\#{{2,6}}\s*{_ROLES}\b",
            re.MULTILINE,
        ),
        "prompt_leak": re.compile(
            r"\b(?:reveal|print|repeat|show|output|leak|disclose|dump)\b(?:\W+\w+){0,4}\W+"
            r"(?:system|hidden|initial|developer|secret)\W+(?:prompt|instructions?|message|rules?)"
        ),
        "exfiltration": re.compile(
            r"\b(?:send|post|upload|forward|email|exfiltrate|transmit|leak)\b(?:\W+\w+){0,8}?\W+"
            r"(?:api\W?keys?|passwords?|credentials?|secrets?|tokens?|conversation|env(?:ironment)?"
            r"\W+variables?)\b(?:\W+\w+){0,6}?\W+(?:to|at|via)\b"
            r"|!\[[^\]]*\]\(\s*https?://[^)\s]*\?[^)\s]*=[^)\s]*\)"
        ),
        "hidden_from_user": re.compile(
            r"\b(?:do\W+not|don\W?t|never|without)\W+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?"
            r"|notify(?:ing)?|alert(?:ing)?|reveal(?:ing)?)(?:\W+\w+){0,4}\W+(?:the\W+)?"
            r"(?:users?|humans?|operators?|anyone)\b"
        ),
        "tool_call": re.compile(
            r"<\W*/?(?:tool_call|function_call|tool_use|invoke)\b"
            r"|\b(?:call|invoke|run|execute|use)\W+(?:the\W+)?(?:\w+\W+)?(?:tool|function|shell)\W+"
            r"(?:now|immediately|with\W+(?:arguments?|the\W+command))"
        ),
    }
)
# Each shape holds at least one of these; a text without any is let through at once.
_HINTS = re.compile(
    r"ignor|disregard|forget|overrid|bypass|neglect|skip|instruct|rules?\b|prompt|directive"
    r"|from\W+now|you\W+(?:are|re)\W+(?:now|no)|pretend|act\W+as|mode\b|anything\W+now|<|\[/?(?:inst|sys)"
    rf"|{_ROLES}\s*(?:message|prompt|instructions?)?\s*:|\#{{2}}|!\["
    r"|send|post|upload|forward|email|exfil|transmit|leak|tell|inform|mention|notify|alert|reveal"
    r"|tool|function|shell"
)


def plain(text: str) -> str:
    """Return a text in composed Unicode, without characters that nobody can see."""
    if text.isascii() or (unicodedata.is_normalized("NFC", text) and not _UNSEEN.search(text)):
        return text
    # What the unseen kept apart may belong together without them.
    return unicodedata.normalize("NFC", _UNSEEN.sub("", text))


def risks(text: str) -> tuple[str, ...]:
    """Return the names of the shapes of injection in a text, in a fixed order."""
    folded = _folded(text)
    if not _HINTS.search(folded):
        return ()
    return tuple(name for name, shape in SHAPES.items() if shape.search(folded))


def _folded(text: str) -> str:
    """Return a text as a reader would take it: look-alikes of letters and digits made equal."""
    if text.isascii():
        return text.lower()
    seen = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).casefold()
    stripped = unicodedata.normalize("NFD", seen)
    letters = "".join(c for c in stripped if not unicodedata.combining(c))
    return letters.translate(_LOOK_ALIKES)


# Small letters of other alphabets that are drawn like Latin ones.
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһոսցαορντκι",
    "aeopcyxijsdhnugaopvtki",
)
