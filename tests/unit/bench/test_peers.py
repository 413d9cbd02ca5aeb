"""The comparison with peers: everybody gets the same texts and is judged alike."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.peers import __main__ as driver
from bench.peers import corpora, table
from bench.peers.corpora import Corpus, as_text
from bench.peers.findings import OURS, Row, judged, losses, row
from bench.peers.measure import Vectors
from rich.console import Console
from rich.progress import Progress

from recollect.embed import load_embedder
from recollect.evaluation import run, summarise


@pytest.fixture
def small(tmp_path: Path) -> Corpus:
    folder = tmp_path / "small"
    folder.mkdir()
    texts = {
        "kiln": "The kiln is booked until May.",
        "glaze": "Glaze dries for two days.",
        "tax": "The tax return is due in July.",
    }
    questions = {"q1": ("When is the kiln free?", "kiln"), "q2": ("When are taxes due?", "tax")}
    (folder / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"_id": name, "text": text}) for name, text in texts.items())
    )
    (folder / "queries.jsonl").write_text(
        "\n".join(json.dumps({"_id": name, "text": one[0]}) for name, one in questions.items())
    )
    (folder / "qrels.tsv").write_text(
        "\n".join(f"{name}\t{one[1]}\t1" for name, one in questions.items())
    )
    return Corpus("small", "notes", folder, corpora.load("notes", folder))


def test_a_turn_says_when_and_who_a_note_its_title() -> None:
    turn = {"content": "Hello.", "speaker": "Ann", "occurred_at": "1:56 pm on 8 May, 2023"}
    assert as_text(turn) == "[1:56 pm on 8 May, 2023] Ann: Hello."
    assert as_text({"content": "Hello.", "title": "Greeting"}) == "Greeting\nHello."
    assert as_text({"content": "Hello."}) == "Hello."


def test_peers_read_the_very_vectors_of_our_embedder(small: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    corpora.write(small, path)
    vectors = Vectors(path.with_suffix(".f32"), json.loads(path.read_text())["vectors_of"])
    embedder = load_embedder("static")
    text, question = "Glaze dries for two days.", "When is the kiln free?"
    assert vectors.dimension == embedder.dimension
    assert vectors.of(text) == embedder.embed_documents([text])[0].tolist()
    assert vectors.of(text.lower()) == embedder.embed_documents([text.lower()])[0].tolist()
    assert vectors.of(question) == embedder.embed_query(question).tolist()


def test_ours_and_peers_are_measured_in_processes_of_their_own(
    small: Corpus, tmp_path: Path
) -> None:
    names = (OURS, "SQLite FTS5 (porter)", "BM25 (textbook)", "static table (cosine)")
    which = [peer for peer in driver.PEERS if peer.name in names]
    broken = driver.Peer("broken", "with_nobody")
    with Progress(console=Console(file=io.StringIO())) as progress:
        rows, absent = driver.measure([*which, broken], [small], tmp_path / "kept", progress)
    assert {one.peer for one in rows} == set(names)
    assert {one.metrics["recall@5"] for one in rows} == {1.0}
    assert all(one.peak_mb > 5 and one.p50_ms > 0 and one.added_per_second > 0 for one in rows)
    (ours,) = (one for one in rows if one.peer == OURS)
    assert ours.sha256 == summarise(run(small.task)).per_question_sha256
    assert (tmp_path / "kept" / "small" / f"{OURS}.json").exists()
    reasons = {one.peer: one.reason for one in absent}
    assert "with_nobody" in reasons["broken"]


def a_row(small: Corpus, folder: Path, peer: str, found: list[list[str]]) -> Row:
    answers: dict[str, Any] = {
        str(k): [{"s": 0.002, "cpu_s": 0.001, "found": one[:k]} for one in found]
        for k in (5, 10, 20)
    }
    result = {
        "versions": {peer: "1.0"},
        "peak_mb": 50.0,
        "collections": [{"add_s": 0.5, "answers": answers}],
    }
    return row("small", peer, result, small.task, folder)


def test_a_row_is_judged_like_ours_and_compared_with_it(small: Corpus, tmp_path: Path) -> None:
    ours = a_row(small, tmp_path, OURS, [["kiln"], ["glaze", "tax"]])
    peer = a_row(small, tmp_path, "peer", [["glaze"], ["tax"]])
    assert (ours.metrics["recall@10"], ours.metrics["mrr"]) == (1.0, 0.75)
    assert (peer.metrics["recall@10"], peer.metrics["mrr"]) == (0.5, 0.5)
    assert (ours.ahead, peer.ahead) == (None, 0.5)
    assert (peer.p50_ms, peer.cpu_ms, peer.added_per_second) == (2.0, 1.0, 6.0)


def test_an_answer_for_other_questions_is_noticed(small: Corpus) -> None:
    with pytest.raises(ValueError, match="zip"):
        judged(small.task, {"collections": []}, "peer")


def test_losses_name_the_corpus_the_metric_and_the_peer(small: Corpus, tmp_path: Path) -> None:
    ours = a_row(small, tmp_path, OURS, [["kiln"], ["glaze", "tax"]])
    peer = replace(a_row(small, tmp_path, "peer", [["kiln"], ["tax"]]), cpu_ms=0.5)
    told = list(losses([ours, peer]))
    assert "small, all questions, mrr 0.750: peer 1.000" in told
    assert "small, CPU ms a query 1.0: peer" in told
    assert not any("recall@10" in line for line in told)
    assert list(losses([ours, ours])) == []


def test_the_table_is_drawn_for_people_and_for_the_page(small: Corpus, tmp_path: Path) -> None:
    rows = [
        a_row(small, tmp_path, OURS, [["kiln"], ["tax"]]),
        a_row(small, tmp_path, "peer", [["glaze"], ["tax"]]),
    ]
    told = {
        "taken_at": "2026-05-11T12:00:00Z",
        "commit": "abc123",
        "others": 0.25,
        "machine": {"cpu": "Some CPU"},
        "corpora": ["small"],
        "rows": [one.to_dict() for one in rows],
        "absent": [{"corpus": "all", "peer": "nobody", "reason": "does not install"}],
        "losses": [],
    }
    page = table.markdown(told)
    assert "| peer | 0.500 | 0.500 | 0.500 | 0.500 | +0.500 (p 1.0000) | 2.00 ms" in page
    assert page.index("| recollect |") < page.index("| peer |")
    assert "Absent: nobody (all): does not install" in page
    assert "- nowhere" in page
    assert "other jobs kept 0.25 cores busy" in page
    screen = io.StringIO()
    table.show(told, Console(file=screen, width=200))
    assert "does not install" in screen.getvalue()
