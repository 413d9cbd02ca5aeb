"""A selection by hand: every rule with numbers that can be checked on paper."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.contract.paks.samples import counted

from recollect.errors import InvalidInput
from recollect.model import Dropped
from recollect.paks import ReasonCodeEntry, RecallStore, RiskFlagEntry
from recollect.paks.registry import REASON_CODES
from recollect.recall.select import REASON_WEIGHTS, SelectQuery, explain, select

NOW = "2026-05-11T12:00:00Z"
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def store() -> Iterator[RecallStore]:
    with RecallStore.open(":memory:") as opened:
        yield opened


def put(store: RecallStore, pak_id: str, *codes: Any, **fields: Any) -> None:
    """Store a Pak that is too old to be recent, with codes as name and weight."""
    given: dict[str, Any] = {
        "pak_type": "note",
        "source_type": "doc",
        "authority": "human",
        "title": pak_id,
        "content_hash": f"hash of {pak_id}",
        "now": LONG_AGO,
    }
    store.upsert_pak(pak_id=pak_id, **(given | fields))
    store.set_pak_reason_codes(pak_id, [ReasonCodeEntry(*code) for code in codes])


def picked(store: RecallStore, **query: Any) -> list[str]:
    result = select(store, SelectQuery(**({"now": NOW} | query)))
    return [score.pak_id for score in result.scores]


def dropped(store: RecallStore, **query: Any) -> list[Dropped]:
    return list(select(store, SelectQuery(**({"now": NOW} | query))).dropped)


def test_the_weights_cover_all_28_codes_and_exclude_codes_count_against() -> None:
    assert set(REASON_WEIGHTS) == set(REASON_CODES)
    assert len(REASON_WEIGHTS) == 28
    for code, weight in REASON_WEIGHTS.items():
        assert (weight < 0) == (REASON_CODES[code].category == "exclude")


def test_every_part_of_a_score_is_named(store: RecallStore) -> None:
    put(
        store,
        "a",
        ("acceptance_criteria", 0.5),
        ("current_task", 1.0),
        title="redis queue",
        project="shop",
        pak_type="decision",
        now="2026-04-26T12:00:00Z",
    )
    put(store, "b", title="something else")
    put(store, "c", title="yet another")
    query = SelectQuery("redis", project="shop", pak_type="decision", now=NOW)

    (score,) = select(store, query).scores

    assert score.parts == {
        "fts": 1.0,
        "project": 0.5,
        "pak_type": 0.3,
        "recency": 0.5,
        "acceptance_criteria": 0.45,
        "current_task": 1.0,
    }
    assert list(score.parts)[:4] == ["fts", "project", "pak_type", "recency"]
    assert score.score == pytest.approx(3.75)
    assert score.why == (
        "matches 'redis'",
        "project is shop",
        "type is decision",
        "updated 15 days ago",
        "acceptance_criteria counts for it",
        "current_task counts for it",
    )


def test_filters_bring_in_what_equals_all_of_them_and_keep_out_no_hit(store: RecallStore) -> None:
    put(store, "both", project="shop", pak_type="decision")
    put(store, "project", project="shop")
    put(store, "hit", title="redis", project="farm")
    put(store, "other")

    assert picked(store, text="redis", project="shop", pak_type="decision") == ["hit", "both"]
    assert picked(store, project="shop") == ["project", "both"]
    assert picked(store, project="SHOP") == []


@pytest.mark.parametrize("text", ["", "  \n"])
def test_with_neither_text_nor_filter_the_newest_are_taken(store: RecallStore, text: str) -> None:
    for day in range(1, 9):
        put(store, f"p{day}", now=f"2026-05-0{day}T00:00:00Z")
    put(store, "old", ("user_pinned", 1.0))
    put(store, "copy", content_hash="hash of p8", now="2026-05-10T00:00:00Z")

    assert picked(store, text=text, limit=3) == ["copy", "p7", "p6"]
    assert "old" in picked(store, text=text)


def test_a_text_without_words_finds_nothing(store: RecallStore) -> None:
    put(store, "a")
    assert picked(store, text="?!") == []


@pytest.mark.parametrize(
    ("updated", "recency"),
    [
        (NOW, 1.0),
        ("2036-01-01T00:00:00Z", 1.0),
        ("2026-05-01T12:00:00Z", 0.0),
        ("2026-05-06T12:00:00Z", 0.5),
        ("2026-05-11T11:59:59.500000Z", 1 - 0.5 / 864_000),
        ("2026-05-11T12:00:00+00:00", 1.0),
    ],
)
def test_recency_falls_in_a_straight_line(store: RecallStore, updated: str, recency: float) -> None:
    put(store, "a", project="shop", now=updated)
    (score,) = select(store, SelectQuery(project="shop", recency_window_days=10, now=NOW)).scores
    assert score.parts["recency"] == pytest.approx(recency, abs=1e-15)


def test_a_time_that_is_none_is_as_old_as_can_be(store: RecallStore) -> None:
    put(store, "a", project="shop")
    store.conn.execute("UPDATE paks SET updated_at = 'yesterday'")
    (score,) = select(store, SelectQuery(project="shop", now=NOW)).scores
    assert score.parts["recency"] == 0.0


def test_an_exclude_code_counts_in_full_whatever_its_row_weight(store: RecallStore) -> None:
    put(store, "a", ("stale_context", 0.01), ("current_task", 0.5), project="shop")
    (score,) = select(store, SelectQuery(project="shop", now=NOW)).scores
    assert score.parts["stale_context"] == -1.0
    assert score.parts["current_task"] == 0.5
    assert score.score == 0.0
    assert "stale_context counts against it" in score.why


def test_skip_leaves_it_out_and_says_for_which_code(store: RecallStore) -> None:
    put(store, "a", ("stale_context", 0.01), ("low_task_match", 0.0), project="shop")
    put(store, "b", project="shop")
    assert picked(store, project="shop", exclude="skip") == ["b"]
    assert dropped(store, project="shop", exclude="skip") == [
        Dropped("a", "exclude", "excluded by low_task_match, stale_context")
    ]
    assert store.get_pak("a") is not None


def test_weights_are_the_callers_and_an_unknown_code_counts_nothing(store: RecallStore) -> None:
    put(store, "a", ("fts", 1.0), ("made_up", 1.0), project="shop")
    query = SelectQuery(project="shop", now=NOW, weights={"fts": 2.0})
    (score,) = select(store, query).scores
    assert score.parts == {
        "fts": 0.0,
        "project": 0.5,
        "pak_type": 0.0,
        "recency": 0.0,
        "code:fts": 2.0,
        "made_up": 0.0,
    }


def test_copies_collapse_to_the_newest_with_the_best_score(store: RecallStore) -> None:
    put(store, "pinned", ("user_pinned", 1.0), project="shop", content_hash="same")
    put(store, "newest", project="shop", content_hash="same", now="2020-02-01T00:00:00Z")
    put(store, "newer", project="shop", content_hash="same", now="2020-01-02T00:00:00Z")
    store.set_pak_risk_flags("pinned", [RiskFlagEntry("governance_applies", "warn")])

    (score,) = select(store, SelectQuery(project="shop", now=NOW)).scores

    assert score.pak_id == "newest"
    assert score.score == 1.5
    assert score.parts["user_pinned"] == 1.0
    assert "same content as newer, pinned, which it stands for" in score.why
    assert "scored as pinned" in score.why
    assert score.risk_severities == {"warn"}
    assert dropped(store, project="shop") == [
        Dropped("newer", "collapse", "same content as newest"),
        Dropped("pinned", "collapse", "same content as newest"),
    ]


def test_a_tie_is_not_broken_by_the_noise_of_adding_up(store: RecallStore) -> None:
    """A tenth and two tenths are not three tenths in binary; they are to whoever weighs codes."""
    put(store, "sum", ("one", 1.0), ("two", 1.0))
    put(store, "newer", ("three", 1.0), now="2020-01-02T00:00:00Z")
    put(store, "newest", ("three", 1.0), now="2020-01-03T00:00:00Z")
    weights = {"one": 0.1, "two": 0.2, "three": 0.3}

    result = select(store, SelectQuery(now=NOW, weights=weights))

    assert 0.1 + 0.2 > 0.3
    assert [score.pak_id for score in result.scores] == ["newest", "newer", "sum"]
    for score in result.scores:
        assert sum(score.parts.values()) == score.score
    assert picked(store, pak_type="note", weights=weights, limit=1) == ["newest"]
    lost = explain(store, "sum", SelectQuery(pak_type="note", limit=1, now=NOW, weights=weights))
    assert lost.gap == 0
    assert "Of equal score" in lost.reason


def test_flags_of_a_collapsed_copy_say_whose_they_are(store: RecallStore) -> None:
    put(store, "old", project="shop", content_hash="same")
    put(store, "new", project="shop", content_hash="same", now="2020-02-01T00:00:00Z")
    store.set_pak_risk_flags(
        "old",
        [RiskFlagEntry("governance_applies", "warn"), RiskFlagEntry("own", "block")],
    )
    store.set_pak_risk_flags("new", [RiskFlagEntry("governance_applies", "warn")])

    (score,) = select(store, SelectQuery(project="shop", now=NOW)).scores

    assert score.pak_id == "new"
    assert score.risk_severities == {"warn", "block"}
    assert score.why[0] == "block: own (of its copy old)"
    assert "warn: governance_applies" in score.why


def test_copies_of_one_time_collapse_to_the_highest_id(store: RecallStore) -> None:
    for pak_id in ("b", "c", "a"):
        put(store, pak_id, project="shop", content_hash="same")
    assert picked(store, project="shop") == ["c"]


def test_ties_are_settled_by_time_then_id(store: RecallStore) -> None:
    put(store, "a", project="shop", now="2020-01-02T00:00:00Z")
    put(store, "b", project="shop")
    put(store, "c", project="shop")
    put(store, "d", ("user_pinned", 0.1), project="shop")
    assert picked(store, project="shop") == ["d", "a", "c", "b"]
    assert picked(store, project="shop", limit=2) == ["d", "a"]
    assert dropped(store, project="shop", limit=2) == [
        Dropped("c", "limit", "not among the best 2"),
        Dropped("b", "limit", "not among the best 2"),
    ]


def test_the_budget_skips_what_does_not_fit(store: RecallStore) -> None:
    put(store, "big", ("user_pinned", 1.0), title="x" * 400, project="shop")
    put(store, "small", title="y" * 40, project="shop")
    result = select(store, SelectQuery(project="shop", token_budget=20, now=NOW))
    assert [(score.pak_id, score.tokens) for score in result.scores] == [("small", 10)]
    assert list(result.dropped) == [Dropped("big", "budget", "does not fit into 20 tokens")]
    assert result.tokens_used == 10


def test_a_block_is_told_first_and_never_drops_a_pak(store: RecallStore) -> None:
    put(store, "a", title="redis", project="shop")
    store.set_pak_risk_flags(
        "a",
        [
            RiskFlagEntry("cache_sensitive_ordering", "info"),
            RiskFlagEntry("governance_applies", "warn"),
            RiskFlagEntry("mandatory_context_missing", "block"),
        ],
    )
    (score,) = select(store, SelectQuery("redis", now=NOW)).scores
    assert score.risk_severities == {"block", "warn", "info"}
    assert score.why[0] == "block: mandatory_context_missing"
    assert [flag.severity for flag in score.risk_flags] == ["block", "warn", "info"]
    assert score.to_dict()["risk_severities"] == ["block", "warn", "info"]


def test_superseded_paks_are_left_out_unless_asked_for(store: RecallStore) -> None:
    put(store, "new", title="redis now")
    put(store, "old", title="redis then", superseded_by="new")
    assert picked(store, text="redis") == ["new"]
    assert dropped(store, text="redis") == [Dropped("old", "superseded", "superseded by new")]
    assert set(picked(store, text="redis", include_superseded=True)) == {"new", "old"}


def test_now_is_read_once_and_told(store: RecallStore) -> None:
    put(store, "a", project="shop")
    asked_at = datetime(2026, 5, 11, 14, tzinfo=UTC)
    result = select(store, SelectQuery(project="shop", now=asked_at))
    assert result.generated_at == "2026-05-11T14:00:00Z"
    assert result.query.now == "2026-05-11T14:00:00Z"
    now = select(store, SelectQuery(project="shop"))
    assert select(store, now.query) == now
    assert select(store, now.query).to_dict() == now.to_dict()


def test_a_selection_writes_nothing(store: RecallStore) -> None:
    put(store, "a", title="redis")
    before = [store.conn.execute(f"SELECT * FROM {table}").fetchall() for table in ("paks",)]
    select(store, SelectQuery("redis"))
    changes = store.conn.total_changes
    select(store, SelectQuery("redis"))
    assert store.conn.total_changes == changes
    assert not store.conn.in_transaction
    assert before == [store.conn.execute("SELECT * FROM paks").fetchall()]


def test_the_number_of_statements_does_not_depend_on_the_candidates(store: RecallStore) -> None:
    seen: list[str] = []
    select(store, SelectQuery("redis", now=NOW))
    for count in (3, 300):
        with store.transaction():
            for number in range(count):
                put(store, f"p{number}", ("current_task", 0.5), title="redis", project="shop")
        statements: list[str] = []
        store.conn.set_trace_callback(statements.append)
        select(store, SelectQuery("redis", project="shop", now=NOW))
        store.conn.set_trace_callback(None)
        # FTS5 reads its own tables through statements that show as comments.
        seen.append(str(len([one for one in statements if not one.startswith("--")])))
    assert seen[0] == seen[1]


def test_the_work_grows_with_the_hits_and_not_with_the_catalogue() -> None:
    def work(others: int) -> int:
        with RecallStore.open(":memory:") as store:
            with store.transaction():
                for number in range(others):
                    put(store, f"noise {number}", title=f"noise {number}")
            for number in range(20):
                put(store, f"p{number}", title="redis")
            with counted(store.conn) as done:
                select(store, SelectQuery("redis", now=NOW))
            return done.steps

    assert work(3000) <= work(10) * 1.2


def test_after_a_write_only_what_changed_is_read_again(store: RecallStore) -> None:
    def work() -> int:
        with counted(store.conn) as done:
            select(store, SelectQuery("redis", project="shop", now=NOW))
        return done.steps

    for number in range(400):
        put(store, f"p{number}", title="redis", project="shop")
    first = work()
    store.set_pak_reason_codes("p7", [ReasonCodeEntry("user_pinned")])
    assert work() < first / 2
    assert picked(store, text="redis", project="shop", limit=1) == ["p7"]


@pytest.mark.parametrize(
    "query",
    [
        {"text": 5},
        {"project": 5},
        {"pak_type": b"x"},
        {"limit": 0},
        {"limit": True},
        {"limit": 2.5},
        {"token_budget": 0},
        {"recency_window_days": -1},
        {"recency_window_days": float("nan")},
        {"recency_window_days": "30"},
        {"exclude": "drop"},
        {"now": "yesterday"},
        {"now": 17.5},
        {"now": datetime(2026, 5, 11)},
        {"weights": [("current_task", 1.0)]},
        {"weights": {"current_task": "1"}},
        {"weights": {"current_task": float("inf")}},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused(store: RecallStore, query: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        select(store, SelectQuery(**query))
    assert refused.value.hint


def test_only_a_query_is_a_query(store: RecallStore) -> None:
    with pytest.raises(InvalidInput, match="SelectQuery"):
        select(store, "redis")  # type: ignore[arg-type]
