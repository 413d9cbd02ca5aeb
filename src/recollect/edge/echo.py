"""Texts that memory gave out and that come back to be remembered: an echo is not a new memory.

In: texts that were given out, and what somebody wants to store. Out: the memories that it repeats,
word for word: bare, one after another, or as a door had wrapped them; none if it says one word
more, for that may be "not". `Echoes` keeps in mind what this process told to whom; whether those
memories are still there, and still say so, is for the caller to ask.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from recollect.normalise import normalise

__all__ = [
    "Echoes",
    "Known",
    "begins_with",
    "ids_named",
    "known",
    "pieces",
    "repeated",
    "says_the_same",
    "texts_in_answer",
]

# What each text that was given out is of, by a digest of what it says.
Known = dict[bytes, str]

# So many texts of one listener are known, and so many listeners: the oldest are let go.
_MOST_TEXTS = 4_096
_MOST_LISTENERS = 256
_MOST_PIECES = 64
# Lines of ours that hold no memory's words.
_OURS = re.compile(
    r"^(?:\d+ memor(?:y|ies)[,.] .*|(?:Frame \S+, \d+ tokens|What stands behind >).*|From:"
    r"|##? .*|Instructions that memory keeps.*|get_memory shows one whole\..*"
    r"|\(quoted as data, not instructions:.*|title: .*; status: \w+; .*"
    r"|</?recollect-memory\b.*|Remembered earlier by Recollect, the user's memory\. .*"
    r"|Who you are here:|Where the last session of this project ended:)$"
)
# How an item of ours begins: an id in brackets and what is known of it, or a sign of a list.
_HEADER = re.compile(r"^\[[^\]\n]{1,300}\][^\n]*; source [^\n]*, trust [^\n]*$")
_ID = re.compile(r"^\[([^\]\n]{1,300})\][^\n]*; source [^\n]*, trust ")
# As hooks name it, behind a memory's words.
_ID_BEHIND = re.compile(r"; trust [^();\n]{1,80}; id ([^()\s;]{1,300})\)")
_SIGN = re.compile(r"^(?:\[\d+\]|[-*\u2022]|\d+[.)])\s+")
_QUOTED = re.compile(r"^(?:> ?){1,2}")
_BEHIND = re.compile(r" \([^()\n]{1,600}; id [^()\s]{1,300}\)$", re.MULTILINE)
_ORIGIN = re.compile(r"^\([^()\n]{1,200}\)\s+")
# What is cut ends so, once it is in its normal form.
_CUT = "..."
_AROUND = "\"'\u201c\u201d*_`~ "
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_MOST_SENTENCES = 12


def known(texts: Iterable[tuple[str, str]]) -> Known:
    """Return what texts are known by, each with the id of its memory."""
    return {_digest(_plain(text)): pak_id for pak_id, text in texts}


def repeated(given_out: Mapping[bytes, str], content: str) -> tuple[tuple[str, str], ...]:
    """Return the ids whose texts this is, each with its part of it; none if it holds more."""
    if not given_out:
        return ()
    whole = given_out.get(_digest(_plain(content)))
    if whole is not None:
        return ((whole, content),)
    found = [_told_by(given_out, section) for section in _sections(content)]
    return () if () in found else tuple(one for told in found for one in told)


class Echoes:
    """What was told, by whom it was told to."""

    def __init__(self) -> None:
        self._given_out: OrderedDict[Hashable, OrderedDict[bytes, str]] = OrderedDict()
        self._lock = threading.Lock()

    def tell(self, who: Hashable, texts: Iterable[tuple[str, str]]) -> None:
        """Keep in mind that somebody was told these texts, each with the id of its memory."""
        told = known(texts)
        with self._lock:
            before = self._given_out.setdefault(who, OrderedDict())
            self._given_out.move_to_end(who)
            for digest, pak_id in told.items():
                before[digest] = pak_id
                before.move_to_end(digest)
            while len(before) > _MOST_TEXTS:
                before.popitem(last=False)
            while len(self._given_out) > _MOST_LISTENERS:
                self._given_out.popitem(last=False)

    def repeated(self, who: Hashable, content: str) -> tuple[tuple[str, str], ...]:
        """Return the ids whose texts this is, each with its part of it; none if it holds more."""
        with self._lock:
            given_out = dict(self._given_out.get(who, {}))
        return repeated(given_out, content)


def _told_by(given_out: Mapping[bytes, str], section: str) -> tuple[tuple[str, str], ...]:
    """Return the memories whose words a section is, as a whole or item by item; all or none."""
    whole = _match(given_out, section)
    if whole is not None:
        return (whole,)
    found: list[tuple[str, str]] = []
    for number, item in enumerate(_items(section)):
        told = _said_in(given_out, item) if number < _MOST_PIECES else ()
        if not told:
            return ()
        found += told
    return tuple(found)


def _said_in(given_out: Mapping[bytes, str], item: str) -> tuple[tuple[str, str], ...]:
    """Return the memories that an item says: one, or several one after another."""
    whole = _match(given_out, item)
    if whole is not None:
        return (whole,)
    sentences, at = _SENTENCE_END.split(item.strip()), 0
    found: list[tuple[str, str]] = []
    while at < len(sentences) and len(found) < _MOST_PIECES:
        ends = range(min(len(sentences), at + _MOST_SENTENCES), at, -1)
        runs = ((end, _match(given_out, " ".join(sentences[at:end]))) for end in ends)
        end, told = next(((end, one) for end, one in runs if one is not None), (0, None))
        if told is None:
            return ()
        found.append(told)
        at = end
    return tuple(found) if at == len(sentences) else ()


def _match(given_out: Mapping[bytes, str], piece: str) -> tuple[str, str] | None:
    forms = ((_digest(_plain(form)), form) for form in _forms(piece))
    return next(((given_out[one], form) for one, form in forms if one in given_out), None)


def says_the_same(piece: str, content: str) -> bool:
    """Return whether a memory says what somebody repeats, whole or by its first words."""
    said, kept = _plain(piece), _plain(content)
    return said == kept or (said.endswith(_CUT) and kept.startswith(said.removesuffix(_CUT)))


def begins_with(piece: str, content: str) -> bool:
    """Return whether a piece may be the words of a memory: it begins as that does, to its end."""
    kept = _plain(content)
    said = [_plain(form) for form in _forms(piece)]
    return any(
        kept and (one.startswith(kept) or (one.endswith(_CUT) and says_the_same(one, kept)))
        for one in said
    )


def pieces(content: str) -> Iterator[str]:
    """Yield what would have to be a memory's words each: items, without what stands around them."""
    for section in _sections(content):
        for item in _items(section):
            yield list(_forms(item))[-1]


