from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from tests.contract.paks.samples import (
    LATER,
    NOON,
    catalogue_rows,
    counted,
    fulltext_rows,
    matches,
    pak,
)

from recollect.errors import InvalidInput, StoreDamaged
from recollect.paks import PakHit, RecallStore, words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS = (
    "pak_id, pak_type, project, topic, source_type, authority, title, summary, content_hash,"
    " created_at, updated_at, superseded_by"
)
VALUES = "(?, 'vault', NULL, NULL, 'doc', 'human', ?, ?, 'h', ?, ?, NULL)"


def raw(store: RecallStore, verb: str, pak_id: str, title: str, tail: str = "") -> None:
    store.conn.execute(
        f"{verb} INTO paks ({COLUMNS}) VALUES {VALUES} {tail}", (pak_id, title, "", NOON, NOON)
    )


def found(store: RecallStore, text: str, **options: Any) -> list[str]:
    return [hit.pak.pak_id for hit in store.search(text, **options)]


# Kept in step, whatever the SQL


@pytest.mark.sql
def test_raw_sql_keeps_the_full_text_table_in_step(store: RecallStore) -> None:
    raw(store, "INSERT", "p1", "zebra")
    assert matches(store.conn, "zebra") == ["p1"]
    store.conn.execute("UPDATE paks SET summary = 'stripes'")
    assert matches(store.conn, "stripes") == ["p1"]
    store.conn.execute("DELETE FROM paks")
    assert fulltext_rows(store.conn) == []


@pytest.mark.sql
@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE"])
def test_a_replace_leaves_no_stale_row(store: RecallStore, verb: str) -> None:
    raw(store, "INSERT", "p1", "zebra")
    raw(store, "INSERT", "p2", "lion")

    raw(store, verb, "p1", "giraffe")

    assert matches(store.conn, "zebra") == []
    assert fulltext_rows(store.conn) == [("p1", "giraffe", ""), ("p2", "lion", "")]


@pytest.mark.sql
def test_a_replace_with_the_same_text_leaves_one_row(store: RecallStore) -> None:
    for _ in range(3):
        raw(store, "INSERT OR REPLACE", "p1", "zebra")

    assert fulltext_rows(store.conn) == [("p1", "zebra", "")]


@pytest.mark.sql
def test_a_replace_works_with_recursive_triggers_too(store: RecallStore) -> None:
    store.conn.execute("PRAGMA recursive_triggers = ON")
    raw(store, "INSERT", "p1", "zebra")

    raw(store, "INSERT OR REPLACE", "p1", "giraffe")

    assert fulltext_rows(store.conn) == [("p1", "giraffe", "")]


@pytest.mark.sql
def test_an_ignored_insert_changes_nothing(store: RecallStore) -> None:
    raw(store, "INSERT", "p1", "zebra")

    raw(store, "INSERT OR IGNORE", "p1", "giraffe")
    raw(store, "INSERT OR IGNORE", "p2", "lion")

    assert fulltext_rows(store.conn) == [("p1", "zebra", ""), ("p2", "lion", "")]


@pytest.mark.sql
@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("ON CONFLICT DO NOTHING", "zebra"),
        ("ON CONFLICT (pak_id) DO UPDATE SET title = excluded.title", "giraffe"),
        ("ON CONFLICT (pak_id) DO UPDATE SET topic = 'x'", "zebra"),
        ("ON CONFLICT (pak_id) DO UPDATE SET title = excluded.title WHERE false", "zebra"),
    ],
)
def test_a_raw_upsert_keeps_the_full_text_table_exact(
    store: RecallStore, tail: str, expected: str
) -> None:
    raw(store, "INSERT", "p1", "zebra")

    raw(store, "INSERT", "p1", "giraffe", tail)

    assert fulltext_rows(store.conn) == [("p1", expected, "")]
    assert matches(store.conn, expected) == ["p1"]


@pytest.mark.sql
def test_a_changed_pak_id_takes_its_text_along(store: RecallStore) -> None:
    raw(store, "INSERT", "old", "zebra")

    store.conn.execute("UPDATE paks SET pak_id = 'new'")

    assert fulltext_rows(store.conn) == [("new", "zebra", "")]
    assert found(store, "zebra") == ["new"]


