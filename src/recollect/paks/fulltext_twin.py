"""Whether a full-text index says of every word what its texts say.

In: a connection, which is only read. Out: yes or no. The index is built a second time, in memory,
from the texts that FTS5 keeps; then the two must tell the same words in the same places. FTS5's own
check would need the write lock, and lets some lookups that lead nowhere pass.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import zip_longest

from recollect.paks.schema import TOKENIZER

__all__ = ["agrees"]

# As bytes, so that a text which is none any more is compared all the same.
_TEXTS = (
    "SELECT id, CAST(c0 AS BLOB), CAST(c1 AS BLOB), CAST(c2 AS BLOB) FROM main.paks_fts_content"
    " ORDER BY id"
)
_PUT = (
    "INSERT INTO paks_fts (rowid, pak_id, title, summary)"
    " VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))"
)
_WORDS = "SELECT CAST(term AS BLOB), doc, col, offset FROM temp.recollect_twin"
# How often a word is found when it is asked for, which takes another way than walking all words.
_ASKED = "SELECT count(*) FROM temp.recollect_twin WHERE term = CAST(? AS TEXT)"
# What FTS5 counted: words of each document, and of all of them; of none it writes nothing or zeros.
_COUNTED = (
    "SELECT id, sz FROM main.paks_fts_docsize ORDER BY id",
    "SELECT rtrim(hex(block), '0') FROM main.paks_fts_data WHERE id = 1",
)


def agrees(conn: sqlite3.Connection) -> bool:
    """Return whether the index of `conn` is the one that its texts make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as twin:
        twin.execute(
            "CREATE VIRTUAL TABLE paks_fts USING fts5"
            f" (pak_id UNINDEXED, title, summary, tokenize = '{TOKENIZER}')"
        )
        twin.execute("BEGIN")
        twin.executemany(_PUT, conn.execute(_TEXTS))
        twin.execute("COMMIT")
        return _same_words(conn, twin)


def _same_words(conn: sqlite3.Connection, twin: sqlite3.Connection) -> bool:
    for each in (conn, twin):
        each.execute("DROP TABLE IF EXISTS temp.recollect_twin")
        each.execute(
            "CREATE VIRTUAL TABLE temp.recollect_twin USING fts5vocab('main', paks_fts, 'instance')"
        )
    try:
        both = (conn, twin)
        return all(
            _equal(*(each.execute(sql) for each in both)) for sql in (*_COUNTED, _WORDS)
        ) and _each_is_found(conn, twin)
    finally:
        conn.execute("DROP TABLE temp.recollect_twin")


def _each_is_found(conn: sqlite3.Connection, twin: sqlite3.Connection) -> bool:
    counted = twin.execute(
        "SELECT CAST(term AS BLOB), count(*) FROM temp.recollect_twin GROUP BY term"
    )
    return all(conn.execute(_ASKED, (word,)).fetchone()[0] == count for word, count in counted)


def _equal(one: Iterable[object], other: Iterable[object]) -> bool:
    return all(first == second for first, second in zip_longest(one, other))
