"""Questions with before, after, since, latest and first: ranges and orders, inside the view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.model import Principal, RecallResponse
from recollect.testing import FakeClock

NOW = 1_690_000_000.0  # 22 July 2023
WRITTEN = "2023-05-20T00:00:00Z"
NOTES = {
    "april": ("We had a deploy with a rollback", "2023-04-01"),
    "may": ("Deploy of the shop went well", "2023-05-02"),
    "june": ("The deploy of payments failed", "2023-06-02"),
    "undated": ("A deploy that nobody dated", None),
    "pasta": ("Lunch was pasta", "2023-07-01"),
    "tea": ("Ann likes tea", "2023-07-20"),
}
DEPLOYS = {"april", "may", "june", "undated"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with Recollect.open(tmp_path / "m.db", clock=FakeClock(NOW), links=False) as memory:
        for name, (text, day) in NOTES.items():
            memory.remember(text, pak_id=name, occurred_at=day, now=WRITTEN)
        yield memory


def ids(answer: RecallResponse) -> list[str]:
    return [result.fact.pak_id for result in answer.results]


def left_out(answer: RecallResponse) -> list[tuple[str, int | None]]:
    return [(one.reason, one.count) for one in answer.dropped if one.stage == "window"]


@pytest.mark.parametrize(
    ("query", "words", "deploys", "outside"),
    [
        ("deploys after 8 May 2023", "after 8 May 2023", {"june", "undated"}, 2),
        ("deploys before 8 May 2023", "before 8 May 2023", {"april", "may"}, 4),
        ("deploys since 2 May 2023", "since 2 May 2023", {"may", "june", "undated"}, 1),
        ("deploys until 2 May 2023", "until 2 May 2023", {"april", "may"}, 4),
        (
            "deploys between 2 May 2023 and 20 May 2023",
            "between 2 May 2023 and 20 May 2023",
            {"may", "undated"},
            4,
        ),
        ("deploys in the last 60 days", "in the last 60 days", {"june"}, 3),
        ("deploys since June", "since June", {"june"}, 3),
    ],
)
def test_a_range_decides_and_says_so(
    memory: Recollect, query: str, words: str, deploys: set[str], outside: int
) -> None:
    answer = memory.recall(query, top_k=10)

    assert set(ids(answer)) & DEPLOYS == deploys
    assert ids(answer)[0] in deploys
    assert all(words in result.why for result in answer.results)
    assert left_out(answer) == [(f"not from the time asked for, {words}", outside)]


def test_what_a_range_left_out_is_explained(memory: Recollect) -> None:
    told = memory.explain("may", "deploys after 8 May 2023")

    assert told.stage == "window"
    assert "2023-05-02" in told.reason


def test_a_frame_that_is_empty_for_a_range_says_so(memory: Recollect) -> None:
    framed = memory.frame("attention", "deploys after 8 May 2025")

    assert framed.text == ""
    assert framed.empty_because == "6 not from the time asked for, after 8 May 2025"


def test_a_question_that_is_nothing_but_a_range_gets_all_of_it(memory: Recollect) -> None:
    assert set(ids(memory.recall("What do we have since 1 July 2023?"))) == {"pasta", "tea"}


def test_the_words_of_a_range_are_no_words_to_look_for(memory: Recollect) -> None:
    memory.remember("May 2023, after 8", pak_id="decoy", occurred_at="2023-06-30", now=WRITTEN)

    assert "decoy" not in ids(memory.recall("deploys after 8 May 2023"))[:4]


def test_the_latest_of_something_is_not_the_latest_of_anything(memory: Recollect) -> None:
    latest = memory.recall("What is the latest deploy?", top_k=6)
    first = memory.recall("What was the first deploy?", top_k=6)

    assert ids(latest)[:4] == ["june", "undated", "may", "april"]
    assert ids(first)[:4] == ["april", "may", "undated", "june"]
    assert latest.results[0].why[-1] == "latest first: 2023-06-02"
    assert latest.results[1].why[-1] == "latest first: 2023-05-20"
    assert first.results[0].why[-1] == "earliest first: 2023-04-01"
    for answer in (latest, first):
        assert [r.score for r in answer.results] == sorted(
            (r.score for r in answer.results), reverse=True
        )


def test_the_newest_is_found_among_many_that_match_better(memory: Recollect) -> None:
    memory.remember_many(
        {"content": f"deploy {n}", "occurred_at": f"2022-01-{n:02d}"} for n in range(1, 29)
    )

    assert ids(memory.recall("What is the latest deploy?", top_k=1)) == ["june"]


def test_an_order_is_among_what_a_range_leaves(memory: Recollect) -> None:
    assert ids(memory.recall("the latest deploy before 8 May 2023")) == ["may", "april"]


def test_contributions_of_an_order_add_up_to_the_score(memory: Recollect) -> None:
    told = memory.explain("june", "What was the first deploy?")
    raised = memory.explain("april", "What was the first deploy?")

    for one in (told, raised):
        assert sum(c.contribution for c in one.contributions) == pytest.approx(one.score, abs=1e-8)


def test_what_a_frame_guarantees_is_there_whenever_it_is_from(memory: Recollect) -> None:
    memory.remember(
        "Finish the deploy docs", pak_id="goal", tags=["self/goal"], occurred_at="2020-01-01"
    )
    framed = memory.frame("task", "deploys after 8 May 2023")

    (goal,) = (block for block in framed.blocks if block.guaranteed)
    assert goal.pak_id == "goal"
    assert "after 8 May 2023" not in goal.why
    assert all("after 8 May 2023" in block.why for block in framed.blocks if block is not goal)


def test_an_instruction_holds_whenever_it_was_given(memory: Recollect) -> None:
    memory.remember(
        "Never deploy on Fridays.", category="instruction", pak_id="rule", occurred_at="2020-01-01"
    )

    answer = memory.recall("deploys after 8 May 2023")
    assert [one.fact.pak_id for one in answer.instructions] == ["rule"]


def test_what_one_may_not_read_changes_neither_count_nor_order(memory: Recollect) -> None:
    ann = memory.as_principal(Principal("acme", "ann"))
    bob = memory.as_principal(Principal("acme", "bob"))
    for name in ("april", "may", "june"):
        text, day = NOTES[name]
        ann.remember(text, pak_id=f"ann-{name}", occurred_at=day, now=WRITTEN)
    questions = ("the latest deploy", "the first deploy", "deploys after 8 May 2023")
    before = [ann.recall(query).to_dict() for query in questions]
    for day in ("2022-01-01", "2023-06-30"):
        bob.remember("The deploy of bob", pak_id=f"bob-{day}", occurred_at=day, now=WRITTEN)

    assert [ann.recall(query).to_dict() for query in questions] == before


def test_a_range_in_words_narrows_a_window_that_was_asked_for(memory: Recollect) -> None:
    answer = memory.recall("deploys after 8 May 2023", until="2023-05-31", top_k=10)

    assert set(ids(answer)) == {"undated"}
    assert len(left_out(answer)) == 2


def test_a_store_in_memory_answers_the_same(tmp_path: Path) -> None:
    answers = []
    for where in (str(tmp_path / "m.db"), "memory://"):
        with Recollect.open(where, clock=FakeClock(NOW), links=False) as memory:
            for name, (text, day) in NOTES.items():
                memory.remember(text, pak_id=name, occurred_at=day, now=WRITTEN)
            queries = ("the latest deploy", "deploys after 8 May 2023")
            answers.append([memory.recall(query).to_dict() for query in queries])
    assert answers[0] == answers[1]