@pytest.mark.sql
def test_many_changed_ids_take_their_text_along(store: RecallStore) -> None:
    store.upsert_paks(pak(f"p{at}", title=f"word{at}") for at in range(50))

    store.conn.execute("UPDATE paks SET pak_id = 'x-' || pak_id, summary = 'moved'")

    assert fulltext_rows(store.conn) == catalogue_rows(store.conn)
    assert matches(store.conn, "word7") == ["x-p7"]


@pytest.mark.sql
def test_an_update_that_runs_over_another_row_leaves_no_stale_row(store: RecallStore) -> None:
    raw(store, "INSERT", "p1", "zebra")
    raw(store, "INSERT", "p2", "lion")

    store.conn.execute("UPDATE OR REPLACE paks SET pak_id = 'p2' WHERE pak_id = 'p1'")

    assert fulltext_rows(store.conn) == [("p2", "zebra", "")]
    assert matches(store.conn, "lion") == []


@pytest.mark.sql
def test_an_update_that_would_run_over_another_row_is_ignored_whole(store: RecallStore) -> None:
    raw(store, "INSERT", "p1", "zebra")
    raw(store, "INSERT", "p2", "lion")

    store.conn.execute("UPDATE OR IGNORE paks SET pak_id = 'p2', title = 'x' WHERE pak_id = 'p1'")

    assert fulltext_rows(store.conn) == [("p1", "zebra", ""), ("p2", "lion", "")]


@pytest.mark.sql
def test_swapped_titles_are_swapped(store: RecallStore) -> None:
    raw(store, "INSERT", "p1", "zebra")
    raw(store, "INSERT", "p2", "lion")

    store.conn.execute(
        "UPDATE paks SET title = CASE title WHEN 'lion' THEN 'zebra' ELSE 'lion' END"
    )

    assert (matches(store.conn, "zebra"), matches(store.conn, "lion")) == (["p2"], ["p1"])


@pytest.mark.sql
def test_a_rolled_back_write_is_forgotten_by_full_text(store: RecallStore) -> None:
    raw(store, "INSERT", "p1", "zebra")
    store.conn.execute("BEGIN")
    raw(store, "INSERT OR REPLACE", "p1", "giraffe")
    raw(store, "INSERT", "p2", "lion")
    store.conn.execute("DELETE FROM paks WHERE pak_id = 'p1'")
    store.conn.execute("ROLLBACK")

    assert fulltext_rows(store.conn) == [("p1", "zebra", "")]
    assert matches(store.conn, "zebra") == ["p1"]
    assert store.check().ok


@pytest.mark.sql
def test_an_insert_takes_over_the_orphan_that_had_its_id(store: RecallStore) -> None:
    store.conn.execute("INSERT INTO paks_fts VALUES ('p1', 'orphan', '')")

    store.upsert_pak(**pak(title="zebra"))

    assert fulltext_rows(store.conn) == [("p1", "zebra", "")]


# What a write costs


def cost_of(store: RecallStore, call: Callable[[int], object]) -> int:
    """Return the steps of twenty calls, so that a merge of the index in one of them evens out."""
    with counted(store.conn) as work:
        for at in range(20):
            call(at * 4)
    return work.steps


