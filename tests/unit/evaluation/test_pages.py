"""Pages of prose: on a manual's pages recall finds no less than plain BM25 does."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from bench.peers.bm25 import BM25

from recollect.evaluation import DEFAULT_K, judge, load_jsonl, run

PAGES = Path(__file__).parents[2] / "data" / "pages"


def test_recall_of_pages_is_not_below_plain_bm25() -> None:
    task = load_jsonl(PAGES / "corpus.jsonl", PAGES / "queries.jsonl", PAGES / "qrels.tsv")
    (pages,) = task.collections
    assert (len(pages.items), len(pages.questions)) == (276, 222)
    index = BM25({item.arguments["pak_id"]: item.arguments["content"] for item in pages.items})
    plain = [
        judge(question.gold, {k: index.search(question.text, k) for k in DEFAULT_K})
        for question in pages.questions
    ]
    ours = [outcome.metrics for outcome in run(task).outcomes]
    for metric in ("recall@10", "recall@20"):
        assert fmean(one[metric] for one in ours) >= fmean(one[metric] for one in plain), metric
