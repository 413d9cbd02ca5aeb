"""Small catalogues for the tests of a selection, and the selection in plain Python."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from recollect.paks import PakRow, ReasonCodeEntry, RecallStore, RiskFlagEntry
from recollect.paks.catalogue import PakCatalogue
from recollect.paks.registry import EXCLUDE_CODES, REASON_CODES, RISK_FLAGS
from recollect.recall.select import SelectQuery

NOW = datetime(2026, 5, 11, 12, tzinfo=UTC)
WORDS = ("redis", "queue", "worker", "cache", "café")
CODES = ("current_task", "mandatory", "stale_context", "duplicate_context", "stable_context", "own")
FLAGS = tuple(RISK_FLAGS)

ids = st.sampled_from([f"p{number}" for number in range(12)])
shares = st.sampled_from([0.0, 0.25, 0.1, 0.7, 1.0]) | st.floats(0, 1)
text = st.lists(st.sampled_from([*WORDS, "noise"]), max_size=5).map(" ".join)


@dataclass
class Pak:
    """One Pak to be stored, with all that hangs on it."""

    fields: dict[str, Any]
    codes: list[ReasonCodeEntry] = field(default_factory=list)
    flags: list[RiskFlagEntry] = field(default_factory=list)
    successor: str | None = None


@st.composite
def paks(draw: st.DrawFn) -> Pak:
    seconds = draw(st.sampled_from([0, 1, -3600]) | st.integers(0, 40 * 86_400))
    return Pak(
        {
            "pak_id": draw(ids),
            "pak_type": draw(st.sampled_from(["note", "decision"])),
            "project": draw(st.sampled_from([None, "shop", "farm"])),
            "source_type": "doc",
            "authority": "human",
            "title": draw(text) or "untitled",
            "summary": draw(text),
            "content_hash": draw(st.sampled_from("abcdefghijkl")),
            "now": stamp(NOW - timedelta(seconds=seconds)),
        },
        [
            ReasonCodeEntry(code, draw(shares))
            for code in draw(st.lists(st.sampled_from(CODES), unique=True, max_size=3))
        ],
        [
            RiskFlagEntry(flag, RISK_FLAGS[flag])
            for flag in draw(st.lists(st.sampled_from(FLAGS), unique=True, max_size=2))
        ],
        draw(st.none() | ids),
    )


catalogues = st.lists(paks(), max_size=12, unique_by=lambda one: one.fields["pak_id"])

queries = st.builds(
    SelectQuery,
    text=text | st.sampled_from(["", "???", "Redis REDIS", "cafe"]),
    project=st.sampled_from([None, None, "shop", "nowhere"]),
    pak_type=st.sampled_from([None, None, "note"]),
    recency_window_days=st.sampled_from([30, 1, 0, 0.5]),
    limit=st.sampled_from([1, 2, 3, 25]),
    token_budget=st.sampled_from([None, None, 1, 10, 30]),
    now=st.just(NOW.strftime("%Y-%m-%dT%H:%M:%SZ")),
    weights=st.just(SelectQuery().weights) | st.just({"current_task": 0.3, "own": 2.0}),
    exclude=st.sampled_from(["penalty", "skip"]),
    include_superseded=st.booleans(),
)


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def store_of(catalogue: Collection[Pak]) -> RecallStore:
    """Return a store in memory that holds these Paks."""
    store = RecallStore.open(":memory:")
    write(store, catalogue)
    return store


def write(store: PakCatalogue, catalogue: Collection[Pak]) -> None:
    """Write these Paks; a successor that is not among them is left out."""
    names = {one.fields["pak_id"] for one in catalogue}
    store.upsert_paks([one.fields for one in catalogue], quiet=True)
    for one in catalogue:
        pak_id = one.fields["pak_id"]
        store.set_pak_reason_codes(pak_id, one.codes)
        store.set_pak_risk_flags(pak_id, one.flags)
        if one.successor in names and one.successor != pak_id:
            store.upsert_pak(**one.fields, superseded_by=one.successor)


@dataclass
class Plain:
    """What the plain selection finds."""

    scores: list[tuple[str, float]]
    dropped: set[tuple[str, str]]


def plain_select(store: RecallStore, query: SelectQuery) -> Plain:
    """Select by walking over everything, one Pak and one call at a time."""
    rows = {row.pak_id: row for row in store.iter_paks()}
    dropped: set[tuple[str, str]] = set()
    found = _candidates(store, query, rows)
    if not query.include_superseded:
        dropped |= {(name, "superseded") for name in found if rows[name].superseded_by}
    scored = {
        name: _score(store, query, rows[name], found, dropped)
        for name in found
        if (name, "superseded") not in dropped
    }
    if query.exclude == "skip":
        for name in list(scored):
            if any(c.reason_code in EXCLUDE_CODES for c in store.get_pak_reason_codes(name)):
                dropped.add((name, "exclude"))
                del scored[name]
    for name in list(scored):
        twins = [t for t in scored if rows[t].content_hash == rows[name].content_hash]
        newest = max(twins, key=lambda t: (rows[t].updated_at, t))
        scored[newest] = max(scored[t] for t in twins)
        for twin in twins:
            if twin != newest:
                dropped.add((twin, "collapse"))
                del scored[twin]
    order = sorted(scored, key=lambda n: (round(scored[n], 9), rows[n].updated_at, n), reverse=True)
    dropped |= {(name, "limit") for name in order[query.limit :]}
    kept, used = [], 0
    for name in order[: query.limit]:
        row = rows[name]
        shown = f"{row.title}\n{row.summary}" if row.summary else row.title
        tokens = max(1, len(shown) // 4)
        if query.token_budget is None or used + tokens <= query.token_budget:
            kept.append((name, scored[name]))
            used += tokens
        else:
            dropped.add((name, "budget"))
    return Plain(kept, dropped)


def _candidates(
    store: RecallStore, query: SelectQuery, rows: dict[str, PakRow]
) -> dict[str, float]:
    found = _hits(store, query.text)
    if query.project or query.pak_type:
        for row in rows.values():
            if query.project in (None, row.project) and query.pak_type in (None, row.pak_type):
                found.setdefault(row.pak_id, 0.0)
    elif not query.text.strip():
        different: set[str] = set()
        for row in store.iter_paks():
            if len(different) == query.limit:
                break
            found[row.pak_id] = 0.0
            if not _left_out(store, query, row):
                different.add(row.content_hash)
    return found


def _left_out(store: RecallStore, query: SelectQuery, row: PakRow) -> bool:
    codes = {entry.reason_code for entry in store.get_pak_reason_codes(row.pak_id)}
    return bool(
        (row.superseded_by and not query.include_superseded)
        or (query.exclude == "skip" and codes & EXCLUDE_CODES)
    )


def _hits(store: RecallStore, words: str) -> dict[str, float]:
    """Ask FTS5 itself for BM25."""
    distinct = sorted({word.lower().replace("é", "e") for word in words.split()} - {"???"})
    if not distinct:
        return {}
    match = " OR ".join(f'"{word}"' for word in distinct)
    sql = "SELECT pak_id, -bm25(paks_fts) FROM paks_fts WHERE paks_fts MATCH ?"
    return dict(store.conn.execute(sql, (match,)).fetchall())


def _score(
    store: RecallStore,
    query: SelectQuery,
    row: PakRow,
    found: dict[str, float],
    dropped: set[tuple[str, str]],
) -> float:
    best = max(s for name, s in found.items() if (name, "superseded") not in dropped)
    score = found[row.pak_id] / best if best else 0.0
    score += 0.5 if query.project and row.project == query.project else 0.0
    score += 0.3 if query.pak_type and row.pak_type == query.pak_type else 0.0
    age = (NOW - datetime.fromisoformat(row.updated_at)).total_seconds()
    window = query.recency_window_days * 86_400
    if window and age < window:
        score += 1.0 if age < 0 else 1.0 - age / window
    for entry in store.get_pak_reason_codes(row.pak_id):
        in_full = entry.reason_code in EXCLUDE_CODES
        weight = query.weights.get(entry.reason_code, 0.0)
        score += weight * (1.0 if in_full else entry.weight)
    return score


assert set(CODES) - {"own"} <= set(REASON_CODES)
