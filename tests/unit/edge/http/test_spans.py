from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from recollect import Recollect
from recollect.edge.http.spans import OPERATIONS, Spans
from recollect.edge.verbs import VERBS, by_name
from recollect.errors import InvalidInput

TEXT = "The kiln is booked until Friday."


class Tracer:
    """Keeps the spans that it is asked for."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, dict[str, Any]]] = []

    @contextmanager
    def start_as_current_span(self, name: str, **how: Any) -> Iterator[Tracer]:
        self.spans.append((name, dict(how["attributes"])))
        yield self

    def set_attribute(self, name: str, value: Any) -> None:
        self.spans[-1][1][name] = value

    def set_status(self, status: Any) -> None:
        self.spans[-1][1]["status"] = status.status_code.name


def _spans(*, texts: bool) -> tuple[Spans, Tracer]:
    spans, tracer = Spans(texts=texts), Tracer()
    spans._tracer = tracer
    return spans, tracer


def _through(spans: Spans, memory: Recollect, verb: str, given: dict[str, Any]) -> Any:
    return spans.around(verb, "notes", given, lambda: by_name(verb).perform(memory, given))


def test_a_verb_of_the_conventions_has_its_span_without_texts() -> None:
    spans, tracer = _spans(texts=False)
    with Recollect.open("memory://") as memory:
        _through(spans, memory, "remember", {"content": TEXT, "pak_id": "kiln"})
        _through(spans, memory, "recall", {"query": "When is the kiln booked?"})
        _through(spans, memory, "stats", {})
    (stored, about), (asked, found) = tracer.spans
    assert (stored, asked) == ("upsert_memory", "search_memory")
    assert about["gen_ai.memory.store.id"] == "notes"
    assert about["gen_ai.memory.record.id"] == "kiln"
    assert found["gen_ai.memory.record.count"] == 1
    assert "kiln booked" not in str(tracer.spans)
    assert "Friday" not in str(tracer.spans)


def test_texts_are_in_spans_where_they_were_asked_for() -> None:
    spans, tracer = _spans(texts=True)
    with Recollect.open("memory://") as memory:
        memory.remember(TEXT, pak_id="kiln")
        _through(spans, memory, "recall", {"query": "When is the kiln booked?"})
    found = tracer.spans[0][1]
    assert found["gen_ai.memory.query.text"] == "When is the kiln booked?"
    assert TEXT in found["gen_ai.memory.records"]
    assert '"id": "kiln"' in found["gen_ai.memory.records"]


def test_a_dialect_that_shows_memories_as_texts_has_its_span_too() -> None:
    spans, tracer = _spans(texts=True)
    answer = {"results": [{"id": "kiln", "memory": TEXT, "score": 0.5}]}
    assert spans.around("recall", "", {"query": "kiln?"}, lambda: answer) is answer
    assert TEXT in tracer.spans[0][1]["gen_ai.memory.records"]
    assert '"id": "kiln"' in tracer.spans[0][1]["gen_ai.memory.records"]


def test_an_error_is_told_by_its_code() -> None:
    spans, tracer = _spans(texts=False)
    with Recollect.open("memory://") as memory, pytest.raises(InvalidInput):
        _through(spans, memory, "recall", {"query": 7})
    assert tracer.spans[0][1]["error.type"] == "invalid_input"
    assert tracer.spans[0][1]["status"] == "ERROR"


def test_the_conventions_are_asked_about_verbs_that_there_are() -> None:
    assert set(OPERATIONS) <= {verb.name for verb in VERBS}


def test_without_the_package_nothing_is_loaded() -> None:
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name.startswith('opentel') else find(name, *a)\n"
        "from recollect.edge.http.spans import Spans\n"
        "assert Spans(texts=False).around('recall', '', {}, lambda: 7) == 7\n"
        "assert not [one for one in sys.modules if one.startswith('opentelemetry.')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
