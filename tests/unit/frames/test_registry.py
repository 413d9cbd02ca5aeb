from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import InvalidInput, RecollectError
from recollect.frames import (
    ATTENTION_FRAME,
    BUILTIN_FRAMES,
    SELF_FRAME,
    FrameExists,
    FrameImmutable,
    FrameRegistry,
    UnknownFrame,
)
from recollect.model import CachePolicy, FrameDefinition, FrameFilters, Weights
from recollect.recall.render import UnknownTemplate

SHARES = {
    "similarity": 0.40,
    "confidence": 0.40,
    "recency": 0.10,
    "centrality": 0.05,
    "reinforcement": 0.05,
}


class Rows:
    """Frames kept in a dictionary; counts nothing, checks nothing."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[FrameDefinition, str | None]] = {}
        self.invalidated: list[str] = []

    def change(
        self, act: Callable[[], FrameDefinition | None], **_: object
    ) -> FrameDefinition | None:
        return act()

    def load(self) -> Mapping[str, tuple[FrameDefinition, str | None]]:
        return dict(self.kept)

    def save(self, definition: FrameDefinition, extends: str | None) -> None:
        self.kept[definition.name] = (definition, extends)

    def delete(self, name: str) -> None:
        del self.kept[name]

    def invalidate(self, name: str) -> None:
        self.invalidated.append(name)


@pytest.fixture
def rows() -> Rows:
    return Rows()


@pytest.fixture
def frames(rows: Rows) -> FrameRegistry:
    return FrameRegistry(rows)


def test_a_frame_of_ones_own_has_the_given_weights_and_the_defaults(
    frames: FrameRegistry, rows: Rows
) -> None:
    frame = frames.register("debug", weights=SHARES)

    assert frame == FrameDefinition(name="debug", weights=Weights(0.40, 0.40, 0.10, 0.05, 0.05))
    assert rows.kept == {"debug": (frame, None)}
    assert FrameRegistry(rows).get("debug") == frame


def test_extending_takes_over_what_is_not_given(frames: FrameRegistry, rows: Rows) -> None:
    frame = frames.register("me", extends="self", token_budget=300, cache=None)

    assert frame == replace(SELF_FRAME, name="me", token_budget=300, cache=None, source="user")
    assert frames.extends("me") == "self"
    assert frames.extends("self") is None


def test_a_mapping_changes_the_fields_it_names(frames: FrameRegistry) -> None:
    frame = frames.register(
        "me", extends="self", filters={"categories": ["rule"]}, cache={"ttl_seconds": 60}
    )

    assert frame.filters == FrameFilters(tag_patterns=("self/%",), categories=("rule",))
    assert frame.cache == CachePolicy(60, ("self_block_change", "curate_complete"))


def test_a_value_object_replaces_a_part_whole(frames: FrameRegistry) -> None:
    frame = frames.register("me", extends="self", filters=FrameFilters(categories=("rule",)))

    assert frame.filters == FrameFilters(categories=("rule",))
    assert frame.cache == SELF_FRAME.cache


def test_a_cache_can_be_given_to_a_frame_that_had_none(frames: FrameRegistry) -> None:
    frame = frames.register("mine", extends="attention", cache={"ttl_seconds": 5})

    assert frame.cache == CachePolicy(5, ("self_block_change",))


def test_what_a_frame_extends_is_resolved_at_registration(frames: FrameRegistry) -> None:
    frames.register("base", extends="attention", token_budget=100)
    child = frames.register("child", extends="base")

    frames.update("base", token_budget=999)
    frames.delete("base")

    assert frames.get("child") == child
    assert child.token_budget == 100
    assert frames.extends("child") == "base"


def test_lists_become_tuples_so_that_a_frame_can_be_a_key(frames: FrameRegistry) -> None:
    frame = frames.register(
        "mine",
        weights=SHARES,
        filters={"tag_patterns": ["a/%", "b"], "categories": ["c"], "search_window_hours": 5},
        guarantees=["x/%"],
        cache={"invalidate_on": ["curate_complete"]},
    )

    assert hash(frame) == hash(FrameDefinition.from_dict(frame.to_dict()))


def test_an_update_changes_what_is_given_and_keeps_the_rest(frames: FrameRegistry) -> None:
    frames.register("mine", extends="task", guarantees=["a"])

    updated = frames.update("mine", template="self", filters={"search_window_hours": None})

    assert updated == frames.get("mine")
    assert updated.template == "self"
    assert updated.guarantees == ("a",)
    assert updated.filters == FrameFilters(search_window_hours=None)
    assert frames.extends("mine") == "task"


def test_an_update_can_switch_the_cache_off_or_leave_it(frames: FrameRegistry) -> None:
    frames.register("mine", extends="self")

    assert frames.update("mine", token_budget=1).cache == SELF_FRAME.cache
    assert frames.update("mine", cache=None).cache is None


def test_a_refused_change_leaves_everything_as_it_was(frames: FrameRegistry, rows: Rows) -> None:
    frames.register("mine", extends="self")
    before = rows.load()

    with pytest.raises(InvalidInput):
        frames.update("mine", token_budget=10, template="haiku")
    with pytest.raises(InvalidInput):
        frames.register("other", extends="self", token_budget=0)

    assert rows.load() == before


def test_the_list_has_built_in_frames_first_then_ones_own_by_name(frames: FrameRegistry) -> None:
    frames.register("zeta", extends="self")
    frames.register("alpha", extends="self")

    assert [frame.name for frame in frames.list()] == [*BUILTIN_FRAMES, "alpha", "zeta"]


def test_a_deleted_frame_is_unknown(frames: FrameRegistry) -> None:
    frames.register("mine", extends="self")
    frames.delete("mine")

    with pytest.raises(UnknownFrame):
        frames.get("mine")
    with pytest.raises(UnknownFrame):
        frames.delete("mine")


@pytest.mark.parametrize("name", BUILTIN_FRAMES)
def test_built_in_frames_are_immutable(frames: FrameRegistry, rows: Rows, name: str) -> None:
    with pytest.raises(FrameImmutable):
        frames.register(name, weights=SHARES)
    with pytest.raises(FrameImmutable):
        frames.update(name, token_budget=1)
    with pytest.raises(FrameImmutable):
        frames.delete(name)

    assert rows.kept == {}
    assert frames.get(name) is BUILTIN_FRAMES[name]


def test_a_stored_row_never_hides_a_built_in_frame(frames: FrameRegistry, rows: Rows) -> None:
    rows.save(replace(ATTENTION_FRAME, token_budget=1, source="user"), None)

    assert frames.get("attention") is ATTENTION_FRAME
    assert [frame.name for frame in frames.list()] == list(BUILTIN_FRAMES)


def test_a_name_is_registered_once(frames: FrameRegistry) -> None:
    frames.register("mine", extends="self")

    with pytest.raises(FrameExists, match="mine"):
        frames.register("mine", extends="task")


def test_an_unknown_frame_is_refused_with_the_known_ones(frames: FrameRegistry) -> None:
    frames.register("mine", extends="self")

    for call in (frames.get, frames.update, frames.delete, frames.extends):
        with pytest.raises(UnknownFrame) as caught:
            call("nobody")
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, LookupError)
        assert isinstance(caught.value, RecollectError)
        assert caught.value.code == "unknown_frame"
        assert caught.value.hint == "known frames: self, attention, task, evidence, mine."
        assert "nobody" in str(caught.value)


def test_only_a_known_frame_can_be_extended(frames: FrameRegistry) -> None:
    with pytest.raises(UnknownFrame):
        frames.register("mine", extends="mine")


@pytest.mark.parametrize("name", [None, 7, ["self"]])
def test_a_name_of_another_type_is_unknown_too(frames: FrameRegistry, name: Any) -> None:
    with pytest.raises(UnknownFrame):
        frames.get(name)


@pytest.mark.parametrize("name", ["a", "a" * 63, "my_frame-2"])
def test_good_names_are_taken(frames: FrameRegistry, name: str) -> None:
    assert frames.register(name, extends="self").name == name


@pytest.mark.parametrize("name", ["", "A", "1a", "-a", "a b", "a" * 64, "a\n", "é", "a/b", None, 7])
def test_bad_names_are_refused(frames: FrameRegistry, name: Any) -> None:
    with pytest.raises(InvalidInput, match="no name for a frame"):
        frames.register(name, extends="self")


def test_a_frame_without_weights_needs_another_to_extend(frames: FrameRegistry) -> None:
    with pytest.raises(InvalidInput, match="no weights"):
        frames.register("mine", token_budget=5)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("weights", {**SHARES, "similarity": 0.5}, "add up"),
        ("weights", {**SHARES, "similarity": "0.4"}, "similarity"),
        ("weights", {**SHARES, "charm": 0.0}, "charm"),
        ("weights", {"similarity": 1.0}, "confidence, recency"),
        ("weights", [0.2] * 5, "weights"),
        ("filters", {"tag_patterns": "self/%"}, "tag_patterns"),
        ("filters", {"tag_patterns": ["%self"]}, "%self"),
        ("filters", {"tag_patterns": ["a%b%"]}, "a%b%"),
        ("filters", {"tag_patterns": [""]}, "tag_patterns"),
        ("filters", {"tag_patterns": [7]}, "tag_patterns"),
        ("filters", {"tag_patterns": None}, "tag_patterns"),
        ("filters", {"categories": "observation"}, "categories"),
        ("filters", {"search_window_hours": 0}, "search_window_hours"),
        ("filters", {"search_window_hours": -1.0}, "search_window_hours"),
        ("filters", {"search_window_hours": float("nan")}, "search_window_hours"),
        ("filters", {"search_window_hours": float("inf")}, "search_window_hours"),
        ("filters", {"search_window_hours": True}, "search_window_hours"),
        ("filters", {"search_window_hours": "200"}, "search_window_hours"),
        ("filters", {"search_window_hours": 10**400}, "search_window_hours"),
        ("filters", {"colour": "red"}, "colour"),
        ("filters", ["self/%"], "filters"),
        ("filters", FrameFilters(tag_patterns="self/%"), "tag_patterns"),  # type: ignore[arg-type]
        ("guarantees", "self/goal", "guarantees"),
        ("guarantees", ["self/%/x"], "self/%/x"),
        ("guarantees", 5, "guarantees"),
        ("template", "haiku", "haiku"),
        ("template", 5, "5"),
        ("template", ["self"], "self"),
        ("token_budget", 0, "token_budget"),
        ("token_budget", -5, "token_budget"),
        ("token_budget", 5.0, "token_budget"),
        ("token_budget", True, "token_budget"),
        ("token_budget", "600", "token_budget"),
        ("token_budget", 10**400, "token_budget"),
        ("cache", {"ttl_seconds": 0}, "ttl_seconds"),
        ("cache", {"ttl_seconds": 1.5}, "ttl_seconds"),
        ("cache", {"invalidate_on": ["full_moon"]}, "full_moon"),
        ("cache", {"invalidate_on": "curate_complete"}, "invalidate_on"),
        ("cache", {"size": 5}, "size"),
        ("cache", 3600, "cache"),
        ("cache", True, "cache"),
        ("colour", "red", "colour"),
        ("source", "builtin", "source"),
    ],
)
@pytest.mark.parametrize("verb", ["register", "update"])
def test_a_field_that_cannot_work_is_refused_by_name(
    frames: FrameRegistry, rows: Rows, verb: str, field: str, value: Any, says: str
) -> None:
    frames.register("mine", extends="self")
    before = rows.load()

    with pytest.raises(InvalidInput) as caught:
        if verb == "register":
            frames.register("other", extends="self", **{field: value})
        else:
            frames.update("mine", **{field: value})

    assert says in caught.value.message
    assert caught.value.hint
    assert rows.load() == before


def test_an_unknown_template_names_the_known_ones(frames: FrameRegistry) -> None:
    with pytest.raises(UnknownTemplate) as caught:
        frames.register("mine", extends="self", template="haiku")

    assert (caught.value.hint or "").startswith("known templates: self, attention, task, evidence")
