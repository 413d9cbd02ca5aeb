"""Questions of your own: BEIR's layout, two files of JSON lines and a table of judgements.

In: a corpus (`_id`, `text`, maybe `title` and what else `remember` takes), queries (`_id`, `text`,
maybe `category`) and qrels (query, corpus and grade, by tabs). Out: a task of one collection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.evaluation.files import Record, read_lines, read_records
from recollect.evaluation.task import Collection, Item, Question, Task

__all__ = ["load_jsonl"]

_CORPUS = 'each line is {"_id": "n1", "title": "maybe", "text": "…"}.'
_QUERIES = 'each line is {"_id": "q1", "text": "…"}.'
_QRELS = "each line is query-id, corpus-id and a whole number, with tabs between them."
# What `remember` takes beside the text; a corpus line may have them under the same names.
_EXTRAS = ("thread", "speaker", "occurred_at", "project", "tags", "category", "summary", "topic")
_COLUMNS = ("query-id", "corpus-id", "score")


def load_jsonl(corpus: Path | None, queries: Path, qrels: Path) -> Task:
    """Return the task of three files; without a corpus, questions about a memory that is there."""
    texts = None if corpus is None else _by_id(corpus, _CORPUS)
    queries_by_id = _by_id(queries, _QUERIES)
    gold = _judgements(qrels, texts, queries_by_id)
    skipped: Counter[str] = Counter()
    collection = Collection(
        (corpus or queries).stem,
        tuple(_items(texts or {}, skipped)),
        tuple(_questions(queries_by_id, gold, skipped)),
    )
    if not collection.questions:
        raise InvalidInput(
            f"{qrels} names no text with a score above 0, so there is nothing to find.",
            hint=_QRELS,
        )
    return Task(
        (corpus or queries).resolve().parent.name, (collection,), dict(sorted(skipped.items()))
    )


def _by_id(path: Path, hint: str) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for record in read_records(path, hint):
        name = record.text("_id", hint)
        if name in found:
            raise record.error("_id", f"is {name!r}, as on {found[name].place}", "name each once.")
        found[name] = record
    if not found:
        raise InvalidInput(f"{path} is empty.", hint=hint)
    return found


def _items(texts: Mapping[str, Record], skipped: Counter[str]) -> Iterator[Item]:
    for name, record in texts.items():
        title = (record.optional_text("title", _CORPUS) or "").strip()
        content = record.optional_text("text", _CORPUS) or ""
        if not content.strip() and not title:
            skipped["texts that are blank"] += 1
            continue
        arguments: dict[str, Any] = {"pak_id": name, "content": content.strip() and content}
        if not arguments["content"]:
            arguments["content"] = title
        elif title:
            arguments["title"] = title
        extras = {key: record.fields[key] for key in _EXTRAS if record.fields.get(key) is not None}
        yield Item(arguments | extras, record.source)


def _questions(
    queries_by_id: Mapping[str, Record],
    gold: Mapping[str, Mapping[str, int]],
    skipped: Counter[str],
) -> Iterator[Question]:
    for name, record in queries_by_id.items():
        text = record.text("text", _QUERIES)
        if not gold.get(name):
            skipped["questions without a judgement"] += 1
            continue
        yield Question(name, text, gold[name], record.optional_text("category", _QUERIES))


def _judgements(
    path: Path, texts: Mapping[str, Record] | None, queries_by_id: Mapping[str, Record]
) -> dict[str, dict[str, int]]:
    """Return for each question the texts that answer it with their grades."""
    gold: dict[str, dict[str, int]] = {}
    for number, line in read_lines(path, _QRELS):
        cells = [cell.strip() for cell in line.split("\t")]
        if number == 1 and _are_headings(cells) and cells[0] not in queries_by_id:
            continue
        row = _row(path, number, cells)
        for field, known in (("query-id", queries_by_id), ("corpus-id", texts)):
            if known is not None and row.fields[field] not in known:
                raise row.error(
                    field, f"is {row.fields[field]!r}, which no line has as its _id", _QRELS
                )
        if row.fields["score"] > 0:
            gold.setdefault(row.fields["query-id"], {})[row.fields["corpus-id"]] = row.fields[
                "score"
            ]
    return gold


def _are_headings(cells: list[str]) -> bool:
    return len(cells) == len(_COLUMNS) and not _is_whole(cells[2])


def _row(path: Path, number: int, cells: list[str]) -> Record:
    if len(cells) != len(_COLUMNS):
        raise InvalidInput(
            f"{path}, line {number}: {len(cells)} columns instead of three.", hint=_QRELS
        )
    row = Record(path, f"line {number}", dict(zip(_COLUMNS, cells, strict=True)))
    if not _is_whole(cells[2]):
        raise row.error("score", f"must be a whole number, not {cells[2]!r}", _QRELS)
    return Record(path, row.place, {**row.fields, "score": int(cells[2])})


def _is_whole(text: str) -> bool:
    return text.lstrip("-").isdecimal()
