"""The corpora of the comparison, and the file in which peers find them.

In: LoCoMo's folder, if there is one, our own notes, and pages of a manual. Out: tasks, and
for each a JSON file with texts and questions beside a file with Recollect's vectors of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recollect.embed import load_embedder
from recollect.evaluation import DEFAULT_K, Task, load_jsonl, load_locomo

__all__ = ["Corpus", "corpora", "load", "write"]

ROOT = Path(__file__).parents[2]
NOTES = ROOT / "tests" / "data" / "notes"
PAGES = ROOT / "tests" / "data" / "pages"


class Corpus(NamedTuple):
    """A task and where it was loaded from."""

    name: str
    kind: str
    path: Path
    task: Task


def corpora(locomo: Path) -> list[Corpus]:
    """Return the corpora that are there: the notes and the pages always are."""
    places = [("locomo", locomo)] if locomo.is_dir() else []
    places += [("notes", NOTES), ("pages", PAGES)]
    return [Corpus(path.name, kind, path, load(kind, path)) for kind, path in places]


def load(kind: str, path: Path) -> Task:
    """Return the task at a path."""
    if kind == "locomo":
        return load_locomo(path)
    return load_jsonl(path / "corpus.jsonl", path / "queries.jsonl", path / "qrels.tsv")


def write(corpus: Corpus, path: Path) -> None:
    """Write what peers read: texts, questions, and the vectors of both in a file beside it."""
    collections = [
        {
            "items": [
                {"name": item.arguments["pak_id"], "text": as_text(item.arguments)}
                for item in one.items
            ],
            "questions": [
                {"name": question.question_id, "text": question.text} for question in one.questions
            ],
        }
        for one in corpus.task.collections
    ]
    texts = _with_lower_case(_distinct(collections, "items"))
    known = set(texts)
    asked = _with_lower_case(_distinct(collections, "questions"))
    questions = [text for text in asked if text not in known]
    held = {
        "kind": corpus.kind,
        "path": str(corpus.path),
        "k": DEFAULT_K,
        "collections": collections,
        "vectors_of": [*texts, *questions],
    }
    path.write_text(json.dumps(held))
    _write_vectors(texts, questions, path.with_suffix(".f32"))


def as_text(arguments: Mapping[str, Any]) -> str:
    """Return a memory as one text for those who know no speaker, time or title.

    Of five ways to write a turn, this one served plain BM25 and the cosine best on LoCoMo.
    """
    if "speaker" in arguments:
        when = f"[{arguments['occurred_at']}] " if "occurred_at" in arguments else ""
        return f"{when}{arguments['speaker']}: {arguments['content']}"
    if "title" in arguments:
        return f"{arguments['title']}\n{arguments['content']}"
    return str(arguments["content"])


def _distinct(collections: Sequence[Mapping[str, Any]], field: str) -> list[str]:
    return list(dict.fromkeys(one["text"] for each in collections for one in each[field]))


def _with_lower_case(texts: Sequence[str]) -> list[str]:
    """Return the texts, and each in lower case too: elfmem embeds that instead."""
    return list(dict.fromkeys([*texts, *(text.lower() for text in texts)]))


def _write_vectors(texts: Sequence[str], questions: Sequence[str], path: Path) -> None:
    embedder = load_embedder("static")
    with path.open("wb") as file:
        file.write(embedder.embed_documents(texts).astype("float32").tobytes())
        for question in questions:
            file.write(embedder.embed_query(question).astype("float32").tobytes())
