"""Whether full text still finds a page by how an erased word began.

In: a connection, and the texts that were erased, or none to look at everything. Out: yes or no. A
page that begins with another word than the one before ended is found by a beginning of its first
word (`paks_fts_idx`). SQLite erases a word from its page and leaves how it began there: then the
page begins with another word (ADR-0105). Nothing is changed.
"""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from recollect.paks.schema import TOKENIZER

__all__ = ["are_left", "is_left", "words_of"]

# Each word of full text begins with the sign of the index that holds it, and there is but one.
_MAIN_INDEX = b"0"
_PARTS = (
    "WITH RECURSIVE part (id) AS (SELECT min(segid) FROM paks_fts_idx UNION ALL"
    " SELECT (SELECT min(segid) FROM paks_fts_idx WHERE segid > part.id)"
    " FROM part WHERE part.id IS NOT NULL) SELECT id FROM part WHERE id IS NOT NULL"
)
_AT_OR_BEFORE = (
    "SELECT term, pgno FROM paks_fts_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1"
)
# All that the tokenizer does with ASCII; to ask it takes twenty times as long. Beside words there
# may be dashes, quotation marks and dots, U+2010 to U+2027: no word has one.
_PUNCTUATION = re.compile(rb"\xe2\x80[\x90-\xa7]")
_ASCII_WORD = re.compile(rb"[0-9a-z]+")
# To look at so many pages takes no longer than to ask for the words.
_IS_LARGE = "SELECT 1 FROM paks_fts_idx LIMIT 1 OFFSET 64"
_PAGE_ID = "({segid} << 37) + ({pgno} >> 1)"
_PAGE = f"SELECT block FROM paks_fts_data WHERE id = {_PAGE_ID.format(segid='?', pgno='?')}"
_ALL = (
    "SELECT way.term, page.block FROM paks_fts_idx AS way LEFT JOIN paks_fts_data AS page"
    f" ON page.id = {_PAGE_ID.format(segid='way.segid', pgno='way.pgno')} WHERE way.term <> x''"
)


def words_of(texts: Iterable[bytes]) -> list[bytes]:
    """Return what full text makes of some texts, in order."""
    words, others = set[bytes](), list[bytes]()
    for text in texts:
        plain = _PUNCTUATION.sub(b" ", text)
        if plain.isascii():
            words.update(_ASCII_WORD.findall(plain.lower()))
        else:
            others.append(text)
    return sorted(words.union(_asked_for(others) if others else ()))


def _asked_for(texts: Iterable[bytes]) -> list[bytes]:
    """Return the words of texts of any script: full text is asked itself, in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as beside:
        beside.execute(
            f"CREATE VIRTUAL TABLE said USING fts5 (text, content = '', tokenize = '{TOKENIZER}')"
        )
        beside.execute("CREATE VIRTUAL TABLE words USING fts5vocab (said, row)")
        put = "INSERT INTO said (text) VALUES (CAST(? AS TEXT))"
        beside.executemany(put, [(text,) for text in texts])
        return [word for (word,) in beside.execute("SELECT CAST(term AS BLOB) FROM words")]


def is_left(conn: sqlite3.Connection, erased: Sequence[bytes] | None) -> bool:
    """Return whether a page is found by how a word of these texts began, or any that is gone."""
    if erased is None or not conn.execute(_IS_LARGE).fetchone():
        return any(not _begins(page, term) for term, page in conn.execute(_ALL))
    return bool(erased) and are_left(conn, words_of(erased))


def are_left(conn: sqlite3.Connection, words: Iterable[bytes]) -> bool:
    """Return whether a page is found by how one of these words began, which it does not hold."""
    wanted = sorted(_MAIN_INDEX + word for word in words)
    return bool(wanted) and any(
        not _begins(_page(conn, part, number), term)
        for (part,) in conn.execute(_PARTS).fetchall()
        for term, number in _ways(conn, part, wanted)
    )


def _ways(
    conn: sqlite3.Connection, part: int, words: Sequence[bytes]
) -> Iterator[tuple[bytes, int]]:
    """Yield the beginnings of these words by which pages of a part are found.

    Both are in order, so it goes down by leaps: from a way to the last word before it, or to what
    it shares with the word after it, whichever is later. Nothing between is how a word begins.
    """
    highest = words[-1]
    while found := conn.execute(_AT_OR_BEFORE, (part, highest)).fetchone():
        term, number = found
        if not term:  # the first page of a part
            return
        place = bisect_left(words, term)
        after = words[place]
        if after.startswith(term):
            yield term, number
        before = words[place - 1] if place else b""
        highest = max(before, _shared(term[:-1], after))


def _shared(one: bytes, other: bytes) -> bytes:
    """Return how two words both begin."""
    for length, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return one[:length]
    return min(one, other, key=len)


def _page(conn: sqlite3.Connection, part: int, number: int) -> bytes | None:
    found = conn.execute(_PAGE, (part, number)).fetchone()
    return None if found is None else found[0]


def _begins(page: bytes | None, term: bytes) -> bool:
    """Return whether the first word of a page begins so.

    A page says in its third and fourth byte where its words are listed: by their places, the first
    of which leads to the word's length and its signs.
    """
    try:
        if page is None:
            return False
        place, _ = _number(page, int.from_bytes(page[2:4], "big"))
        length, start = _number(page, place)
    except IndexError:  # a page without a word
        return False
    return page[start : start + length].startswith(term)


def _number(page: bytes, place: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, the highest first, and where it ends."""
    value = 0
    while True:
        byte = page[place]
        value, place = value << 7 | byte & 0x7F, place + 1
        if byte < 0x80:
            return value, place
