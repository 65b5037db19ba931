"""Patched Isomap compared with scikit-learn's, and geodesic distances."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap, _isomap
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

import kleene as kl
from kleene import MemoryBudgetError, RequestError
from kleene.interop import sklearn as patching

ORIGINAL = scipy.sparse.csgraph.shortest_path
ROLL = make_swiss_roll(160, random_state=0)[0]
FAR = np.array([100.0, 0, 0])
THREE_ROLLS = np.concatenate([ROLL[:70], ROLL[70:140] + FAR, ROLL[140:] - FAR])
DISTANCES = pairwise_distances(ROLL)

GEODESICS = import_module("kleene.calls.geodesic_distances")  # the name is the function's too


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    assert _isomap.shortest_path is ORIGINAL
    yield
    kl.unpatch_sklearn()


def fit(X: Any, **options: Any) -> tuple[Isomap, list[str]]:
    """Return the fitted Isomap and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return Isomap(**options).fit(X), [str(w.message) for w in caught]


@pytest.mark.parametrize(
    ("X", "options"),
    [
        (ROLL, {}),
        (ROLL, {"n_neighbors": 12, "n_components": 3}),
        (ROLL, {"n_neighbors": None, "radius": 9.0}),
        (ROLL, {"metric": "manhattan", "n_neighbors": 7}),
        (ROLL, {"metric": "cosine", "n_neighbors": 9}),
        (ROLL, {"metric": "chebyshev", "neighbors_algorithm": "ball_tree"}),
        (ROLL, {"p": 3, "eigen_solver": "arpack"}),
        (ROLL, {"path_method": "FW"}),
        (ROLL, {"path_method": "D", "n_neighbors": 150}),
        (ROLL.astype(np.float32), {"n_neighbors": 8}),
        (np.concatenate([ROLL, ROLL]), {"n_neighbors": 8}),  # duplicate points: zero-weight arcs
        (THREE_ROLLS, {}),
        (THREE_ROLLS, {"n_neighbors": None, "radius": 9.0, "metric": "manhattan"}),
        (DISTANCES, {"metric": "precomputed"}),
        (pairwise_distances(THREE_ROLLS), {"metric": "precomputed"}),
        (kneighbors_graph(ROLL, 20, mode="distance"), {"metric": "precomputed"}),
    ],
)
def test_embeddings_are_those_of_sklearn(X: Any, options: dict[str, Any]) -> None:
    plain, told = fit(X, **options)
    with kl.patch_sklearn():
        ours, told_us = fit(X, **options)
    assert told_us == told
    assert ours.dist_matrix_.dtype == plain.dist_matrix_.dtype
    assert np.allclose(ours.dist_matrix_, plain.dist_matrix_, rtol=1e-12)
    assert ours.embedding_.dtype == plain.embedding_.dtype
    tolerance = 1e-3 if plain.embedding_.dtype == np.float32 else 1e-7
    assert np.allclose(ours.embedding_, plain.embedding_, atol=tolerance)
    assert np.isclose(ours.reconstruction_error(), plain.reconstruction_error(), rtol=1e-3)
    if options.get("metric") != "precomputed":
        new = X[::7] + X.dtype.type(0.01)
        assert np.allclose(ours.transform(new), plain.transform(new), atol=tolerance)


def test_several_components_raise_a_warning() -> None:
    with kl.patch_sklearn():
        _, told = fit(THREE_ROLLS)
    assert any("number of connected components" in message for message in told)


def test_kleene_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def watched(g: kl.Graph, **how: Any) -> kl.Result:
        calls.append(how)
        return kl.apsp(g, **how)

    monkeypatch.setattr(patching, "apsp", watched)
    with kl.patch_sklearn(device="emulated", threads=1):
        fit(ROLL[:40])
    assert len(calls) == 1
    assert calls[0]["device"] == "emulated"
    assert calls[0]["threads"] == 1


