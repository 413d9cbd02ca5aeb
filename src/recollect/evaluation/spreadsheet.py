"""A run as a table for a spreadsheet: one question a row.

In: a run. Out: a CSV file. What looks like a formula is made a text: who opens the file in a
spreadsheet reads it, and runs nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.evaluation.runner import Outcome, Run

__all__ = ["write_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(run: Run, path: Path) -> None:
    """Write a run as rows: id, category, question, gold, answer, best score, then each metric."""
    metrics = list(run.outcomes[0].metrics)
    headings = ["id", "category", "question", "gold", "answer", "score", *metrics]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(headings)
            rows.writerows(_rows(run, metrics))
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}.", hint="name a file in a folder of yours."
        ) from error


def _rows(run: Run, metrics: list[str]) -> Iterator[list[str | float]]:
    for outcome in run.outcomes:
        question, deepest = outcome.question, max(run.k)
        texts = (
            question.question_id,
            question.category or "",
            question.text,
            " ".join(question.gold),
            " ".join(outcome.ranked[deepest]),
        )
        values = [round(outcome.metrics[name], 6) for name in metrics]
        yield [*map(_as_text, texts), _best(outcome, deepest), *values]


def _best(outcome: Outcome, k: int) -> str | float:
    scores = outcome.scores.get(k, ())
    return round(scores[0], 6) if scores else ""


def _as_text(value: str) -> str:
    return f"'{value}" if value.startswith(_FORMULA) else value
