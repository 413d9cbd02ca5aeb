"""After a `forget` no table knows what was forgotten; what remains is said on the page."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.conftest import People

from recollect.errors import StoreDamaged
from recollect.paks import PakAnchorEntry, PakRelationEntry, ReasonCodeEntry, RiskFlagEntry
from recollect.stores.sqlite.memories import SqliteMemories

Rows = dict[str, list[tuple[Any, ...]]]


def rows_of(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: file.execute(f"SELECT * FROM {name}").fetchall() for (name,) in found}


@pytest.fixture
def filled(people: People) -> People:
    """A store with one memory that everything is known of."""
    people.root.remember("the kiln is lit", pak_id="zqid", entity="zqentity", scope="company")
    people.root.remember("a note", pak_id="other", scope="company")
    paks = people.opener.paks
    paks.add_pak_risk_flag("zqid", RiskFlagEntry("zqflag", "warn"))
    paks.add_pak_reason_code("zqid", ReasonCodeEntry("user_pinned", 0.9))
    paks.add_pak_relation("zqid", PakRelationEntry("other", "refines"))
    paks.add_pak_relation("other", PakRelationEntry("zqid", "refines"))
    paks.add_pak_anchor("zqid", PakAnchorEntry("zqanchor", "zqpath", "file"))
    people.root.link("zqid", "other")
    people.root.dispute("zqid", "other", note="zqnote")
    people.ann.frame("attention", "kiln")
    return people


def test_no_table_knows_what_was_forgotten(filled: People) -> None:
    before = rows_of(filled.opener.path)
    assert "zq" in repr(before)
    assert filled.root.forget("zqid").edges == 1
    after = rows_of(filled.opener.path)
    assert "zq" not in repr(after)
    emptied = {name for name, rows in before.items() if rows and not after[name]}
    assert {"pak_anchors", "pak_relations", "pak_reason_codes", "pak_risk_flags"} <= emptied
    assert {"memory_edges", "memory_disputes", "memory_uses"} <= emptied
    for table in ("paks", "memories", "paks_fts_content"):
        assert (len(before[table]), len(after[table])) == (2, 1)


@pytest.mark.parametrize(
    ("named", "target"),
    [
        ({"pak_id": "zqid"}, "zqid"),
        ({"pak_id": ["zqid", "other"]}, "other\nzqid"),
        ({"entity": "zqentity"}, "zqentity"),
    ],
)
def test_what_remains_is_a_row_number_and_a_hash(
    filled: People, named: dict[str, Any], target: str
) -> None:
    before = rows_of(filled.opener.path)
    rows = [row[0] for row in before["memories"] if row[1] in ("zqid", *target.split())]
    filled.root.forget(**named)
    after = rows_of(filled.opener.path)
    fresh = {
        name: [row for row in rows if row not in before[name]]
        for name, rows in after.items()
        if not name.startswith("paks_fts") and rows != before[name]
    }
    fresh = {name: rows for name, rows in fresh.items() if rows}
    assert set(fresh) == {"engine_state", "commits", "audit_log"}
    assert json.dumps(rows, separators=(",", ":")) in fresh["commits"][0]
    assert f"sha256:{hashlib.sha256(target.encode()).hexdigest()}" in fresh["audit_log"][0]


def test_a_forget_looks_whether_a_table_still_knows_it(
    filled: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteMemories, "erase", lambda *_: 0)
    with pytest.raises(StoreDamaged, match="memories, pak_anchors"):
        filled.root.forget("zqid")
