"""Since, until, thread, speaker, now: what an answer looks through, and what it left out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from recollect import Recollect
from recollect.errors import InvalidInput
from recollect.model import RecallRequest, RecallResponse
from recollect.testing import FakeClock

# What the fake clock says at first.
WRITTEN = "2026-01-01"


def texts(answer: RecallResponse) -> set[str]:
    return {one.fact.content for one in answer.results}


def left_out(answer: Any) -> list[int | None]:
    return [one.count for one in answer.dropped if one.stage == "window"]


@pytest.fixture
def talk(memory: Recollect) -> Recollect:
    turns = (
        ("tea in April", "t1", "Ann Lee", "2023-04-30T23:59:59Z"),
        ("tea in May", "t1", "Bob", "2023-05-01"),
        ("tea in June", "t2", "ann  lee", "2023-06-30T18:00:00+02:00"),
        ("tea some day", "t2", None, "when the swallows came"),
    )
    for text, thread, speaker, at in turns:
        memory.remember(text, thread=thread, speaker=speaker, occurred_at=at)
    memory.remember("tea without a time")
    return memory


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (
            {"since": "2023-05-01"},
            {"tea in May", "tea in June", "tea some day", "tea without a time"},
        ),
        ({"until": "2023-04-30"}, {"tea in April"}),
        ({"since": "2023-05-01", "until": "2023-05-01"}, {"tea in May"}),
        ({"since": "2023-06-30T16:00:00Z", "until": "2023-06-30T16:00:00Z"}, {"tea in June"}),
        ({"since": "2023-06-30T18:00:00+02:00", "until": date(2023, 6, 30)}, {"tea in June"}),
        ({"until": datetime(2023, 5, 1)}, {"tea in April", "tea in May"}),
        ({"until": datetime(2023, 4, 30, 23, 59, 58, tzinfo=UTC)}, set()),
        ({"since": WRITTEN, "until": WRITTEN}, {"tea some day", "tea without a time"}),
        ({"thread": "t1"}, {"tea in April", "tea in May"}),
        ({"thread": "T1"}, set()),
        ({"speaker": "ANN LEE"}, {"tea in April", "tea in June"}),
        ({"speaker": "ann lee", "thread": "t2"}, {"tea in June"}),
        ({"speaker": "ann lee", "since": "2023-05-01"}, {"tea in June"}),
    ],
)
def test_an_answer_is_from_the_time_the_thread_and_the_speaker_asked_for(
    talk: Recollect, asked: dict[str, Any], found: set[str]
) -> None:
    assert texts(talk.recall("tea", top_k=10, **asked)) == found
    assert texts(talk.recall(top_k=10, **asked)) == found


def test_what_a_window_left_out_is_counted_among_what_else_was_asked_for(talk: Recollect) -> None:
    assert left_out(talk.recall("tea", since="2023-05-01")) == [1]
    assert left_out(talk.recall("tea", since="2023-05-01", thread="t2")) == []
    assert left_out(talk.recall("tea", until="2020-01-01", thread="t1")) == [2]
    assert left_out(talk.recall("tea", thread="t1")) == []
    (told,) = talk.recall("tea", until="2020-01-01").to_dict()["dropped"]
    assert told == {
        "pak_id": "",
        "stage": "window",
        "count": 5,
        "reason": "not from the time asked for, until 2020-01-01T23:59:59.999999Z",
    }


def test_a_frame_that_is_empty_because_of_its_window_says_so(talk: Recollect) -> None:
    full, empty = talk.frame("attention", "tea"), talk.frame("attention", "tea", until="2020-01-01")
    assert (full.empty_because, empty.text) == (None, "")
    assert empty.empty_because == (
        "5 not from the time asked for, until 2020-01-01T23:59:59.999999Z"
    )
    assert empty.to_dict()["empty_because"] == empty.empty_because
    assert "empty_because" not in full.to_dict()


def test_what_a_frame_s_own_window_left_out_is_counted_too(
    open_memory: Callable[..., Recollect], clock: FakeClock
) -> None:
    memory = open_memory(links=False, hours="wall")
    memory.frames.register("recent", extends="attention", filters={"search_window_hours": 2.0})
    memory.remember("old tea")
    clock.advance(hours=5)
    memory.remember("new coffee", request_id="moves the clock")
    clock.advance(hours=5)
    shown = memory.frame("recent", "tea")
    assert (shown.text, left_out(shown)) == ("", [2])
    assert shown.empty_because == (
        "2 not used in the last 2 active hours, which is all that recent sees"
    )


@pytest.mark.parametrize(
    "narrowed",
    [
        {"thread": "t1"},
        {"speaker": "bob"},
        {"until": "2023-05-31"},
        {"filter": {"thread": "t1"}},
    ],
)
def test_a_frame_holds_what_a_recall_with_the_same_filters_would(
    talk: Recollect, narrowed: dict[str, Any]
) -> None:
    frame = talk.frame("attention", "tea", top_k=10, **narrowed)
    recall = talk.recall("tea", frame="attention", top_k=10, token_budget=2000, **narrowed)
    assert {one.content for one in frame.blocks} == texts(recall) != set()


def test_a_kept_frame_is_given_to_nobody_who_asks_with_other_filters(talk: Recollect) -> None:
    talk.frames.register("kept", extends="attention", cache={"ttl_seconds": 600})
    first = talk.frame("kept", "tea", thread="t1")
    other = talk.frame("kept", "tea", thread="t2")
    again = talk.frame("kept", "tea", thread="t1")
    assert {one.content for one in first.blocks} == {"tea in April", "tea in May"}
    assert {one.content for one in other.blocks} == {"tea in June", "tea some day"}
    assert (other.cached, again.cached, again.text) == (False, True, first.text)
    empty = talk.frame("kept", "tea", until="2020-01-01")
    assert talk.frame("kept", "tea", until="2020-01-01").cached
    assert empty.empty_because is not None


def test_now_is_the_time_that_an_answer_is_given_at(memory: Recollect) -> None:
    memory.remember("the offer holds", valid_until="2024-01-01T00:00:00Z")
    memory.remember("we signed yesterday", occurred_at="2024-03-09")
    before, after = "2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z"
    assert texts(memory.recall("offer", now=before)) == {"the offer holds"}
    assert texts(memory.recall("offer", now=after)) == set()
    later = memory.recall("what did we do yesterday?", now="2024-03-10T08:00:00+01:00")
    (found,) = later.results
    assert later.generated_at == later.query["now"] == "2024-03-10T07:00:00Z"
    assert found.signals.date == 1.0
    assert memory.recall("what did we do yesterday?").results[0].signals.date == 0.0


def test_an_answer_at_a_time_leaves_the_clock_as_it_is(memory: Recollect) -> None:
    memory.remember("tea")
    first = memory.recall("tea").to_dict()
    memory.recall("tea", now="2199-01-01T00:00:00Z")
    assert memory.recall("tea").to_dict() == first


def test_the_explanation_names_the_window_and_the_filter(talk: Recollect) -> None:
    (april,) = (one.pak_id for one in talk.list().items if one.content == "tea in April")
    window = talk.explain(april, RecallRequest("tea", since="2023-05-01"))
    assert (window.stage, window.reason) == (
        "window",
        "Outside the window: it is from 2023-04-30T23:59:59Z.",
    )
    other = talk.explain(april, RecallRequest("tea", thread="t2", since="2023-05-01"))
    assert (other.stage, other.reason) == ("filter", "Filtered out: only thread t2 was asked for.")
    framed = talk.explain(april, RecallRequest("tea", speaker="Bob"), frame="attention")
    assert (framed.stage, framed.query["speaker"]) == ("filter", "Bob")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"since": "last week"}, "since must be a day or an ISO-8601 time, not 'last week'."),
        ({"until": 7}, "until must be a day or an ISO-8601 time, not 7."),
        ({"since": "2024-01-02", "until": "2024-01-01"}, "until 2024-01-01T23:59:59.999999Z is"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "since must be an ISO-8601 time in UTC"),
        ({"thread": ""}, "thread is blank."),
        ({"speaker": 3}, "speaker must be a text, not 3."),
        ({"now": "2024-01-01"}, "now must be an ISO-8601 time in UTC, not '2024-01-01'."),
    ],
)
def test_a_time_or_a_name_that_is_none_is_refused(
    memory: Recollect, asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.recall("tea", **asked)
    assert told in caught.value.message
    assert caught.value.hint


def test_hooks_see_what_narrows_a_recall_and_a_frame(talk: Recollect) -> None:
    seen: list[dict[str, Any]] = []
    talk.hooks.register("pre_recall", seen.append)
    talk.hooks.register("pre_frame", seen.append)
    narrowed: dict[str, Any] = {"since": "2023-05-01", "thread": "t1", "filter": {"speaker": "Bob"}}
    talk.recall("tea", project="acme/web", **narrowed)
    talk.frame("attention", "tea", project="acme/web", **narrowed)
    for payload in seen:
        assert payload["namespace"] == "acme/web"
        assert payload["since"] == "2023-05-01T00:00:00Z"
        assert (payload["thread"], payload["filter"]) == ("t1", {"speaker": "Bob"})
    assert len(seen) == 2
