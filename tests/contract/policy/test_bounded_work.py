"""What an answer costs is bounded by what the caller asks and may read: not by what others keep."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from recollect import Recollect
from recollect.index import postings, speakers
from recollect.index.columns import Vocabulary
from recollect.limits import (
    ALIKE_COMPARED,
    NOVELTY_COMPARED,
    PEOPLE_NAMED,
    TIMES_NAMED,
    WORDS_ASKED,
)
from recollect.model import Principal
from recollect.recall import guarantee, pipeline, question, repeats, same
from recollect.recall.times import closeness, day_of, times_in

MEGABYTE = 1 << 20
TODAY = day_of(1_780_000_000)


@pytest.fixture
def open_memory(open_memory: Callable[..., Recollect]) -> Callable[..., Recollect]:
    def open_it(name: str = "agent.db", **options: Any) -> Recollect:
        return open_memory(name, **{"links": False, "embedder": "none", **options})

    return open_it


def steps_of(call: Callable[[], object]) -> int:
    """Return how many lines of our code a call runs: work, whatever else the machine does."""
    count = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal count
        if "recollect" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def peak_of(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def words(count: int) -> list[str]:
    letters = "bcdfghjklmnpqrstvwxz"
    return [
        "".join(letters[at // 20**place % 20] for place in range(4)) + "o" for at in range(count)
    ]


def test_a_long_question_among_many_turns_takes_little_memory(
    open_memory: Callable[..., Recollect],
) -> None:
    memory, known = open_memory(), words(16_000)
    chosen = random.Random(1)
    memory.remember_many(
        {"content": " ".join(chosen.sample(known, 20)), "thread": f"t{at % 7}"}
        for at in range(1_500)
    )
    long = " ".join(known)
    memory.recall("first")
    assert peak_of(lambda: memory.recall(long)) < 64 * MEGABYTE
    assert peak_of(lambda: memory.recall(long, top_k=1000, diversity=0.5)) < 128 * MEGABYTE


def test_the_rarest_words_of_a_long_question_count(open_memory: Callable[..., Recollect]) -> None:
    memory = open_memory()
    common = words(WORDS_ASKED)
    for number in range(3):
        memory.remember(f"{number} " + " ".join(common))
    memory.remember("the quokka sleeps", pak_id="rare")
    absent = " ".join(f"zz{word}" for word in common)
    answer = memory.recall(f"{absent} {' '.join(common)} quokka", top_k=5)
    why = {one.fact.pak_id: " ".join(one.why) for one in answer.results}
    assert "quokka" in why["rare"]


def test_of_words_equally_rare_the_first_of_the_alphabet_count(
    open_memory: Callable[..., Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question, "WORDS_ASKED", 2)
    memory = open_memory()
    for word in ("quokka", "badger", "zebra", "marten"):
        memory.remember(f"{word} sleeps", pak_id=word)
    found = memory.recall("zebra quokka absent marten badger").results
    assert {one.fact.pak_id for one in found} == {"badger", "marten"}


def test_which_words_count_does_not_depend_on_what_is_hidden(
    open_memory: Callable[..., Recollect],
) -> None:
    asked, answers = " ".join(words(WORDS_ASKED + 50)), []
    for hidden in (False, True):
        memory = open_memory(f"{hidden}.db")
        ann = memory.as_principal(Principal("acme", "ann"))
        dan = memory.as_principal(Principal("globex", "dan"))
        for word in words(40):
            ann.remember(f"{word} is here", pak_id=word)
            if hidden:
                dan.remember_many(f"{word} {at}" for at in range(3))
        found = ann.recall(asked, top_k=50).results
        answers.append([(one.fact.pak_id, one.score) for one in found])
    assert answers[0] == answers[1]
    assert len(answers[0]) == 40


def test_a_short_question_keeps_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "WORDS_ASKED", 3)
    assert question._counting(["a", "b", "c"], None, None) == ["a", "b", "c"]  # type: ignore[arg-type]


def test_in_parts_or_at_once_words_lend_the_same(
    open_memory: Callable[..., Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, known = open_memory(), words(60)
    chosen = random.Random(2)
    memory.remember_many(
        {"content": " ".join(chosen.sample(known, 9)), "thread": f"t{at % 3}"} for at in range(90)
    )

    def answer() -> list[tuple[str, float]]:
        found = memory.recall(" ".join(known[:30]), top_k=50).results
        return [(one.fact.pak_id, one.score) for one in found]

    at_once = answer()
    monkeypatch.setattr("recollect.recall.context._CELLS", 1)
    assert answer() == at_once


def nothing(_: Recollect) -> None:
    """Keep nothing."""


def namesakes(dan: Recollect) -> None:
    dan.remember_many(
        {"content": f"n {at}", "speaker": f"the {at}", "scope": "company"} for at in range(2_000)
    )


def tags(dan: Recollect) -> None:
    dan.remember_many(
        {"content": f"n {at}", "tags": [f"self/{at}/{tag}" for tag in range(5)]}
        for at in range(2_200)
    )


def newest_tags(dan: Recollect) -> None:
    dan.remember_many(
        {"content": f"n {at}", "tags": [f"self/{at}/{tag}" for tag in range(100)]}
        for at in range(50)
    )


def years(dan: Recollect) -> None:
    dan.remember_many(
        {"content": f"n {at}", "occurred_at": f"{1_000 + at}-05-08"} for at in range(2_000)
    )


def steps_after(
    open_memory: Callable[..., Recollect],
    fill: Callable[[Recollect], None],
    ask: Callable[[Recollect], object],
) -> int:
    """Return the steps of a question in a store where dan of another tenant has kept things."""
    memory = open_memory(f"{fill.__name__}.db")
    ann = memory.as_principal(Principal("acme", "ann"))
    ann.remember("the kiln is booked", speaker="the potter", tags=["self/goal"], thread="t")
    fill(memory.as_principal(Principal("globex", "dan")))
    ask(ann)
    ann.remember("one more", tags=["self/value"])
    ann.get("nothing")
    return steps_of(lambda: ask(ann))


@pytest.mark.parametrize("fill", [namesakes, tags, newest_tags, years])
@pytest.mark.parametrize(
    "ask",
    [lambda ann: ann.recall("who booked the kiln in May?"), lambda ann: ann.frame("self")],
    ids=["recall", "frame"],
)
def test_work_does_not_grow_with_speakers_tags_and_years_of_others(
    open_memory: Callable[..., Recollect],
    fill: Callable[[Recollect], None],
    ask: Callable[[Recollect], object],
) -> None:
    few = steps_after(open_memory, nothing, ask)
    assert steps_after(open_memory, fill, ask) <= few * 1.1


def test_the_slots_of_a_prefix_are_those_of_its_names() -> None:
    held = postings.Postings()
    for first in range(0, 6_000, 1_000):
        held.extend([[f"self/{at % 7}", f"x/{at}"] for at in range(first, first + 1_000)], first)
    for prefix in ("self/", "x/1", "self/3", "", "y"):
        names = held.starting_with(prefix)
        slow = {slot for one in held.get(names) for slot in one.slots.tolist()}
        assert set(held.slots_starting_with(prefix).tolist()) == slow
    again = postings.Postings.restore(**held.export())
    assert sorted(set(again.slots_starting_with("x/1").tolist())) == sorted(
        at for at in range(6_000) if str(at).startswith("1")
    )


def test_of_too_many_who_are_named_those_whose_name_is_said_most_count() -> None:
    names = [f"Ann {word}" for word in words(200)]
    heard = np.ones(len(names), np.bool_)
    last = names[-1].split()[1]
    said = {"ann": "Ann", last: last}
    found = speakers.Speakers(Vocabulary(names)).find_named(said, heard)
    assert len(found) == PEOPLE_NAMED
    assert found[0].name == names[-1]
    heard[100:] = False
    few = speakers.Speakers(Vocabulary(names)).find_named({"ann": "Ann"}, heard)
    assert [one.name for one in few] == sorted(names[:100])[:PEOPLE_NAMED]


def test_a_question_names_so_many_times_and_no_more() -> None:
    found = times_in(" ".join(f"on {1900 + at}-05-08" for at in range(90)), TODAY)
    assert [one.words for one in found] == [f"{1900 + at}-05-08" for at in range(TIMES_NAMED)]


def test_a_month_of_every_year_is_compared_with_the_years_beside_a_day() -> None:
    days = np.arange(-700_000, 2_900_000, 401)
    once = steps_of(lambda: closeness(days[:9], times_in("in May", TODAY)))
    assert steps_of(lambda: closeness(days, times_in("in May", TODAY))) <= once


def test_of_results_that_look_alike_a_bounded_number_is_compared(
    open_memory: Callable[..., Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, compared = open_memory(), 0
    people = ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gus"]
    chosen = random.Random(3)
    memory.remember_many(
        {"content": "told " + " then ".join(chosen.sample(people, 7)), "pak_id": f"p{at}"}
        for at in range(300)
    )
    counted = same.say_the_same

    def count(one: Any, other: Any) -> bool:
        nonlocal compared
        compared += 1
        return counted(one, other)

    monkeypatch.setattr(repeats, "say_the_same", count)
    assert len(memory.recall("who told then?", top_k=200).results) == 200
    # Texts are fetched in parts, each about twice the one before, and compared from the start.
    assert 0 < compared <= 2 * 300 * ALIKE_COMPARED


def test_who_says_the_same_is_looked_for_among_a_bounded_number(
    open_memory: Callable[..., Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    text = "the kiln of the shop is lit until may"
    memory.remember_many({"content": text, "pak_id": f"p{at}"} for at in range(6))
    memory.remember("the kiln was lit by Carla in spring and it smoked", pak_id="other")

    def told() -> list[str]:
        found = memory.recall("kiln of the shop lit until may", top_k=2).results
        return [one.fact.pak_id for one in found]

    assert "other" in told()
    monkeypatch.setattr(guarantee, "LOOKED_AT", 4)
    assert "other" not in told()


def test_novelty_is_compared_among_a_bounded_number(
    open_memory: Callable[..., Recollect], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(embedder="static")
    memory.remember_many(f"the kiln number {at} is booked" for at in range(60))
    whole = memory.recall("kiln", top_k=5, diversity=0.5)
    monkeypatch.setattr(pipeline, "NOVELTY_COMPARED", 10)
    part = memory.recall("kiln", top_k=5, diversity=0.5)
    best = memory.recall("kiln", top_k=10, diversity=1).results
    assert {one.fact.pak_id for one in part.results} <= {one.fact.pak_id for one in best}
    assert len(whole.results) == len(part.results) == 5
    assert NOVELTY_COMPARED**2 * 8 <= 32 * MEGABYTE
