"""Undirected weighted edges between slots: who adjoins whom, and how strongly tied each one is.

A slot with edges has a node, and edges join nodes; a memory that moves to another slot takes its
node along, so its edges need not move. Edges are arrays by node plus what changed since, in layers
of which none is altered. Nothing is counted unless both ends are selected.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recollect.index.arrays import distinct, exclude, grow, ranges
from recollect.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from recollect.index.selection import Selection

__all__ = ["Gains", "Graph"]

# What is in the tail is asked for edge by edge, so that of a small graph little may be there.
_LEAST_TAIL = 256
_BULK = 4096
# A layer that has not so many times the nodes of the one above it is made one with it.
_LIKE_SIZE = 4
# Of more nodes it is quicker to know all that the tail speaks of than to look for each.
_FEW_NODES = 256
# Of a graph of so few nodes all degrees are added up, once a selection is asked about again.
_FEW_IN_ALL = 4096
_MOST_SELECTIONS = 16

# The weights to other nodes, by node.
_Layer: TypeAlias = dict[int, dict[int, float]]
# A weight is summed in two whole-numbered parts, each exact in float64 for 2**22 edges, so that a
# sum is the same in any order.
_COARSE, _FINE = 2.0**26, 2.0**30


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Edges seen from both ends, in order of `near`."""

    near: NDArray[np.integer]
    far: NDArray[np.integer]
    weights: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """How much stronger some edges are for one who has used them, seen from both ends.

    `parts` are what a sum of weights grows by, in the two parts that it is made of.
    """

    near: NDArray[np.int64]
    far: NDArray[np.int64]
    parts: NDArray[np.float64]

    @classmethod
    def between(
        cls,
        near: NDArray[np.int64],
        far: NDArray[np.int64],
        weights: NDArray[np.float64],
        stronger: NDArray[np.float64],
    ) -> Gains:
        """Return what edges between slots gain, given their weights and those that they have."""
        gained = _exact_parts(stronger) - _exact_parts(weights)
        return cls(
            np.concatenate([near, far]),
            np.concatenate([far, near]),
            np.concatenate([gained, gained], axis=1),
        )

    def added_to(
        self,
        sums: NDArray[np.float64],
        selection: Selection,
        slots: NDArray[np.int64] | None,
    ) -> NDArray[np.float64]:
        """Return sums by slot with what the edges inside a selection gain."""
        inside = np.flatnonzero(selection.mask[self.near] & selection.mask[self.far])
        places = self.near[inside]
        if slots is not None:
            place_of = np.full(len(selection.mask), -1, dtype=np.int64)
            place_of[slots] = np.arange(len(slots))
            places = place_of[places]
            inside, places = inside[places >= 0], places[places >= 0]
        grown = sums.copy()
        for part, gained in zip(grown, self.parts, strict=True):
            np.add.at(part, places, gained[inside])
        return grown


