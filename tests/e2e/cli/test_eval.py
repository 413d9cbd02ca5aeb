"""`recollect eval`: for people, for programs, and for those who mistyped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The options that name three small files."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "corpus.jsonl").write_text(
        '{"_id": "kiln", "text": "The kiln is booked until May."}\n'
        '{"_id": "tax", "text": "The tax return is due in July.", "occurred_at": "2026-01-05"}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "When is the kiln free?"}\n')
    (folder / "qrels.tsv").write_text("q1\tkiln\t1\n")
    return [
        f"--{name}={folder / file}"
        for name, file in (
            ("corpus", "corpus.jsonl"),
            ("queries", "queries.jsonl"),
            ("qrels", "qrels.tsv"),
        )
    ]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small conversation."""
    folder = tmp_path_factory.mktemp("talk")
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kiln."}
    question = {"question": "What did Ann buy?", "evidence": ["D1:1"], "category": 4}
    held = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn],
        "qa": [question, {**question, "category": 5}],
    }
    (folder / "1.json").write_text(json.dumps(held))
    return folder


def test_people_get_tables(run: Run, talk: Path) -> None:
    shown = run("eval", "locomo", talk)
    assert shown.returncode == 0, shown.stderr
    for words in ("1 question, 1 memory", "nDCG@10 1.000", "4 single-hop", "category 5"):
        assert words in shown.stdout


def test_programs_get_json_and_a_file_for_later(run: Run, notes: list[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    made = run("eval", "jsonl", *notes, "--k", "1", "--per-question", kept, "--json")
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["k"] == [1, 10]
    assert told["metrics"]["recall@1"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    both = run("eval", "--compare", kept, kept, "--json")
    assert json.loads(both.stdout)["questions"] == 1
    assert "+0.000" in run("eval", "--compare", kept, kept).stdout


def test_json_may_stand_before_the_command(run: Run, notes: list[str]) -> None:
    assert json.loads(run("eval", "--json", "jsonl", *notes).stdout)["questions"] == 1


def test_an_embedder_may_be_named(run: Run, talk: Path) -> None:
    told = json.loads(run("eval", "locomo", talk, "--embedder", "none", "--json").stdout)
    assert told["model_id"] == "none"


def test_mistakes_are_errors_with_a_hint(run: Run, notes: list[str], tmp_path: Path) -> None:
    missing = run("eval", "locomo", tmp_path / "nowhere", "--json")
    assert missing.returncode == 1
    assert json.loads(missing.stdout)["error"]["code"] == "invalid_input"
    unwritable = run("eval", "jsonl", *notes, "--per-question", tmp_path / "nowhere" / "a.json")
    assert unwritable.returncode == 1
    assert "is no place for a file" in unwritable.stderr
    both = run("eval", "--compare", "a.json", "b.json", "locomo", tmp_path)
    assert both.returncode == 2
    assert run("eval", "--compare", tmp_path / "a.json", tmp_path / "b.json").returncode == 1


def test_eval_alone_explains_itself(run: Run) -> None:
    assert "--compare" in run("eval").stdout
    assert "--compare" in run("eval", "--json").stdout


def test_no_memory_is_left_behind(run: Run, talk: Path, tmp_path: Path) -> None:
    assert run("eval", "locomo", talk, TMPDIR=str(tmp_path)).returncode == 0
    assert list(tmp_path.iterdir()) == []
