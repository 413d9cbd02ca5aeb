"""Pages of prose: on Python's own reference recall finds no less than plain BM25 does."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from bench.peers.bm25 import BM25

from recollect.evaluation import DEFAULT_K, judge, load_jsonl, run

manual = pytest.importorskip("bench.peers.manual", reason="a Python without its manual")

# Other versions of Python bring other pages; two or three questions more or less are chance.
CHANCE = 0.01


@pytest.mark.parametrize("words", [150, pytest.param(300, marks=pytest.mark.soak)])
def test_recall_of_pages_is_not_below_plain_bm25(tmp_path: Path, words: int) -> None:
    folder = manual.written(tmp_path, words)
    task = load_jsonl(folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels.tsv")
    (pages,) = task.collections
    assert len(pages.questions) > 100
    index = BM25({item.arguments["pak_id"]: item.arguments["content"] for item in pages.items})
    plain = [
        judge(question.gold, {k: index.search(question.text, k) for k in DEFAULT_K})
        for question in pages.questions
    ]
    ours = [outcome.metrics for outcome in run(task).outcomes]
    for metric in ("recall@10", "recall@20"):
        least = fmean(one[metric] for one in plain) - CHANCE
        assert fmean(one[metric] for one in ours) >= least, metric
