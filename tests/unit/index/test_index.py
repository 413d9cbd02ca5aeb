from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recollect.errors import InvalidInput
from recollect.index import MemoryIndex, Where
from recollect.index.lookup import digest
from recollect.model import Memory
from recollect.ports.store import Changes, Head, IndexRow, Used, UsedLink, Uses


def row(number: int, content: str = "a text", **fields: Any) -> IndexRow:
    vector = fields.pop("vector", np.array([number % 100 + 1, 1], dtype=np.int8))
    return IndexRow(number, Memory(f"pak_{number}", content, content, **fields), vector)


def index_of(*rows: IndexRow, edges: tuple[tuple[int, int, float], ...] = ()) -> MemoryIndex:
    index = MemoryIndex.empty(2)
    return index.after(Changes(Head(1, None), rows, (), edges))


def names(index: MemoryIndex, where: Where, **options: Any) -> list[str]:
    return sorted(index.pak_ids(index.select(where, **options).slots))


def test_an_index_counts_the_living_and_knows_its_revision() -> None:
    index = index_of(row(1), row(2))
    index = index.after(Changes(Head(9, None), [row(2, "another")], [1], ()))

    assert (len(index), index.revision) == (1, 9)
    assert index.slot_of("pak_1") is None
    assert index.pak_ids(index.slots_of(["pak_2", "pak_1", "nobody"])) == ["pak_2"]


def test_a_title_counts_unless_it_is_the_content_cut_short() -> None:
    said = Memory("said", "Use Celery with Redis.", "Use Celery\u2026")
    told = Memory("told", "Use Celery with Redis.", "Queues")
    index = MemoryIndex.empty(0).after(
        Changes(Head(1, None), [IndexRow(1, said, None), IndexRow(2, told, None)], (), ())
    )
    slots = index.slots_of(["said", "told"])
    assert index.column("length")[slots].tolist() == [4, 5]
    terms = ["celeri", "queue", "redi", "use", "with"]
    assert index.document_frequencies(terms, index.select()) == [2, 1, 2, 2, 2]


def test_what_stands_for_an_id_is_the_same_for_one_and_for_all() -> None:
    index = index_of(*(row(number) for number in range(3_000)))
    index = index.after(Changes(Head(2, None), [row(7, "another"), row(9_000)], [8], ()))
    for known in (index, index.compacted(), index.packed()):
        slots = known.select().slots[::-1]
        all_at_once = known.id_digests(slots).tolist()
        assert all_at_once == [digest(pak_id) for pak_id in known.pak_ids(slots)]
        assert all_at_once == [known.id_digests(slots[n : n + 1])[0] for n in range(len(slots))]


def test_bars_are_asked_anew_after_links_changed_though_nobody_came() -> None:
    head, rows = Head(2, "learned"), np.array([1])
    index = index_of(row(1), row(2))
    index.bars.learn({1: 0.7}, head)
    index = index.after(Changes(head, (), (), ()))
    assert index.bars.of(rows, head).tolist() == [0.7]
    came = index.after(Changes(Head(3, "came"), [row(3)], (), [(1, 3, 0.8)]))
    assert came.bars.of(rows, head).tolist() == [0.7]
    repaired = came.after(Changes(Head(4, "repair"), (), (), [(1, 2, 0.9)]))
    assert np.isnan(repaired.bars.of(rows, head)).all()


def test_a_window_is_open_at_its_edge_and_only_the_active_are_in_it() -> None:
    index = index_of(
        row(1, last_reinforced=180.0),
        row(2, last_reinforced=80.0),
        row(3, last_reinforced=100.0),
        row(4, last_reinforced=290.0, status="archived"),
    )

    assert names(index, Where(reinforced_after=100.0)) == ["pak_1"]
    assert names(index, Where(active_only=False, reinforced_after=100.0)) == ["pak_1", "pak_4"]
    assert names(index, Where(statuses=("archived",))) == ["pak_4"]


ANN, BOB = ("acme", "ann"), ("acme", "bob")


