"""Words into token ids as the tokeniser's library gives them, without loading it for a question.

The bytes of one known tokeniser file come in, the ids of a word's tokens go out. In that file any
two neighbours merge whose joint spelling is a token, the token of the lowest id first and of its
splits the one with the lowest id on the left; so the list of tokens is all that is read, in 6 ms
where the library takes 60 with the interpreter locked.
A test holds both to the same ids. Documents are left to the library: with many words it is faster.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count

__all__ = ["LONGEST_WORD", "WORD_START", "WordPieces"]

WORD_START = "\u2581"
# Each merge looks for the first of all turns: of a longer word the library makes less work.
LONGEST_WORD = 64
# The file writes one token a line, in the order of their ids.
_TOKEN = re.compile(rb'"(\S+)": ')
# More than an id takes; and a turn after all others.
_ID_BITS, _NEVER = 32, 1 << 64
_BEFORE_TOKENS, _AFTER_TOKENS = b'"vocab": {', b'"merges": ['


def _with_backslash(tokeniser_file: bytes, first: int, last: int) -> Iterator[bytes]:
    """Yield the tokens that are not spelt as they are written: three hundred of 32,000."""
    while (place := tokeniser_file.find(b"\\", first, last)) >= 0:
        line = tokeniser_file.rfind(b"\n", 0, place)
        first = tokeniser_file.find(b"\n", place)
        if token := _TOKEN.search(tokeniser_file, line, first):
            yield token[1]


def _unescaped(tokens: Iterable[bytes]) -> Iterator[bytes]:
    """Yield tokens as they are spelt, of those that hold a backslash that JSON wants."""
    # All at once: each reading of a single one takes longer than what is read.
    texts: list[str] = json.loads(b'["%s"]' % b'", "'.join(tokens))
    return (text.encode() for text in texts)


class WordPieces:
    """The tokens of one vocabulary, by their spelling in UTF-8."""

    def __init__(self, tokeniser_file: bytes) -> None:
        first = tokeniser_file.index(_BEFORE_TOKENS) + len(_BEFORE_TOKENS)
        last = tokeniser_file.index(_AFTER_TOKENS, first)
        tokens = _TOKEN.findall(tokeniser_file, first, last)
        self._ids = dict(zip(tokens, count(), strict=False))
        # How one is written may be how another is spelt, so all go before the first comes back.
        escaped = {
            token: self._ids.pop(token) for token in _with_backslash(tokeniser_file, first, last)
        }
        if escaped:
            self._ids.update(zip(_unescaped(escaped), escaped.values(), strict=True))

    def ids(self, word: str) -> list[int]:
        """Return the ids of a word's tokens; a sign that has none is spelled byte by byte."""
        known, found = self._ids, []
        for piece in self._merge([sign.encode() for sign in f"{WORD_START}{word}"]):
            if piece in known:
                found.append(known[piece])
            else:
                found += [known[b"<0x%02X>" % octet] for octet in piece]
        return found

    def is_known(self, word: str) -> bool:
        """Return whether a word is one token."""
        return f"{WORD_START}{word}".encode() in self._ids

    def _merge(self, pieces: list[bytes]) -> list[bytes]:
        """Join neighbours until no two make a token, in the order of the file's merges."""
        turns = list(map(self._turn, pieces, pieces[1:]))
        while (first := min(turns, default=_NEVER)) < _NEVER:
            place = turns.index(first)
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
            del turns[place]
            # Only what is beside the new piece has other neighbours than before.
            for left in range(max(place - 1, 0), min(place + 1, len(turns))):
                turns[left] = self._turn(pieces[left], pieces[left + 1])
        return pieces

    def _turn(self, left: bytes, right: bytes) -> int:
        """Return when two neighbours merge: by their token, then by the left one's."""
        token = self._ids.get(left + right)
        return _NEVER if token is None else token << _ID_BITS | self._ids[left]
