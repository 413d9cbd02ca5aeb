"""An index that was published stays as it is, whatever is made from it and however that ends."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.index.test_history import Eagerly
from tests.property.index.worlds import DIMENSION, World, answers, wheres, worlds

from recollect.index import MemoryIndex, Where
from recollect.model import Memory
from recollect.ports.store import Changes, Head, IndexRow


@settings(deadline=None)
@given(world=worlds(), where=wheres, eager=st.booleans())
def test_later_changes_alter_no_answer_of_an_index_before_them(
    world: World, where: Where, eager: bool
) -> None:
    with Eagerly() if eager else nullcontext():
        indexes = [MemoryIndex.empty(DIMENSION)]
        before = [answers(indexes[0], indexes[0].select(where))]
        for changes in world.history:
            indexes.append(indexes[-1].after(changes))
            before.append(answers(indexes[-1], indexes[-1].select(where)))
        indexes[-1].compacted()

        # Also what was not asked before: nothing of it was remembered from then.
        assert [answers(one, one.select(where)) for one in indexes] == before


class RaiseAt:
    """Raise once, at the n-th line that the index's modules run."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __enter__(self) -> RaiseAt:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if "/recollect/index/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._trace


def interrupted(index: MemoryIndex, changes: Changes, number: int) -> bool:
    """Try to make the next index, and be stopped at some line; return whether it came that far."""
    try:
        with RaiseAt(number):
            index.after(changes)
    except KeyboardInterrupt:
        return True
    return False


def row(number: int, words: str, *tags: str, vector: int | None = None) -> IndexRow:
    memory = Memory(f"pak_{number}", words, "title", tags=tags, thread="t", position=number)
    numbers = None if vector is None else np.full(DIMENSION, vector, dtype=np.int8)
    return IndexRow(number, memory, numbers)


HELD = Changes(
    Head(1, None),
    [row(n, f"cats ran {n} times", "self/goal", f"t{n}", vector=n + 1) for n in range(6)],
    (),
    [(0, 1, 0.5), (1, 2, 0.25), (3, 4, 1.0)],
)
STOPPED = Changes(
    Head(2, None),
    [row(1, "running in Rome", "self/value"), row(7, "cat cat dogs"), row(3, "cats ran 3 times")],
    [2],
    [(0, 7, 0.7), (1, 3, 0.0)],
)
INSTEAD = Changes(
    Head(2, None),
    [row(8, "naïve cats in Rome", "a_b"), row(7, "the dogs", vector=9)],
    [0],
    [(3, 8, 0.3)],
)


@pytest.mark.parametrize("eager", [False, True])
def test_whatever_stops_the_next_index_in_the_making_leaves_this_one_whole(eager: bool) -> None:
    with Eagerly() if eager else nullcontext():
        fresh = MemoryIndex.empty(DIMENSION).after(HELD).after(INSTEAD)
        expected = answers(fresh, fresh.select())
        index = MemoryIndex.empty(DIMENSION).after(HELD)
        before = answers(index, index.select())
        for number in count(1, 3):
            if not interrupted(index, STOPPED, number):
                break
            assert answers(index, index.select()) == before
            index.mend()
            assert answers(index, index.select()) == before
            following = index.after(INSTEAD)
            assert answers(following, following.select()) == expected
            index.mend()
        assert number > 100
