from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.index.worlds import World, answers, followed, rebuilt, wheres, worlds

from recollect.index import Where, load, save
from recollect.index import changes as changes_module
from recollect.index import graph as graph_module
from recollect.index import lexical as lexical_module
from recollect.index import lookup as lookup_module
from recollect.index import postings as postings_module
from recollect.index import vectors as vectors_module

EAGER = {
    changes_module: {"_LEAST_DEAD": 1, "_BATCH": 3},
    lookup_module: {"_LEAST_TAIL": 2},
    postings_module: {"_TAIL_ROWS": 2},
    graph_module: {"_LEAST_TAIL": 2, "_BULK": 2},
    lexical_module: {"_SPARSE": 1, "_SHORTER": 1},
    vectors_module: {"_EXACT_UP_TO": 2, "_LEAST_POOL": 2, "_SIGN_BLOCK": 3, "_EXACT_BLOCK": 2},
}


class Eagerly:
    """Make freezing, merging and compaction happen in worlds of a few Paks."""

    def __enter__(self) -> None:
        self._patches = [patch.multiple(module, **names) for module, names in EAGER.items()]  # type: ignore[call-overload]
        for one in self._patches:
            one.start()

    def __exit__(self, *_: Any) -> None:
        for one in self._patches:
            one.stop()


@settings(deadline=None)
@given(world=worlds(), where=wheres, random=st.randoms(use_true_random=False))
def test_any_history_gives_the_answers_of_an_index_built_from_the_final_rows(
    world: World, where: Where, random: Any
) -> None:
    rows = list(world.rows.values())
    random.shuffle(rows)
    fresh = rebuilt(rows, world.edges)
    lived = followed(world.history, asked=where)

    assert answers(lived, lived.select(where)) == answers(fresh, fresh.select(where))


@settings(deadline=None)
@given(world=worlds(), where=wheres)
def test_freezing_merging_and_compacting_change_no_answer(world: World, where: Where) -> None:
    with Eagerly():
        fresh = rebuilt(list(world.rows.values()), world.edges)
        lived = followed(world.history)

        assert answers(lived, lived.select(where)) == answers(fresh, fresh.select(where))


@settings(deadline=None)
@given(world=worlds(), where=wheres, eager=st.booleans())
def test_nothing_outside_a_selection_changes_a_number_inside(
    world: World, where: Where, eager: bool
) -> None:
    with Eagerly() if eager else nullcontext():
        whole = followed(world.history)
        chosen = whole.select(where)
        inside = {int(number) for number in whole.column("row_id")[chosen.slots]}
        rows = [row for number, row in world.rows.items() if number in inside]
        edges = {pair: weight for pair, weight in world.edges.items() if {*pair} <= inside}
        alone = rebuilt(rows, edges)

        assert answers(whole, chosen) == answers(alone, alone.select(Where(active_only=False)))


@settings(deadline=None)
@given(world=worlds(), where=wheres)
def test_a_saved_index_answers_and_follows_as_the_one_in_memory(world: World, where: Where) -> None:
    half = len(world.history) // 2
    kept = followed(world.history[:half])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        save(kept, path, "now")
        loaded = load(path, "now")
    assert loaded is not None
    assert loaded.revision == kept.revision
    for change in world.history[half:]:
        kept = kept.after(change)
        loaded = loaded.after(change)

    assert answers(loaded, loaded.select(where)) == answers(kept, kept.select(where))
