"""Uses that are followed one by one are what they are when all of them are read at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index import MemoryIndex
from recollect.model import Memory
from recollect.ports.store import Changes, Head, IndexRow, Used, UsedLink, Uses

ANN = ("acme", "ann")
EDGES = ((1, 2, 0.5), (2, 3, 0.25), (1, 4, 0.75))


def row(number: int) -> IndexRow:
    vector = np.array([number, 1], dtype=np.int8)
    return IndexRow(number, Memory(f"pak_{number}", "a text", "a title"), vector)


def index() -> MemoryIndex:
    rows = [row(number) for number in range(1, 6)]
    return MemoryIndex.empty(2).after(Changes(Head(1, None), rows, (), EDGES))


USED = st.builds(Used, st.integers(1, 5), st.integers(1, 9), st.floats(0, 100))
LINKS = st.builds(
    lambda edge, uses: UsedLink(edge[0], edge[1], uses), st.sampled_from(EDGES), st.integers(1, 9)
)
# What a commit counts, whether it is looked at, and whether a memory comes meanwhile.
STEPS = st.lists(
    st.tuples(
        st.builds(Uses, st.lists(USED, max_size=3), st.lists(LINKS, max_size=2)),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(STEPS)
def test_uses_that_are_followed_are_those_that_are_read(
    steps: list[tuple[Uses, bool, bool]],
) -> None:
    followed = index()
    followed.learn_uses(ANN, Uses([Used(5, 1, 7.0)]))
    memories, links = {5: Used(5, 1, 7.0)}, dict[tuple[int, int], UsedLink]()
    for number, (counted, is_looked_at, comes) in enumerate(steps, 2):
        if is_looked_at:
            assert followed.uses_of(ANN) is not None
        came = [row(10 + number)] if comes else ()
        head = Head(number, None)
        followed = followed.after(Changes(head, came, (), (), {ANN: counted}))
        memories |= {one.row_id: one for one in counted.memories}
        links |= {(one.low, one.high): one for one in counted.links}

    read = followed.after(Changes(Head(99, None), (), (), (), {ANN: None}))
    assert not read.knows_uses(ANN)
    read.learn_uses(ANN, Uses([*memories.values()], [*links.values()]))
    one, other = followed.uses_of(ANN), read.uses_of(ANN)
    assert one is not None
    assert other is not None
    for name in ("reinforced", "last_reinforced"):
        assert one.columns[name].tolist() == other.columns[name].tolist()
    everyone = followed.select()
    degrees = [
        each.degrees(everyone, gains=own.gains) for each, own in ((followed, one), (read, other))
    ]
    assert degrees[0].tolist() == degrees[1].tolist()