WRITES: dict[str, Callable[[RecallStore], Callable[[int], object]]] = {
    "an upsert that changes the text": lambda s: (
        lambda at: s.upsert_pak(**pak(f"p{at}", title=f"other words {at}"))
    ),
    "an upsert that changes nothing": lambda s: lambda at: s.upsert_pak(**pak(f"p{at}")),
    "a new Pak": lambda s: lambda at: s.upsert_pak(**pak(f"new{at}")),
    "a delete": lambda s: lambda at: s.delete_pak(f"p{at}"),
    "a raw update of another column": lambda s: (
        lambda at: s.conn.execute("UPDATE paks SET topic = 'x' WHERE pak_id = ?", (f"p{at}",))
    ),
    "a raw update of the title": lambda s: (
        lambda at: s.conn.execute("UPDATE paks SET title = 'x' WHERE pak_id = ?", (f"p{at}",))
    ),
    "a raw replace": lambda s: lambda at: raw(s, "INSERT OR REPLACE", f"p{at}", "x"),
    "a changed pak_id": lambda s: (
        lambda at: s.conn.execute(
            "UPDATE paks SET pak_id = ? WHERE pak_id = ?", (f"x{at}", f"p{at}")
        )
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_costs_the_same_in_a_large_catalogue(tmp_path: Path, name: str) -> None:
    costs = {}
    for size in (100, 5000):
        with RecallStore.open(tmp_path / f"{size}.db") as store:
            store.upsert_paks(pak(f"p{at}", summary="some words more") for at in range(size))
            costs[size] = cost_of(store, WRITES[name](store))
            assert fulltext_rows(store.conn) == catalogue_rows(store.conn)

    assert costs[100] > 20
    assert costs[5000] < 1.5 * costs[100]


@pytest.mark.sql
def test_the_counter_sees_a_scan(store: RecallStore) -> None:
    """Without this, a counter that sees nothing would make the tests above pass."""
    store.upsert_paks(pak(f"p{at}") for at in range(5000))
    with counted(store.conn) as work:
        store.conn.execute("DELETE FROM paks_fts WHERE pak_id = 'p77'")

    assert work.steps > 5000


@pytest.mark.sql
@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.upsert_pak(**pak(project="shop", topic="t", content_hash="x"), now=LATER),
        lambda s: s.conn.execute("UPDATE paks SET project = 'shop'"),
        lambda s: s.conn.execute("UPDATE paks SET title = title, summary = summary"),
        lambda s: s.conn.execute("UPDATE paks SET pak_id = pak_id"),
    ],
)
def test_a_change_of_other_columns_does_not_touch_the_full_text_table(
    store: RecallStore, change: Callable[[RecallStore], object]
) -> None:
    store.upsert_pak(**pak())
    before = inside(store.conn)

    change(store)

    assert inside(store.conn) == before


def inside(conn: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    tables = ("paks_fts_data", "paks_fts_idx", "paks_fts_content", "paks_fts_docsize")
    return [conn.execute(f"SELECT * FROM {table}").fetchall() for table in tables]


# Searching


@pytest.fixture
def zoo(store: RecallStore) -> RecallStore:
    store.upsert_paks(
        [
            pak("a", title="Zebra stripes", summary="black and white", project="zoo"),
            pak("b", title="White rhino", summary="a zebra stood beside it", project="zoo"),
            pak("c", title="White bread", summary="nothing wild", project="kitchen"),
            pak("d", title="C++ notes on foo.py", summary="it's 100% fine", pak_type="note"),
            pak("e", title="日本語 の 題名", summary="naïve café"),
        ],
        now=NOON,
    )
    return store


def test_a_hit_is_the_row_and_a_score(zoo: RecallStore) -> None:
    (hit,) = zoo.search("rhino")

    assert isinstance(hit, PakHit)
    assert hit.pak == zoo.get_pak("b")
    assert hit.score > 0


def test_the_better_match_comes_first(zoo: RecallStore) -> None:
    hits = zoo.search("zebra white stripes")

    assert [hit.pak.pak_id for hit in hits] == ["a", "b", "c"]
    assert hits[0].score > hits[1].score > hits[2].score


def test_equal_scores_go_by_time_and_id_downwards(store: RecallStore) -> None:
    store.upsert_paks([pak("a"), pak("c"), pak("b")], now=NOON)
    store.upsert_pak(**pak("z"), now=LATER)

    hits = store.search("title")

    assert len({hit.score for hit in hits}) == 1
    assert [hit.pak.pak_id for hit in hits] == ["z", "c", "b", "a"]


def test_any_word_is_enough_unless_all_are_asked_for(zoo: RecallStore) -> None:
    assert sorted(found(zoo, "zebra bread")) == ["a", "b", "c"]
    assert sorted(found(zoo, "zebra bread", match="any")) == ["a", "b", "c"]
    assert found(zoo, "zebra bread", match="all") == []
    assert sorted(found(zoo, "zebra white", match="all")) == ["a", "b"]


def test_filters_narrow_a_search(zoo: RecallStore) -> None:
    assert sorted(found(zoo, "white", project="zoo")) == ["a", "b"]
    assert found(zoo, "white", project="kitchen") == ["c"]
    assert found(zoo, "notes", pak_type="note") == ["d"]
    assert found(zoo, "white", project="zoo", pak_type="note") == []
    assert found(zoo, "white", project="ZOO") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c++ foo.py", ["d"]),
        ('"zebra', ["a", "b"]),
        ('zebra"', ["a", "b"]),
        ("'zebra", ["a", "b"]),
        ("zebra*", ["a", "b"]),
        ("zeb*", []),
        ("^rhino", ["b"]),
        ("title:rhino", ["b"]),
        ("rhino NEAR nothing", ["b", "c"]),
        ("NOT rhino", ["b"]),
        ("(rhino", ["b"]),
        ("rhino AND", ["a", "b"]),
        ("{rhino}", ["b"]),
        ("rhino -- ; DROP TABLE paks", ["b"]),
        ("100%", ["d"]),
        ("📦 rhino 🦏", ["b"]),
        ("naive CAFE", ["e"]),
        ("題名", ["e"]),
        ("rhino\0zebra", ["a", "b"]),
        ("rhino\ud800", ["b"]),
        ("\u0301 rhino", ["b"]),
    ],
)
def test_any_text_is_read_as_words(zoo: RecallStore, text: str, expected: list[str]) -> None:
    assert sorted(found(zoo, text)) == expected


