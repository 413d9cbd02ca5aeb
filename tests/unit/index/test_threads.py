"""The order of turns, and whom a word names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recollect.index.columns import Vocabulary
from recollect.index.index import MemoryIndex
from recollect.index.speakers import Speakers
from recollect.model import Memory
from recollect.ports.store import Changes, Head, IndexRow


def turn(row_id: int, thread: str | None, position: int | None) -> IndexRow:
    name = f"p{row_id}"
    memory = Memory(pak_id=name, content=name, title=name, thread=thread, position=position)
    return IndexRow(row_id, memory, None)


def index_of(*rows: IndexRow) -> MemoryIndex:
    index = MemoryIndex.empty(0)
    for revision, row in enumerate(rows, 1):
        index = index.after(Changes(Head(revision, None), [row], (), ()))
    return index


ROWS = (
    turn(1, "b", 0),
    turn(2, "a", 2),
    turn(3, None, None),
    turn(4, "a", 0),
    turn(5, "a", 1),
    turn(6, "b", 7),
    turn(7, "c", None),
)


def test_turns_stand_in_the_order_of_their_positions() -> None:
    index = index_of(*ROWS)
    line = index.turns(index.select())

    assert line is not None
    assert index.pak_ids(line.slots) == ["p1", "p6", "p4", "p5", "p2"]
    assert line.follows.tolist() == [False, True, False, True, True]


def test_who_is_not_selected_leaves_no_gap() -> None:
    index = index_of(*ROWS)
    mask = np.ones(index.size, np.bool_)
    mask[index.slots_of(["p5"])] = False
    line = index.turns(index.select(view=mask))

    assert line is not None
    assert index.pak_ids(line.slots) == ["p1", "p6", "p4", "p2"]
    assert line.follows.tolist() == [False, True, False, True]


def test_without_threads_there_is_no_line() -> None:
    index = index_of(turn(1, None, None), turn(2, None, None))
    assert index.turns(index.select()) is None
    index = index_of(*ROWS)
    mask = np.zeros(index.size, np.bool_)
    mask[index.slots_of(["p3", "p7"])] = True
    assert index.turns(index.select(view=mask)) is None


def test_threads_of_one_name_in_two_projects_are_two() -> None:
    rows = [turn(1, "a", 0), turn(2, "a", 1)]
    other = rows[1]._replace(memory=replace(rows[1].memory, project="shop"))  # type: ignore[type-var]
    index = index_of(rows[0], other)
    line = index.turns(index.select())

    assert line is not None
    assert line.follows.tolist() == [False, False]


def test_of_two_at_one_position_the_older_row_comes_first() -> None:
    rows = [turn(1, "a", 0), turn(2, "a", 1), turn(3, "a", 1)]
    for given in (rows, rows[::-1]):
        index = index_of(*given)
        line = index.turns(index.select())
        assert line is not None
        assert index.pak_ids(line.slots) == ["p1", "p2", "p3"]


def test_the_order_follows_changes() -> None:
    index = index_of(*ROWS)
    assert index.turns(index.select()) is not None
    index = index.after(Changes(Head(9, None), [turn(5, "b", 9), turn(8, "a", 1)], [1], ()))
    line = index.turns(index.select())

    assert line is not None
    assert index.pak_ids(line.slots) == ["p6", "p5", "p4", "p8", "p2"]


@pytest.mark.parametrize("many", [2, 100])
def test_a_part_of_the_line_knows_who_is_beside_whom(many: int) -> None:
    index = index_of(*ROWS, *(turn(100 + n, None, None) for n in range(many)))
    mask = np.zeros(index.size, np.bool_)
    mask[index.slots_of(["p1", "p2", "p4", "p5"])] = True
    line = index.turns(index.select(view=mask))

    assert line is not None
    places = line.places(index.slots_of(["p2", "p3"]))
    assert places.tolist() == [3]
    assert line.around(places, 1).tolist() == [2, 3]
    part = line.at(np.array([1, 3]))
    assert index.pak_ids(part.slots) == ["p4", "p2"]
    assert part.follows.tolist() == [False, False]
    assert line.at(line.around(places, 9)).follows.tolist() == [False, True, True]


def named(spoken: dict[str, str], *names: str) -> list[str]:
    everybody = np.ones(len(names) + 1, np.bool_)
    speakers = Speakers(Vocabulary([None, *names]))
    return [one.name for one in speakers.find_named(spoken, everybody)]


def test_a_speaker_is_known_by_the_first_name() -> None:
    assert named({"did": "did", "carolin": "Caroline"}, "Caroline Day", "Mel") == ["Caroline Day"]
    assert named({"day": "day"}, "Caroline Day") == []


def test_a_capital_tells_a_name_from_a_word_where_capitals_are_used() -> None:
    assert named({"what": "What", "will": "will", "ann": "Ann"}, "Will") == []
    assert named({"what": "What", "will": "Will"}, "Will") == ["Will"]
    assert named({"what": "what", "ann": "ann", "said": "said"}, "Ann") == ["Ann"]
    assert named({"what": "what", "will": "will"}, "Will") == []
    assert named({"What": "What", "user": "user", "Rome": "Rome"}, "user") == ["user"]


def test_speakers_who_come_later_are_known_too() -> None:
    vocabulary = Vocabulary()
    speakers = Speakers(vocabulary)
    assert speakers.find_named({"ann": "Ann"}, np.ones(0, np.bool_)) == []
    code = vocabulary["Ann"]
    (ann,) = speakers.find_named({"ann": "Ann"}, np.ones(1, np.bool_))
    assert (ann.code, ann.terms) == (code, ("ann",))
