from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from recollect.index import graph as module
from recollect.index.graph import Graph
from recollect.index.selection import Selection

Edges = list[tuple[int, int, float]]


def joined(size: int, edges: Edges) -> Graph:
    graph = Graph()
    graph.extend(size)
    join(graph, edges)
    return graph


def join(graph: Graph, edges: Edges) -> None:
    near, far, weights = zip(*edges, strict=True)
    graph.join(np.array(near), np.array(far), np.array(weights, dtype=np.float64))


def chosen(size: int, *slots: int) -> Selection:
    mask = np.zeros(size, dtype=np.bool_)
    mask[list(slots)] = True
    return Selection(mask, len(slots), is_all=len(slots) == size, generation=0)


def near(graph: Graph, selection: Selection, *slots: int) -> list[int]:
    return graph.neighbours(np.array(slots), selection).tolist()


def test_neighbours_are_one_edge_away_and_not_those_asked_about() -> None:
    graph = joined(7, [(1, 4, 0.5), (2, 5, 0.5), (3, 1, 0.5), (4, 6, 0.5)])

    assert near(graph, chosen(7, *range(7)), 1, 2, 3) == [4, 5]


def test_a_hidden_slot_is_no_neighbour_and_counts_for_no_degree() -> None:
    graph = joined(4, [(0, 1, 0.5), (1, 2, 0.25), (2, 3, 1.0)])
    some = chosen(4, 0, 1, 3)

    assert near(graph, some, 1) == [0]
    assert graph.degrees(some).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert graph.degrees(some, np.array([3, 1, 2])).tolist() == [0.0, 0.5, 0.0]


def test_degrees_are_the_sums_of_weights() -> None:
    graph = joined(4, [(0, 1, 0.65), (0, 2, 0.5), (0, 3, 0.12)])

    assert graph.degrees(chosen(4, 0, 1, 2, 3)).tolist() == [1.27, 0.65, 0.5, 0.12]


def test_a_degree_is_the_same_however_often_it_is_asked_for() -> None:
    graph = joined(5, [(0, 1, 0.65), (0, 2, 0.5), (2, 3, 0.25)])
    some, slots = chosen(5, 0, 1, 2, 3), np.array([2, 0, 4])
    first = graph.degrees(some, slots)

    assert first.tolist() == [0.75, 1.15, 0.0]
    for _ in range(2):
        assert graph.degrees(some, slots).tolist() == first.tolist()


def test_a_degree_that_is_known_ends_with_the_next_edge_and_stays_in_the_graph_before() -> None:
    graph = joined(4, [(0, 1, 0.5)])
    everyone = chosen(4, 0, 1, 2, 3)
    for _ in range(3):
        graph.degrees(everyone, np.array([0]))
    following = graph.successor()
    join(following, [(0, 2, 0.25)])
    following.drop(1)

    assert graph.degrees(everyone, np.array([0])).tolist() == [0.5]
    assert following.degrees(everyone, np.array([0])).tolist() == [0.25]


def test_selections_beyond_those_that_are_kept_have_their_own_degrees() -> None:
    graph = joined(30, [(0, other, 1.0) for other in range(1, 30)])
    selections = [chosen(30, *range(count + 1)) for count in range(1, 30)]

    for _ in range(3):
        assert [graph.degrees(one, np.array([0])).tolist() for one in selections] == [
            [float(count)] for count in range(1, 30)
        ]


@pytest.mark.parametrize("bulk", [0, 4096])
def test_the_order_of_edges_makes_no_difference_to_a_sum(
    bulk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BULK", bulk)
    edges = [(0, 1, 0.1), (0, 2, 0.2), (0, 3, 0.3), (0, 4, 0.7), (0, 5, 1 / 3)]
    sums = {
        joined(6, list(order)).degrees(chosen(6, *range(6)))[0] for order in permutations(edges)
    }

    assert len(sums) == 1


def test_the_last_weight_given_counts_and_nothing_ends_an_edge() -> None:
    graph = joined(3, [(0, 1, 0.5), (1, 0, 0.75), (1, 2, 0.5), (2, 2, 1.0)])
    join(graph, [(2, 1, 0.0)])

    assert graph.degrees(chosen(3, 0, 1, 2)).tolist() == [0.75, 0.75, 0.0]
    assert len(graph) == 1


def test_many_edges_at_once_replace_those_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BULK", 2)
    graph = joined(4, [(0, 1, 0.5), (1, 2, 0.5), (2, 3, 0.5)])
    join(graph, [(1, 0, 0.25), (2, 1, 0.0), (3, 0, 0.125), (3, 0, 0.5)])

    assert graph.degrees(chosen(4, 0, 1, 2, 3)).tolist() == [0.75, 0.25, 0.5, 1.0]


def test_edges_follow_a_slot_that_moves_and_end_with_one_that_goes() -> None:
    graph = joined(3, [(0, 1, 0.5), (1, 2, 0.25)])
    everyone = chosen(3, 0, 1, 2)
    before = graph.degrees(everyone).tolist()
    graph.extend(1)
    graph.move(1, 3)
    assert before == [0.5, 0.75, 0.25]
    assert graph.degrees(chosen(4, 0, 2, 3)).tolist() == [0.5, 0.0, 0.25, 0.75]

    graph.drop(3)

    assert len(graph) == 0
    assert near(graph, chosen(4, 0, 2), 0, 2) == []


def test_an_edge_to_a_slot_that_went_does_not_return_with_its_successor() -> None:
    graph = joined(2, [(0, 1, 0.5)])
    graph.drop(1)
    graph.extend(1)
    join(graph, [(0, 2, 0.0)])

    assert graph.degrees(chosen(3, 0, 2)).tolist() == [0.0, 0.0, 0.0]


def test_asking_about_no_slots_is_no_error() -> None:
    graph = joined(2, [(0, 1, 0.5)])
    none = np.empty(0, dtype=np.int64)

    assert graph.neighbours(none, chosen(2, 0, 1)).tolist() == []
    assert graph.degrees(chosen(2, 0, 1), none).tolist() == []