@pytest.mark.parametrize("text", ["", "  ", "\n", "***", '""', "📦", "\0", "\ud800", "\u0301", "-"])
@pytest.mark.parametrize("match", ["any", "all"])
def test_a_text_without_words_finds_nothing(zoo: RecallStore, text: str, match: str) -> None:
    assert zoo.search(text, match=match) == []  # type: ignore[arg-type]


def test_what_is_no_word_does_not_count_when_all_words_are_asked_for(zoo: RecallStore) -> None:
    assert found(zoo, "📦 rhino \u0301 -- *", match="all") == ["b"]


def test_a_very_long_text_is_searched_by_its_beginning(zoo: RecallStore) -> None:
    assert found(zoo, "rhino " + "x" * 1_000_000) == ["b"]
    assert found(zoo, "rhino " + " ".join(f"w{at}" for at in range(200_000))) == ["b"]
    assert found(zoo, "x" * words.MAX_CHARACTERS + " rhino") == []
    assert found(zoo, " ".join(f"w{at}" for at in range(words.MAX_WORDS)) + " rhino") == []


@pytest.mark.parametrize("text", [None, 5, b"rhino", ["rhino"]])
def test_a_search_for_what_is_no_text_is_a_value_error(zoo: RecallStore, text: object) -> None:
    with pytest.raises(InvalidInput, match="text") as caught:
        zoo.search(text)  # type: ignore[arg-type]

    assert caught.value.hint


@pytest.mark.parametrize("text", ["rhino", ""])
@pytest.mark.parametrize("field", ["project", "pak_type"])
def test_a_search_under_a_filter_that_is_no_text_is_a_value_error(
    zoo: RecallStore, text: str, field: str
) -> None:
    with pytest.raises(InvalidInput, match=field):
        zoo.search(text, **{field: 5})  # type: ignore[arg-type]


def test_another_way_to_match_is_a_value_error(zoo: RecallStore) -> None:
    with pytest.raises(InvalidInput, match="match"):
        zoo.search("rhino", match="some")  # type: ignore[arg-type]


@pytest.mark.parametrize(("limit", "hits"), [(1, 1), (3, 3), (0, 100), (500, 100), ("2", 100)])
def test_a_search_has_the_limits_of_a_listing(store: RecallStore, limit: object, hits: int) -> None:
    store.upsert_paks(pak(f"p{at}") for at in range(120))

    assert len(store.search("title", limit=limit)) == hits  # type: ignore[arg-type]


@pytest.mark.sql
def test_an_orphan_of_the_full_text_table_is_never_a_hit(store: RecallStore) -> None:
    store.conn.execute("INSERT INTO paks_fts VALUES ('ghost', 'zebra', '')")

    assert store.search("zebra") == []


# check and repair


def test_a_healthy_catalogue_has_no_problems(zoo: RecallStore) -> None:
    assert zoo.check() == (True, 5, ())
    assert zoo.repair() == (0, 0)


DISORDERS = {
    "1 full-text rows belong to no Pak": "INSERT INTO paks_fts VALUES ('ghost', 'boo', '')",
    "2 full-text rows belong to no Pak": "INSERT INTO paks_fts (title) VALUES ('x'), ('y')",
    "1 Paks cannot be found by full text": "DELETE FROM paks_fts WHERE pak_id = 'a'",
    "1 full-text rows say something else than their Pak": (
        "UPDATE paks_fts SET title = 'other' WHERE pak_id = 'a'"
    ),
    "1 full-text rows are duplicates": (
        "INSERT INTO paks_fts SELECT * FROM paks_fts WHERE pak_id = 'a'"
    ),
}


