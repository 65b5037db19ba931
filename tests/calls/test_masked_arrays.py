"""Masked arrays: a masked entry is refused by name, and an array without any is an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kleene as kl

G = kl.generate.grid(4, 4, weights=(1, 9))
PREPARED = kl.prepare(G)
NAMED = kl.Graph.from_table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1, 2]})
TURNS = kl.TurnGraph(G, {"from": [0], "via": [1], "to": [2], "delay": [3]})
MEASURE = kl.betweenness(G)
TREES, NEAREST = kl.apsp(G), kl.nearest(G, [5])

VERTICES, PAIRS, EDGES = [0, 3], [[0, 3], [1, 2]], [0.0, 2.0, 9.0]
TRIP: dict[str, Any] = {"origin": [0], "destination": [1]}
SQUARE, PLACES = np.arange(256.0).reshape(16, 16), np.arange(32.0).reshape(16, 2)

#: The name in the message, an argument without its mask, and a call that takes it.
DOORS: list[tuple[str, Any, Callable[[Any], object]]] = [
    ("sources", VERTICES, lambda v: kl.sssp(G, sources=v)),
    ("sources", VERTICES, lambda v: kl.closeness(G, sources=v)),
    ("sources", VERTICES, lambda v: kl.betweenness(G, sources=v)),
    ("sources", VERTICES, lambda v: kl.within(G, sources=v, limit=3)),
    ("sources", VERTICES, lambda v: kl.reduce_distances(G, sources=v)),
    ("sources", VERTICES, lambda v: PREPARED.within(v, 5)),
    ("sources", VERTICES, lambda v: TURNS.apsp(sources=v)),
    ("targets", VERTICES, lambda v: kl.betweenness(G, targets=v)),
    ("targets", VERTICES, lambda v: kl.apsp(G, targets=v)),
    ("facilities", VERTICES, lambda v: kl.nearest(G, v)),
    ("facilities", VERTICES, lambda v: PREPARED.nearest([1], v)),
    ("pairs", PAIRS, lambda v: kl.sssp(G, pairs=v)),
    ("pairs", PAIRS, PREPARED.distances),
    ("order", np.arange(16), lambda v: kl.prepare(G, order=v)),
    ("vertices", VERTICES, G.index),
    ("vertices", VERTICES, G.subgraph),
    ("vertices", VERTICES, MEASURE.__getitem__),
    ("vertices", VERTICES, lambda v: TREES.paths(v, source=0)),
    ("vertices", VERTICES, NEAREST.paths),
    ("positions", VERTICES, G.label),
    ("bins", EDGES, lambda v: kl.distance_histogram(G, bins=v)),
    ("bins", EDGES, lambda v: kl.reduce_distances(G, bins=v)),
    ("demand", SQUARE, lambda v: kl.loads(G, v)),
    ("the origins of demand", VERTICES, lambda v: kl.loads(G, (v, [1, 2], [1, 1]))),
    ("the destinations of demand", VERTICES, lambda v: kl.loads(G, ([1, 2], v, [1, 1]))),
    ("the volumes of demand", [5.0, 7.0], lambda v: kl.loads(G, ([0, 0], [1, 2], v))),
    ("the volumes of demand", [5.0], lambda v: kl.loads(G, [*np.array([[0], [1]]), v])),
    ("column 'volume'", [5.0], lambda v: kl.loads(G, TRIP | {"volume": v})),
    ("weights", [1.0, 2.0], lambda v: kl.Graph.from_edges([0, 1], [1, 2], v)),
    ("weights", [1.0, 2.0], lambda v: kl.Graph.from_csr([0, 1, 2, 2], [1, 2], v)),
    ("weights", np.ones(G.m), lambda v: G.reweight(arcs=v)),
    ("rows", [1.0, 2.0], lambda v: NAMED.reweight(rows=v)),
    ("positions", PLACES, G.with_positions),
    ("positions", PLACES, lambda v: G.with_positions(list(v))),
    ("positions", PLACES, lambda v: G.with_positions(dict(enumerate(v)))),
    ("x", np.ones(16), lambda v: kl.spmv(G, v)),
    ("A", SQUARE, lambda v: kl.product(v, SQUARE)),
    ("X", PLACES, kl.geodesic_distances),
]  # fmt: skip


@pytest.mark.parametrize(("name", "plain", "call"), DOORS)
def test_masked_entries_are_refused(name: str, plain: Any, call: Callable[[Any], object]) -> None:
    values = np.ma.array(plain)
    call(values)  # nothing is masked
    values[(0,) * values.ndim] = np.ma.masked
    with pytest.raises(kl.KleeneError, match=f"^{name} has masked entries"):
        call(values)


def test_a_mask_does_not_hide_a_label() -> None:
    names = np.ma.array(["a", "c"], dtype=object, mask=[True, False])
    with pytest.raises(kl.KleeneError, match="sources has masked entries; leave them out"):
        kl.sssp(NAMED, sources=names)
