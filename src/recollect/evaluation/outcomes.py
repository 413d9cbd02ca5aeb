"""Outcomes on disk, question by question, to look into and to compare with a later run.

In: a run. Out: JSON, a line a question, without times: the same answers are the same bytes, and a
hash of them without their scores names them. Read back as `SavedRun`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.evaluation.files import Record, as_record, read_json
from recollect.evaluation.runner import Outcome, Run
from recollect.values import dataclass

__all__ = ["SavedQuestion", "SavedRun", "digest", "read_outcomes", "write_outcomes"]

_HINT = "it must be a file that `recollect eval … --per-question FILE` wrote."
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class SavedQuestion:
    """One question, its gold, its answer and metrics, as kept."""

    gold: Mapping[str, int]
    metrics: Mapping[str, float]
    text: str = ""
    answer: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A file of outcomes: the questions by their id."""

    path: Path
    task: str
    questions: Mapping[str, SavedQuestion]


def digest(run: Run) -> str:
    """Return the SHA-256 of what `write_outcomes` writes, without the scores: of the answers."""
    return hashlib.sha256(_text(run, scored=False).encode()).hexdigest()


def write_outcomes(run: Run, path: Path) -> None:
    """Write the outcomes of a run to a file."""
    try:
        path.write_text(_text(run, scored=True), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.", hint="name a file in a folder of yours."
        ) from error


def read_outcomes(path: Path) -> SavedRun:
    """Return what a file of outcomes holds."""
    held = as_record(path, "", read_json(path, _HINT), _HINT)
    questions: dict[str, SavedQuestion] = {}
    for number, value in enumerate(held.list_in("questions", _HINT)):
        record = held.child("questions", number, value, _HINT)
        name = record.text("id", _HINT)
        if name in questions:
            raise record.error("id", f"is {name!r} for the second time", _HINT)
        questions[name] = SavedQuestion(
            _numbers(record, "gold"),
            _numbers(record, "metrics"),
            record.optional_text("question", _HINT) or "",
            tuple(map(str, record.fields.get("answer") or ())),
        )
    if not questions:
        raise InvalidInput(f"{path} holds no question.", hint=_HINT)
    return SavedRun(path, held.text("task", _HINT), questions)


def _numbers(record: Record, field: str) -> Mapping[str, Any]:
    value = record.fields.get(field)
    if not isinstance(value, dict) or not all(
        isinstance(one, int | float) and not isinstance(one, bool) for one in value.values()
    ):
        raise record.error(field, "must be an object of numbers", _HINT)
    return value


def _text(run: Run, *, scored: bool) -> str:
    head = json.dumps({"task": run.task.name, "k": run.k, "model_id": run.model_id})
    lines = ",\n".join(_lines(run, scored=scored))
    return f'{head[:-1]}, "questions": [\n{lines}\n]}}\n'


def _lines(run: Run, *, scored: bool) -> Iterator[str]:
    for outcome in run.outcomes:
        told = _question(outcome, max(run.k))
        if scored:
            scores = outcome.scores.get(max(run.k), ())
            told["scores"] = [round(one, _DECIMALS) for one in scores]
        yield json.dumps(told, ensure_ascii=False)


def _question(outcome: Outcome, deepest: int) -> dict[str, Any]:
    question = outcome.question
    return {
        "id": question.question_id,
        "category": question.category,
        "question": question.text,
        "gold": dict(question.gold),
        "answer": list(outcome.ranked[deepest]),
        "metrics": {name: round(one, _DECIMALS) for name, one in outcome.metrics.items()},
    }