def test_patch_and_unpatch() -> None:
    kl.unpatch_sklearn()  # without a patch, does nothing
    kl.patch_sklearn()
    outer = _isomap.shortest_path
    assert outer is not ORIGINAL
    with kl.patch_sklearn(threads=1):
        assert _isomap.shortest_path is not outer
    assert _isomap.shortest_path is outer
    with pytest.raises(ZeroDivisionError), kl.patch_sklearn():
        raise ZeroDivisionError
    assert _isomap.shortest_path is outer
    kl.unpatch_sklearn()
    assert _isomap.shortest_path is ORIGINAL
    assert scipy.sparse.csgraph.shortest_path is ORIGINAL


def test_what_cannot_be_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RequestError, match="threads must be an integer"):
        kl.patch_sklearn(threads=0)
    with pytest.raises(RequestError, match="device must be a name"):
        kl.patch_sklearn(device=1)  # type: ignore[arg-type]
    with monkeypatch.context() as changed:
        changed.delattr(_isomap, "shortest_path")
        with pytest.raises(RequestError, match=r"has no sklearn.manifold._isomap.shortest_path"):
            kl.patch_sklearn()
    with monkeypatch.context() as changed:
        changed.setitem(sys.modules, "sklearn.manifold", None)
        with pytest.raises(RequestError, match=r'pip install "kleene\[sklearn\]"'):
            kl.patch_sklearn()


# ---- geodesic distances -------------------------------------------------------------------------

BY = ["sklearn", "tree"]


@pytest.fixture(params=BY)
def finder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "tree":
        monkeypatch.setattr(GEODESICS, "find_spec", lambda name: None)
    return str(request.param)


