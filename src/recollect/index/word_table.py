"""The words of many texts at once, as arrays: folded, parted, and each known by a small number.

Texts come in; where their words lie and which they are goes out, the same words that `analyse`
finds one text at a time. A word is compared byte for byte with the one it is taken for: no two
share a number. This room must not know terms, nor the index.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recollect.index.analyse import words
from recollect.index.arrays import grow
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ManyWords", "WordTable", "words_of_many"]

_SPACE, _QUOTE = ord(" "), ord("'")
_ERRORS = "surrogatepass"
# What becomes of each byte: letters of ASCII are folded, the rest of ASCII parts words. Bytes of
# other letters stay: a text that has any comes folded.
_FOLDED = np.array(
    [ord(chr(byte).lower()) if byte > 127 or chr(byte).isalnum() else _SPACE for byte in range(128)]
    + list(range(128, 256)),
    dtype=np.uint8,
)
# Words are compared eight bytes at a time; longer ones are looked up by themselves.
_LANE = 8
_LANES = 4
# The first n bytes of a lane, as a number.
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(_LANE + 1)], dtype=np.uint64)
# Odd numbers with bits all over: products with them spread like words far apart.
_SPREAD = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93],
    dtype=np.uint64,
)
_LEAST_BITS = 12
# For each word so many places at least: then most find theirs free.
_ROOMY = 4
_NOBODY = -1
# So many places are looked at together, from the one behind that where a word would be first.
_NEAR = np.arange(1, 9)


@dataclass(frozen=True, eq=False)
class ManyWords:
    """The words of some texts, one after the other, a space behind each.

    Those of text i are the words from bounds[i] up to bounds[i + 1].
    """

    octets: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each word begins, and where another would."""
        starts = np.zeros(len(self.lengths) + 1, dtype=np.int64)
        np.cumsum(self.lengths + 1, out=starts[1:])
        return starts

    def joined(self) -> list[bytes]:
        """Return the words of each text with a space between two."""
        data, edges = self.octets.tobytes(), self.starts[self.bounds].tolist()
        # The space behind the last word is none between two; without a word there is none.
        return [data[first : max(first, last - 1)] for first, last in pairwise(edges)]

    def words_at(self, places: NDArray[np.int64]) -> list[bytes]:
        """Return some of the words."""
        data, starts = self.octets.tobytes(), self.starts[places]
        ends = starts + self.lengths[places]
        return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def heads(self) -> NDArray[np.uint64]:
        """Return the first eight bytes of each word, filled up with zeros."""
        heads = self._lanes[self.starts[:-1]]
        heads &= _FIRST_BYTES.take(self.lengths, mode="clip")
        return heads

    def lane(self, number: int, places: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return bytes 8 x number and on of some words that are so long, filled up with zeros."""
        rest = self.lengths[places] - number * _LANE
        lane = self._lanes[self.starts[places] + number * _LANE]
        return lane & _FIRST_BYTES.take(rest, mode="clip")

    @cached_property
    def _lanes(self) -> NDArray[np.uint64]:
        """The eight bytes from each byte on, as a number; to be indexed, as `take` copies it."""
        padded = np.concatenate((self.octets, np.zeros(_LANE, dtype=np.uint8)))
        return np.ndarray(len(self.octets), dtype="<u8", buffer=padded.data, strides=(1,))


def words_of_many(texts: Sequence[str]) -> ManyWords:
    """Return the words that `analyse.words` finds in each text."""
    found = _Found()
    plain = [text if text.isascii() else _folded(text, found) for text in texts]
    joined = "\n".join(plain)
    octets = np.frombuffer(f"\n{joined}\n".encode("utf-8", _ERRORS), dtype=np.uint8)
    encoded = plain if joined.isascii() else [text.encode("utf-8", _ERRORS) for text in plain]
    begins = np.ones(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(texts)) + 1, out=begins[1:])
    begins[1:] += 1
    return _parted(octets, begins)


class _Found(dict[str, str]):
    """The words of what stands between two spaces, with a space between two."""

    def __missing__(self, piece: str) -> str:
        found = self[piece] = piece if piece.isascii() else " ".join(words(piece))
        return found


def _folded(text: str, found: _Found) -> str:
    """Return a text in which only words go beyond ASCII, and these are folded.

    No word, and nothing that folding looks at together, has a space of ASCII in it.
    """
    return " ".join(map(found.__getitem__, text.split(" ")))


def _parted(octets: NDArray[np.uint8], begins: NDArray[np.int64]) -> ManyWords:
    """Return the words of texts, the bytes of which begin there; a space is on either side."""
    folded = _FOLDED.take(octets)
    quotes = np.flatnonzero(octets == _QUOTE)
    # Only between two letters or digits is it part of a word.
    inside = (folded[quotes - 1] != _SPACE) & (folded[quotes + 1] != _SPACE)
    folded[quotes[inside]] = _QUOTE
    is_word = folded != _SPACE
    edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    is_word[ends] = True  # the space behind it goes along
    return ManyWords(folded[is_word], ends - starts, starts.searchsorted(begins))


class WordTable:
    """Words to numbers, given in order of arrival; asked for and told in whole arrays."""

    def __init__(self) -> None:
        self._size = 0
        self._hashes: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._lengths: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._lanes: NDArray[np.uint64] = np.empty((_LANES, 0), dtype=np.uint64)
        # The number of the word whose hash leads there, or to a place a little before.
        self._places = np.full(1 << _LEAST_BITS, _NOBODY, dtype=np.int32)
        self._long: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._size

    def numbers(self, many: ManyWords) -> tuple[NDArray[np.int32], list[str]]:
        """Return the number of each word, and those words that are new, in the order of theirs."""
        asked = _Asked.of(many)
        numbers = self._find(asked)
        new_words = self._find_long(many, numbers)
        while (new := np.flatnonzero(numbers < 0)).size:
            # Of words that are alike in their hash alone one is told now, the others next time.
            _, first = np.unique(asked.hashes[new], return_index=True)
            first = new[np.sort(first)]
            new_words += many.words_at(first)
            self._add(asked.at(first))
            numbers[new] = self._find(asked.at(new))
        return numbers, [word.decode("utf-8", _ERRORS) for word in new_words]

    def _find_long(self, many: ManyWords, numbers: NDArray[np.int32]) -> list[bytes]:
        """Put in the numbers of words that are too long for lanes; return those that are new."""
        new_words, long = [], np.flatnonzero(many.lengths > _LANE * _LANES)
        for place, word in zip(long.tolist(), many.words_at(long), strict=True):
            if word not in self._long:
                self._long[word] = self._size
                new_words.append(word)
                self._add_long()
            numbers[place] = self._long[word]
        return new_words

    def _find(self, asked: _Asked) -> NDArray[np.int32]:
        """Return the number of each word that is asked for; -1 for one that is not here."""
        at = self._home(asked.hashes)
        found = self._places.take(at)
        left = np.flatnonzero(~self._is_same(found, asked) & (found >= 0))
        at = at[left]
        while left.size:
            # Whoever is not at home is near: where its hash is, or before a place that is free.
            rest = asked.at(left)
            near = (at[:, np.newaxis] + _NEAR) & (len(self._places) - 1)
            there = self._places[near]
            is_end = (self._hashes[there] == rest.hashes[:, np.newaxis]) | (there < 0)
            end = is_end.argmax(axis=1)[:, np.newaxis]
            at, reached = (np.take_along_axis(each, end, 1)[:, 0] for each in (near, there))
            same = self._is_same(reached, rest)
            found[left] = np.where(same, reached, _NOBODY)
            on = np.flatnonzero(~same & (reached >= 0))
            left, at = left[on], at[on]
        return found

    def _is_same(self, numbers: NDArray[np.int32], asked: _Asked) -> NDArray[np.bool_]:
        """Return which numbers are those of the words that are asked for."""
        if not self._size:
            return np.zeros(len(numbers), dtype=np.bool_)
        same: NDArray[np.bool_] = self._lanes[0].take(numbers) == asked.lanes[0]
        same &= self._lengths.take(numbers) == asked.lengths
        same &= numbers >= 0
        for lane, longer in enumerate(asked.longer, 1):
            held = self._lanes[lane].take(numbers[longer])
            same[longer] &= held == asked.lanes[lane][longer]
        return same

    def _add(self, new: _Asked) -> None:
        """Give words that are not here the next numbers."""
        first, self._size = self._size, self._size + len(new.hashes)
        some = slice(first, self._size)
        self._make_room(first)
        self._hashes[some], self._lengths[some] = new.hashes, new.lengths
        self._lanes[:, some] = new.lanes
        if self._size * _ROOMY > len(self._places):
            bits = (self._size * _ROOMY).bit_length() + 1
            self._places, first = np.full(1 << bits, _NOBODY, dtype=np.int32), 0
        self._place(np.arange(first, self._size, dtype=np.int32))

    def _add_long(self) -> None:
        """Give the next number to a word that is looked up by itself: no other is so long."""
        first, self._size = self._size, self._size + 1
        self._make_room(first)
        self._hashes[first], self._lengths[first], self._lanes[:, first] = 0, 0, 0

    def _make_room(self, used: int) -> None:
        self._hashes = grow(self._hashes, used, self._size)
        self._lengths = grow(self._lengths, used, self._size)
        self._lanes = grow(self._lanes, used, self._size)

    def _place(self, numbers: NDArray[np.int32]) -> None:
        """Put numbers where their hashes lead, or a little further on if others are there."""
        # A long word is found without it.
        numbers = numbers[self._lengths[numbers] > 0]
        at = self._home(self._hashes[numbers])
        while numbers.size:
            free = self._places[at] < 0
            self._places[at[free]] = numbers[free]
            # Of several that wanted one place the last has it.
            left = np.flatnonzero(self._places[at] != numbers)
            numbers, at = numbers[left], (at[left] + 1) & (len(self._places) - 1)

    def _home(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        bits = len(self._places).bit_length() - 1
        return (hashes >> np.uint64(64 - bits)).view(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """Words that are asked for: what they are in lanes of eight bytes, how long, and their hash.

    `longer` says which go on in each lane but the first. A word too long for all of them has a
    length that no word in the table has.
    """

    hashes: NDArray[np.uint64]
    lengths: NDArray[np.uint8]
    lanes: NDArray[np.uint64]
    longer: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, many: ManyWords) -> _Asked:
        lengths = many.lengths.clip(max=_LANE * _LANES + 1).astype(np.uint8)
        lanes = np.zeros((_LANES, len(lengths)), dtype=np.uint64)
        lanes[0] = many.heads()
        hashes, longer = _mixed(lanes[0], 0), _longer(lengths)
        for lane, places in enumerate(longer, 1):
            found = lanes[lane, places] = many.lane(lane, places)
            hashes[places] ^= _mixed(found, lane)
        hashes *= _SPREAD[0]
        return cls(hashes, lengths, lanes, longer)

    def at(self, places: NDArray[np.int64]) -> _Asked:
        lengths = self.lengths[places]
        return _Asked(self.hashes[places], lengths, self.lanes[:, places], _longer(lengths))


def _longer(lengths: NDArray[np.uint8]) -> tuple[NDArray[np.int64], ...]:
    return tuple(np.flatnonzero(lengths > lane * _LANE) for lane in range(1, _LANES))


def _mixed(lanes: NDArray[np.uint64], number: int) -> NDArray[np.uint64]:
    spread: NDArray[np.uint64] = lanes * _SPREAD[number]
    return spread ^ (spread >> np.uint64(29))