def test_uses_are_of_one_principal_and_leave_selections_alone() -> None:
    index = index_of(row(1, last_reinforced=80.0), row(2, last_reinforced=200.0))
    everyone = index.select()
    for who in (ANN, BOB):
        index.learn_uses(who, Uses())
        assert index.uses_of(who) is None

    used = Uses([Used(1, 3, 150.0), Used(7, 9, 9.0)])
    index = index.after(Changes(Head(2, None), (), (), (), {ANN: used}))

    own = index.uses_of(ANN)
    assert own is not None
    slots = index.slots_of(["pak_1", "pak_2"])
    assert own.columns["reinforced"][slots].tolist() == [3, 0]
    assert own.columns["last_reinforced"][slots].tolist() == [150.0, 200.0]
    assert (own.oldest, own.of_row(1), own.of_row(2)) == (150.0, (3, 150.0), None)
    assert index.uses_of(BOB) is None
    assert index.revision == 2
    assert index.column("reinforced")[slots].tolist() == [0, 0]
    assert index.select() is everyone


def test_who_must_be_read_again_is_not_known_any_more() -> None:
    used = Uses([Used(1, 3, 1.0), Used(2, 3, 1.0)], [UsedLink(1, 2, 2)])
    index = index_of(row(1), row(2), row(3))
    index.learn_uses(ANN, used)
    for changes in (
        Changes(Head(2, None), (), (), (), {ANN: None}),
        Changes(Head(2, None), (), [2], ()),
        Changes(Head(2, None), (), (), [(1, 2, 0.5)]),
    ):
        assert not index.after(changes).knows_uses(ANN)
    for changes in (
        Changes(Head(2, None), (), (), (), {BOB: None}),
        Changes(Head(2, None), [row(4)], [3], ()),
        Changes(Head(2, None), (), (), [(1, 3, 0.5)]),
    ):
        assert index.after(changes).knows_uses(ANN)


def test_a_used_link_is_stronger_for_who_used_it_and_only_inside_a_selection() -> None:
    index = index_of(row(1), row(2), row(3))
    index = index.after(Changes(Head(2, None), (), (), [(1, 2, 0.5), (2, 3, 0.25)]))
    memories = [Used(number, 1, 1.0) for number in (1, 2)]
    index.learn_uses(ANN, Uses(memories, [UsedLink(1, 2, 2)]))
    own = index.uses_of(ANN)
    assert own is not None
    slots = index.slots_of(["pak_1", "pak_2", "pak_3"])
    assert index.degrees(index.select(), slots, gains=own.gains).tolist() == [0.7, 0.95, 0.25]
    assert index.degrees(index.select(), gains=own.gains)[slots].tolist() == [0.7, 0.95, 0.25]
    assert index.degrees(index.select(), slots[2:], gains=own.gains).tolist() == [0.25]
    assert index.degrees(index.select(), slots).tolist() == [0.5, 0.75, 0.25]
    mask = np.ones(index.size, np.bool_)
    mask[slots[0]] = False
    without = index.select(view=mask)
    assert index.degrees(without, slots, gains=own.gains).tolist() == [0.0, 0.25, 0.25]


@pytest.mark.parametrize("room", [0, 1 << 20])
def test_what_is_held_of_past_questions_changes_no_answer(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.index.statistics._POSTINGS_HELD", room)
    index = index_of(*(row(number, f"w{number % 3} w{number % 5}") for number in range(1, 31)))
    views = [np.arange(index.size) % parts == 0 for parts in range(1, 30)]

    for view in (*views, *views):
        chosen = index.select(view=view)
        held = [{f"w{n % 3}", f"w{n % 5}"} for n in index.column("row_id")[chosen.slots]]
        for names in (["w0", "w4"], ["w1", "none"], ["w0", "w1"]):
            counted = [sum(name in words for words in held) for name in names]
            assert index.document_frequencies(names, chosen) == counted


def test_a_pak_is_out_from_the_moment_it_ends() -> None:
    index = index_of(row(1, valid_until="1970-01-01T00:01:00Z"), row(2))

    assert names(index, Where(valid_at=59.0)) == ["pak_1", "pak_2"]
    assert names(index, Where(valid_at=60.0)) == ["pak_2"]
    assert names(index, Where()) == ["pak_1", "pak_2"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("self/%",), ["goal", "value"]),
        (("self%",), ["goal", "self", "value"]),
        (("self",), ["self"]),
        (("%",), ["goal", "literal", "percent", "self", "upper", "value"]),
        (("a_c",), ["literal"]),
        (("a_%",), ["literal"]),
        (("%self",), []),
        (("a%b%",), ["percent"]),
        (("%%",), []),
        (("SELF/%",), ["upper"]),
        (("self/goal", "a_c"), ["goal", "literal"]),
        (("self/go",), []),
        (("",), []),
    ],
)
def test_tag_patterns_are_prefixes_and_everything_else_is_literal(
    patterns: tuple[str, ...], expected: list[str]
) -> None:
    tags = {
        "goal": ("self/goal", "x"),
        "value": ("self/value",),
        "self": ("self",),
        "literal": ("a_c",),
        "other": (),
        "percent": ("a%bc",),
        "upper": ("SELF/goal",),
    }
    rows = []
    for number, (name, given) in enumerate(tags.items()):
        memory = Memory(name, name, name, tags=given)
        rows.append(IndexRow(number, memory, None))
    index = index_of(*rows)

    assert names(index, Where(tag_patterns=patterns)) == expected
    everyone = index.select()
    assert sorted(index.pak_ids(index.slots_tagged(patterns, everyone))) == expected


