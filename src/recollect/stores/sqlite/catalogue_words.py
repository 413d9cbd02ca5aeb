"""The words of a text, as FTS5's own tokenizer reads them.

In: any text. Out: its words, in their order. The tokenizer is asked through a table in memory that
keeps nothing.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from threading import Lock

from recollect.locks import fresh_in_child
from recollect.paks.schema import TOKENIZER

__all__ = ["words_of"]


@lru_cache(maxsize=256)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return _Tokeniser.shared().words_of(text)


class _Tokeniser:
    """FTS5's tokenizer, one for the process."""

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

    def words_of(self, text: str) -> tuple[str, ...]:
        with self._lock:
            self._conn.execute("INSERT INTO texts (rowid, text) VALUES (1, ?)", (text,))
            try:
                found = self._conn.execute("SELECT term FROM words ORDER BY offset").fetchall()
            finally:
                self._conn.execute("INSERT INTO texts (texts) VALUES ('delete-all')")
        return tuple(word for (word,) in found)


# Another thread may have been in the middle of a statement at the fork.
fresh_in_child(_Tokeniser, "_lock", Lock)
fresh_in_child(_Tokeniser, "_instance", lambda: None)
