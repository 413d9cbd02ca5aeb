"""The language of filters, as a caller meets it: what it takes, what it refuses, in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.model import RecallRequest

NESTED: dict[str, Any] = {"thread": "t"}
for _ in range(40):
    NESTED = {"not": NESTED}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([], "a filter is an object of conditions, not []."),
        ({}, "a filter is an object of conditions, not {}."),
        ("thread = 't1'", "a filter is an object of conditions, not \"thread = 't1'\"."),
        ({"colour": "red"}, "a filter has no field 'colour'."),
        ({"content": "red"}, "a filter has no field 'content'."),
        ({"position": {"gt": 1}}, "a filter has no field 'position'."),
        ({"metadata": {"eq": 1}}, "a filter has no field 'metadata'."),
        ({"metadata.": 1}, "a filter has no field 'metadata.'."),
        ({"metadata.a..b": 1}, "a filter has no field 'metadata.a..b'."),
        ({"thread": {"like": "t%"}}, "a filter has no operator 'like'."),
        ({"thread": {"$eq": "t"}}, "a filter has no operator '$eq'."),
        ({"thread": {}}, "nothing is asked of 'thread'."),
        ({"thread": {"in": "t1"}}, "in takes a list of values here, not 't1'."),
        ({"thread": 3}, "eq takes a text here, not 3."),
        ({"thread": None}, "eq takes a text here, not None."),
        ({"thread": {"exists": 1}}, "exists takes true or false here, not 1."),
        ({"tags": "x"}, "eq takes a list of tags here, not 'x'."),
        ({"occurred_at": {"gt": "soon"}}, "gt must be a day or an ISO-8601 time, not 'soon'."),
        ({"occurred_at": {"contains": "2023"}}, "contains takes something other than a time"),
        ({"metadata.a": {"gt": True}}, "gt takes a number or a text here, not True."),
        ({"and": []}, "and takes a list of filters, not []."),
        ({"or": {"thread": "t"}}, "or takes a list of filters, not {'thread': 't'}."),
        ({"not": []}, "a filter is an object of conditions, not []."),
        ({3: "t"}, "a name in filter must be a text, not 3."),
        ({"metadata.a": float("nan")}, "filter holds nan, which is no number"),
        ({"metadata.a": 10**30}, "filter holds 1000000000000000000000000000000, which is no"),
        ({"metadata.a": {1, 2}}, "which is no JSON value."),
        ({"thread": "\ud800"}, "filter holds half of a surrogate pair"),
        (NESTED, "filter has too many levels; the most is 16."),
        (
            {"metadata.a": {"in": list(range(1001))}},
            "filter has too many values; the most is 1,000.",
        ),
        (
            {"or": [{"thread": "t"} for _ in range(257)]},
            "a filter has too many conditions; the most is 256.",
        ),
    ],
)
def test_a_filter_that_is_none_is_refused_in_words(
    memory: Recollect, asked: Any, told: str
) -> None:
    for ask in (
        lambda: memory.recall("q", filter=asked),
        lambda: memory.frame("attention", "q", filter=asked),
        lambda: memory.respond(RecallRequest.from_dict({"filter": asked})),
        lambda: memory.explain("p", RecallRequest("q", filter=asked)),
    ):
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert told in caught.value.message
        assert caught.value.hint


def test_a_value_that_holds_itself_is_refused(memory: Recollect) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(InvalidInput, match="too many levels"):
        memory.recall("q", filter={"metadata.a": endless})


@pytest.mark.parametrize(
    "hostile",
    [
        "'; DROP TABLE memories; --",
        "t1' OR '1'='1",
        "%",
        "_",
        "\\",
        '"',
        "$.a",
        "json_extract(metadata, '$')",
    ],
)
def test_what_looks_like_a_query_is_a_text_like_any_other(memory: Recollect, hostile: str) -> None:
    memory.remember("one", thread="t1")
    memory.remember("two", thread=hostile)
    for asked in (
        {"thread": hostile},
        {"thread": {"in": [hostile]}},
        {"thread": {"contains": hostile}, "not": {"thread": "t1"}},
    ):
        (found,) = memory.recall(filter=asked).results
        assert found.fact.content == "two"
    assert memory.recall(filter={f"metadata.{hostile}x": "1"}).results == ()
    assert len(memory.list().items) == 2


def test_an_answer_tells_the_filter_as_it_was_asked(memory: Recollect) -> None:
    asked = {"thread": "t1", "or": [{"speaker": {"ne": "Ann"}}, {"metadata.a": [1, {"b": None}]}]}
    told = memory.recall("q", filter=asked)
    assert told.query["filter"] == asked
    body = {name: one for name, one in told.query.items() if name != "active_hours"}
    again = memory.respond(RecallRequest.from_dict(json.loads(json.dumps(body))))
    assert again.to_dict() == told.to_dict()


def test_a_filter_that_was_asked_cannot_be_altered_afterwards(memory: Recollect) -> None:
    told = memory.recall("q", filter={"thread": {"in": ["t1"]}}).query["filter"]
    with pytest.raises(TypeError, match="cannot be changed"):
        told["thread"] = "t2"
    with pytest.raises(TypeError, match="cannot be changed"):
        told["thread"]["in"].append("t2")
    with pytest.raises(TypeError, match="cannot be changed"):
        del told["thread"]
