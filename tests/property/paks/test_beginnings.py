"""How erased words began, where full text finds its pages: what is looked for is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from recollect.paks.fulltext_beginnings import are_left, is_left, words_of
from recollect.paks.fulltext_wiping import can_erase
from recollect.paks.schema import TOKENIZER

texts = st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=12).map(" ".join)
# Signs that no text has: a page that is found by one is found by what it does not begin with.
gone = st.text("abc9", min_size=1, max_size=6).filter(lambda word: "9" in word)


ascii_text = st.text(st.characters(max_codepoint=127), max_size=60)
punctuated = st.text(
    st.sampled_from("aB0 ") | st.characters(min_codepoint=0x2010, max_codepoint=0x2027)
)


@contextmanager
def full_text() -> Iterator[sqlite3.Connection]:
    """Give full text of its own, with pages so small that there are many."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        conn.execute(
            "CREATE VIRTUAL TABLE paks_fts USING fts5"
            f" (pak_id UNINDEXED, title, summary, tokenize = '{TOKENIZER}')"
        )
        conn.execute("CREATE VIRTUAL TABLE temp.standing USING fts5vocab (main, paks_fts, row)")
        for setting, value in (("pgsz", 64), ("automerge", 4)):
            conn.execute("INSERT INTO paks_fts (paks_fts, rank) VALUES (?, ?)", (setting, value))
        yield conn


def put(conn: sqlite3.Connection, row: int, text: str) -> None:
    conn.execute("INSERT INTO paks_fts (rowid, title, summary) VALUES (?, ?, '')", (row, text))


def words(conn: sqlite3.Connection) -> list[bytes]:
    return [word.encode() for (word,) in conn.execute("SELECT term FROM temp.standing")]


@given(st.lists(texts, min_size=1, max_size=30), st.lists(gone, max_size=4), st.lists(gone))
@settings(max_examples=examples(150))
def test_a_page_that_is_found_by_an_erased_word_is_seen_by_its_words_and_by_all(
    rows: list[str], left: list[str], erased: list[str]
) -> None:
    with full_text() as conn:
        for row, text in enumerate(rows):
            put(conn, row, text)
        assert not is_left(conn, None)
        assert not are_left(conn, words(conn))
        way = "INSERT OR IGNORE INTO paks_fts_idx SELECT segid, ?, pgno FROM paks_fts_idx LIMIT 1"
        for word in left:
            conn.execute(way, (b"0" + word.encode(),))
        named = any(word.startswith(one) for word in erased for one in left)
        both = sorted({*words(conn), *(word.encode() for word in erased)})
        assert are_left(conn, both) == named
        assert is_left(conn, None) == bool(left)


@pytest.mark.skipif(not can_erase(), reason="an older SQLite does not erase words as it deletes")
@given(
    st.lists(texts, min_size=1, max_size=20),
    st.lists(st.tuples(st.integers(min_value=0), texts), max_size=20),
)
@settings(max_examples=examples(150))
def test_where_nothing_is_left_of_the_erased_each_page_is_found_by_a_word_that_stands(
    rows: list[str], changes: list[tuple[int, str]]
) -> None:
    with full_text() as conn:
        conn.execute("INSERT INTO paks_fts (paks_fts, rank) VALUES ('secure-delete', 1)")
        for row, text in enumerate(rows):
            put(conn, row, text)
        for number, text in changes:
            row = number % len(rows)
            conn.execute("DELETE FROM paks_fts WHERE rowid = ?", (row,))
            if are_left(conn, words_of([rows[row].encode()])):
                conn.execute("INSERT INTO paks_fts (paks_fts) VALUES ('rebuild')")
            standing = [b"0" + word for word in words(conn)]
            for (way,) in conn.execute("SELECT term FROM paks_fts_idx").fetchall():
                assert not way or any(word.startswith(way) for word in standing)
            rows[row] = text
            put(conn, row, text)


@given(st.lists(st.text(max_size=30) | ascii_text | punctuated, max_size=5))
@settings(max_examples=examples(300))
def test_words_of_texts_are_those_that_full_text_finds_them_by(said: list[str]) -> None:
    with full_text() as conn:
        for row, text in enumerate(said):
            put(conn, row, text)
        assert words_of([text.encode() for text in said]) == words(conn)


def test_no_sign_between_words_is_part_of_one() -> None:
    said = [
        f"ab{chr(sign)}cd{chr(sign)} {chr(sign)}" for sign in (*range(128), *range(0x2010, 0x2028))
    ]
    with full_text() as conn:
        for row, text in enumerate(said):
            put(conn, row, text)
        assert words_of([text.encode() for text in said]) == words(conn)
