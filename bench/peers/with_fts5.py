"""SQLite's FTS5 with its porter tokeniser, any of the question's words, ranked by its bm25()."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from bench.peers.measure import Text, Vectors, main


class FTS5:
    """One table in one file."""

    def __init__(self, _vectors: Vectors) -> None:
        self.versions = {"sqlite": sqlite3.sqlite_version}

    def open(self, folder: Path) -> None:
        """Make the table."""
        self._database = sqlite3.connect(folder / "texts.db")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(name UNINDEXED, text,"
            " tokenize = 'porter unicode61')"
        )

    def add(self, texts: Sequence[Text]) -> None:
        """Insert the texts in one transaction."""
        with self._database:
            self._database.executemany("INSERT INTO texts VALUES (?, ?)", texts)

    def search(self, question: str, k: int) -> list[str]:
        """Return the best."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        found = self._database.execute(
            "SELECT name FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, k)
        )
        return [name for (name,) in found]

    def close(self) -> None:
        """Close the file."""
        self._database.close()


if __name__ == "__main__":
    main(FTS5)
