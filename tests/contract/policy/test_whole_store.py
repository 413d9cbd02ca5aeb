"""A whole store, out and in again: every column of every table is there, or is known not to be."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policy.conftest import People, people_of

from recollect import Recollect
from recollect.errors import InvalidInput, NotAllowed
from recollect.paks import PakAnchorEntry, PakRelationEntry, ReasonCodeEntry, RiskFlagEntry
from recollect.testing import FakeClock

Open = Callable[..., Recollect]

# Why a column is in no export.
LOCAL = "of this file's own history, which another file does not share"
DERIVED = "made anew from what is exported"
SECRET = "lets somebody in; whoever moves a store gives out keys anew"
LOG = "says what was done to this file, not to the other"
NOT_EXPORTED = {
    "schema_version": LOCAL,
    "engine_state.id": LOCAL,
    "engine_state.version": LOCAL,
    "engine_state.store_id": LOCAL,
    "engine_state.revision": LOCAL,
    "engine_state.model_id": DERIVED,
    "engine_state.dimension": DERIVED,
    "engine_state.vector_slot": DERIVED,
    "engine_state.next_model_id": DERIVED,
    "engine_state.next_dimension": DERIVED,
    "engine_state.commit_id": LOCAL,
    "engine_state.committing": LOCAL,
    "engine_state.unwiped": LOCAL,
    "engine_state.unlooked": LOCAL,
    "commits": LOCAL,
    "commit_notes": LOCAL,
    "kept_answers": LOCAL,
    "kept_answer_rows": LOCAL,
    "memories.row_id": "their order is exported",
    "memories.decay": DERIVED,
    "memories.risks": DERIVED,
    "memories.entity_key": DERIVED,
    "memories.value_key": DERIVED,
    "memories.relation_key": DERIVED,
    "memories.source_key": DERIVED,
    "memories.seal": DERIVED,
    "memories.vector_seal_0": DERIVED,
    "memories.vector_seal_1": DERIVED,
    "memories.vector_0": DERIVED,
    "memories.vector_1": DERIVED,
    "damaged": "what was put aside, for a person to look at where it stood",
    "memory_edges.low": "exported as the id of a memory",
    "memory_edges.high": "exported as the id of a memory",
    "memory_likenesses.row_id": "exported as the id of a memory",
    "memory_likenesses.other": "exported as the id of a memory",
    "memory_uses.row_id": "exported as the id of a memory",
    "link_uses.low": "exported as the id of a memory",
    "link_uses.high": "exported as the id of a memory",
    "memory_versions.row_id": "exported as the id of a memory",
    "memory_versions.revision": LOCAL,
    "memory_versions.seal": DERIVED,
    "memory_disputes.low": "exported as the id of a memory",
    "memory_disputes.high": "exported as the id of a memory",
    "memory_events": LOCAL,
    "receipts": LOG,
    "receipt_items": LOG,
    "access_keys": SECRET,
    "audit_log": LOG,
    "paks_fts": DERIVED,
    "paks_fts_data": DERIVED,
    "paks_fts_idx": DERIVED,
    "paks_fts_content": DERIVED,
    "paks_fts_docsize": DERIVED,
    "paks_fts_config": DERIVED,
}
EXPORTED = {
    "engine_state": "active_hours seen_at",
    "memories": "pak_id content tags category source entity relation value confidence thread"
    " position speaker occurred_at valid_from valid_until status reinforced last_reinforced tenant"
    " owner scope team garden pending ttl metadata",
    "memory_edges": "weight automatic",
    "memory_likenesses": "closeness",
    "memory_uses": "tenant principal reinforced last_reinforced",
    "link_uses": "tenant principal uses",
    "memory_versions": "number at principal superseded_by fields",
    "memory_disputes": "note is_open created_at",
    "memory_frames": "tenant name definition extends",
    "gardens": "tenant slug name scope team tier created_at",
    "garden_members": "tenant slug principal role",
    "source_trust": "tenant source trust",
    "paks": "pak_id pak_type project topic source_type authority title summary content_hash"
    " created_at updated_at superseded_by",
    "pak_reason_codes": "pak_id reason_code weight created_at",
    "pak_risk_flags": "pak_id risk_flag severity created_at",
    "pak_anchors": "pak_id anchor_id source_path kind",
    "pak_relations": "pak_id related_pak_id relation_type created_at",
}


@pytest.fixture
def here(open_memory: Open, clock: FakeClock) -> Recollect:
    """Return a store in which every exported column says something."""
    memory = open_memory("here.db", links=True)
    people = people_of(memory)
    people.root.gardens.create("ops", name="Ops", scope="team", team="red", tier=0.5)
    people.root.gardens.add("ops", "ann", "writer")
    people.root.trust.set("mail", 0.25)
    people.root.frames.register("mine", extends="attention", token_budget=50)
    for number in range(4):
        people.ann.remember(
            f"the red lorry number {number} is late",
            pak_id=f"p{3 - number}",
            title=f"Title {number}",
            summary="a summary",
            tags=["kind/value", f"t{number}"],
            category="observation",
            project="shop",
            topic="queues",
            source="mail",
            entity="Lorry",
            relation="is",
            value="late",
            confidence=0.5,
            thread="standup",
            speaker="Ann",
            occurred_at="2025-05-08",
            scope="company",
        )
    clock.advance(hours=1)
    people.ann.remember(
        "in the garden", pak_id="g", garden="ops", valid_from="2025-01-01", valid_until="2030-01-01"
    )
    people.ann.update("g", content="in the garden, by the wall", tags=["wall"])
    people.ann.remember("for a while", pak_id="w", ttl=86_400, metadata={"a": [1, {"b": None}]})
    people.ann.ingest([{"content": "the red lorry is blue"}], source="mail", scope="company")
    people.dan.remember("of another tenant", pak_id="d")
    memory.remember("of nobody in particular", pak_id="local")
    people.ann.frame("attention", "red lorry", top_k=2)
    people.ann.archive("p1")
    people.ann.link("p0", "g", weight=0.7)
    people.bob.frame("attention", "red lorry", top_k=1)
    people.ann.frame("attention", "red lorry in the garden", top_k=9)
    people.ann.dispute("p0", "p2", note="which?")
    people.ann.dispute("p0", "p3", note="settled")
    clock.advance(seconds=5)
    people.ann.resolve("p0", "p3")
    paks, at = memory.paks, "2025-02-03T04:05:06Z"
    paks.upsert_pak(
        pak_id="only",
        pak_type="doc",
        source_type="web",
        authority="team",
        title="Alone",
        content_hash="abc",
        summary="s",
        now=at,
    )
    row = paks.get_pak("p0")
    assert row is not None
    given = {k: v for k, v in row._asdict().items() if not k.endswith("ed_at")}
    paks.upsert_pak(**{**given, "source_type": "hand", "superseded_by": "p2", "now": at})
    # It gave way to one that is there, and to another since.
    people.ann.supersede("p0", "p3")
    people.ann.supersede("p0", "p2")
    paks.add_pak_reason_code("p0", ReasonCodeEntry("current_task", 0.5), now=at)
    paks.add_pak_risk_flag("only", RiskFlagEntry("stale", "warn"), now=at)
    paks.add_pak_anchor("p0", PakAnchorEntry("a", "src/a.py", "file"))
    paks.add_pak_relation("p0", PakRelationEntry("only", "cites"), now=at)
    return memory


def columns(path: Path) -> dict[str, list[str]]:
    """Return every column of every table of a database."""
    with closing(sqlite3.connect(path)) as conn:
        names = [
            row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        return {
            table: [row[1] for row in conn.execute(f"SELECT * FROM pragma_table_info('{table}')")]
            for table in names
            if not table.startswith("sqlite_")
        }


def test_every_column_is_exported_or_known_not_to_be(here: Recollect) -> None:
    exported = {f"{table}.{name}" for table, all_of in EXPORTED.items() for name in all_of.split()}
    there = {
        f"{table}.{name}"
        for table, names in columns(here.path).items()
        if table not in NOT_EXPORTED
        for name in names
    }
    assert there == exported | {name for name in NOT_EXPORTED if "." in name}
    tables = {name for name in NOT_EXPORTED if "." not in name}
    assert tables <= columns(here.path).keys()


@pytest.mark.parametrize("table", EXPORTED)
def test_what_is_exported_of_a_table_comes_back(
    here: Recollect, open_memory: Open, table: str
) -> None:
    there = open_memory("there.db", links=True)
    there.import_(here.export(everything=True))
    wanted = EXPORTED[table].split()
    rows = []
    for memory in (here, there):
        with closing(sqlite3.connect(memory.path)) as conn:
            order = "1" if table == "engine_state" else ", ".join(wanted)
            where = " WHERE weight > 0" if table == "memory_edges" else ""
            sql = f"SELECT {', '.join(wanted)} FROM {table}{where} ORDER BY {order}"
            rows.append(conn.execute(sql).fetchall())
    assert rows[0] == rows[1]
    for number, name in enumerate(wanted):
        said = [row[number] for row in rows[0]]
        assert any(one not in (None, "") for one in said), f"no row of the test has a {name}"


def test_it_is_the_same_bytes_through_any_store(here: Recollect, open_memory: Open) -> None:
    lines = list(here.export(everything=True))
    assert {json.loads(line)["kind"] for line in lines} >= {"likeness", "garden", "successor"}
    there, in_memory = open_memory("there.db", links=True), open_memory("memory://", links=True)
    in_memory.import_(lines)
    there.import_(in_memory.export(everything=True))
    assert list(in_memory.export(everything=True)) == lines
    assert list(there.export(everything=True)) == lines
    assert there.check() == ()


def test_turns_of_one_second_come_back_in_their_order(open_memory: Open) -> None:
    memory = open_memory("here.db")
    turns = [f"turn {(number * 7) % 10}" for number in range(10)]
    memory.remember_many([{"content": text, "thread": "talk"} for text in turns])
    for number, everything in enumerate((False, True)):
        there = open_memory(f"there{number}.db")
        there.import_(list(memory.export(everything=everything)))
        with closing(sqlite3.connect(there.path)) as conn:
            found = conn.execute("SELECT content FROM memories ORDER BY position").fetchall()
        assert [row[0] for row in found] == turns


def test_times_and_uses_come_back_with_what_an_admin_may_read(
    open_memory: Open, clock: FakeClock
) -> None:
    memory = open_memory("here.db", hours="active")
    memory.remember("the first queue", pak_id="first")
    clock.advance(hours=0.1)
    memory.remember("the second queue", pak_id="second")
    memory.frame("attention", "second queue", top_k=1)
    clock.advance(hours=500)
    there = open_memory("there.db", hours="active")
    there.import_(list(memory.export()))
    was, now = ({one.pak_id: one for one in m.list().items} for m in (memory, there))
    for pak_id in ("first", "second"):
        for name in ("created_at", "updated_at", "reinforced"):
            assert getattr(now[pak_id], name) == getattr(was[pak_id], name)
    apart = [m["second"].last_reinforced - m["first"].last_reinforced for m in (was, now)]
    assert apart[0] == pytest.approx(apart[1])


def test_whoever_exports_its_own_part_is_told_of_the_rest_if_it_holds_the_store(
    people: People,
) -> None:
    people.ann.remember("of ann", pak_id="p")
    (line,) = people.opener.export()
    assert json.loads(line) == {"kind": "left_out", "counts": {"memory": 1}, "tenants": {"acme": 1}}
    assert list(people.bob.export()) == []
    assert list(people.opener.export(people.bob.principal)) == []
    assert people.opener.import_([line]) == []


def test_a_whole_store_is_for_whoever_opened_it(people: People, open_memory: Open) -> None:
    people.ann.remember("of ann", pak_id="p")
    lines = list(people.opener.export(everything=True))
    for who in (people.root, people.ann):
        with pytest.raises(NotAllowed):
            list(who.export(everything=True))
    other = people_of(open_memory("other.db"))
    for who in (other.root, other.ann):
        with pytest.raises(NotAllowed):
            who.import_(lines)
        # Without its first line it is what anybody may import, and nothing more.
        with pytest.raises(InvalidInput, match="line 1"):
            who.import_(lines[1:])
    assert other.opener.stats()["memories"] == 0


def test_a_whole_store_goes_into_an_empty_one(here: Recollect, open_memory: Open) -> None:
    there = open_memory("there.db")
    there.remember("something", pak_id="s")
    before = list(there.export(everything=True))
    with pytest.raises(InvalidInput, match="holds nothing yet") as error:
        there.import_(here.export(everything=True))
    assert error.value.hint
    assert list(there.export(everything=True)) == before


def test_an_export_that_was_cut_off_is_refused(here: Recollect, open_memory: Open) -> None:
    lines = list(here.export(everything=True))
    there = open_memory("there.db")
    for some in (lines[:-1], lines[:5], [*lines[:5], *lines[6:]], [*lines, *lines]):
        with pytest.raises(InvalidInput):
            there.import_(some)
    newer = json.dumps({**json.loads(lines[0]), "version": 3})
    with pytest.raises(InvalidInput, match="version 3"):
        there.import_([newer, *lines[1:]])
    assert there.stats()["revision"] == 0


def _each(kind: str, field: str, *values: Any) -> list[Any]:
    return [
        pytest.param(kind, field, value, id=f"{kind}-{field}-{str(value)[:12]}") for value in values
    ]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        *_each("memory", "reinforced", None, 2**70, -1, "1", True, 0.5),
        *_each("memory", "position", 2**70, -1, "0"),
        *_each("memory", "last_reinforced", None, "1", float("nan")),
        *_each("memory", "confidence", None, 2, "1", float("nan")),
        *_each("memory", "created_at", None, "yesterday", 7),
        *_each("memory", "pak_id", None, "", 7, "p2"),
        *_each("memory", "tags", None, "red", [1]),
        *_each("memory", "place", None, "here", {}, {"tenant": 1}),
        *_each("memory", "status", None, "asleep", []),
        *_each("memory", "pending", None, 1, "yes"),
        *_each("memory", "content", None, " ", 3, "a\ud800"),
        *_each("store", "active_hours", None, -1, "1", 2**2000),
        *_each("garden", "tier", None, 2, "1"),
        *_each("garden", "scope", None, "galaxy"),
        *_each("member", "role", None, "king"),
        *_each("member", "garden", None, "nowhere", ["ops"]),
        *_each("trust", "trust", None, 2, "1"),
        *_each("frame", "definition", None, {}, "x", {"name": "x"}),
        *_each("frame", "tenant", None, "", 7),
        *_each("frame", "extends", 7, []),
        *_each("reason", "weight", None, 2, "1"),
        *_each("flag", "severity", None, "bad"),
        *_each("anchor", "anchor_kind", None, "", 7),
        *_each("relation", "related_pak_id", None, "nobody", ["p0"]),
        *_each("successor", "successor", None, "nobody", ["p0"]),
        *_each("link", "weight", None, 0, 7, "1"),
        *_each("link", "other", None, "nobody", ["p0"]),
        *_each("likeness", "others", None, [], {"nobody": 1}, {"p0": "x"}),
        *_each("use", "reinforced", None, -1, 2**70, "1"),
        *_each("use", "last_reinforced", None, float("nan")),
        *_each("use", "principal", None, "", 7),
        *_each("use", "pak_id", None, "nobody", ["p0"]),
        *_each("link_use", "uses", None, 0, 11, "1"),
        *_each("link_use", "other", None, "nobody", "local", ["p0"]),
        *_each("version", "number", None, 0, "1", 2**70),
        *_each("version", "at", None, "yesterday"),
        *_each("version", "by", None, "", 7),
        *_each("version", "pak_id", None, "nobody", ["p0"]),
        *_each("version", "superseded_by", "nobody", 7),
        *_each("version", "fields", 7, {}, {"content": "x", "title": 7}),
        *_each("dispute", "created_at", 7, "yesterday"),
        *_each("dispute", "note", None, 7),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_written(
    here: Recollect, open_memory: Open, kind: str, field: str, value: Any
) -> None:
    lines = [json.loads(line) for line in here.export(everything=True)]
    number, broken = next((n, one) for n, one in enumerate(lines, 1) if one["kind"] == kind)
    broken[field] = value
    there = open_memory("there.db")
    with pytest.raises(InvalidInput, match=rf"line {number + (value == 'p2')}\b") as error:
        there.import_(json.dumps(one) for one in lines)
    assert error.value.hint
    assert there.stats()["revision"] == 0


@pytest.mark.parametrize("lines", [None, 7, "text", b"bytes", {"kind": "memory"}])
def test_what_is_no_list_of_lines_is_refused(open_memory: Open, lines: Any) -> None:
    with pytest.raises(InvalidInput):
        open_memory().import_(lines)


@pytest.mark.parametrize("line", [None, 7, b"\xff", [], {"kind": "memory"}, '{"kind": ["memory"]}'])
def test_what_is_no_line_is_named(open_memory: Open, line: Any) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        open_memory().import_(["", line])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("reinforced", 2**70), ("reinforced", "1"), ("last_reinforced", float("nan"))),
        *(("created_at", "yesterday"), ("updated_at", 7), ("place", {"owner": ""})),
    ],
)
def test_an_admins_import_of_nonsense_names_the_line(
    people: People, field: str, value: Any
) -> None:
    line = json.dumps({"kind": "memory", "content": "x", "pak_id": "p", field: value})
    with pytest.raises(InvalidInput, match="line 1"):
        people.root.import_([line])
    assert people.root.list().items == ()


def test_an_export_in_the_middle_of_writing_can_be_imported(open_memory: Open) -> None:
    memory = open_memory("here.db", links=True)
    memory.remember_many([f"the red lorry number {number}" for number in range(600)])
    for everything in (False, True):
        lines, number = [], 0
        for line in memory.export(everything=everything):
            lines.append(line)
            if len(lines) % 100 == 0:
                number += 1
                new = memory.remember(f"the red lorry number {number} of {everything}")
                old = memory.list(limit=1000).items[-1].pak_id
                memory.link(new.pak_id, old)
        there = open_memory(f"there-{everything}.db")
        assert len(there.import_(lines)) >= 600


def test_a_whole_store_that_waits_for_vectors_goes_on_waiting(open_memory: Open) -> None:
    memory = open_memory("here.db")
    memory.remember("one", pak_id="a")
    with closing(sqlite3.connect(memory.path)) as conn, conn:
        conn.execute("UPDATE memories SET pending = 1")
    there = open_memory("there.db")
    (report,) = there.import_(memory.export(everything=True))
    assert report.state == "pending"
    assert there.retry_pending() == 1
