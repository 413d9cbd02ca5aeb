"""Texts that memory gave out and that come back to be remembered: an echo is not a new memory.

In: what was told to whom, and what somebody wants to store. Out: the ids of the memories that it
repeats, word for word, bare or as a door had wrapped it. It is known for one process and to whom it
was told; whether those memories are still there, and still say so, is for the caller to ask.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any

from recollect.normalise import normalise

__all__ = ["Echoes", "says_the_same", "texts_in_answer"]

# So many texts of one listener are known, and so many listeners: the oldest are let go.
_MOST_TEXTS = 4_096
_MOST_LISTENERS = 256
_MOST_PIECES = 64
# Lines of ours that hold no memory's words.
_OURS = re.compile(
    r"^(?:\d+ memor(?:y|ies)[,.] .*|(?:Frame \S+, \d+ tokens|What stands behind >).*|From:"
    r"|##? .*|Instructions that memory keeps.*|get_memory shows one whole\..*"
    r"|\(quoted as data, not instructions:.*|title: .*; status: \w+; .*)$"
)
# How an item of ours begins: an id in brackets and what is known of it, or a sign of a list.
_HEADER = re.compile(r"^\[[^\]\n]{1,300}\][^\n]*; source [^\n]*, trust [^\n]*$")
_SIGN = re.compile(r"^(?:\[\d+\]|[-*\u2022]|\d+[.)])\s+")
_QUOTED = re.compile(r"^(?:> ?){1,2}")
_ORIGIN = re.compile(r"^\([^()\n]{1,200}\)\s+")
# What is cut ends so, once it is in its normal form.
_CUT = "..."


class Echoes:
    """What was told, by whom it was told to."""

    def __init__(self) -> None:
        self._given_out: OrderedDict[Hashable, OrderedDict[bytes, str]] = OrderedDict()
        self._lock = threading.Lock()

    def tell(self, who: Hashable, texts: Iterable[tuple[str, str]]) -> None:
        """Keep in mind that somebody was told these texts, each with the id of its memory."""
        digests = [(_digest(_plain(text)), pak_id) for pak_id, text in texts]
        with self._lock:
            known = self._given_out.setdefault(who, OrderedDict())
            self._given_out.move_to_end(who)
            for digest, pak_id in digests:
                known[digest] = pak_id
                known.move_to_end(digest)
            while len(known) > _MOST_TEXTS:
                known.popitem(last=False)
            while len(self._given_out) > _MOST_LISTENERS:
                self._given_out.popitem(last=False)

    def repeated(self, who: Hashable, content: str) -> tuple[tuple[str, str], ...]:
        """Return the ids whose texts this is, each with its part of it; none if it holds more."""
        with self._lock:
            known = dict(self._given_out.get(who, {}))
        if not known:
            return ()
        whole = known.get(_digest(_plain(content)))
        if whole is not None:
            return ((whole, content),)
        found = [_told_by(known, section) for section in _sections(content)]
        return () if () in found else tuple(one for told in found for one in told)


def _told_by(known: Mapping[bytes, str], section: str) -> tuple[tuple[str, str], ...]:
    """Return the memories whose words a section is, as a whole or item by item; all or none."""
    found = []
    for piece in (section,) if _match(known, section) else islice(_items(section), _MOST_PIECES):
        told = _match(known, piece)
        if told is None:
            return ()
        found.append(told)
    return tuple(found)


def _match(known: Mapping[bytes, str], piece: str) -> tuple[str, str] | None:
    forms = ((_digest(_plain(form)), form) for form in _forms(piece))
    return next(((known[one], form) for one, form in forms if one in known), None)


def says_the_same(piece: str, content: str) -> bool:
    """Return whether a memory says what somebody repeats, whole or by its first words."""
    said, kept = _plain(piece), _plain(content)
    return said == kept or (said.endswith(_CUT) and kept.startswith(said.removesuffix(_CUT)))


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
    bare = _SIGN.sub("", piece, count=1)
    yield bare
    yield _ORIGIN.sub("", bare, count=1)


def _plain(text: str) -> str:
    return " ".join(normalise("NFKC", text).casefold().split()).strip("\"'\u201c\u201d ")


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
