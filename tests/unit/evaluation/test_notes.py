"""Prose without threads: on our own labelled notes, recall is never below plain BM25."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from bench.peers.bm25 import BM25

from recollect.evaluation import DEFAULT_K, Run, Task, judge, load_jsonl, run

NOTES = Path(__file__).parents[2] / "data" / "notes"
A_PAGE = 200


@pytest.fixture(scope="module")
def task() -> Task:
    return load_jsonl(NOTES / "corpus.jsonl", NOTES / "queries.jsonl", NOTES / "qrels.tsv")


@pytest.fixture(scope="module")
def ours(task: Task) -> Run:
    return run(task)


@pytest.fixture(scope="module")
def plain(task: Task) -> dict[str, float]:
    """Plain BM25's means."""
    (notes,) = task.collections
    index = BM25(
        {
            item.arguments["pak_id"]: f"{item.arguments['title']}\n{item.arguments['content']}"
            for item in notes.items
        }
    )
    judged = [
        judge(question.gold, {k: index.search(question.text, k) for k in DEFAULT_K})
        for question in notes.questions
    ]
    return {name: fmean(one[name] for one in judged) for name in judged[0]}


def test_the_set_is_large_and_mixed_enough(task: Task) -> None:
    (notes,) = task.collections
    lengths = [len(item.arguments["content"].split()) for item in notes.items]
    assert len(lengths) >= 60
    assert sum(length >= A_PAGE for length in lengths) >= 20
    assert sum(length < A_PAGE for length in lengths) >= 20
    assert len(notes.questions) >= 40
    assert sum(len(question.gold) > 1 for question in notes.questions) >= 10
    assert task.skipped == {}


@pytest.mark.parametrize("metric", ["recall@10", "mrr"])
def test_recall_is_never_below_plain_bm25(ours: Run, plain: dict[str, float], metric: str) -> None:
    mean = fmean(outcome.metrics[metric] for outcome in ours.outcomes)
    assert mean >= plain[metric], f"{metric}: {mean:.4f}, plain BM25 {plain[metric]:.4f}"


def test_plain_bm25_is_a_bar_worth_its_name(plain: dict[str, float]) -> None:
    assert plain["recall@10"] > 0.85
    assert plain["mrr"] > 0.7
