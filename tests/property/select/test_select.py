"""What holds of a selection whatever the catalogue and the query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.property.select.catalogues import (
    Pak,
    catalogues,
    ids,
    paks,
    plain_select,
    queries,
    store_of,
    text,
    write,
)

from recollect.errors import UnknownPak
from recollect.paks import PakRow, ReasonCodeEntry, RecallStore
from recollect.paks.registry import RISK_FLAGS
from recollect.recall.select import SelectQuery, SelectResult, explain, select
from recollect.stores.memory.catalogue import MemoryCatalogue

modest = settings(max_examples=examples(120), suppress_health_check=[HealthCheck.too_slow])


def told(result: SelectResult) -> str:
    return json.dumps(result.to_dict())


@modest
@given(catalogue=catalogues, query=queries)
def test_it_is_what_plain_python_finds(catalogue: list[Pak], query: SelectQuery) -> None:
    with store_of(catalogue) as store:
        result = select(store, query)
        plain = plain_select(store, query)

    assert [score.pak_id for score in result.scores] == [name for name, _ in plain.scores]
    expected = [score for _, score in plain.scores]
    assert [score.score for score in result.scores] == pytest.approx(expected, abs=1e-9)
    assert {(one.pak_id, one.stage) for one in result.dropped} == plain.dropped
    assert len(result.dropped) == len(plain.dropped)


@modest
@given(catalogue=catalogues, query=queries)
def test_parts_add_up_and_the_order_is_total(catalogue: list[Pak], query: SelectQuery) -> None:
    with store_of(catalogue) as store:
        result = select(store, query)
        rows = {row.pak_id: row for row in store.iter_paks()}
        flags = {row: store.get_pak_risk_flags(row) for row in rows}

    for score in result.scores:
        total = 0.0
        for part in score.parts.values():
            total += part
        assert total == score.score
        assert 0.0 <= score.parts["fts"] <= 1.0
        assert 0.0 <= score.parts["recency"] <= 1.0
        assert {flag.severity for flag in flags[score.pak_id]} <= score.risk_severities
        assert score.why
    keys = [(round(s.score, 9), rows[s.pak_id].updated_at, s.pak_id) for s in result.scores]
    assert keys == sorted(keys, reverse=True)
    assert len(result.scores) <= query.limit
    if query.token_budget is not None:
        assert result.tokens_used <= query.token_budget
    hashes = [rows[score.pak_id].content_hash for score in result.scores]
    assert len(hashes) == len(set(hashes))
    picked, dropped = {s.pak_id for s in result.scores}, [d.pak_id for d in result.dropped]
    assert not picked & set(dropped)
    assert len(dropped) == len(set(dropped))
    assert all(RISK_FLAGS[flag.risk_flag] == flag.severity for flag in result.flags)


@modest
@given(catalogue=catalogues, query=queries, hidden=st.sets(ids))
def test_what_may_not_be_read_changes_not_one_byte(
    catalogue: list[Pak], query: SelectQuery, hidden: set[str]
) -> None:
    with store_of(catalogue) as store:
        readable = {row.pak_id for row in store.iter_paks()} - hidden
        seen = told(select(store, query, readable=readable))
        everything = told(select(store, query))
        assert told(select(store, query, readable=readable | hidden)) == everything
        for name in hidden:
            store.delete_pak(name)
        assert told(select(store, query)) == seen


@modest
@given(catalogue=catalogues, query=queries, hidden=st.none() | st.sets(ids), text=text)
def test_a_catalogue_in_memory_gives_the_same_bytes(
    catalogue: list[Pak], query: SelectQuery, hidden: set[str] | None, text: str
) -> None:
    plain = MemoryCatalogue()
    write(plain, catalogue)
    with store_of(catalogue) as store:
        names = {row.pak_id for row in store.iter_paks()}
        readable = None if hidden is None else names - hidden
        assert told(select(plain, query, readable=readable)) == told(
            select(store, query, readable=readable)
        )
        for name in sorted(names):
            assert explain(plain, name, query) == explain(store, name, query)
        for match in ("any", "all"):
            assert plain.search(text, match=match) == store.search(text, match=match)


@modest
@given(catalogue=catalogues, query=queries, later=st.lists(paks(), max_size=4), gone=ids)
def test_a_catalogue_in_memory_never_uses_what_it_read_before_a_change(
    catalogue: list[Pak], query: SelectQuery, later: list[Pak], gone: str
) -> None:
    plain = MemoryCatalogue()
    write(plain, catalogue)
    select(plain, query)
    for one in later:
        with suppress(UnknownPak), plain.transaction():
            write(plain, [one])
            plain.set_pak_reason_codes("nowhere", one.codes or [ReasonCodeEntry("mandatory")])
        select(plain, query)
        write(plain, [one])
    plain.delete_pak(gone)
    fresh = MemoryCatalogue()
    for row in plain.iter_paks():
        fresh.upsert_pak(**_fields(row))
    for row in plain.iter_paks():
        fresh.upsert_pak(**_fields(row), superseded_by=row.superseded_by)
        fresh.set_pak_reason_codes(row.pak_id, plain.get_pak_reason_codes(row.pak_id))
        fresh.set_pak_risk_flags(row.pak_id, plain.get_pak_risk_flags(row.pak_id))
    assert told(select(plain, query)) == told(select(fresh, query))


def _fields(row: PakRow) -> dict[str, Any]:
    fields = row._asdict()
    del fields["superseded_by"], fields["created_at"]
    return fields | {"now": fields.pop("updated_at")}


STATEMENTS = (
    "VACUUM",
    "INSERT OR REPLACE INTO paks SELECT * FROM paks WHERE pak_id < 'p5'",
    "UPDATE paks SET title = 'redis', updated_at = '2026-05-11T11:00:00Z' WHERE pak_id > 'p5'",
    "UPDATE paks SET rowid = rowid + 100 WHERE pak_id IN ('p1', 'p10')",
    "UPDATE paks SET project = 'shop', superseded_by = NULL",
    "UPDATE OR REPLACE pak_reason_codes SET weight = 0.5, reason_code = 'mandatory'",
    "DELETE FROM pak_reason_codes",
    "DELETE FROM paks WHERE rowid = (SELECT max(rowid) FROM paks)",
    "INSERT INTO paks_fts (paks_fts) VALUES ('rebuild')",
    "INSERT INTO paks_fts (pak_id, title) VALUES ('p3', 'redis queue')",
    "DELETE FROM paks_fts WHERE rowid = (SELECT max(rowid) FROM paks_fts)",
)
Change = tuple[str, Any]
changes = st.lists(
    st.one_of(
        paks().map(lambda one: ("put", one)),
        ids.map(lambda name: ("delete", name)),
        st.sampled_from([("sql", statement) for statement in STATEMENTS]),
        paks().map(lambda one: ("take back", one)),
        paks().map(lambda one: ("elsewhere", one)),
    ),
    max_size=6,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(catalogue=catalogues, query=queries, changes=changes)
def test_what_was_read_before_is_never_used_after_a_change(
    catalogue: list[Pak],
    query: SelectQuery,
    changes: Sequence[Change],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("store") / "paks.db"
    with RecallStore.open(path) as store, RecallStore.open(path) as other:
        write(store, catalogue)
        for kind, what in changes:
            select(store, query)
            if kind == "put":
                write(store, [what])
            elif kind == "delete":
                store.delete_pak(what)
            elif kind == "sql":
                store.conn.execute(what)
            elif kind == "elsewhere":
                write(other, [what])
            else:
                store.conn.execute("BEGIN IMMEDIATE")
                write(store, [what])
                inside = told(select(store, query))
                assert inside == told(select(_copy(store), query))
                store.conn.execute("ROLLBACK")
            with RecallStore.open(path, read_only=True) as fresh:
                assert told(select(store, query)) == told(select(fresh, query))


def _copy(store: RecallStore) -> RecallStore:
    """Return what a store holds right now, uncommitted rows included, in another one."""
    copy = RecallStore.open(":memory:")
    copy.conn.execute("PRAGMA foreign_keys = OFF")
    for table in ("paks", "pak_reason_codes", "pak_risk_flags"):
        rows = store.conn.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            copy.conn.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    # Full text as it stands there, which may be other than the catalogue would have it.
    copy.conn.execute("DELETE FROM paks_fts")
    texts = store.conn.execute("SELECT rowid, pak_id, title, summary FROM paks_fts").fetchall()
    columns = "(rowid, pak_id, title, summary)"
    copy.conn.executemany(f"INSERT INTO paks_fts {columns} VALUES (?, ?, ?, ?)", texts)
    return copy


every_character = st.characters(exclude_categories=())
hostile = st.lists(
    st.sampled_from(['"', "*", "NEAR(a b)", "title:", "c++", "\0", "\ud800", "👩\u200d👧", " OR "])
    | st.text(every_character, max_size=4),
    max_size=10,
).map("".join)


@modest
@given(text=hostile)
def test_any_text_is_safe_and_finds_its_own_words(text: str) -> None:
    with RecallStore.open(":memory:") as store:
        fields = {"pak_type": "note", "source_type": "doc", "authority": "human"}
        stored = text.encode(errors="replace").decode()
        title = f"zebra {stored}"
        store.upsert_pak(pak_id="a", title=title, content_hash="a", **fields)
        store.upsert_pak(pak_id="b", title="something else", content_hash="b", **fields)
        found = select(store, SelectQuery(text=f"{text} zebra"))
        assert "a" in [score.pak_id for score in found.scores]
        select(store, SelectQuery(text=text))
