"""A run asks the engine that ships, gives the same outcomes every time, and can be compared."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.evaluation import (
    Collection,
    Item,
    Question,
    Run,
    Task,
    compare,
    digest,
    read_outcomes,
    run,
    summarise,
    write_outcomes,
)
from recollect.evaluation.runner import _newest

TEXTS = {
    "kiln": "The kiln is booked until May.",
    "glaze": "Glaze needs two days to dry.",
    "tax": "The tax return is due in July.",
    "bread": "Rye bread wants a long rise.",
}
QUESTIONS = (
    Question("q1", "When is the kiln free?", {"kiln": 1}, "name"),
    Question("q2", "How long does glaze take?", {"glaze": 1, "nowhere": 1}, "name"),
    Question("q3", "How do I bake rye bread?", {"bread": 1}, "other"),
)


def items(**extra: Any) -> tuple[Item, ...]:
    return tuple(
        Item({"pak_id": name, "content": text, **extra}, f"corpus.jsonl, line {line}")
        for line, (name, text) in enumerate(TEXTS.items(), start=1)
    )


def task(*, given: tuple[Item, ...] = (), stores: int = 1) -> Task:
    one = Collection("notes", given or items(), QUESTIONS)
    return Task("notes", (one,) * stores, {"blank texts": 2})


@pytest.fixture(scope="module")
def done() -> Run:
    ticks = count()
    return run(task(), k=(1, 3), timer=lambda: float(next(ticks)))


def test_each_answer_is_what_recall_gives_for_that_k(done: Run, tmp_path: Path) -> None:
    assert done.k == (1, 3, 10)
    with Recollect.open(tmp_path / "same.db") as memory:
        memory.remember_many([item.arguments for item in items()])
        for outcome in done.outcomes:
            for k in done.k:
                answer = memory.recall(outcome.question.text, top_k=k)
                ids = tuple(result.fact.pak_id for result in answer.results)
                assert outcome.ranked[k] == ids
                assert outcome.tokens[k] == answer.tokens_used


def test_the_summary_has_means_categories_costs_and_what_was_skipped(done: Run) -> None:
    numbers = summarise(done)
    assert (numbers.questions, numbers.memories, numbers.stores) == (3, 4, 1)
    assert numbers.metrics["recall@1"].mean == pytest.approx((1 + 0.5 + 1) / 3, abs=1e-4)
    assert numbers.metrics["all@3"].mean == pytest.approx(2 / 3, abs=1e-4)
    assert numbers.metrics["recall@1"].low <= numbers.metrics["recall@1"].mean
    assert numbers.categories["name"].questions == 2
    assert numbers.categories["name"].metrics["recall@1"] == 0.75
    assert numbers.categories["other"].metrics["mrr"] == 1.0
    # The timer advances by one second a look.
    assert (numbers.costs[3].p50_ms, numbers.costs[3].p95_ms) == (1000.0, 1000.0)
    assert numbers.remembered_per_second == 4.0
    assert numbers.skipped == {"blank texts": 2}
    assert json.loads(json.dumps(numbers.to_dict()))["costs"]["10"]["tokens"] > 0


def test_two_runs_give_the_same_bytes(done: Run, tmp_path: Path) -> None:
    again = run(task(), k=(1, 3))
    write_outcomes(again, tmp_path / "again.json")
    assert digest(again) == digest(done) == summarise(done).per_question_sha256
    write_outcomes(done, tmp_path / "first.json")
    written = (tmp_path / "again.json").read_text(encoding="utf-8")
    assert written == (tmp_path / "first.json").read_text(encoding="utf-8")
    answers = re.sub(r', "scores": \[[^]]*\]', "", written)
    assert hashlib.sha256(answers.encode()).hexdigest() == digest(done)


def test_questions_are_asked_when_the_newest_text_was_written() -> None:
    given = tuple(
        replace(item, arguments={**item.arguments, "occurred_at": moment})
        for item, moment in zip(
            items(),
            ("2 May 2023", "9:30 am on 8 May, 2023", "2023-05-08T11:00:00+02:00", "long ago"),
            strict=True,
        )
    )
    newest = _newest(Collection("notes", given, QUESTIONS))
    assert newest == datetime(2023, 5, 8, 9, 30, tzinfo=UTC)
    assert _newest(Collection("notes", items(), QUESTIONS)).year == 2026


def test_every_collection_is_a_store_of_its_own() -> None:
    both = run(task(stores=2), k=(10,))
    assert [stored.items for stored in both.remembering] == [4, 4]
    assert all(set(outcome.ranked[10]) <= set(TEXTS) for outcome in both.outcomes)
    assert len(both.outcomes) == 6


def test_progress_ends_where_it_said_it_would() -> None:
    seen: list[tuple[int, int]] = []
    run(task(), k=(1,), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (10, 10)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_text_that_the_engine_refuses_is_named_by_its_line() -> None:
    broken = (*items()[:2], replace(items()[2], arguments={"pak_id": "tax", "content": " "}))
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl, line 3: content is blank"):
        run(task(given=broken))


def test_a_task_without_questions_and_a_k_of_nothing_are_refused() -> None:
    with pytest.raises(InvalidInput, match="empty has no question"):
        run(Task("empty", (Collection("notes", items(), ()),)))
    with pytest.raises(InvalidInput, match="k must be 1 or more"):
        run(task(), k=(0,))


def test_an_embedder_that_fails_is_told() -> None:
    class Failing:
        model_id = "failing"
        dimension = 4

        def embed_documents(self, texts: Any) -> Any:  # noqa: ARG002
            raise OSError("no route")

        def embed_query(self, text: str) -> Any:  # noqa: ARG002
            raise OSError("no route")

    numbers = summarise(run(task(), embedder=Failing()))
    assert (numbers.pending, numbers.degraded) == (4, 3)


def test_a_run_compared_with_itself_shows_no_difference(done: Run, tmp_path: Path) -> None:
    write_outcomes(done, tmp_path / "a.json")
    kept = read_outcomes(tmp_path / "a.json")
    both = compare(kept, kept)
    assert both.questions == 3
    assert {one.metric for one in both.differences} == set(done.outcomes[0].metrics)
    assert {(one.difference, one.p, one.better, one.worse) for one in both.differences} == {
        (0.0, 1.0, 0, 0)
    }


def test_a_comparison_is_second_less_first_on_what_both_measured(tmp_path: Path) -> None:
    good, bad = run(task(), k=(1, 5)), run(task(), k=(1,))
    lost = [replace(one, metrics={**one.metrics, "recall@1": 0.0}) for one in bad.outcomes[:1]]
    write_outcomes(good, tmp_path / "a.json")
    write_outcomes(replace(bad, outcomes=(*lost, *bad.outcomes[1:])), tmp_path / "b.json")
    both = compare(read_outcomes(tmp_path / "a.json"), read_outcomes(tmp_path / "b.json"))
    found = {one.metric: one for one in both.differences}
    assert "recall@5" not in found
    assert found["recall@1"].difference == pytest.approx(-1 / 3, abs=1e-4)
    assert (found["recall@1"].better, found["recall@1"].worse) == (0, 1)
    assert found["mrr"].difference == 0.0


def test_other_questions_or_other_gold_are_refused(done: Run, tmp_path: Path) -> None:
    write_outcomes(done, tmp_path / "a.json")
    write_outcomes(replace(done, outcomes=done.outcomes[:2]), tmp_path / "b.json")
    text = (tmp_path / "a.json").read_text()
    (tmp_path / "c.json").write_text(text.replace('{"kiln": 1}', '{"bread": 1}'))
    a, b, c = (read_outcomes(tmp_path / f"{name}.json") for name in "abc")
    for first, second in ((a, b), (b, a)):
        with pytest.raises(InvalidInput, match=r"1 of 3 questions of .*a\.json are not in .*b\.j"):
            compare(first, second)
    with pytest.raises(InvalidInput, match="'q1' has other gold"):
        compare(a, c)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "is no object"),
        ("{}", "'questions' is missing"),
        ('{"task": "x", "questions": []}', "holds no question"),
        ('{"task": "x", "questions": [{"id": "a"}]}', "'gold' must be an object of numbers"),
        (
            '{"task": "x", "questions": [{"id": "a", "gold": {}, "metrics": {"mrr": "1"}}]}',
            "'metrics' must be an object of numbers",
        ),
        (
            '{"task": "x", "questions": ['
            + ", ".join(['{"id": "a", "gold": {}, "metrics": {}}'] * 2)
            + "]}",
            "is 'a' for the second time",
        ),
    ],
)
def test_a_file_that_is_no_outcomes_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidInput) as error:
        read_outcomes(tmp_path / "x.json")
    assert message in error.value.message
    assert "--per-question" in error.value.hint


def test_a_place_that_cannot_be_written_is_named(done: Run, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_outcomes(done, tmp_path / "nowhere" / "a.json")
