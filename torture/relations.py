"""Metamorphic relations: how an answer changes when its graph does.

Each relation makes another graph and request, and says how to read the old answer from the new one;
None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

import kleene as kl
from torture.random_graphs import Spec

__all__ = ["RELATIONS", "OneRow"]

#: What a relation makes: the graph, its sources, and values of the old graph from those of the new.
Made = tuple[kl.Graph, list[int], Callable[[Any], Any]]
Relation = Callable[[Spec, str, list[int], Any, Generator], Made | None]


def _same(values: Any) -> Any:
    return values


def permute(spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator) -> Made | None:
    """Number the vertices in another order."""
    new = rng.permutation(spec.n)
    ends = tuple((int(new[u]), int(new[v])) for u, v in spec.ends)
    moved = [int(new[s]) for s in sources]
    return replace(spec, ends=ends).graph(), moved, lambda values: values[:, new]


def scale(spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator) -> Made | None:
    """Multiply all weights by a power of two."""
    if not spec.weights or semiring not in ("min_plus", "max_min"):
        return None
    weights = spec.weight_array().astype(spec.graph().weight_dtype)
    by = 2 ** int(rng.integers(1, 4))
    magnitudes = abs(weights.astype(float))
    most = 2.0**20 if weights.dtype == np.int32 else 2.0**40
    if magnitudes.max() > most or magnitudes[weights != 0].min(initial=1) < 1e-30:
        return None
    graph = kl.Graph.from_edges(*spec.columns(), weights * by, spec.n, spec.directed)
    return graph, sources, lambda values: _divided(values, by)


def reverse(spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator) -> Made | None:
    """Turn all arcs around."""
    if sources != list(range(spec.n)):
        return None
    return spec.graph().transpose(), sources, lambda values: values.T


def split(spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator) -> Made | None:
    """Put a vertex into the middle of an arc."""
    if not spec.weights or semiring == "hops":
        return None
    at = int(rng.integers(len(spec.ends)))
    (u, v), w = spec.ends[at], spec.weights[at]
    if semiring == "min_plus":
        parts = (w - w // 2, w // 2) if isinstance(w, int) else (w / 2, w / 2)
        if parts[0] + parts[1] != w:
            return None
    else:
        parts = (w, w) if semiring != "max_times" else (w, 1.0)
    if u == v or spec.ends.count((u, v)) + spec.ends.count((v, u)) > 1:
        return None
    ends = (*spec.ends[:at], (u, spec.n), (spec.n, v), *spec.ends[at + 1 :])
    weights = (*spec.weights[:at], *parts, *spec.weights[at + 1 :])
    made = replace(spec, n=spec.n + 1, ends=ends, weights=weights)
    return made.graph(), sources, lambda values: values[:, : spec.n]


def far_vertices(
    spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator
) -> Made | None:
    """Add two vertices that no arc joins with the others."""
    n = spec.n
    weights = None if spec.weights is None else (*spec.weights, 1)
    made = replace(spec, n=n + 2, ends=(*spec.ends, (n, n + 1)), weights=weights)
    return made.graph(), sources, lambda values: values[:, :n]


def dominated(
    spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator
) -> Made | None:
    """Add arcs that are longer than the paths between their ends, some of them parallel."""
    if semiring != "min_plus" or not spec.weights or not len(sources):
        return None
    row = int(rng.integers(len(sources)))
    paths = np.flatnonzero(_finite(old[row]))
    chosen = rng.choice(paths, min(len(paths), 4))
    longer = [2 * abs(old[row, v].item()) + 1 for v in chosen]
    top = 100 if "8" in str(spec.dtype) else 1e4 if "16" in str(spec.dtype) else 1e9
    if max(longer, default=0) > top or not spec.exact:
        return None
    kept = [w if "float" in str(spec.dtype) else int(w) for w in longer]
    extra = tuple((sources[row], int(v)) for v in chosen)
    made = replace(spec, ends=spec.ends + extra, weights=(*spec.weights, *kept), directed=True)
    return (made.graph(), sources, _same) if spec.directed else None


def one_by_one(
    spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator
) -> Made | None:
    """Ask for one row alone."""
    if not sources:
        return None
    row = int(rng.integers(len(sources)))
    return spec.graph(), [sources[row]], lambda values: OneRow(row, values)


def dense(spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator) -> Made | None:
    """Give the graph as a matrix."""
    weights = spec.weight_array()
    if weights is None or spec.dtype in ("int8", "uint8"):
        return None
    kind = weights.dtype
    none = np.inf if kind.kind == "f" else np.iinfo(kind).max
    if kind.kind == "u":
        return None
    matrix = np.full((spec.n, spec.n), none, kind)
    for u, v, w in spec.arcs():
        if u != v or w < 0:
            matrix[u, v] = w
    return kl.Graph.from_dense(matrix, null_value=np.inf), sources, _same


def parallel(
    spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator
) -> Made | None:
    """Merge the parallel arcs, and list the rest in another order."""
    arcs = [arc for arc in spec.arcs() if arc[0] != arc[1] or arc[2] < 0]
    order = rng.permutation(len(arcs)).tolist()
    ends = tuple((arcs[i][0], arcs[i][1]) for i in order)
    weights = None if spec.weights is None else tuple(arcs[i][2] for i in order)
    return replace(spec, ends=ends, weights=weights, directed=True).graph(), sources, _same


def labelled(
    spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator
) -> Made | None:
    """Call every vertex by a number that is the position of another."""
    columns = *spec.columns(), spec.weight_array(), spec.n, spec.directed
    labels = (np.arange(spec.n) + 1) % max(spec.n, 1)
    made = kl.Graph.from_edges(*columns, labels=labels)
    return made, labels[sources].tolist(), _same


def by_rows(spec: Spec, semiring: str, sources: list[int], old: Any, rng: Generator) -> Made | None:
    """Give the weights later, in the order of the edges."""
    if not spec.weights:
        return None
    plain = kl.Graph.from_edges(*spec.columns(), None, spec.n, spec.directed)
    return plain.reweight(rows=spec.weight_array()), sources, _same


class OneRow:
    """One row of the old answer."""

    def __init__(self, row: int, values: Any) -> None:
        self.row, self.values = row, values


def _divided(values: Any, by: int) -> Any:
    return values if values.dtype == bool else np.where(_finite(values), values / by, values)


def _finite(values: Any) -> Any:
    if values.dtype.kind == "f":
        return np.isfinite(values)
    ends = np.iinfo(values.dtype)
    return (values != ends.max) & (values != ends.min)


RELATIONS: dict[str, Relation] = {
    relation.__name__: relation
    for relation in (
        permute, scale, reverse, split, far_vertices, dominated, one_by_one, dense, parallel,
        labelled, by_rows,
    )
}  # fmt: skip
