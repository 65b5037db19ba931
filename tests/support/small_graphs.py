"""Small graphs of any kind, with some of their vertices, as Hypothesis draws them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import kleene as kl


@st.composite
def small_graphs(draw: st.DrawFn) -> tuple[kl.Graph, list[int]]:
    n = draw(st.integers(1, 9))
    ends = st.integers(0, n - 1)
    kind = draw(st.sampled_from(["int32", "int64", "float32", "float64", None]))
    values = st.sampled_from([0, 0, 1, 2, 3] if kind != "float64" else [0.0, 0.1, 0.2, 0.3, 0.7])
    arcs = draw(st.lists(st.tuples(ends, ends, values), max_size=4 * n))
    weights = None if kind is None else np.array([w for *_, w in arcs], dtype=kind)
    g = kl.Graph.from_edges(
        np.array([u for u, *_ in arcs], int), np.array([v for _, v, _ in arcs], int), weights,
        n=n, directed=draw(st.booleans()),
    )  # fmt: skip
    return g, draw(st.lists(ends, max_size=4))
