"""Shapes are read off the dataclass that a verb is asked by: no field needs a word in hooks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

import pytest

from recollect import Recollect
from recollect.hooks.events import HookEvent
from recollect.hooks.failure import HookFailed
from recollect.hooks.payload import PRINCIPAL, Shape, kind_of
from recollect.hooks.verbs import SHAPES
from recollect.model import Principal, RecallRequest
from recollect.recall.select import SelectQuery

BOB = Principal("acme", "bob")
CALLED = {"project": "namespace", "top_k": "k", "limit": "k", "text": "query"}


def called(names: Sequence[str]) -> set[str]:
    return {CALLED.get(name, name) for name in names}


@dataclass(frozen=True, slots=True)
class Grown(RecallRequest):
    """A recall with a filter that nobody has thought of yet."""

    weekday: str | None = None
    moods: tuple[str, ...] = ()


def test_a_filter_that_a_request_gains_reaches_hooks_by_itself() -> None:
    shape = Shape.of(HookEvent.PRE_RECALL, Grown, changes=("weekday", "moods"))
    payload = shape.payload(Grown(query=None, project=None, weekday="Friday"), BOB)
    assert payload.values["principal"] == {"tenant": "acme", "id": "bob"}
    assert (payload.values["weekday"], payload.values["moods"]) == ("Friday", ())
    assert (payload.values["query"], payload.values["namespace"]) == ("", "")
    assert shape.delta({"weekday": "Monday", "moods": ["calm"]}) == {
        "weekday": "Monday",
        "moods": ("calm",),
    }
    for wrong in ({"weekday": 5}, {"moods": "calm"}, {"moods": [5]}):
        with pytest.raises(HookFailed, match="must be a"):
            shape.delta(wrong)


def test_hooks_are_told_all_that_was_asked() -> None:
    recall = [one.name for one in fields(RecallRequest)]
    assert set(SHAPES[HookEvent.PRE_RECALL].fields) == called(recall)
    select = [one.name for one in fields(SelectQuery)]
    assert set(SHAPES[HookEvent.PRE_SELECT].fields) == called(select)
    remember = set(inspect.signature(Recollect.remember).parameters)
    remember -= {"self", "now", "request_id"}
    assert set(SHAPES[HookEvent.PRE_REMEMBER].fields) == called(sorted(remember))
    frame = set(inspect.signature(Recollect.frame).parameters) - {"self"}
    assert set(SHAPES[HookEvent.PRE_FRAME].fields) == called(sorted(frame))


@pytest.mark.parametrize("event", HookEvent)
def test_what_a_hook_may_change_is_part_of_what_it_is_told(event: HookEvent) -> None:
    shape = SHAPES[event]
    assert set(shape.changes) <= set(shape.fields)
    assert set(shape.also_called.values()) <= set(shape.changes)
    assert set(shape.narrows) <= set(shape.changes)
    assert not shape.changes or event.startswith("pre_")
    assert PRINCIPAL not in {*shape.fields, *shape.changes, *shape.also_called}


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (str, "a text"),
        (str | None, "a text"),
        (str | datetime | None, "a text"),
        (Literal["a", "b"], "a text"),
        (int | None, "a whole number"),
        (float, "a number"),
        (bool, "true or false"),
        (Sequence[str] | None, "a list of texts"),
        (tuple[str, ...], "a list of texts"),
        (tuple[Any, ...], "a list of objects"),
        (Mapping[str, float], "an object"),
    ],
    ids=str,
)
def test_an_annotation_says_what_kind_a_value_is_of(hint: Any, words: str) -> None:
    assert kind_of(hint).words == words


def test_a_kind_that_nobody_knows_is_found_out_when_the_table_is_made() -> None:
    with pytest.raises(KeyError):
        kind_of(complex)


def test_a_delta_is_laid_over_under_the_names_of_the_engine() -> None:
    shape = SHAPES[HookEvent.PRE_SELECT]
    delta = shape.delta({"query": "tea", "namespace": "", "k": 3, "token_budget": None})
    assert delta == {"query": "tea", "namespace": "", "k": 3}
    assert shape.arguments(delta) == {"text": "tea", "project": None, "limit": 3}