def ids_named(content: str) -> tuple[str, ...]:
    """Return the ids that our marks in a text name: in heads of items, and behind them."""
    heads = (_ID.match(_QUOTED.sub("", line)) for line in content.splitlines())
    named = [found[1] for found in heads if found is not None]
    return tuple(dict.fromkeys(named + _ID_BEHIND.findall(content)))


def texts_in_answer(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of the memories in an answer with their ids: whole, and their first words."""
    for room in ("results", "instructions", "blocks", "items"):
        for one in told.get(room) or ():
            if isinstance(one, Mapping):
                yield from _texts_of(one.get("fact") or one.get("memory") or one)
    if isinstance(told.get("memory"), Mapping):
        yield from _texts_of(told["memory"])


def _texts_of(fact: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    whole, first = fact.get("content"), fact.get("beginning")
    for text in (whole, first if first != whole else None):
        if text:
            yield str(fact["pak_id"]), str(text)


def _sections(content: str) -> Iterator[str]:
    """Yield what stands between heads and headings of ours, without signs of quoting."""
    section: list[str] = []
    for line in content.strip().splitlines():
        bare = _QUOTED.sub("", line)
        if any(one.match(form) for one in (_HEADER, _OURS) for form in (line, bare)):
            if section:
                yield "\n".join(section)
            section = []
        elif bare.strip():
            section.append(bare)
    if section:
        yield "\n".join(section)


def _items(section: str) -> Iterator[str]:
    """Yield the items of a list; lines that stand in belong to the one above."""
    item: list[str] = []
    for line in section.splitlines():
        if item and _SIGN.match(line):
            yield "\n".join(item)
            item = []
        item.append(line)
    yield "\n".join(item)


def _forms(piece: str) -> Iterator[str]:
    """Yield what an item may say: as it is, without its sign, without who said it and when."""
    yield piece
    bare = _BEHIND.sub("", _SIGN.sub("", piece, count=1), count=1)
    yield bare
    yield _ORIGIN.sub("", bare, count=1)


def _plain(text: str) -> str:
    return " ".join(normalise("NFKC", text).casefold().split()).strip(_AROUND)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
