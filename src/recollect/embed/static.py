"""The default embedder: the mean of a static table's token vectors, offline.

Texts come in, unit vectors go out. Sums are exact: half-precision numbers are multiples of 2**-24,
so 32,768 of them below 2**14, or 2**9 with weights of 32, add up in float64 without rounding, in
any order. A text therefore has the same bytes alone, in any batch and on any thread. Everything
runs on the calling thread; the tokeniser's own pool would not survive a fork.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import chain, islice
from math import isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.embed.pieces import LONGEST_WORD
from recollect.embed.table import load_pieces, load_table, load_tokeniser
from recollect.embed.text import replace_surrogates
from recollect.errors import InvalidInput
from recollect.ports.embedder import QueryTokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from recollect.embed.pieces import WordPieces

__all__ = ["MAX_QUERY_CHARS", "MAX_TOKENS", "StaticEmbedder"]

# Past this many tokens (some 130 kB of English) a mean has long settled; the rest is not read.
MAX_TOKENS = 32_768
MAX_QUERY_CHARS = 8_192
# The tokeniser holds the interpreter's lock while it works: 8 kB keeps that to some ms.
_PIECE_CHARS = 8_192
# Tokens pooled at a time: 2 MB of float64.
_BLOCK_TOKENS = 1_024
# What a token counts is a whole number of these parts, so that sums stay exact.
_PARTS = 32
# Words whose vectors are held: 12 MB.
_MOST_WORDS = 4_096
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")


class StaticEmbedder:
    """Mean-pools a 256-dimensional table read from the `wordllama` wheel.

    Questions are lower-cased and taken word by word, each word the mean of its tokens; documents
    are taken as they are. With words weighted by rarity that found .58 of the evidence turns of
    LoCoMo's dev share, against .55 with summed tokens and .53 with the question's own capitals.

    A token that stands in a document `n` times counts as the root of `n`: what a long text says
    again and again is not all that it is about (ADR-0050). With `every_time` it counts each time,
    as stores were filled before.
    """

    def __init__(self, *, every_time: bool = False) -> None:
        self._every_time = every_time
        # Questions share most of their words, and a word means the same in each.
        self._known: dict[str, _Piece] = {}

    @cached_property
    def model_id(self) -> str:
        """Identity of table, tokeniser and recipe."""
        recipe = "" if self._every_time else ":roots"
        return f"static:wordllama-{self.dimension}:{load_table().fingerprint}{recipe}"

    @cached_property
    def earlier(self) -> tuple[StaticEmbedder, ...]:
        """Recipes of before: a store that was filled by one goes on with it."""
        return () if self._every_time else (StaticEmbedder(every_time=True),)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(load_table().rows.shape[1])

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector for each text; a blank text is zero.

        Of a long text the first `MAX_TOKENS` tokens count.
        """
        rows = load_table().rows
        result = np.empty((len(texts), rows.shape[1]), dtype=np.float32)
        start = 0
        for group in _groups(texts):
            lengths = np.fromiter(map(len, group), dtype=np.intp, count=len(group))
            ids = np.fromiter(chain.from_iterable(group), dtype=np.intp)
            sums = _sum_tokens(rows, self._counted(ids, lengths), count=len(group))
            result[start : start + len(group)] = _unit(sums)
            start += len(group)
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the question's unit vector, every word counted alike."""
        tokens = self.tokenise_query(text)
        if not tokens.words:
            return self.embed_documents([text]).reshape(-1)
        return self.combine(tokens, np.ones(len(tokens.words)))

    def tokenise_query(self, text: str) -> QueryTokens:
        """Return the question's lower-cased words and the mean of each word's token vectors.

        Of a long question the first `MAX_QUERY_CHARS` characters count.
        """
        text = text[:MAX_QUERY_CHARS]
        words = tuple(_WORD.findall(text.lower()))
        if not words:
            return QueryTokens((), np.zeros((0, self.dimension), dtype=np.float32))
        chunks = replace_surrogates(text).split()
        known = self._known_of({*words, *chunks})
        vectors = np.array([known[word].mean for word in words])
        total = np.add.reduce([known[chunk].total for chunk in chunks])
        return QueryTokens(words, vectors, _unit_of_one(total))

    def _counted(self, ids: NDArray[np.intp], lengths: NDArray[np.intp]) -> _Counted:
        """Return the tokens of some texts, and what each counts."""
        owners = np.repeat(np.arange(len(lengths)), lengths)
        if self._every_time:
            return _Counted(ids, owners, np.ones(len(ids)))
        first = int(ids.max(initial=0)) + 1
        found, times = np.unique(owners * first + ids, return_counts=True)
        return _Counted(found % first, found // first, _parts(times))

    def _known_of(self, pieces: set[str]) -> dict[str, _Piece]:
        """Return what is known of pieces of text without spaces; what is new is found out once."""
        known = self._known
        # Not a difference of sets: that would walk over all that is known.
        if new := sorted(piece for piece in pieces if piece not in known):
            if len(known) + len(new) > _MOST_WORDS:
                known = self._known = {}
                new = sorted(pieces)
            known.update(zip(new, _read_pieces(new), strict=True))
        return known

    def combine(
        self, tokens: QueryTokens, weights: Sequence[float] | NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """Return the unit vector of the words weighted; no words, or no weight, is zero."""
        factors = np.asarray(weights, dtype=np.float64)
        if factors.shape != (len(tokens.words),) or not all(map(isfinite, factors.tolist())):
            raise InvalidInput(
                f"The question has {len(tokens.words)} words; "
                f"each needs one finite weight, got an array of shape {factors.shape}."
            )
        # Not a BLAS product: row after row is an order of summation that no library may change.
        return _unit_of_one(np.add.reduce(factors[:, np.newaxis] * tokens.vectors))


class _Piece(NamedTuple):
    """The sum of a piece's token vectors, and their mean."""

    total: NDArray[np.float64]
    mean: NDArray[np.float32]


class _Counted(NamedTuple):
    """Tokens of some texts: whose each is, ascending, and what it counts."""

    ids: NDArray[np.intp]
    owners: NDArray[np.intp]
    weights: NDArray[np.float64]


def _parts(times: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return what a token counts that comes so many times: the root, as a whole number."""
    parts: NDArray[np.float64] = np.rint(_PARTS * np.sqrt(times))
    return parts


def _read_pieces(pieces: Sequence[str]) -> Iterator[_Piece]:
    """Yield the vectors of pieces of text without spaces; they are the same in any question."""
    known = load_pieces()
    found = [_word_ids(piece, known) for piece in pieces]
    lengths = np.fromiter(map(len, found), dtype=np.intp, count=len(found))
    ids = np.fromiter(chain.from_iterable(found), dtype=np.intp, count=int(lengths.sum()))
    vectors = load_table().rows[ids].astype(np.float64)
    sums: NDArray[np.float64] = np.add.reduceat(vectors, np.cumsum(lengths) - lengths, axis=0)
    means: NDArray[np.float32] = (sums / lengths[:, np.newaxis]).astype(np.float32)
    return map(_Piece, sums, means)


def _word_ids(word: str, pieces: WordPieces | None) -> list[int]:
    """Return a word's token ids: no token reaches across a space, so they are its own."""
    if pieces is None or len(word) > LONGEST_WORD:
        ids: list[int] = load_tokeniser().encode(word, add_special_tokens=False).ids
        return ids
    return pieces.ids(word)


def _groups(texts: Sequence[str]) -> Iterator[list[list[int]]]:
    """Yield the texts' token ids, a few texts at a time, so that memory stays flat."""
    group: list[list[int]] = []
    waiting = 0
    for text in texts:
        ids = _token_ids(text)
        group.append(ids)
        waiting += len(ids)
        if waiting >= _BLOCK_TOKENS or len(group) >= _BLOCK_TOKENS:
            yield group
            group, waiting = [], 0
    if group:
        yield group


def _token_ids(text: str) -> list[int]:
    encode = load_tokeniser().encode
    pieces = (
        encode(replace_surrogates(piece), add_special_tokens=False).ids for piece in _pieces(text)
    )
    return list(islice(chain.from_iterable(pieces), MAX_TOKENS))


def _pieces(text: str) -> Iterator[str]:
    """Cut a text at spaces into pieces of bounded length; the tokeniser adds each space again."""
    text = text.strip()
    rest, end = 0, len(text)
    while end - rest > _PIECE_CHARS:
        cut = text.rfind(" ", rest + 1, rest + _PIECE_CHARS + 1)
        if cut < 0:
            yield text[rest : rest + _PIECE_CHARS]
            rest += _PIECE_CHARS
        else:
            yield text[rest:cut]
            rest = cut + 1
    yield text[rest:]


def _sum_tokens(rows: NDArray[np.float16], tokens: _Counted, *, count: int) -> NDArray[np.float64]:
    """Return for each of so many texts the sum of its tokens' rows; without any it is zero.

    `reduceat`, not a product with ones and zeros: BLAS waking its threads cost far more.
    """
    sums = np.zeros((count, rows.shape[1]), dtype=np.float64)
    for start in range(0, len(tokens.ids), _BLOCK_TOKENS):
        some = slice(start, start + _BLOCK_TOKENS)
        owner = tokens.owners[some]
        firsts = np.flatnonzero(np.diff(owner, prepend=-1))
        vectors = rows[tokens.ids[some]].astype(np.float64)
        vectors *= tokens.weights[some, np.newaxis]
        sums[owner[firsts]] += np.add.reduceat(vectors, firsts, axis=0)
    return sums


def _unit_of_one(total: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return what `_unit` makes of a single row, in half the time."""
    length = sqrt(np.add.reduce(np.square(total)))
    return (total / (length or 1.0)).astype(np.float32)


def _unit(sums: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
    lengths[lengths == 0.0] = 1.0
    units: NDArray[np.float32] = (sums / lengths).astype(np.float32)
    return units
