"""BEIR's layout: texts, questions and judgements, and mistakes in them named to the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import InvalidInput
from recollect.evaluation import Task, load_jsonl

CORPUS = [
    {"_id": "n1", "title": "Kiln", "text": "Booked until May.", "thread": "pottery"},
    {"_id": "n2", "title": "", "text": "Glaze dries for two days."},
    {"_id": "n3", "title": "Only a title", "text": ""},
    {"_id": "n4", "title": "", "text": " "},
]
QUERIES = [
    {"_id": "q1", "text": "When is the kiln free?", "category": "name"},
    {"_id": "q2", "text": "Nobody judged this one."},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\tn1\t2\nq1\tn2\t0\nq1\tn3\t1\n"


def task(folder: Path, *, corpus: Any = CORPUS, queries: Any = QUERIES, qrels: str = QRELS) -> Task:
    paths = [folder / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")]
    for path, lines in zip(paths, (corpus, queries), strict=False):
        text = lines if isinstance(lines, str) else "\n".join(map(json.dumps, lines))
        path.write_text(text + "\n")
    paths[2].write_text(qrels)
    return load_jsonl(*paths)


def test_lines_become_arguments_of_remember(tmp_path: Path) -> None:
    (collection,) = task(tmp_path).collections
    assert [item.arguments for item in collection.items] == [
        {"pak_id": "n1", "content": "Booked until May.", "title": "Kiln", "thread": "pottery"},
        {"pak_id": "n2", "content": "Glaze dries for two days."},
        {"pak_id": "n3", "content": "Only a title"},
    ]


def test_grades_above_zero_are_gold_and_the_rest_is_counted(tmp_path: Path) -> None:
    loaded = task(tmp_path)
    (question,) = loaded.collections[0].questions
    assert question.gold == {"n1": 2, "n3": 1}
    assert (question.question_id, question.category) == ("q1", "name")
    assert loaded.skipped == {"questions without a judgement": 1, "texts that are blank": 1}
    assert loaded.name == tmp_path.name


def test_headings_and_windows_line_ends_are_optional(tmp_path: Path) -> None:
    qrels = "q1\tn1\t1\r\nq1\tn3\t1\r\n"
    assert task(tmp_path, qrels=qrels).collections[0].questions[0].gold == {"n1": 1, "n3": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": '{"_id": "n1", "text": "x"}\n{"_id"'}, "corpus.jsonl, line 2, column 7: no JS"),
        ({"corpus": "[1]"}, "corpus.jsonl, line 1: [1] is no object"),
        ({"corpus": [{"text": "x"}]}, "corpus.jsonl, line 1: field '_id' is missing"),
        ({"corpus": [{"_id": 3, "text": "x"}]}, "line 1: field '_id' must be a text, not 3"),
        ({"corpus": [{"_id": "n1", "text": ["x"]}, *CORPUS[1:]]}, "field 'text' must be a text"),
        ({"corpus": CORPUS + CORPUS}, "line 5: field '_id' is 'n1', as on line 1"),
        ({"corpus": ""}, "corpus.jsonl is empty"),
        ({"queries": [{"_id": "q1", "text": " "}]}, "queries.jsonl, line 1: field 'text' is blank"),
        ({"qrels": "q1\tn1\n"}, "qrels.tsv, line 1: 2 columns instead of three"),
        ({"qrels": "q1\tn1\tyes\n"}, "line 1: field 'score' must be a whole number, not 'yes'"),
        ({"qrels": QRELS + "q1\tn2\tyes\n"}, "line 5: field 'score' must be a whole number"),
        ({"qrels": QRELS + "q9\tn2\t1\n"}, "line 5: field 'query-id' is 'q9', which no line has"),
        ({"qrels": QRELS + "\nq1\tn9\t1\n"}, "line 6: field 'corpus-id' is 'n9', which no line"),
        ({"qrels": "q1\tn1\t0\n"}, "names no text with a score above 0"),
    ],
)
def test_a_mistake_is_named_by_file_line_and_field(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        task(tmp_path, **changes)
    assert message in error.value.message
    assert error.value.hint


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    task(tmp_path)
    good = tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl"
    with pytest.raises(InvalidInput, match=r"nowhere\.tsv cannot be read: No such file"):
        load_jsonl(*good, tmp_path / "nowhere.tsv")
    (tmp_path / "qrels.tsv").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="is not UTF-8: byte 0"):
        load_jsonl(*good, tmp_path / "qrels.tsv")