def test_conditions_hold_together() -> None:
    index = index_of(
        row(1, project="shop", category="observation"),
        row(2, project="shop"),
        row(3, category="observation"),
    )

    assert names(index, Where(project="shop", categories=("observation",))) == ["pak_1"]
    assert names(index, Where(project="unknown")) == []


def test_a_view_narrows_whatever_is_asked_for() -> None:
    index = index_of(row(1), row(2), row(3))

    def odd(of: MemoryIndex) -> Any:
        return of.column("row_id") % 2 == 1

    assert names(index, Where(), view=odd) == ["pak_1", "pak_3"]
    assert names(index, Where(), view=odd(index)) == ["pak_1", "pak_3"]
    with pytest.raises(InvalidInput, match="3 booleans"):
        index.select(view=np.ones(2, dtype=np.bool_))


def test_selecting_everyone_twice_is_one_selection_until_something_changes() -> None:
    index = index_of(row(1), row(2, last_reinforced=5.0))
    first = index.select()

    assert first.is_all
    assert index.select(Where(valid_at=3.0, reinforced_after=-1.0)) is first
    index = index.after(Changes(Head(2, None), [row(3)], (), ()))
    assert index.select().count == 3


def test_a_moving_window_does_not_pile_up_selections() -> None:
    index = index_of(*(row(number, last_reinforced=float(number)) for number in range(100)))
    for number in range(100):
        assert index.select(Where(reinforced_after=float(number))).count == 99 - number

    assert len(index._selections._known) <= 16


def test_a_selection_of_an_earlier_state_is_refused() -> None:
    index = index_of(row(1))
    old = index.select()
    index = index.after(Changes(Head(2, None), [row(2)], (), ()))

    for ask in (
        lambda: index.lexical(["text"], old),
        lambda: index.nearest(np.array([1, 1], np.int8), old, 1),
        lambda: index.degrees(old),
        lambda: index.neighbours(np.array([0]), old),
        lambda: index.document_frequencies(["text"], old),
        lambda: index.slots_tagged(["%"], old),
    ):
        with pytest.raises(InvalidInput, match="before the index last changed"):
            ask()


def test_a_vector_of_the_wrong_size_changes_nothing() -> None:
    index = index_of(row(1))
    with pytest.raises(InvalidInput):
        index = index.after(
            Changes(Head(2, None), [row(2), row(3, vector=np.zeros(3, np.int8))], [1], ())
        )

    assert (len(index), index.revision) == (1, 1)
    assert names(index, Where()) == ["pak_1"]


def test_a_vector_that_comes_later_is_found() -> None:
    index = index_of(row(1, vector=None), row(2, vector=np.array([1, 0], np.int8)))
    query = np.array([0, 5], np.int8)
    assert index.nearest(query, index.select(), 1).cosines.tolist() == [0.0]

    index = index.after(Changes(Head(2, None), [row(1, vector=np.array([0, 1], np.int8))], (), ()))

    assert index.nearest(query, index.select(), 1).cosines.tolist() == [1.0]
    assert len(index) == 2


def test_a_changed_life_needs_no_new_slot_and_a_changed_text_does() -> None:
    index = index_of(row(1), row(2))
    reinforced = row(1)._replace(memory=replace(row(1).memory, reinforced=3, project="shop"))  # type: ignore[type-var]
    index = index.after(Changes(Head(2, None), [reinforced], (), ()))
    assert index.size == 2
    assert index.column("reinforced")[index.slots_of(["pak_1"])].tolist() == [3]
    assert index.values("project", index.slots_of(["pak_1", "pak_2"])) == ["shop", None]

    index = index.after(Changes(Head(3, None), [row(1, "new words")], (), ()))

    assert (index.size, len(index)) == (3, 2)
    assert index.document_frequencies(["text", "word"], index.select()) == [1, 1]


