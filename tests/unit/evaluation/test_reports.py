"""What was missed, what changed, and runs as tables and pages: foreign words are no markup."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.evaluation import (
    Collection,
    Item,
    Question,
    Task,
    compare,
    digest,
    load_jsonl,
    misses,
    read_outcomes,
    report,
    run,
    summarise,
    write_csv,
    write_outcomes,
    write_report,
)

_NASTY = '=cmd()</td><script>alert("1")</script>&amp;'


def task(*questions: Question) -> Task:
    items = [
        Item({"pak_id": f"n{number}", "content": f"note {number} about glaze"}, f"line {number}")
        for number in range(15)
    ]
    kiln = Item({"pak_id": "kiln", "content": "The kiln is booked until May."}, "line 15")
    return Task("notes", (Collection("notes", (*items, kiln), questions),))


FOUND = Question("q1", "Until when is the kiln booked?", {"kiln": 1})
# Nobody asks for what n14 says: fifteen notes are alike, and the first ten leave it out.
MISSED = Question(_NASTY, f"note about glaze {_NASTY}", {"kiln": 1, "n0": 1}, category=_NASTY)


def test_what_was_missed_is_listed_with_what_came_instead() -> None:
    done = run(task(FOUND, Question("q2", "glaze", {"kiln": 1})), embedder="none")
    (miss,) = misses(done)
    assert (miss.question_id, miss.missing, miss.is_partial) == ("q2", ("kiln",), False)
    assert len(miss.came) == 3
    assert "kiln" not in miss.came


def test_a_question_that_was_answered_in_part_comes_after_those_that_were_not() -> None:
    half = Question("half", "glaze", {"kiln": 1, "n1": 1, "n2": 1, "n3": 1})
    none = Question("none", "glaze", {"kiln": 1})
    found = misses(run(task(half, none), embedder="none"))
    assert [(one.question_id, one.is_partial) for one in found] == [("none", False), ("half", True)]


def test_scores_are_kept_and_the_hash_is_of_the_answers(tmp_path: Path) -> None:
    done = run(task(FOUND), embedder="none")
    write_outcomes(done, tmp_path / "a.json")
    (kept,) = json.loads((tmp_path / "a.json").read_text())["questions"]
    assert len(kept["scores"]) == len(kept["answer"]) > 0
    assert kept["scores"] == sorted(kept["scores"], reverse=True)
    assert digest(done) == summarise(done).per_question_sha256


def test_questions_that_changed_are_named_those_that_fell_first(tmp_path: Path) -> None:
    questions = FOUND, Question("q2", "glaze", {"n1": 1})
    write_outcomes(run(task(*questions), embedder="none"), tmp_path / "a.json")
    held = json.loads((tmp_path / "a.json").read_text())
    for one, share in zip(held["questions"], (0.0, 0.5), strict=True):
        one["metrics"]["recall@10"] = share
    (tmp_path / "b.json").write_text(json.dumps(held))
    both = compare(read_outcomes(tmp_path / "a.json"), read_outcomes(tmp_path / "b.json"))
    assert both.metric == "recall@10"
    assert both.changed[0].question_id == "q1"
    assert (both.changed[0].first, both.changed[0].second) == (1.0, 0.0)
    assert both.changed[0].question == FOUND.text
    same = compare(read_outcomes(tmp_path / "a.json"), read_outcomes(tmp_path / "a.json"))
    assert same.changed == ()


def test_a_row_of_a_spreadsheet_runs_no_formula(tmp_path: Path) -> None:
    write_csv(run(task(FOUND, MISSED), embedder="none"), tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        heads, first, second = csv.reader(file)
    assert heads[:6] == ["id", "category", "question", "gold", "answer", "score"]
    assert first[0] == "q1"
    assert second[0] == f"'{_NASTY}"
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in (first, second) for cell in row)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href", "onload", "onclick")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_report_shows_foreign_words_and_obeys_none(tmp_path: Path) -> None:
    done = run(task(FOUND, MISSED), embedder="none")
    write_report(done, summarise(done), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert "script" not in page.tags
    assert page.links == []
    assert {"svg", "rect", "table"} <= page.tags
    assert any(_NASTY in words for words in page.words)
    assert "Only 2 questions" in text
    assert not re.search(r"https?://", text)


def test_a_report_of_a_run_without_a_miss_says_so() -> None:
    done = run(task(FOUND), embedder="none")
    assert "All answers are among the first ten." in report(done, summarise(done))


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = run(task(FOUND), embedder="none")
    for write in (write_csv, lambda one, path: write_report(one, summarise(one), path)):
        with pytest.raises(InvalidInput, match="cannot be written"):
            write(done, tmp_path / "no" / "where")


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Path, Path]:
    queries, qrels = tmp_path / "q.jsonl", tmp_path / "r.tsv"
    queries.write_text('{"_id": "q1", "text": "Until when is the kiln booked?"}\n')
    qrels.write_text("q1\tkiln\t1\n")
    return queries, qrels


def test_questions_are_asked_of_a_memory_that_is_there_and_stays_as_it_is(
    asked: tuple[Path, Path], tmp_path: Path
) -> None:
    db = tmp_path / "agent.db"
    with Recollect.open(db, embedder="none") as memory:
        memory.remember("The kiln is booked until May.", pak_id="kiln")
    was = db.read_bytes()
    done = run(load_jsonl(None, *asked), db=db, embedder="none")
    assert done.outcomes[0].ranked[10] == ("kiln",)
    assert summarise(done).memories == 1
    assert db.read_bytes() == was


def test_an_answer_that_is_not_in_the_memory_is_named(
    asked: tuple[Path, Path], tmp_path: Path
) -> None:
    Recollect.open(tmp_path / "agent.db", embedder="none").close()
    with pytest.raises(InvalidInput, match="'q1' is answered by 'kiln'"):
        run(load_jsonl(None, *asked), db=tmp_path / "agent.db", embedder="none")


def test_a_frame_and_a_time_are_those_that_recall_gets() -> None:
    question = Question("q1", "what happened yesterday?", {"kiln": 1})
    items = (
        Item({"pak_id": "kiln", "content": "Glazed a bowl.", "occurred_at": "2023-05-08"}, "1"),
        Item({"pak_id": "late", "content": "Glazed a cup.", "occurred_at": "2024-05-08"}, "2"),
    )
    asked = Task("t", (Collection("c", items, (question,)),))
    then = run(asked, embedder="none", now="2023-05-09T12:00:00Z")
    assert then.outcomes[0].ranked[10][0] == "kiln"
    with pytest.raises(InvalidInput, match="nowhere"):
        run(asked, embedder="none", frame="nowhere")
