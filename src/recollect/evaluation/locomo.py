"""LoCoMo conversations: one store each, a memory a turn, and questions with evidence.

In: a folder of JSON files, one conversation each, or the published file that lists them all. Out:
a task. A turn's `dia_id` is its memory's id, its session the thread. Evidence is normalised; what
names no turn is left out and counted. Questions of category 5 have no answer and take no part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.evaluation.files import Record, as_record, read_json
from recollect.evaluation.task import Collection, Item, Question, Task

__all__ = ["CATEGORIES", "load_locomo"]

CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop"}

_HINT = "each file holds session_1, session_2, … (lists of turns with dia_id) and qa (questions)."
_TURN = 'a turn is {"speaker": "Ann", "dia_id": "D1:3", "text": "…"}.'
_QUESTION = 'a question is {"question": "…", "evidence": ["D1:3"], "category": 4}.'
_SESSION = re.compile(r"session_(\d+)")
# "D8:6; D9:17" is two, "D30:05" is D30:5, and "D:11:26" lost nothing but a digit's place.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def load_locomo(path: Path) -> Task:
    """Return the task of a folder of conversations, or of one file of them."""
    skipped: Counter[str] = Counter()
    collections = tuple(
        _collection(name, record, skipped)
        for file in _files(path)
        for name, record in _conversations(file)
    )
    return Task(path.resolve().name, collections, dict(sorted(skipped.items())))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InvalidInput(f"There is no folder at {path}.", hint="name the folder of LoCoMo.")
    found = sorted(path.glob("*.json"))
    if not found:
        raise InvalidInput(f"There is no .json file in {path}.", hint=_HINT)
    return found


def _conversations(file: Path) -> Iterator[tuple[str, Record]]:
    """Yield every conversation of a file with its name."""
    held = read_json(file, _HINT)
    if not isinstance(held, list):
        yield file.stem, as_record(file, "", held, _HINT)
        return
    for number, value in enumerate(held):
        record = as_record(file, f"[{number}]", value, _HINT)
        yield record.optional_text("sample_id", _HINT) or f"{file.stem}[{number}]", record


def _collection(name: str, record: Record, skipped: Counter[str]) -> Collection:
    items = tuple(_items(record))
    known = {item.arguments["pak_id"] for item in items}
    return Collection(name, items, tuple(_questions(name, record, known, skipped)))


def _items(record: Record) -> Iterator[Item]:
    sessions_by_name = _sessions_of(record)
    sessions = sorted(
        int(found[1]) for key in sessions_by_name if (found := _SESSION.fullmatch(key))
    )
    if not sessions:
        raise record.error("session_1", "is missing", _HINT)
    for number in sessions:
        thread = f"session_{number}"
        conversation = Record(record.file, record.place, sessions_by_name)
        time = conversation.optional_text(f"{thread}_date_time", _TURN)
        for position, value in enumerate(conversation.list_in(thread, _HINT)):
            yield _item(conversation.child(thread, position, value, _TURN), thread, time)


def _sessions_of(record: Record) -> Mapping[str, Any]:
    """Return the object with the sessions: the published file keeps it apart."""
    inner = record.fields.get("conversation")
    return inner if isinstance(inner, dict) else record.fields


def _item(turn: Record, thread: str, time: str | None) -> Item:
    caption = turn.optional_text("blip_caption", _TURN)
    text = turn.optional_text("text", _TURN) or ""
    content = f"{text} {caption}".strip() if caption else turn.text("text", _TURN)
    arguments: dict[str, Any] = {
        "pak_id": _turn_id(turn),
        "content": content,
        "thread": thread,
        "speaker": turn.text("speaker", _TURN),
    }
    if time is not None:
        arguments["occurred_at"] = time
    return Item(arguments, turn.source)


def _turn_id(turn: Record) -> str:
    given = turn.text("dia_id", _TURN)
    found = _EVIDENCE.fullmatch(given.strip())
    if found is None:
        raise turn.error("dia_id", f"is {given!r}", _TURN)
    return _canonical_id(found)


def _canonical_id(found: re.Match[str]) -> str:
    return f"D{int(found[1])}:{int(found[2])}"


def _questions(
    name: str, record: Record, known: set[str], skipped: Counter[str]
) -> Iterator[Question]:
    for number, value in enumerate(record.list_in("qa", _HINT)):
        entry = record.child("qa", number, value, _QUESTION)
        category = entry.fields.get("category")
        if category not in CATEGORIES:
            skipped[f"questions of category {category}"] += 1
            continue
        evidence = _evidence(entry)
        valid = {turn: 1 for turn in evidence if turn in known}
        skipped["evidence ids that name no turn"] += len(evidence) - len(valid)
        if not valid:
            skipped["questions without valid evidence"] += 1
            continue
        text = entry.text("question", _QUESTION)
        yield Question(f"{name}/{number}", text, valid, CATEGORIES[category])


def _evidence(entry: Record) -> dict[str, None]:
    """Return the turns that the evidence names, each once; what is no id at all stays itself."""
    evidence: dict[str, None] = {}
    for given in entry.list_in("evidence", _QUESTION):
        if not isinstance(given, str):
            raise entry.error("evidence", "must be a list of texts", _QUESTION)
        found = [_canonical_id(one) for one in _EVIDENCE.finditer(given)]
        evidence.update(dict.fromkeys(found or [given]))
    return evidence
