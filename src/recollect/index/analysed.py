"""What an index takes of texts: the numbers of their terms, how many, and what kind they are.

Contents and titles come in, with the lexicon that numbers their terms; what goes into postings and
columns goes out, the same whether few texts are looked at one by one or many at once. This room
must not know the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.index.analyse import ASKS, GERMAN, TELLS_TIME, words
from recollect.index.arrays import distinct
from recollect.index.courtesy import Pause, go_on, with_pauses
from recollect.index.german import is_german
from recollect.index.lookup import digests
from recollect.index.postings import Numbered
from recollect.index.word_table import words_of_many
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recollect.index.lexicon import KnownWords, Lexicon
    from recollect.index.word_table import ManyWords

__all__ = ["Analysed", "analysed"]

# Fewer texts are looked at one by one before all of them at once pay.
_MANY = 256
# So many at once leave the arrays of their words within the processor's cache.
_TILE = 1024
_ERRORS = "surrogatepass"


@dataclass(frozen=True, slots=True, eq=False)
class Analysed:
    """Of some texts: their terms, how many words they have, in which words the content is said.

    A German text is held under its German stems too; it is no longer for that.
    """

    terms: Numbered
    lengths: NDArray[np.int64]
    said: NDArray[np.int64]
    marks: NDArray[np.uint8]


def analysed(
    contents: Sequence[str], titles: Sequence[str], lexicon: Lexicon, pause: Pause = go_on
) -> Analysed:
    """Return what an index takes of texts; a title may be empty."""
    if len(contents) < _MANY:
        return _few(contents, titles, lexicon)
    return _many(contents, titles, lexicon, pause)


def _few(contents: Sequence[str], titles: Sequence[str], lexicon: Lexicon) -> Analysed:
    said = [words(content) for content in contents]
    written = [
        [*words(title), *own] if title else own for title, own in zip(titles, said, strict=True)
    ]
    numbers = [lexicon.numbers(each) for each in written]
    lengths = np.fromiter(map(len, numbers), np.int64, len(numbers))
    german = [is_german(each) for each in written]
    tells_time = [lexicon.tells_time(each) for each in numbers]
    for each, own, speaks_german in zip(numbers, written, german, strict=True):
        if speaks_german:
            each.extend(lexicon.german(own))
    return Analysed(
        Numbered.of(numbers),
        lengths,
        digests(" ".join(own).encode("utf-8", _ERRORS) for own in said),
        _marks(contents, np.array(tells_time, np.bool_), np.array(german, np.bool_)),
    )


def _many(
    contents: Sequence[str], titles: Sequence[str], lexicon: Lexicon, pause: Pause
) -> Analysed:
    """Return the same; each word that is met is looked at once, however often it is written."""
    count, known = len(contents), lexicon.known_words()
    titled = [place for place, title in enumerate(titles) if title]
    found, many_sizes, said = [], [], []
    for many in _tiles(contents, pause):
        found.append(known.numbers(many))
        many_sizes.append(np.diff(many.bounds))
        said.append(digests(many.joined(), pause))
    for many in _tiles([titles[place] for place in titled], pause):
        found.append(known.numbers(many))
        many_sizes.append(np.diff(many.bounds))
    numbers, sizes = np.concatenate(found), np.concatenate(many_sizes)
    owners = np.repeat(np.array([*range(count), *titled], dtype=np.int64), sizes)
    if titled:
        order = np.argsort(owners, kind="stable")
        numbers, owners = numbers[order], owners[order]
    german = _are_german(numbers, owners, known, count)
    lengths, terms = sizes[:count], known.terms.take(numbers)
    lengths[titled] += sizes[count:]
    of_each = lengths
    if german.any():
        more = np.flatnonzero(german.take(owners))
        stems = known.german(numbers[more])
        has_one = stems >= 0
        terms = np.concatenate((terms, stems[has_one]))
        of_terms = np.concatenate((owners, owners[more[has_one]]))
        terms = terms.take(np.argsort(of_terms, kind="stable"))
        of_each = np.bincount(of_terms, minlength=count)
    return Analysed(
        Numbered(terms, of_each),
        lengths,
        np.concatenate(said),
        _marks(contents, _any(known.is_time.take(numbers), owners, count), german),
    )


def _tiles(texts: Sequence[str], pause: Pause) -> Iterator[ManyWords]:
    """Yield the words of so many texts at a time that their arrays find room in the cache."""
    for start in with_pauses(range(0, len(texts), _TILE), pause):
        words_of_some = words_of_many(texts[start : start + _TILE])
        pause()
        yield words_of_some


def _are_german(
    numbers: NDArray[np.int32], owners: NDArray[np.int64], known: KnownWords, count: int
) -> NDArray[np.bool_]:
    """Return in which texts more different words hold German sentences together than English."""
    is_telling = known.holds_german.take(numbers)
    suspected = _any(is_telling, owners, count)
    some = np.flatnonzero((is_telling | known.holds_english.take(numbers)) & suspected.take(owners))
    pairs = distinct(owners[some] << 32 | numbers[some])
    met, held_by = pairs & 0xFFFFFFFF, pairs >> 32
    german = np.bincount(held_by[known.holds_german[met]], minlength=count)
    return german > np.bincount(held_by[known.holds_english[met]], minlength=count)


def _any(is_one: NDArray[np.bool_], owners: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    found = np.zeros(count, dtype=np.bool_)
    found[owners[is_one]] = True
    return found


def _marks(
    contents: Sequence[str], tells_time: NDArray[np.bool_], german: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Return what kind of text each is: one that asks, one that tells a time, a German one."""
    asks = np.array([content.endswith("?") for content in map(str.rstrip, contents)], np.bool_)
    marks: NDArray[np.uint8] = (asks * ASKS | tells_time * TELLS_TIME | german * GERMAN).astype(
        np.uint8
    )
    return marks