class Graph:
    """Edges between living slots."""

    def __init__(self) -> None:
        self._size = 0
        self._node_at: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._slot_of: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._nodes = 0
        # The edges of node n lie between starts[n] and starts[n + 1].
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._far: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._weights: NDArray[np.float64] = np.empty(0, dtype=np.float64)
        self._tail: tuple[_Layer, ...] = ()
        self._tail_size = 0
        # By selection, until an edge changes; None where only some were asked for, and once.
        self._known_sums: dict[Selection, NDArray[np.float64] | None] = {}
        # Of so many slots the nodes are shared with the graph before this one, until altered.
        self._shared = 0

    def successor(self) -> Graph:
        """Return a graph to change in the place of this one, which stays as it is."""
        successor = copy(self)
        successor._shared = self._size
        return successor

    def __len__(self) -> int:
        """Return how many edges join living slots."""
        edges = self._edges_of(self._living_nodes())
        return int(np.count_nonzero(self._slot_of[edges.far] >= 0)) // 2

    def extend(self, count: int) -> None:
        """Append slots without edges."""
        self._node_at = grow(self._node_at, self._size, self._size + count)
        self._node_at[self._size : self._size + count] = -1
        self._size += count
        self._known_sums = {}

    def drop(self, slot: int) -> None:
        """Forget a slot's edges."""
        node = int(self._node_at[slot])
        if node >= 0:
            self._own_arrays()
            self._slot_of[node], self._node_at[slot] = -1, -1
            self._known_sums = {}

    def move(self, slot: int, to: int) -> None:
        """Give one slot's edges to another."""
        node = int(self._node_at[slot])
        if node >= 0:
            self._own_arrays()
            self._node_at[slot], self._node_at[to], self._slot_of[node] = -1, node, to
            self._known_sums = {}

    def join(
        self, near: NDArray[np.int64], far: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> None:
        """Set the weight between slots, the last one given for a pair; 0 removes the edge."""
        proper = near != far
        near_nodes, far_nodes = self._nodes_for(near[proper]), self._nodes_for(far[proper])
        weights = weights[proper]
        self._known_sums = {}
        if len(near_nodes) > _BULK:
            self._join_many(near_nodes, far_nodes, weights)
            return
        joined = zip(near_nodes.tolist(), far_nodes.tolist(), weights.tolist(), strict=True)
        layer: _Layer = {}
        for one, other, weight in joined:
            layer.setdefault(one, {})[other] = weight
            layer.setdefault(other, {})[one] = weight
        self._tail = _stacked(self._tail, layer)
        self._tail_size += 2 * len(near_nodes)
        if self._tail_size > max(_LEAST_TAIL, len(self._far) // 8):
            self._freeze()

    def neighbours(self, slots: NDArray[np.int64], selection: Selection) -> NDArray[np.int64]:
        """Return the selected slots one edge away, without those asked about; ascending."""
        nodes = self._node_at[slots]
        if not self._nodes or nodes.max(initial=-1) < 0:
            return np.empty(0, dtype=np.int64)
        # Few among maybe a million: what is not linked is not looked at.
        far = distinct(self._slot_of[self._far_of(nodes[nodes >= 0])])
        far = far[far.searchsorted(0) :].astype(np.int64)
        return exclude(far[selection.mask.take(far)], slots)

    def weights_between(
        self, near: NDArray[np.int64], far: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the weight between each two slots; 0 where no edge joins them."""
        ends, others = self._node_at[near], self._node_at[far]
        edges = self._edges_of(distinct(ends[ends >= 0]))
        known = dict(zip(_key(edges.near, edges.far).tolist(), edges.weights.tolist(), strict=True))
        wanted = _key(ends, others).tolist()
        return np.array([known.get(one, 0.0) for one in wanted], dtype=np.float64)

    def degrees(
        self,
        selection: Selection,
        slots: NDArray[np.int64] | None = None,
        *,
        gains: Gains | None = None,
    ) -> NDArray[np.float64]:
        """Return the summed weights of the edges of each slot; of all slots where none are given.

        An edge counts when both ends are selected, and by what it gains.
        """
        if not self._nodes:
            return np.zeros(self._size if slots is None else len(slots))
        if slots is None or self._is_asked_again(selection):
            sums = self._sums_of_all(selection)
            sums = sums if slots is None else sums.take(slots, axis=1)
        else:
            sums = self._sums_of(selection, slots)
        if gains is not None:
            sums = gains.added_to(sums, selection, slots)
        whole, rest = sums
        degrees: NDArray[np.float64] = (whole + rest / _FINE) / _COARSE
        return degrees

    def compact(self, moved: NDArray[np.int32], kept: NDArray[np.int64]) -> None:
        """Renumber the slots, and drop nodes that no slot has any more."""
        self._own_arrays()
        self._node_at, self._size = self._node_at[kept], len(kept)
        living = self._slot_of[: self._nodes] >= 0
        self._slot_of[: self._nodes][living] = moved[self._slot_of[: self._nodes][living]]
        self._known_sums = {}
        self._freeze()

    def export(self) -> dict[str, NDArray[Any]]:
        """Return the graph as arrays."""
        self._freeze()
        return {
            "node_at": self._node_at[: self._size],
            "slot_of": self._slot_of[: self._nodes],
            "starts": self._starts,
            "far": self._far,
            "weights": self._weights,
        }

    @classmethod
    def restore(
        cls,
        node_at: NDArray[np.int32],
        slot_of: NDArray[np.int32],
        starts: NDArray[np.int64],
        far: NDArray[np.int32],
        weights: NDArray[np.float64],
    ) -> Graph:
        """Return the graph that was exported."""
        graph = cls()
        graph._node_at, graph._size = node_at, len(node_at)
        graph._slot_of, graph._nodes = slot_of, len(slot_of)
        graph._starts, graph._far, graph._weights = starts, far, weights
        return graph

    def _nodes_for(self, slots: NDArray[np.int64]) -> NDArray[np.int32]:
        new = distinct(slots[self._node_at[slots] < 0])
        if len(new):
            if new[0] < self._shared:
                self._own_arrays()
            first, self._nodes = self._nodes, self._nodes + len(new)
            self._slot_of = grow(self._slot_of, first, self._nodes)
            self._slot_of[first : self._nodes] = new
            self._node_at[new] = np.arange(first, self._nodes)
        return self._node_at[slots]

    def _own_arrays(self) -> None:
        """Take a copy of what is altered: readers of the graph before have the arrays as well."""
        if self._shared:
            self._node_at, self._slot_of = self._node_at.copy(), self._slot_of.copy()
            self._shared = 0

    def _in_tail(self, nodes: list[int]) -> list[int]:
        if len(nodes) > _FEW_NODES:
            known = set[int]().union(*self._tail)
            return [node for node in nodes if node in known]
        return [node for node in nodes if any(node in layer for layer in self._tail)]

    def _living_nodes(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._slot_of[: self._nodes] >= 0)

    def _edges_of(self, nodes: NDArray[Any]) -> _Edges:
        """Return the edges of some nodes as they are now; their far ends may be dead."""
        changed = self._in_tail(nodes.tolist()) if self._tail else []
        if changed:
            nodes = exclude(nodes, np.array(changed, dtype=nodes.dtype))
        settled = nodes[nodes < len(self._starts) - 1]
        counts = self._starts[settled + 1] - self._starts[settled]
        places = ranges(self._starts[settled], counts)
        near = np.repeat(settled, counts)
        edges = _Edges(near, self._far[places], self._weights[places])
        return _join_edges((edges, self._edges_with_tail(changed))) if changed else edges

    def _far_of(self, nodes: NDArray[np.int32]) -> NDArray[np.integer]:
        """Return the far ends of the edges of some nodes."""
        if self._tail:
            return self._edges_of(nodes).far
        starts = self._starts.take(nodes)
        return self._far.take(ranges(starts, self._starts.take(nodes + 1) - starts))

    def _edges_with_tail(self, nodes: list[int]) -> _Edges:
        """Return the edges of nodes that the tail speaks of."""
        counts: list[int] = []
        far: list[int] = []
        weights: list[float] = []
        for node in nodes:
            joined = {end: weight for end, weight in self._ends_of(node).items() if weight > 0}
            counts.append(len(joined))
            far += joined.keys()
            weights += joined.values()
        return _Edges(
            np.repeat(np.array(nodes, dtype=np.int32), counts),
            np.array(far, dtype=np.int32),
            np.array(weights, dtype=np.float64),
        )

    def _ends_of(self, node: int) -> dict[int, float]:
        """Return to whom a node is joined, and how strongly, as the newest layer has it."""
        ends: dict[int, float] = {}
        if node < len(self._starts) - 1:
            before = slice(self._starts[node], self._starts[node + 1])
            ends = dict(
                zip(self._far[before].tolist(), self._weights[before].tolist(), strict=True)
            )
        for layer in self._tail:
            if node in layer:
                ends = ends | layer[node] if ends else layer[node]
        return ends

    def _sums_of(self, selection: Selection, slots: NDArray[np.int64]) -> NDArray[np.float64]:
        nodes = self._node_at[slots]
        order = distinct(nodes[nodes >= 0])
        edges = self._edges_inside(self._edges_of(order), selection)
        if not len(edges.near):
            return np.zeros((2, len(slots)))
        sums = _exact_sums(order.searchsorted(edges.near), edges.weights, len(order))
        # Who has no node stands before all others, and has no edge.
        return np.where(nodes >= 0, sums[:, order.searchsorted(nodes)], 0.0)

    def _sums_of_all(self, selection: Selection) -> NDArray[np.float64]:
        sums = self._known_sums.get(selection)
        if sums is None:
            edges = self._edges_inside(self._edges_of(self._living_nodes()), selection)
            sums = _exact_sums(self._slot_of[edges.near], edges.weights, self._size)
            if selection.is_all or self._nodes <= _FEW_IN_ALL:
                self._keep(selection, sums)
        return sums

    def _is_asked_again(self, selection: Selection) -> bool:
        """Return whether it pays to know all degrees in a selection: many questions share one."""
        if self._nodes > _FEW_IN_ALL:
            return self._known_sums.get(selection) is not None
        if selection in self._known_sums:
            return True
        self._keep(selection, None)
        return False

    def _keep(self, selection: Selection, sums: NDArray[np.float64] | None) -> None:
        others = self._known_sums if len(self._known_sums) < _MOST_SELECTIONS else {}
        # Replaced, not changed: the graph before this one has it as well.
        self._known_sums = {**others, selection: sums}

    def _edges_inside(self, edges: _Edges, selection: Selection) -> _Edges:
        near, far = self._slot_of[edges.near], self._slot_of[edges.far]
        inside = (near >= 0) & (far >= 0)
        inside &= selection.mask[near]
        inside &= selection.mask[far]
        return _take_edges(edges, inside.nonzero()[0])

    def _join_many(
        self, near: NDArray[np.int32], far: NDArray[np.int32], weights: NDArray[np.float64]
    ) -> None:
        old = self._edges_of(self._living_nodes())
        keys = np.concatenate((_key(old.near, old.far), _key(near, far), _key(far, near)))
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        last = np.append(ordered[1:] != ordered[:-1], True)
        keys = ordered[last]
        values = np.concatenate((old.weights, weights, weights))[order][last]
        self._settle(_Edges(keys >> 32, keys & 0xFFFFFFFF, values))

    def _freeze(self) -> None:
        edges = self._edges_of(self._living_nodes())
        order = np.argsort(edges.near, kind="stable")
        self._settle(_take_edges(edges, order))

    def _settle(self, edges: _Edges) -> None:
        """Make these the edges, in order of `near`, and number the living nodes anew."""
        living = self._living_nodes()
        edges = _take_edges(
            edges, np.flatnonzero((self._slot_of[edges.far] >= 0) & (edges.weights > 0))
        )
        renumbered = np.full(self._nodes, -1, dtype=np.int32)
        renumbered[living] = np.arange(len(living))
        self._own_arrays()
        self._slot_of, self._nodes = self._slot_of[living], len(living)
        self._node_at[self._slot_of] = np.arange(self._nodes)
        self._tail, self._tail_size = (), 0
        self._starts = renumbered[edges.near].searchsorted(np.arange(self._nodes + 1))
        self._far, self._weights = renumbered[edges.far], edges.weights


def _stacked(layers: tuple[_Layer, ...], top: _Layer) -> tuple[_Layer, ...]:
    """Return layers with one more on top: few, since those of like size become one."""
    while layers and len(layers[-1]) < _LIKE_SIZE * len(top):
        *rest, below = layers
        both = below | top
        both.update({node: below[node] | top[node] for node in below.keys() & top.keys()})
        layers, top = tuple(rest), both
    return (*layers, top)


def _key(near: NDArray[np.integer], far: NDArray[np.integer]) -> NDArray[np.int64]:
    return near.astype(np.int64) << 32 | far


def _take_edges(edges: _Edges, places: NDArray[np.int64]) -> _Edges:
    return _Edges(edges.near[places], edges.far[places], edges.weights[places])


def _join_edges(parts: Iterable[_Edges]) -> _Edges:
    columns = zip(*((part.near, part.far, part.weights) for part in parts), strict=True)
    near, far, weights = map(np.concatenate, columns)
    return _Edges(near, far, weights)


def _exact_sums(
    places: NDArray[Any], weights: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Add weights up by place, in their two parts: a sum does not depend on the order in it."""
    return np.array([np.bincount(places, part, count) for part in _exact_parts(weights)])


def _exact_parts(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the two whole-numbered parts of weights."""
    coarse = np.rint(weights * _COARSE)
    return np.array([coarse, np.rint((weights * _COARSE - coarse) * _FINE)])
