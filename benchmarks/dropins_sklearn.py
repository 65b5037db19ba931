"""scikit-learn and graph learning, with Kleene and without, on the same calls in one run.

    python benchmarks/dropins_sklearn.py [--points 5000] [--graphs 2000] [--repeats 3] [--json FILE]

Isomap of points on a Swiss roll as it comes, beside Isomap after ``kleene.patch_sklearn()``: the
shortest paths alone, the whole fit, and what is left of the fit in both. Geodesic distances beside
SciPy's shortest paths on the same neighbours. Distance encodings of molecule-like graphs beside a
loop over graphs with SciPy's ``floyd_warshall`` and ``shortest_path``, and with Floyd and
Warshall's loop over NumPy rows. Answers are compared before anything is timed; times are medians.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from harness import THREADS, machine_in_words, medians, save
from scipy.sparse import csgraph
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap, _isomap
from sklearn.neighbors import kneighbors_graph

import kleene as kl

Array = np.ndarray[Any, Any]
Row = dict[str, Any]
BUDGET = 60.0  # seconds for the runs of one contestant in one row
NEIGHBORS = 10


def row(name: str, runs: dict[str, Callable[[], Any]], repeats: int) -> Row:
    """Time contestants; the last is Kleene."""
    taken = medians(runs, repeats, BUDGET)
    ours = list(taken)[-1]
    others = (f"{k} {v:.3f} s ({v / taken[ours]:.1f} x)" for k, v in taken.items() if k != ours)
    print(f"{name:44}{ours} {taken[ours]:.3f} s   {'   '.join(others)}", flush=True)
    return {"work": name, "seconds": taken}


# ---- Isomap -------------------------------------------------------------------------------------


def timed_fit(X: Array, patched: bool) -> tuple[float, float, Isomap]:
    """Fit once; return the seconds of its shortest paths, of the whole, and what came out."""
    inside = []
    if patched:
        kl.patch_sklearn()
    search = _isomap.shortest_path

    def watched(*args: Any, **how: Any) -> Any:
        began = time.perf_counter()
        found = search(*args, **how)
        inside.append(time.perf_counter() - began)
        return found

    _isomap.shortest_path = watched
    try:
        began = time.perf_counter()
        made = Isomap(n_neighbors=NEIGHBORS).fit(X)
        whole = time.perf_counter() - began
    finally:
        kl.unpatch_sklearn()
    return inside[0], whole, made


def isomap(X: Array, repeats: int) -> list[Row]:
    plain, ours = timed_fit(X, False)[2], timed_fit(X, True)[2]
    assert np.allclose(plain.dist_matrix_, ours.dist_matrix_, rtol=1e-12)
    scale = np.abs(plain.embedding_).max()
    assert np.allclose(plain.embedding_, ours.embedding_, atol=1e-6 * scale)
    del plain, ours
    times = {"sklearn": [], "Kleene": []}  # type: dict[str, list[tuple[float, float]]]
    for _ in range(repeats):
        for name in times:
            times[name].append(timed_fit(X, name == "Kleene")[:2])
    middle = {name: np.median(np.array(taken), axis=0) for name, taken in times.items()}
    made = []
    for at, part in enumerate(("shortest paths", "whole fit", "the rest of the fit")):
        taken = {n: float(m[at] if at < 2 else m[1] - m[0]) for n, m in middle.items()}
        ratio = taken["sklearn"] / taken["Kleene"]
        print(
            f"{f'Isomap, {len(X)} points: {part}':44}Kleene {taken['Kleene']:.3f} s   "
            f"sklearn {taken['sklearn']:.3f} s ({ratio:.1f} x)",
            flush=True,
        )
        made.append({"work": f"isomap {part}", "points": len(X), "seconds": taken})
    return made


def geodesics(X: Array, repeats: int) -> Row:
    def by_scipy() -> Array:
        graph = kneighbors_graph(X, NEIGHBORS, mode="distance")
        found: Array = csgraph.shortest_path(graph, directed=False)
        return found

    ours = partial(kl.geodesic_distances, X, NEIGHBORS)
    assert np.allclose(by_scipy(), ours(), rtol=1e-12)
    return row(f"geodesic distances, {len(X)} points", {"SciPy": by_scipy, "Kleene": ours}, repeats)


# ---- encodings ----------------------------------------------------------------------------------


def molecule(rng: np.random.Generator, n: int) -> Array:
    """A tree of short branches with a ring closed for every eighth atom, both directions."""
    back = rng.integers(1, 5, n - 1)
    atoms = np.arange(1, n)
    tree = np.stack([atoms, np.maximum(0, atoms - back)])
    ends = np.concatenate([tree, rng.integers(0, n, (2, n // 8))], axis=1)
    return np.concatenate([ends, ends[::-1]], axis=1)


def by_scipy(indices: list[Array], sizes: list[int], solve: Callable[..., Array]) -> Array:
    """Fill the same padded array, a graph at a time."""
    side = max(sizes)
    made = np.full((len(sizes), side, side), -1, dtype=np.int16)
    for at, (index, n) in enumerate(zip(indices, sizes, strict=True)):
        ones = np.ones(index.shape[1])
        matrix = sp.csr_array((ones, (index[0], index[1])), shape=(n, n))
        found = solve(matrix, unweighted=True)
        made[at, :n, :n] = np.where(np.isinf(found), -1, found)
    return made


def by_numpy(matrix: sp.csr_array, unweighted: bool) -> Array:
    """Floyd and Warshall's loop as graph-learning code has it, over whole rows at a time."""
    found = matrix.toarray()
    found[found == 0] = np.inf
    found[found != np.inf] = 1
    np.fill_diagonal(found, 0)
    for k in range(len(found)):
        np.minimum(found, found[:, k, None] + found[k], out=found)
    return found


