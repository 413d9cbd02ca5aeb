"""Bad input: an error of ours that says what to do, and not a byte written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.engine.looking import everything_stored

from recollect import Recollect, RecollectError
from recollect.model import canonical_json
from recollect.paks import UnknownPak
from recollect.recall.select import SelectQuery
from recollect.write.draft import ARGUMENTS

Act = Callable[[Recollect], object]

TEXTS = {
    "empty": "",
    "blank": " \n\t\u2003",
    "5 MB": "x" * 5_000_000,
    "half a surrogate pair": "a\ud800b",
    "NUL": "a\x00b",
    "bytes": b"text",
    "none": None,
    "number": 5,
}
CONFIDENCES = [float("nan"), float("inf"), float("-inf"), -0.1, 1.1, True, "1", 10**400]
ARGUMENT_VALUES: dict[str, list[Any]] = {
    "tags": ["abc", 5, None, [5], [""], ["a\x00"], ["\ud800"], [f"t{n}" for n in range(10_000)]],
    "confidence": CONFIDENCES,
    "now": [
        "tomorrow",
        "2026-01-01T00:00:00",
        "2026-01-03T00:00:01Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+02:00",
        1_767_225_600,
        "",
    ],
    "occurred_at": [
        True,
        1_683_554_160_000,
        float("nan"),
        [2023],
        b"2023",
        "",
        "\ud800",
        "x" * 1001,
    ],
    "valid_until": ["2026-13-01", 5, ""],
    "project": ["", "  ", 5],
    "source": [" ", 5],
    "title": ["", 5, "x" * 1001],
    "pak_id": ["", " ", 5, "x" * 1001, "\ud800"],
    "category": ["", 5],
    "turn": [-1, 10**10, True, "1", 0.5],
}


def refused(memory: Recollect, act: Act) -> RecollectError:
    """Return the error of an act that must have left everything as it was."""
    before = everything_stored(memory)
    with pytest.raises(ValueError, match=r".") as caught:
        act(memory)
    error = caught.value
    assert isinstance(error, RecollectError)
    assert error.hint
    assert len(str(error)) < 600
    assert everything_stored(memory) == before
    return error


@pytest.fixture
def filled(memory: Recollect) -> Recollect:
    memory.remember("a note", pak_id="a")
    memory.remember("another note", pak_id="b")
    return memory


@pytest.mark.parametrize("what", TEXTS)
def test_a_text_that_cannot_be_kept_is_refused(filled: Recollect, what: str) -> None:
    error = refused(filled, lambda memory: memory.remember(TEXTS[what]))  # type: ignore[arg-type]
    assert "content" in str(error)


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in ARGUMENT_VALUES.items() for value in values],
    ids=lambda value: ascii(value)[:30],
)
def test_a_bad_argument_is_refused_by_name(filled: Recollect, field: str, value: object) -> None:
    error = refused(filled, lambda memory: memory.remember("x", **{field: value}))  # type: ignore[arg-type]
    assert ("tag" if field == "tags" else field) in str(error)


@pytest.mark.parametrize("field", sorted(set(ARGUMENTS) - {"content", "confidence", "ttl"}))
@pytest.mark.parametrize("value", [True, b"x", {1: 2}], ids=str)
def test_a_value_of_the_wrong_type_is_refused(filled: Recollect, field: str, value: object) -> None:
    refused(filled, lambda memory: memory.remember("x", **{field: value}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        5,
        None,
        {},
        {"content": " "},
        {"content": "x", "colour": "red"},
        {"content": "x", "source": " "},
        {"content": "x", "confidence": float("nan")},
        {5: "x"},
    ],
    ids=ascii,
)
def test_one_bad_among_many_is_one_too_many(filled: Recollect, bad: Any) -> None:
    # The bad one would come in the second of the transactions that many are written in.
    items = [*(f"note {n}" for n in range(520)), bad]
    refused(filled, lambda memory: memory.remember_many(items))


@pytest.mark.parametrize("items", ["a text", b"bytes", 5, None, {"content": "x"}], ids=ascii)
def test_many_must_be_a_list(filled: Recollect, items: Any) -> None:
    refused(filled, lambda memory: memory.remember_many(items))


def test_many_may_be_none_at_all_or_come_from_anywhere(filled: Recollect) -> None:
    assert filled.remember_many([]) == []
    assert len(filled.remember_many(f"note {n}" for n in range(3))) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": 5},
        {"query": b"x"},
        {"frame": "nope"},
        {"frame": 5},
        {"frame": None},
        *({"top_k": value} for value in (0, -1, 1001, 2.0, "5", True, None)),
        *({"token_budget": value} for value in (0, -1, 2.5, "5", True)),
        *({"tags": value} for value in ("abc", 5, [5], {"a": 1})),
        *({"project": value} for value in (5, ["shop"], "\ud800")),
    ],
    ids=ascii,
)
def test_a_bad_question_is_refused(filled: Recollect, arguments: dict[str, Any]) -> None:
    refused(filled, lambda memory: memory.recall(**{"query": "note", **arguments}))


@pytest.mark.parametrize(
    "arguments",
    [{"name": "nope"}, {"name": None}, {"query": 5}, {"top_k": 0}, {"token_budget": 0}],
    ids=ascii,
)
def test_a_bad_frame_call_is_refused(filled: Recollect, arguments: dict[str, Any]) -> None:
    refused(filled, lambda memory: memory.frame(**{"name": "attention", **arguments}))


@pytest.mark.parametrize("weight", [0, -1, 1.01, float("nan"), float("inf"), True, "1", None])
def test_a_link_has_a_weight_above_0_up_to_1(filled: Recollect, weight: Any) -> None:
    refused(filled, lambda memory: memory.link("a", "b", weight=weight))


@pytest.mark.parametrize("verb", ["link", "dispute", "resolve"])
def test_two_different_memories_are_needed(filled: Recollect, verb: str) -> None:
    refused(filled, lambda memory: getattr(memory, verb)("a", "a"))
    before = everything_stored(filled)
    for other in ("nobody", "", 5, None, "\ud800"):
        with pytest.raises(UnknownPak):
            getattr(filled, verb)("a", other)
    assert everything_stored(filled) == before


@pytest.mark.parametrize("note", [5, "\ud800", b"x"], ids=ascii)
def test_a_note_is_a_text(filled: Recollect, note: Any) -> None:
    refused(filled, lambda memory: memory.dispute("a", "b", note=note))


def test_odd_questions_are_answered(filled: Recollect) -> None:
    for query in (
        "\ud800",
        "a\x00note",
        "note " * 20_000,
        "😀",
        "'; DROP TABLE paks; --",
        '"',
        "%",
    ):
        answer = filled.recall(query)
        assert canonical_json(answer).encode()
    assert filled.stats()["memories"] == 2


@pytest.mark.parametrize(
    "act",
    [
        lambda memory, query: memory.recall(query),
        lambda memory, query: memory.frame("attention", query),
        lambda memory, query: memory.select(SelectQuery(query)),
        lambda memory, query: memory.explain("a", query),
        lambda memory, query: memory.explain("a", query, frame="attention"),
        lambda memory, query: memory.explain("a", SelectQuery(query)),
    ],
)
def test_a_question_of_more_than_100_000_characters_is_refused(
    filled: Recollect, act: Callable[[Recollect, str], object]
) -> None:
    act(filled, "note " * 20_000)
    error = refused(filled, lambda memory: act(memory, "note " * 20_000 + "x"))
    assert "100,001 characters; the most is 100,000" in str(error)


def test_odd_but_sound_texts_are_kept_to_the_letter(filled: Recollect) -> None:
    texts = ["😀", "\u200b", "a" * 1_000_000, "'; DROP TABLE paks; --", "\ufffe", "x\r\ny", "…"]
    made = filled.remember_many(texts)
    assert [filled.get(one.pak_id).content for one in made] == texts  # type: ignore[union-attr]
    assert filled.check() == ()


def test_a_clock_up_to_a_day_ahead_is_believed(filled: Recollect) -> None:
    made = filled.remember("x", now="2026-01-02T00:00:00Z")
    assert filled.get(made.pak_id).created_at == "2026-01-02T00:00:00Z"  # type: ignore[union-attr]


def test_unknown_hours_are_refused(tmp_path: Any) -> None:
    with pytest.raises(RecollectError, match="active or wall"):
        Recollect.open(tmp_path / "a.db", hours="lunar", embedder="none")  # type: ignore[arg-type]
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize("wrong", [{}, [], 5])
def test_what_is_no_name_is_refused_wherever_a_memory_or_a_garden_is_named(
    tmp_path: Path, wrong: Any
) -> None:
    with Recollect.open(tmp_path / "a.db", embedder="none") as memory:
        memory.remember("tea", pak_id="tea")
        for call in (
            lambda: memory.dispute(wrong, "tea"),
            lambda: memory.resolve("tea", wrong),
            lambda: memory.link("tea", wrong),
            lambda: memory.ingest([{"content": "tea"}], source="mail", garden=wrong),
        ):
            with pytest.raises(RecollectError):
                call()
