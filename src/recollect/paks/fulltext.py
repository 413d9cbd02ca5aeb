"""Full text over title and summary: safe queries, and keeping the table honest.

In: the words of a text. Out: an FTS5 expression that cannot fail to parse. `problems` compares the
full-text table with the catalogue; `rebuild` makes them agree.
"""

from __future__ import annotations

import sqlite3

from recollect.model.pak import RepairReport
from recollect.paks.schema import RECONCILE_FULLTEXT

__all__ = ["expression", "problems", "rebuild"]


def expression(words: list[str], *, match_all: bool) -> str:
    """Return an FTS5 query for these words, whatever they are."""
    return (" AND " if match_all else " OR ").join(f'"{word}"' for word in words)


def problems(conn: sqlite3.Connection) -> list[str]:
    """Return what is wrong between the catalogue and its full-text table, in words."""
    found = [
        text.format(count=count)
        for text, sql in _PROBLEMS
        if (count := conn.execute(sql).fetchone()[0])
    ]
    return found if _is_whole(conn) else [*found, "the full-text index is damaged"]


def rebuild(conn: sqlite3.Connection) -> RepairReport:
    """Rebuild the full-text index and make it say what the catalogue says."""
    before = _pairs(conn)
    conn.execute("INSERT INTO paks_fts (paks_fts) VALUES ('rebuild')")
    for statement in RECONCILE_FULLTEXT:
        conn.execute(statement)
    after = _pairs(conn)
    return RepairReport(removed=len(before - after), added=len(after - before))


_PROBLEMS = (
    (
        "{count} Paks cannot be found by full text",
        "SELECT count(*) FROM paks WHERE pak_id NOT IN"
        " (SELECT pak_id FROM paks_fts WHERE pak_id IS NOT NULL)",
    ),
    (
        "{count} full-text rows belong to no Pak",
        "SELECT count(*) FROM paks_fts"
        " WHERE pak_id IS NULL OR pak_id NOT IN (SELECT pak_id FROM paks)",
    ),
    (
        "{count} full-text rows say something else than their Pak",
        "SELECT count(*) FROM paks_fts AS found JOIN paks USING (pak_id)"
        " WHERE paks.title IS NOT found.title OR paks.summary IS NOT found.summary",
    ),
    (
        "{count} full-text rows are duplicates",
        "SELECT count(pak_id) - count(DISTINCT pak_id) FROM paks_fts",
    ),
)


def _is_whole(conn: sqlite3.Connection) -> bool:
    """Return whether the index agrees with the text it was made of."""
    from recollect.paks.fulltext_twin import agrees

    try:
        return agrees(conn)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return False


def _pairs(conn: sqlite3.Connection) -> set[tuple[int, str, str, str]]:
    return set(conn.execute("SELECT rowid, pak_id, title, summary FROM paks_fts"))
