"""Distances along a surface that is given by points on it, as Isomap measures them.

Points are joined with their nearest neighbours; the length of a shortest path through this graph
approaches the length along the surface as points grow dense (Tenenbaum, de Silva and Langford,
2000). Neighbours are found by scikit-learn if it is there, else by SciPy's k-d tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.calls.apsp import apsp
from kleene.calls.arguments import Out, Progress, Vertices
from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.graph.checks import FILL_IN, require_unmasked
from kleene.graph.dlpack import to_numpy
from kleene.system.machine import as_threads, cores
from kleene.system.threads import or_alone

__all__ = ["geodesic_distances"]

Array = NDArray[Any]

#: The exponents of Minkowski's metrics, which a k-d tree can do; None for the caller's.
_EXPONENTS: dict[str, float | None] = {
    "minkowski": None,
    "euclidean": 2.0,
    "l2": 2.0,
    "manhattan": 1.0,
    "cityblock": 1.0,
    "l1": 1.0,
    "chebyshev": np.inf,
}

#: Entries of a matrix of distances between two parts that are looked at together.
_TILE = 1 << 22


@dataclass(frozen=True)
class _Neighbors:
    """Arcs from points to their neighbours, and a way to measure between any points."""

    n: int
    sources: Array
    targets: Array
    lengths: Array
    between: Callable[[Array, Array], Array]  # ids and ids: the matrix of distances


def geodesic_distances(
    X: Any,
    n_neighbors: int | None = None,
    radius: float | None = None,
    *,
    metric: str | Callable[..., float] = "minkowski",
    p: float = 2,
    metric_params: Mapping[str, Any] | None = None,
    sources: Vertices | None = None,
    connect: bool = True,
    device: str = "auto",
    threads: int | None = None,
    dtype: Any = None,
    progress: Progress = None,
    out: Out = None,
) -> Array:
    """Return the distances between points along the surface that they lie on.

    These are the distances of ``sklearn.manifold.Isomap`` (its ``dist_matrix_``), without the
    embedding.

    Parameters
    ----------
    X : array of shape (points, features)
        The points; with ``metric="precomputed"`` the matrix of distances between them.
    n_neighbors : int, optional
        Join every point with so many nearest ones; 5 unless ``radius`` is given.
    radius : float, optional
        Join points that are no further apart than this.
    metric, p, metric_params
        How far apart two points are, as scikit-learn has it. Without scikit-learn there are
        Minkowski's metrics (with ``p``): euclidean, manhattan, chebyshev, minkowski.
    sources : sequence of int, optional
        Measure from these points only; the result has one row for each.
    connect : bool
        Where the neighbours leave the points in several parts: True joins each two parts at their
        closest points, as Isomap does, and warns; False leaves the parts infinitely far apart.
    device : {"auto", "cpu", "cuda", ...}
        Where to compute the paths.
    threads : int, optional
        Threads to use; all cores by default.
    progress : bool or function, optional
        True for a bar, or a function of (done, total).
    out : array or path, optional
        Where to put the distances. For many points, ``out="geodesics.npy"`` keeps them in a file.
    dtype : optional
        float32 for points in float32, else float64.

    Returns
    -------
    array of shape (points, points), or (sources, points)
        Infinity where no path leads.

    Examples
    --------
    >>> import kleene as kl, numpy as np
    >>> angle = np.linspace(0, np.pi, 50)
    >>> half_circle = np.c_[np.cos(angle), np.sin(angle)]
    >>> d = kl.geodesic_distances(half_circle, n_neighbors=2)
    >>> d.shape, round(float(d[0, -1]), 2)  # from end to end: pi; straight, 2
    ((50, 50), 3.14)
    """
    points = to_numpy(X)
    require_unmasked(points, "X", FILL_IN, RequestError)
    if n_neighbors is not None and radius is not None:
        raise RequestError("give either n_neighbors or radius, not both")
    if radius is not None and not radius >= 0:
        raise RequestError(Code("radius"), f" must be a non-negative number, not {radius!r}")
    count = None if radius is not None else 5 if n_neighbors is None else n_neighbors
    if dtype is None:
        dtype = np.float32 if getattr(points, "dtype", None) == np.float32 else np.float64
    find = _by_tree if find_spec("sklearn") is None else _by_sklearn
    team = as_threads(threads) or cores()
    found = find(points, count, radius, metric, p, dict(metric_params or {}), team)
    if connect:
        found = _connected(found)
    g = Graph.from_edges(
        found.sources, found.targets, found.lengths, n=found.n, directed=False, keep_rows=False
    )
    result = apsp(
        g, sources=sources, predecessors=False, device=device, dtype=dtype, threads=threads,
        progress=progress, out=out,
    )  # fmt: skip
    return result.distances


def _require_count(count: Any, n: int) -> None:
    if count is not None and not 1 <= count < n:
        raise RequestError(f"n_neighbors must be from 1 to {n - 1} for {n} points, not {count!r}")


def _by_sklearn(
    points: Any,
    count: int | None,
    radius: float | None,
    metric: Any,
    p: float,
    parameters: dict[str, Any],
    threads: int,
) -> _Neighbors:
    from scipy.sparse import issparse
    from sklearn.metrics import pairwise_distances
    from sklearn.neighbors import NearestNeighbors

    finder = NearestNeighbors(metric=metric, p=p, metric_params=parameters or None)
    finder.fit(points)
    _require_count(count, finder.n_samples_fit_)

    def find(jobs: int) -> Any:
        finder.set_params(n_jobs=jobs)
        if count is not None:
            return finder.kneighbors_graph(n_neighbors=count, mode="distance").tocoo()
        return finder.radius_neighbors_graph(radius=radius, mode="distance").tocoo()

    graph = or_alone(find, threads)
    data = points if issparse(points) else np.asarray(points)
    effective, settings = finder.effective_metric_, finder.effective_metric_params_

    def between(a: Array, b: Array) -> Array:
        if effective != "precomputed":
            return np.asarray(pairwise_distances(data[a], data[b], metric=effective, **settings))
        if issparse(points):
            raise RequestError(
                "the neighbourhood graph has several components, and a sparse matrix does not say "
                "how far apart they are",
                advice=["pass a dense matrix, more neighbours, or connect=False"],
            )
        return np.asarray(data[np.ix_(a, b)])

    return _Neighbors(graph.shape[0], graph.row, graph.col, graph.data, between)


def _by_tree(
    points: Any,
    count: int | None,
    radius: float | None,
    metric: Any,
    p: float,
    parameters: dict[str, Any],
    threads: int,
) -> _Neighbors:
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist

    if metric not in _EXPONENTS or parameters:
        raise RequestError(
            f'metric={metric!r} needs scikit-learn: pip install "kleene[sklearn]"; without it '
            f"there are {', '.join(map(repr, _EXPONENTS))}"
        )
    data = np.asarray(points, dtype=np.float64)
    if data.ndim != 2 or not np.isfinite(data).all():
        raise RequestError("X must be an array of finite numbers with one row per point")
    n = len(data)
    _require_count(count, n)
    exponent = float(p if _EXPONENTS[metric] is None else _EXPONENTS[metric])  # type: ignore[arg-type]
    tree = cKDTree(data)

    def between(a: Array, b: Array) -> Array:
        if np.isinf(exponent):
            return np.asarray(cdist(data[a], data[b], "chebyshev"))
        return np.asarray(cdist(data[a], data[b], "minkowski", p=exponent))

    if count is None:
        sources, targets = tree.query_pairs(radius, p=exponent, output_type="ndarray").T
        lengths = np.linalg.norm(data[sources] - data[targets], ord=exponent, axis=1)
        return _Neighbors(n, sources, targets, lengths, between)
    lengths, targets = or_alone(
        lambda workers: tree.query(data, count + 1, p=exponent, workers=workers), threads
    )
    itself = targets == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True  # behind more points in the same place than were asked
    sources = np.repeat(np.arange(n), count)
    return _Neighbors(n, sources, targets[~itself], lengths[~itself], between)


# ---- several parts ------------------------------------------------------------------------------


def _connected(found: _Neighbors) -> _Neighbors:
    """Join each two parts at their closest points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(found.sources), dtype=np.int8)
    ends = found.sources.astype(np.int32), found.targets.astype(np.int32)  # SciPy 1.11 needs that
    joined = coo_array((ones, ends), shape=(found.n, found.n))
    count, part_of = connected_components(joined, directed=False)
    if count <= 1:
        return found
    warnings.warn(
        f"the neighbourhood graph has {count} components; they are joined at their closest points. "
        "More neighbours, or a larger radius, may avoid that; connect=False leaves them infinitely "
        "far apart",
        stacklevel=3,
    )
    parts = [np.flatnonzero(part_of == part) for part in range(count)]
    bridges = [_closest(parts[i], parts[j], found.between) for i in range(count) for j in range(i)]
    sources, targets, lengths = (np.array(column) for column in zip(*bridges, strict=True))
    return _Neighbors(
        found.n,
        np.concatenate([found.sources, sources]),
        np.concatenate([found.targets, targets]),
        np.concatenate([found.lengths, lengths]),
        found.between,
    )


def _closest(
    a: Array, b: Array, between: Callable[[Array, Array], Array]
) -> tuple[int, int, float]:
    """Return the closest two points of two parts, and how far apart they are."""
    best = (int(a[0]), int(b[0]), np.inf)
    rows = max(1, _TILE // len(b))
    for first in range(0, len(a), rows):
        some = a[first : first + rows]
        distances = between(some, b)
        i, j = np.unravel_index(distances.argmin(), distances.shape)
        if distances[i, j] < best[2]:
            best = (int(some[i]), int(b[j]), float(distances[i, j]))
    return best