@pytest.mark.usefixtures("finder")
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"n_neighbors": 9},
        {"radius": 9.0},
        {"metric": "manhattan", "n_neighbors": 6},
        {"metric": "chebyshev"},
        {"metric": "chebyshev", "radius": 6.0},
        {"p": 3, "radius": 8.0},
        {"metric": "euclidean", "p": 7},
    ],
)
@pytest.mark.parametrize("points", ["roll", "float32", "three rolls", "twice"])
def test_geodesics_are_those_of_isomap(points: str, how: dict[str, Any]) -> None:
    X = {
        "roll": ROLL,
        "float32": ROLL.astype(np.float32),
        "three rolls": THREE_ROLLS,
        "twice": np.concatenate([ROLL, ROLL[:20], ROLL[:20], ROLL[:20]]),
    }[points]
    options = dict(how) if "radius" not in how else {"n_neighbors": None, **how}
    wanted, told = fit(X, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = kl.geodesic_distances(X, **how)
    assert found.dtype == wanted.dist_matrix_.dtype
    assert bool(caught) == any("connected components" in message for message in told)
    if caught:
        assert "components; they are joined at their closest points" in str(caught[0].message)
    if points == "twice" and "radius" not in how:
        return  # ties between identical points are arbitrary
    assert np.allclose(found, wanted.dist_matrix_, rtol=1e-5 if points == "float32" else 1e-9)


@pytest.mark.usefixtures("finder")
def test_components_that_are_not_joined() -> None:
    d = kl.geodesic_distances(THREE_ROLLS, n_neighbors=12, connect=False)
    apart = np.repeat([0, 1, 2], [70, 70, 20])
    assert np.array_equal(np.isinf(d), apart[:, None] != apart)
    assert (np.diag(d) == 0).all()
    assert np.isfinite(kl.geodesic_distances(ROLL, n_neighbors=12, connect=False)).all()


@pytest.mark.usefixtures("finder")
def test_components_are_joined_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(UserWarning, match="3 components"):
        whole = kl.geodesic_distances(THREE_ROLLS, n_neighbors=12)
    monkeypatch.setattr(GEODESICS, "_TILE", 500)
    with pytest.warns(UserWarning, match="3 components"):
        assert np.allclose(kl.geodesic_distances(THREE_ROLLS, n_neighbors=12), whole)


def test_identical_points() -> None:
    X = np.zeros((7, 2))
    assert (kl.geodesic_distances(X, connect=False, n_neighbors=6) == 0).all()


@pytest.mark.usefixtures("finder")
def test_some_rows_types_and_files(tmp_path: Any) -> None:
    d = kl.geodesic_distances(ROLL, n_neighbors=8)
    rows = kl.geodesic_distances(ROLL, n_neighbors=8, sources=[5, 0], threads=1)
    assert rows.shape == (2, len(ROLL))
    assert np.allclose(rows, d[[5, 0]])
    narrow = kl.geodesic_distances(ROLL, n_neighbors=8, dtype=np.float32)
    assert narrow.dtype == np.float32
    assert np.allclose(narrow, d, rtol=1e-5)
    file = tmp_path / "geodesics.npy"
    kl.geodesic_distances(ROLL, n_neighbors=8, out=file)
    assert np.array_equal(np.load(file), d)
    assert np.array_equal(kl.geodesic_distances(ROLL.tolist(), n_neighbors=8), d)
    assert np.allclose(kl.geodesic_distances(ROLL, n_neighbors=8, device="emulated"), d)


def test_precomputed_distances() -> None:
    d = kl.geodesic_distances(ROLL, n_neighbors=8)
    assert np.allclose(kl.geodesic_distances(DISTANCES, n_neighbors=8, metric="precomputed"), d)
    sparse = kneighbors_graph(ROLL, 12, mode="distance")
    wanted = fit(sparse, n_neighbors=8, metric="precomputed")[0].dist_matrix_
    assert np.allclose(kl.geodesic_distances(sparse, n_neighbors=8, metric="precomputed"), wanted)
    parts = kneighbors_graph(THREE_ROLLS, 8, mode="distance")
    with (
        pytest.raises(RequestError, match="or connect=False"),
        pytest.warns(UserWarning, match="components"),
    ):
        kl.geodesic_distances(parts, n_neighbors=5, metric="precomputed")
    alone = kl.geodesic_distances(parts, n_neighbors=5, metric="precomputed", connect=False)
    assert np.isinf(alone[0, -1])
    with pytest.warns(UserWarning, match="components"):
        joined = kl.geodesic_distances(
            pairwise_distances(THREE_ROLLS), n_neighbors=8, metric="precomputed"
        )
    assert np.isfinite(joined).all()
    counts = sp.csr_array(np.random.default_rng(0).poisson(0.5, (40, 30)).astype(float))
    found = kl.geodesic_distances(counts, n_neighbors=10, metric="cosine")
    assert np.allclose(found, fit(counts, n_neighbors=10, metric="cosine")[0].dist_matrix_)


def test_mistakes(finder: str) -> None:
    def refused(message: str, X: Any = ROLL, **how: Any) -> None:
        with pytest.raises(RequestError, match=message):
            kl.geodesic_distances(X, **how)

    refused("either n_neighbors or radius, not both", n_neighbors=3, radius=1.0)
    refused("n_neighbors must be from 1 to 159 for 160 points, not 160", n_neighbors=160)
    refused("n_neighbors must be from 1 to 159 for 160 points, not 0", n_neighbors=0)
    refused("radius must be a non-negative number", radius=-1.0)
    refused("threads must be an integer", threads=0)
    if finder == "tree":
        refused(r'metric=\'cosine\' needs scikit-learn: pip install "kleene\[sk', metric="cosine")
        refused("X must be an array of finite numbers", X=np.array([[np.nan], [1.0]]))
        refused("X must be an array of finite numbers", X=np.arange(4.0))


def test_too_many_points_are_refused_before_allocation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kleene.planning.machine.available_memory", lambda: 10**6)
    X = np.random.default_rng(0).random((4000, 2))
    with pytest.raises(MemoryBudgetError, match="sources"):
        kl.geodesic_distances(X, n_neighbors=12, connect=False)
