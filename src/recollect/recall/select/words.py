"""Which Paks hold the words of a text, and how well: BM25 over title and summary.

In: any text, a connection, and which rows count. Out: full-text row numbers with a score each. The
formula is FTS5's own, but document count, document frequency and average length are taken among
the rows that count and no others, which FTS5's `bm25()` cannot do (ADR-0007).
"""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from recollect.paks.schema import TOKENIZER

__all__ = ["Hit", "Posting", "Statistics", "bm25", "numbers", "posting", "prepare", "tokens"]

# A text is a question, not a document: what follows this many characters or distinct words is
# left out, so that a pasted file cannot make a query that takes seconds.
MAX_CHARACTERS = 10_000
MAX_WORDS = 200

# FTS5's constants; a word that more than half of the rows hold still counts, by next to nothing.
_K1 = 1.2
_B = 0.75
_LEAST_RARITY = 1e-6

_VOCABULARY = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.recollect_words"
    " USING fts5vocab('main', 'paks_fts', 'instance')"
)
_DOCUMENTS = "SELECT group_concat(doc) FROM temp.recollect_words WHERE term = ?"

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Posting:
    """The full-text rows that hold a word, ascending, and how often each does."""

    documents: Ints
    counts: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """One word among the Paks that count: who holds it, how often, and how long each is."""

    token: str
    slots: Ints
    counts: Ints
    lengths: Ints


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many rows count, and how many words they hold together."""

    documents: int
    words: int


@lru_cache(maxsize=256)
def tokens(text: str) -> tuple[str, ...]:
    """Return the distinct words of `text` as FTS5 itself reads them, ascending."""
    return _Tokeniser.shared().tokens(text[:MAX_CHARACTERS])


def prepare(conn: sqlite3.Connection) -> None:
    """Give a connection its view of the full-text index; one that has it keeps it."""
    conn.execute(_VOCABULARY)


def posting(conn: sqlite3.Connection, token: str) -> Posting:
    """Return where a word occurs."""
    places = numbers(conn.execute(_DOCUMENTS, (token,)).fetchone()[0])
    return Posting(*np.unique(places, return_counts=True))


def numbers(listed: str | None) -> Ints:
    """Return the whole numbers that SQLite's group_concat listed."""
    return np.fromstring(listed or "", dtype=np.int64, sep=",")


def bm25(hit: Hit, statistics: Statistics) -> Floats:
    """Return what one word adds to the score of each Pak that holds it."""
    holding = len(hit.slots)
    rarity = math.log((statistics.documents - holding + 0.5) / (holding + 0.5))
    rarity = rarity if rarity > 0.0 else _LEAST_RARITY
    average = statistics.words / statistics.documents
    counts = hit.counts.astype(np.float64)
    added: Floats = (
        rarity * (counts * (_K1 + 1.0)) / (counts + _K1 * (1.0 - _B + _B * hit.lengths / average))
    )
    return added


class _Tokeniser:
    """FTS5's tokenizer, asked through a table in memory that never keeps anything."""

    _instance: _Tokeniser | None = None
    _lock = Lock()

    def __init__(self) -> None:
        # Threads take turns, so the connection may be used by any of them.
        self._conn = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._conn.execute(
            f"CREATE VIRTUAL TABLE texts USING fts5 (text, content = '', tokenize = '{TOKENIZER}')"
        )
        self._conn.execute("CREATE VIRTUAL TABLE words USING fts5vocab ('texts', 'instance')")

    @classmethod
    def shared(cls) -> _Tokeniser:
        with cls._lock:
            if cls._instance is None:
                cls._instance = cls()
            return cls._instance

    def tokens(self, text: str) -> tuple[str, ...]:
        with self._lock:
            self._conn.execute("INSERT INTO texts (rowid, text) VALUES (1, ?)", (text,))
            try:
                rows = self._conn.execute(
                    "SELECT term FROM words GROUP BY term ORDER BY min(offset) LIMIT ?",
                    (MAX_WORDS,),
                ).fetchall()
            finally:
                self._conn.execute("INSERT INTO texts (texts) VALUES ('delete-all')")
        return tuple(sorted(row[0] for row in rows))
