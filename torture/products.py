"""Products of a graph and a vector, of matrices, and distances of small graphs, by plain loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

import kleene as kl
from kleene.calls.algebra.factors import no_path_in
from kleene.registry.algebra import PRODUCT_SEMIRINGS
from torture.random_graphs import Spec, random_spec

__all__ = [
    "encodings_fault", "matrices_fault", "product_fault", "random_encodings", "random_matrices",
    "random_product",
]  # fmt: skip

_FORMS = ("csr", "csc", "coo", "ell", "dense")
_COMBINE: dict[str, tuple[Any, Any]] = {
    "plus_times": (lambda a, b: a * b, np.add),
    "min_plus": (lambda a, b: a + b, np.minimum),
    "max_min": (min, np.maximum),
    "boolean": (lambda a, b: bool(a), np.maximum),
}


def random_product(seed: int) -> Spec:
    """Return a graph of small weights, a vector, a semiring, a form and a device."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "apsp")
    if spec.weights is not None:
        kind = str(rng.choice(["int32", "int64", "float32", "float64"]))
        weights = tuple(rng.integers(-9, 10, len(spec.ends)).tolist())
        spec = replace(spec, weights=weights, dtype=kind, exact=True)
    asked = {
        "x": rng.integers(0, 10, spec.n).tolist(),
        "semiring": str(rng.choice(list(_COMBINE))),
        "form": str(rng.choice(_FORMS)),
        "device": "emulated" if spec.n < 41 and rng.random() < 0.1 else "cpu",
    }
    return replace(spec, asked=asked)


def product_fault(spec: Spec) -> str | None:
    """Return how the product differs from one by a loop over all arcs, None if it does not."""
    asked = dict(spec.asked)
    x = np.array(asked.pop("x"), spec.dtype or "int32")[: spec.n]
    graph = spec.graph()
    found = kl.spmv(graph, x, **asked)
    extend, choose = _COMBINE[asked["semiring"]]
    offers: list[list[Any]] = [[] for _ in range(spec.n)]
    tails, heads, weights = graph.coo
    lengths = [1] * graph.m if weights is None else weights.tolist()
    for u, v, w in zip(tails.tolist(), heads.tolist(), lengths, strict=True):
        offers[v].append(extend(x[u].item(), w))
    for v, values in enumerate(offers):
        if values and found[v] != choose.reduce(values):
            return f"[{v}] holds {found[v]}, and should {choose.reduce(values)}"
    return None


def random_matrices(seed: int) -> Spec:
    """Return a graph whose matrix is a factor, and what to ask of the product."""
    rng = np.random.default_rng([seed, 2])
    spec = random_product(seed)
    asked = {
        "semiring": str(rng.choice(PRODUCT_SEMIRINGS)),
        "columns": int(rng.integers(0, spec.n + 1)),
        "argmin": bool(rng.integers(2)),
        "device": spec.asked["device"],
    }
    return replace(spec, asked=asked)


def matrices_fault(spec: Spec) -> str | None:
    """Return whether the product of a matrix and its transpose differs from the plain one."""
    asked = dict(spec.asked)
    semiring, columns = asked.pop("semiring"), min(asked.pop("columns"), spec.n)
    dtype = np.dtype(bool if semiring == "boolean" else spec.dtype or "int32")
    tails, heads, weights = spec.graph().coo
    a = np.full((spec.n, spec.n), no_path_in(semiring, dtype), dtype)
    a[tails, heads] = (
        1 if weights is None else np.abs(weights) if semiring == "max_times" else weights
    )
    b, where = a.T[:, :columns], asked.pop("device")
    found = kl.product(a, b, semiring, device=where, **asked)
    wanted = kl.product(a, b, semiring, device="reference", **asked)
    pairs = zip(found, wanted, strict=True) if asked["argmin"] else [(found, wanted)]
    for x, y in pairs:
        if x.dtype != y.dtype or not np.array_equal(x, y):
            return f"{semiring} gives {x.dtype} {x.tolist()}, and should {y.dtype} {y.tolist()}"
    return None


def random_encodings(seed: int) -> Spec:
    """Return a graph that is a batch of several: its arcs stay within consecutive parts."""
    rng = np.random.default_rng(seed)
    spec = random_spec(seed, "bfs")
    cuts = np.unique([0, *rng.integers(0, spec.n + 1, 3).tolist(), spec.n]).tolist()
    part = np.searchsorted(cuts, np.arange(spec.n), side="right")
    kept = [i for i, (u, v) in enumerate(spec.ends) if part[u] == part[v]]
    weighted = (
        spec.weights is not None and spec.exact and max(map(float, spec.weights), default=0) < 1e6
    )
    weights = tuple(spec.weights[i] for i in kept) if weighted and spec.weights else None
    ends = tuple(spec.ends[i] for i in kept)
    asked = {"cuts": cuts, "directed": spec.directed, "path_arcs": int(rng.integers(0, 4))}
    return replace(spec, ends=ends, weights=weights, directed=True, asked=asked)


def encodings_fault(spec: Spec) -> str | None:
    """Return how the distances of a batch differ from those of its graphs, None if they do not."""
    cuts, directed = spec.asked["cuts"], spec.asked["directed"]
    if spec.n < cuts[-1]:
        return None
    tails, heads = spec.columns()
    weights = spec.weight_array()
    arcs = spec.asked["path_arcs"]
    answer = kl.distance_encodings(
        np.stack([tails, heads]), ptr=cuts, weighted=weights is not None, weights=weights,
        directed=directed, path_arcs=arcs, dtype="float64",
    )  # fmt: skip
    values = answer[0] if arcs else answer
    whole = kl.apsp(replace(spec, directed=directed).graph(), dtype="float64", device="cpu")
    for i, (first, end) in enumerate(pairwise(cuts)):
        own = values[i, : end - first, : end - first]
        want = whole.distances[first:end, first:end]
        if (np.where(own < 0, np.inf, own) != want).any():
            return f"graph {i} has {own.tolist()}, and should {want.tolist()}"
    return None
