"""Spans of OpenTelemetry, with the names that its conventions give to memories of agents.

In: a verb that is carried out. Out: a span, if `opentelemetry-api` is installed; otherwise nothing
is loaded and nothing happens. Texts and questions are in a span only where the server was told to
log texts. Which spans are kept, and where they go, is for whoever set up the SDK.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

__all__ = ["OPERATIONS", "Spans"]

# The operation of each verb that has one: the conventions name no others.
OPERATIONS: Mapping[str, str] = {
    "remember": "create_memory",
    "remember_many": "create_memory",
    "import": "upsert_memory",
    "ingest": "upsert_memory",
    "update": "update_memory",
    "recall": "search_memory",
    "frame": "search_memory",
    "select": "search_memory",
    "forget": "delete_memory",
    "forget_one": "delete_memory",
    "tidy": "delete_memory",
}
# Where answers keep their records; and where a question stands.
_COUNTED = ("results", "blocks", "items", "scores")
_ASKED = ("query", "text")
# The header of W3C's trace context.
_PARENT = "traceparent"


class Spans:
    """Makes spans, or nothing."""

    def __init__(self, *, texts: bool) -> None:
        self._texts = texts
        self._tracer: Any = None
        if _is_installed():
            from opentelemetry import trace

            self._tracer = trace.get_tracer("recollect")

    @contextmanager
    def within(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Let spans belong to whatever the caller was at, as far as a request's headers say so."""
        if self._tracer is None or _PARENT not in headers:
            yield
            return
        from opentelemetry import context, propagate

        token = context.attach(propagate.extract(headers))
        try:
            yield
        finally:
            context.detach(token)

    def around(
        self, verb: str, store: str, given: Mapping[str, Any], call: Callable[[], Any]
    ) -> Any:
        """Carry out a verb inside of its span."""
        operation = OPERATIONS.get(verb)
        if self._tracer is None or operation is None:
            return call()
        if verb == "remember" and given.get("pak_id") is not None:
            operation = "upsert_memory"
        from opentelemetry.trace import SpanKind, Status, StatusCode

        with self._tracer.start_as_current_span(
            operation,
            kind=SpanKind.INTERNAL,
            attributes=self._asked(operation, store, given),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                answer = call()
            except Exception as error:
                span.set_attribute("error.type", getattr(error, "code", type(error).__name__))
                span.set_status(Status(StatusCode.ERROR))
                raise
            for name, value in self._answered(answer):
                span.set_attribute(name, value)
            return answer

    def _asked(self, operation: str, store: str, given: Mapping[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = {"gen_ai.operation.name": operation}
        told |= {"gen_ai.memory.store.id": store} if store else {}
        if isinstance(given.get("pak_id"), str):
            told["gen_ai.memory.record.id"] = given["pak_id"]
        asked = next((given[one] for one in _ASKED if isinstance(given.get(one), str)), None)
        if self._texts and asked is not None and operation == "search_memory":
            told["gen_ai.memory.query.text"] = asked
        return told

    def _answered(self, answer: Any) -> list[tuple[str, Any]]:
        if not isinstance(answer, dict):
            return []
        told: list[tuple[str, Any]] = []
        if isinstance(answer.get("pak_id"), str):
            told.append(("gen_ai.memory.record.id", answer["pak_id"]))
        found = (answer[one] for one in _COUNTED if isinstance(answer.get(one), (list, tuple)))
        records = next(found, None)
        if records is not None:
            told.append(("gen_ai.memory.record.count", len(records)))
            if self._texts:
                shown = json.dumps([_record(one) for one in records])
                told.append(("gen_ai.memory.records", shown))
        return told


def _record(one: Mapping[str, Any]) -> dict[str, Any]:
    held = one.get("fact") or one.get("memory") or one
    if isinstance(held, str):
        # A dialect may show a memory as its text alone.
        held = {"content": held, "pak_id": one.get("id")}
    told = {"content": held.get("content", ""), "id": held.get("pak_id"), "score": one.get("score")}
    return {name: value for name, value in told.items() if value is not None}


def _is_installed() -> bool:
    return find_spec("opentelemetry") is not None and find_spec("opentelemetry.trace") is not None