@pytest.mark.sql
@pytest.mark.parametrize("problem", DISORDERS)
def test_a_disorder_is_named_and_repaired(zoo: RecallStore, problem: str) -> None:
    zoo.conn.execute(DISORDERS[problem])

    assert zoo.check() == (False, 5, (problem,))
    repaired = zoo.repair()
    assert repaired.removed + repaired.added > 0
    assert zoo.check() == (True, 5, ())
    assert fulltext_rows(zoo.conn) == catalogue_rows(zoo.conn)


@pytest.mark.sql
def test_an_orphan_without_an_id_does_not_hide_a_missing_pak(zoo: RecallStore) -> None:
    zoo.conn.execute("INSERT INTO paks_fts (title) VALUES ('boo')")
    zoo.conn.execute("DELETE FROM paks_fts WHERE pak_id = 'a'")

    assert set(zoo.check().problems) == {
        "1 Paks cannot be found by full text",
        "1 full-text rows belong to no Pak",
    }
    assert zoo.repair() == (1, 1)
    assert zoo.check().ok


@pytest.mark.sql
def test_a_repair_counts_what_it_did(zoo: RecallStore) -> None:
    zoo.conn.execute("DELETE FROM paks_fts WHERE pak_id IN ('a', 'b')")
    zoo.conn.execute("INSERT INTO paks_fts VALUES ('ghost', 'boo', ''), ('c', 'stale', '')")

    assert zoo.repair() == (2, 2)


@pytest.mark.sql
def test_a_damaged_index_is_noticed_and_repaired(zoo: RecallStore) -> None:
    zoo.conn.execute("DELETE FROM paks_fts_data WHERE id > 10")
    with pytest.raises(StoreDamaged) as caught:
        zoo.search("zebra")
    assert "repair" in caught.value.hint

    report = zoo.check()
    assert not report.ok
    assert any("index" in problem for problem in report.problems)
    zoo.repair()
    assert zoo.check().ok
    assert sorted(found(zoo, "zebra")) == ["a", "b"]


@pytest.mark.sql
def test_an_index_that_tells_of_other_words_is_noticed_and_repaired(zoo: RecallStore) -> None:
    zoo.conn.execute("UPDATE paks_fts_content SET c1 = 'lion' WHERE c0 = 'a'")
    zoo.conn.execute("DROP TRIGGER paks_au_fts")
    zoo.conn.execute("UPDATE paks SET title = 'lion' WHERE pak_id = 'a'")
    assert found(zoo, "lion") == []

    assert not zoo.check().ok
    zoo.repair()
    assert found(zoo, "lion") == ["a"]


@pytest.mark.sql
def test_dangling_references_are_a_problem(zoo: RecallStore) -> None:
    zoo.conn.execute("PRAGMA foreign_keys = OFF")
    zoo.conn.execute("INSERT INTO pak_anchors VALUES ('ghost', 'a1', 'src', 'file')")

    assert zoo.check() == (False, 5, ("1 rows refer to Paks that do not exist",))


@pytest.mark.sql
def test_a_check_changes_nothing(zoo: RecallStore) -> None:
    zoo.conn.execute("INSERT INTO paks_fts VALUES ('ghost', 'boo', '')")
    before = inside(zoo.conn)

    assert zoo.check() == zoo.check()
    assert inside(zoo.conn) == before


@pytest.mark.sql
def test_a_read_only_store_can_be_checked(zoo: RecallStore) -> None:
    zoo.conn.execute("INSERT INTO paks_fts VALUES ('ghost', 'boo', '')")
    with RecallStore.open(zoo.path, read_only=True) as reader:
        assert reader.check() == (False, 5, ("1 full-text rows belong to no Pak",))


@pytest.mark.sql
def test_a_repair_that_fails_is_rolled_back(zoo: RecallStore) -> None:
    zoo.conn.execute("INSERT INTO paks_fts VALUES ('ghost', 'boo', '')")
    before = fulltext_rows(zoo.conn)
    with pytest.raises(KeyError), zoo.transaction():
        zoo.repair()
        raise KeyError

    assert fulltext_rows(zoo.conn) == before