@pytest.mark.parametrize("turns", [20, pytest.param(100, marks=pytest.mark.soak)])
def test_updates_of_a_thousand_paks_again_and_again_do_not_grow_the_index(turns: int) -> None:
    index = index_of(*(row(number) for number in range(1000)))
    largest = 0
    for turn in range(turns):
        rows = [
            row(number, f"text w{turn}", tags=(f"t{turn}",), thread=f"h{turn}")
            for number in range(1000)
        ]
        index = index.after(Changes(Head(turn + 2, None), rows, (), [(turn, turn + 1, 0.5)]))
        largest = max(largest, index.size)

    assert len(index) == 1000
    assert largest <= 3100
    plain, arrays = index.export()
    assert len(arrays["terms/name_by_name"]) <= 5
    assert len(arrays["tags/name_by_name"]) <= 4
    assert len(plain["vocabularies"]["thread"]) <= 4
    assert max(array.shape[0] for array in arrays.values()) <= 40_000
    last = [f"w{turns - 1}", f"w{turns - 2}"]
    assert index.document_frequencies(last, index.select()) == [1000, 0]


def test_columns_cannot_be_written_through() -> None:
    index = index_of(row(1))
    with pytest.raises(ValueError, match="read-only"):
        index.column("confidence")[0] = 0.0
    changed = row(1)._replace(memory=replace(row(1).memory, decay=0.5))  # type: ignore[type-var]
    index = index.after(Changes(Head(2, None), [changed], (), ()))

    assert index.column("decay").tolist() == [0.5]


def test_an_empty_index_answers_everything_with_nothing() -> None:
    index = MemoryIndex.empty(2)
    everyone = index.select()
    nobody = np.empty(0, dtype=np.int64)

    assert (everyone.count, everyone.is_all) == (0, True)
    assert index.average_length(everyone) == 0.0
    assert index.lexical(["text"], everyone).top(5).tolist() == []
    assert index.lexical(["text"], everyone).scores_at(nobody).tolist() == []
    assert index.nearest(np.array([1, 1], np.int8), everyone, 5).slots.tolist() == []
    assert index.degrees(everyone).tolist() == []
    assert index.neighbours(nobody, everyone).tolist() == []
    assert index.best(nobody, np.empty(0), 5).tolist() == []
    assert index.slot_of("anyone") is None
    assert index.alike(np.ones(2, np.int8), everyone, 0.5).slots.tolist() == []


def test_the_last_of_two_reports_of_one_row_counts() -> None:
    index = index_of(row(1, "first"), row(1, "second"))

    assert len(index) == 1
    assert index.document_frequencies(["first", "second"], index.select()) == [0, 1]


def test_a_row_number_may_be_used_again() -> None:
    index = index_of(row(1), row(2), edges=((1, 2, 0.5),))
    reused = IndexRow(1, Memory("someone_else", "a text", "a text"), None)
    index = index.after(Changes(Head(2, None), [reused], [1], ()))

    assert names(index, Where()) == ["pak_2", "someone_else"]
    assert index.degrees(index.select()).sum() == 0.0


def test_edges_to_unknown_rows_are_left_out() -> None:
    index = index_of(row(1), row(2), edges=((1, 2, 0.5), (1, 77, 0.9)))

    assert index.degrees(index.select()).tolist() == [0.5, 0.5]


def test_a_selection_is_shared_until_the_next_pak_ends() -> None:
    index = index_of(row(1, valid_until="1970-01-01T00:01:00Z"), row(2))
    first = index.select(at=61.0)
    assert first.count == 1
    assert index.select(at=1000.0) is first
    assert index.select(at=59.0).count == 2


def test_an_index_at_rest_holds_bounds_in_half_the_room_and_exports_what_it_did() -> None:
    index = index_of(row(1, "the first pump"), row(2, "a second pump", tags=("loud",)))
    rested = index.packed()
    more = Changes(Head(2, None), [row(3, "the third valve", tags=("new",))], (), ())

    assert rested._contents.terms._segments[0].starts.dtype == np.int32
    assert same_arrays(rested, index)
    assert same_arrays(rested.after(more), index.after(more))
    assert rested.document_frequencies(["pump", "valv"], rested.select()) == [2, 0]


def same_arrays(one: MemoryIndex, other: MemoryIndex) -> bool:
    ours, theirs = one.export()[1], other.export()[1]
    return [*ours] == [*theirs] and all(
        array.dtype == theirs[name].dtype and np.array_equal(array, theirs[name])
        for name, array in ours.items()
    )
