"""scikit-learn and graph learning, with Kleene and without."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import three
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.harness.trial import Parts, Trial

__all__ = ["EXPERIMENTS"]

Array = NDArray[Any]
_NEIGHBORS = 10
_OURS, _PLAIN = "after kleene.patch_sklearn()", "scikit-learn as it comes"


# ---- Isomap -------------------------------------------------------------------------------------


class _Fit(NamedTuple):
    distances: Array
    searching: float  # seconds of its shortest paths


def _fit(points: Array, patched: bool) -> _Fit:
    """Fit once, and watch how long its shortest paths take."""
    from sklearn.manifold import Isomap, _isomap

    inside = []
    if patched:
        kl.patch_sklearn()
    before = _isomap.shortest_path

    def watched(*args: Any, **how: Any) -> Any:
        began = time.perf_counter()
        results = before(*args, **how)
        inside.append(time.perf_counter() - began)
        return results

    _isomap.shortest_path = watched
    try:
        made = Isomap(n_neighbors=_NEIGHBORS).fit(points)
    finally:
        _isomap.shortest_path = before
        kl.unpatch_sklearn()
    return _Fit(made.dist_matrix_, inside[0])


def _isomap(n: int, patched: bool, whole: bool) -> Trial:
    if not find_spec("sklearn"):
        raise Skipped("not installed; pip install scikit-learn")
    from scipy.sparse import csgraph
    from sklearn.datasets import make_swiss_roll
    from sklearn.neighbors import kneighbors_graph

    points = make_swiss_roll(n, random_state=0)[0]
    near = kneighbors_graph(points, min(_NEIGHBORS, n - 1), mode="distance")
    right = csgraph.shortest_path(near, directed=False)

    def check(fit: _Fit) -> str:
        if not np.allclose(fit.distances, right, rtol=1e-9):
            raise AssertionError("other distances than SciPy's")
        return "the same distances as SciPy's"

    parts: Callable[[_Fit], Parts | None] = lambda fit: Parts(compute=fit.searching)  # noqa: E731
    run = partial(_fit, points, patched)
    return Trial(run, check, (lambda fit: None) if whole else parts, n=n, repeats=3)


def _isomaps(environment: Environment) -> Iterator[Plan]:
    for n in environment.sizes((1000, 2000, 5000), (60,)):
        for panel in ("shortest paths", "whole fit"):
            for series, patched in ((_PLAIN, False), (_OURS, True)):
                trial = partial(_isomap, n, patched, panel == "whole fit")
                yield Plan(series, n, trial, panel, setup=n**2 / 2e6, growth=6)


def _findings_isomap(results: Measurements) -> Iterator[str]:
    for panel in results.panels:
        for n, ratio in list(results.speedups(_PLAIN, _OURS, panel))[-1:]:
            yield (
                f"Isomap of {n:,.0f} points, {panel}: with Kleene it is {times_as(ratio)} as fast."
            )


# ---- encodings ----------------------------------------------------------------------------------

#: How many graphs, and their vertices.
_SETS = ((128, 10, 40), (2000, 10, 40), (500, 40, 64), (100, 100, 300))
_WORDS = tuple(f"{count:,} graphs of {low} to {high}" for count, low, high in _SETS)
_KLEENE = "Kleene"


def _molecule(rng: np.random.Generator, n: int) -> Array:
    """Return arcs of a tree of short branches with a ring closed for every eighth atom."""
    atoms = np.arange(1, n)
    tree = np.stack([atoms, np.maximum(0, atoms - rng.integers(1, 5, n - 1))])
    ends = np.concatenate([tree, rng.integers(0, n, (2, n // 8))], axis=1)
    return np.concatenate([ends, ends[::-1]], axis=1)


def _by_scipy(indices: list[Array], sizes: list[int], solve: Callable[..., Array]) -> Array:
    """Fill a padded array, a graph at a time."""
    import scipy.sparse as sp

    side = max(sizes)
    made = np.full((len(sizes), side, side), -1, dtype=np.int16)
    for at, (index, n) in enumerate(zip(indices, sizes, strict=True)):
        matrix = sp.csr_array((np.ones(index.shape[1]), (index[0], index[1])), shape=(n, n))
        results = solve(matrix, unweighted=True)
        made[at, :n, :n] = np.where(np.isinf(results), -1, results)
    return made


def _encoding(quick: bool, x: int, series: str) -> Trial:
    from scipy.sparse import csgraph

    count, low, high = (6, 4, 9) if quick else _SETS[x]
    rng = np.random.default_rng(0)
    sizes = rng.integers(low, high + 1, count).tolist()
    indices = [_molecule(rng, n) for n in sizes]
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    shifts = np.repeat(ptr[:-1], [index.shape[1] for index in indices])
    union = np.concatenate(indices, axis=1) + shifts
    loops = {
        "SciPy, floyd_warshall in a loop": csgraph.floyd_warshall,
        "SciPy, shortest_path in a loop": csgraph.shortest_path,
    }
    if series == _KLEENE:
        run = partial(kl.distance_encodings, union, ptr=ptr)
    else:
        run = partial(_by_scipy, indices, sizes, loops[series])
    right = _by_scipy(indices, sizes, csgraph.dijkstra)

    def check(results: Array) -> str:
        if not np.array_equal(results, right):
            raise AssertionError("other distances than by Dijkstra's algorithm, a graph at a time")
        return "the same as by Dijkstra's algorithm, a graph at a time"

    return Trial(run, check, work=float(count), unit="graphs", repeats=3)


def _encodings(environment: Environment) -> Iterator[Plan]:
    for x in range(1 if environment.quick else len(_SETS)):
        for series in (
            "SciPy, floyd_warshall in a loop",
            "SciPy, shortest_path in a loop",
            _KLEENE,
        ):
            trial = partial(_encoding, environment.quick, x, series)
            yield Plan(series, x, trial, setup=0.0 if environment.quick else 1.0, size=0)


def _findings_encodings(results: Measurements) -> Iterator[str]:
    for series in results.series:
        ratios = [ratio for _, ratio in results.speedups(series, _KLEENE)]
        if series != _KLEENE and ratios:
            texts = f"{three(min(ratios))} to {times_as(max(ratios))}"
            yield f"Kleene is {texts} as fast as {series}."


EXPERIMENTS = (
    Experiment(
        "isomap",
        "Isomap with Kleene and without",
        "How much faster is scikit-learn's Isomap if Kleene computes its shortest paths?",
        Axis("points"),
        _isomaps,
        _findings_isomap,
        ("ours", "peers"),
        budget=25,
        patience=15,
        notes="Points on a Swiss roll, 10 neighbours. What is left of a fit is the same in both.",
    ),
    Experiment(
        "distance-encodings",
        "Distance encodings of many small graphs",
        "How many small graphs a second get the matrix of their distances?",
        Axis("graphs", log=False, labels=_WORDS),
        _encodings,
        _findings_encodings,
        ("ours", "peers"),
        y="rate",
        kind="bars",
        budget=15,
        notes="Graphs like molecules; hops, padded into one array for graph transformers.",
    ),
)