def encodings(count: int, low: int, high: int, repeats: int) -> Row:
    rng = np.random.default_rng(0)
    sizes = rng.integers(low, high + 1, count).tolist()
    indices = [molecule(rng, n) for n in sizes]
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    shifts = np.repeat(ptr[:-1], [index.shape[1] for index in indices])
    union = np.concatenate(indices, axis=1) + shifts
    runs: dict[str, Callable[[], Any]] = {
        "floyd_warshall loop": partial(by_scipy, indices, sizes, csgraph.floyd_warshall),
        "shortest_path loop": partial(by_scipy, indices, sizes, csgraph.shortest_path),
        "NumPy loop": partial(by_scipy, indices, sizes, by_numpy),
    }
    for t in THREADS[:-1]:
        runs[f"Kleene x{t}"] = partial(kl.distance_encodings, union, ptr=ptr, threads=t)
    runs["Kleene, list of graphs"] = partial(kl.distance_encodings, indices, n=sizes)
    runs["Kleene"] = partial(kl.distance_encodings, union, ptr=ptr)
    wanted = runs["Kleene"]()
    for run in runs.values():
        assert np.array_equal(run(), wanted)
    return row(f"encodings, {count} graphs of {low}-{high}", runs, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="write all numbers to this file as well")
    options = parser.parse_args()
    print(f"{machine_in_words()}\nmedians of {options.repeats}; (time / Kleene's)\n")
    X = make_swiss_roll(options.points, random_state=0)[0]
    rows = [*isomap(X, options.repeats), geodesics(X, options.repeats)]
    for count, low, high in (
        (128, 10, 40),
        (options.graphs, 10, 40),
        (5 * options.graphs, 10, 40),
        (options.graphs // 4, 40, 64),
        (options.graphs // 20, 100, 300),
    ):
        rows.append(encodings(count, low, high, options.repeats))
    save(options.json, {"rows": rows})


if __name__ == "__main__":
    main()
