"""Matrix-vector products: every form, algebra and type against NumPy on the dense matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulators import needs_checked
from graphs import graph

import kleene as kl
from kleene.system.machine import this_machine

#: A build for a sanitizer has no emulator.
EMULATED = [device for device in this_machine().devices if device == "emulated"]
FORMS = ("csr", "csc", "coo", "ell", "dense")
ADD = {
    "plus_times": np.add,
    "min_plus": np.minimum,
    "boolean": np.logical_or,
    "max_min": np.maximum,
    "max_times": np.maximum,
}
TIMES = {
    "plus_times": np.multiply,
    "min_plus": np.add,
    "max_min": np.minimum,
    "max_times": np.multiply,
}


def nothing(semiring: str, dtype: np.dtype[Any]) -> Any:
    if semiring not in ("min_plus", "max_min"):
        return dtype.type(0)
    if dtype.kind == "f":
        return np.inf if semiring == "min_plus" else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if semiring == "min_plus" else limits.min


def expected(g: kl.Graph, x: np.ndarray, semiring: str) -> np.ndarray:
    s, t, w = g.coo
    w = np.ones(g.m, dtype=x.dtype) if w is None else w
    dtype = np.dtype(bool) if semiring == "boolean" else np.result_type(x, w)
    y = np.full(g.n, nothing(semiring, dtype), dtype=dtype)
    terms = x[s].astype(dtype)  # over booleans an arc is an arc, whatever it weighs
    ADD[semiring].at(y, t, terms if semiring == "boolean" else TIMES[semiring](terms, w))
    return y


def random_graph(n: int, m: int, dtype: Any) -> kl.Graph:
    rng = np.random.default_rng(n)
    weights = None if dtype is None else rng.integers(0, 9, m).astype(dtype)
    return kl.Graph.from_edges(rng.integers(0, n, m), rng.integers(0, n, m), weights, n=n)


@pytest.mark.parametrize("dtype", [None, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("semiring", list(ADD))
def test_products(semiring: str, form: str, dtype: Any) -> None:
    for n, m in ((1, 0), (5, 12), (300, 2500)):
        g = random_graph(n, m, dtype)
        for x_dtype in (np.int32, np.float32, np.float64, bool):
            x = np.random.default_rng(1).integers(0, 5, n).astype(x_dtype)
            want = expected(g, x.astype(np.int32) if x_dtype is bool else x, semiring)
            for device, threads in (("cpu", 1), ("cpu", 3), *((name, None) for name in EMULATED)):
                y = kl.spmv(g, x, semiring, form=form, device=device, threads=threads)
                assert y.dtype == want.dtype
                np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("form", FORMS)
def test_ends_of_the_range(form: str, device: str) -> None:
    g = kl.Graph.from_edges([0, 1, 2, 2], [3, 3, 3, 2], np.array([5, -7, 1, -1], dtype=np.int32))
    for dtype in (np.int32, np.int64):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        for x, want in (
            ([high - 1, high, high - 9, 0], [high, high, high - 10, high - 8]),
            ([0, low + 3, 0, 0], [high, high, -1, low]),
        ):
            vector = np.array(x, dtype=dtype)
            assert kl.spmv(g, vector, "min_plus", form=form, device=device).tolist() == want


@pytest.mark.parametrize("form", FORMS)
def test_negative_floats_and_no_path(form: str) -> None:
    """The order of floats is kept below zero too; infinities go through."""
    rng = np.random.default_rng(9)
    for dtype in (np.float32, np.float64):
        weights = (rng.random(400) - 0.5).astype(dtype)
        g = kl.Graph.from_edges(rng.integers(0, 60, 400), rng.integers(0, 60, 400), weights, n=60)
        for semiring in ("min_plus", "max_min", "max_times"):
            x = (rng.random(60) - 0.5).astype(dtype)
            x[::7] = np.inf if semiring == "min_plus" else 0
            for device in ("cpu", *EMULATED):
                y = kl.spmv(g, x, semiring, form=form, device=device)
                np.testing.assert_array_equal(y, expected(g, x, semiring))


@pytest.mark.parametrize("weights", [None, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    "x_dtype",
    [*(np.int8, np.int16, ">i4", np.int32, np.int64, np.float32), *(np.uint8, ">u2", np.uint32)],
)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("semiring", ["min_plus", "max_min", "max_times"])
def test_no_path_stays_no_path(semiring: str, form: str, x_dtype: Any, weights: Any) -> None:
    given = None if weights is None else np.array([5, 5, 7, 1], weights)
    g = kl.Graph.from_edges([0, 1, 2, 3], [2, 3, 4, 4], given, n=6)
    none = nothing(semiring, np.dtype(x_dtype))
    x = np.array([none, 3, none, 2, 1, 1], x_dtype)
    for device in ("cpu", *EMULATED):
        y = kl.spmv(g, x, semiring, form=form, device=device)
        absent = nothing(semiring, y.dtype)
        assert (y == absent).tolist() == [True, True, True, False, False, True]
        w = [1, 1, 1, 1] if given is None else given.tolist()
        times = {"min_plus": int.__add__, "max_min": min, "max_times": int.__mul__}[semiring]
        assert y[3:5].tolist() == [times(3, int(w[1])), times(2, int(w[3]))]


def test_encodings_go_one_step_further() -> None:
    x = kl.distance_encodings([kl.Graph.from_edges([0], [1], n=3)], dtype="uint8")[0][0]
    g = kl.Graph.from_edges([2, 1], [0, 2], np.array([5, 5], np.int32), n=3)
    largest = np.iinfo(np.int32).max
    assert kl.spmv(g, x, "min_plus").tolist() == [largest, largest, 6]


def test_distances_of_a_search_go_one_step_further() -> None:
    """One step from the distances of an integer search, over weights of a wider type."""
    g = kl.Graph.from_edges([0, 1, 3], [1, 2, 2], np.array([5, 4, 1], np.int32), n=4)
    distances = kl.sssp(g, 0).distances
    wide = g.reweight(arcs=g.weights.astype(np.float64))  # type: ignore[union-attr]
    assert kl.spmv(wide, distances, "min_plus").tolist() == [np.inf, 5, 9, np.inf]


@pytest.mark.parametrize("semiring", ["min_plus", "max_min", "max_times", "boolean"])
def test_nan_is_no_value_of_a_semiring(semiring: str) -> None:
    g = kl.Graph.from_edges([0], [1], [0.5])
    for x in ([1.0, np.nan], np.array([1, np.nan], np.float16)):
        with pytest.raises(kl.RequestError, match=f"x holds nan at 1, .* of '{semiring}'"):
            kl.spmv(g, x, semiring)
    assert np.isnan(kl.spmv(g, [np.nan, 1.0])[1])


@pytest.mark.parametrize("semiring", ADD)
def test_the_largest_weight_in_every_form(semiring: str) -> None:
    largest = np.iinfo(np.int32).max
    g = kl.Graph.from_edges([0, 0], [1, 2], np.array([largest, 5], np.int32))
    narrow, wide = np.array([-2, 1, 1], np.int32), np.array([-2, 1, 1], np.int64)
    for form in FORMS:
        if form == "dense" and semiring != "boolean":
            with pytest.raises(kl.RequestError, match=f"cannot store an arc of weight {largest}"):
                kl.spmv(g, narrow, semiring, form=form)
        else:
            y = kl.spmv(g, narrow, semiring, form=form)
            assert (y == kl.spmv(g, narrow, semiring)).all()
        y = kl.spmv(g, wide, semiring, form=form)
        assert (y == kl.spmv(g, wide, semiring)).all()


@needs_checked
@pytest.mark.parametrize("seed", [0, 3])
def test_hubs_on_a_device(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that many warps share, and long runs of vertices without arcs."""
    monkeypatch.setenv("KLEENE_EMULATOR_SEED", str(seed))
    monkeypatch.setenv("KLEENE_EMULATOR", "checked")
    n, hub = 6000, np.arange(100, 3000)
    s, t = np.append(hub, np.full(2900, 50)), np.append(np.full(2900, 5990), hub)
    g = kl.Graph.from_edges(s, t, np.arange(5800) % 11, n=n).to("emulated")
    x = np.arange(n) % 5
    for form in ("csr", "csc", "coo"):
        for semiring in ("plus_times", "min_plus"):
            assert (kl.spmv(g, x, semiring, form=form) == expected(g, x, semiring)).all()


def test_a_graph_on_a_device_keeps_its_forms() -> None:
    g = random_graph(30, 90, np.float32).to("emulated")
    for form in FORMS:
        kl.spmv(g, np.ones(30, np.float32), form=form)
    there = g.placed
    kept = (there.csr, there.csc, there.tails, there.ell, there.matrix(np.dtype(np.float32)))
    kl.spmv(g, np.ones(30, np.float32), form="dense")
    assert there.matrix(np.dtype(np.float32)) is kept[-1]


def test_a_large_product_on_all_threads() -> None:
    g = random_graph(20_000, 300_000, np.float64)
    x = np.random.default_rng(3).random(g.n)
    want = g.to_scipy().T @ x
    for form in ("csr", "csc", "coo"):
        np.testing.assert_allclose(kl.spmv(g, x, form=form), want)


def test_one_step_of_a_search() -> None:
    g = graph("nine_vertices")
    x = np.zeros(9, dtype=bool)
    x[0] = True
    for hops in range(1, 4):
        x = kl.spmv(g, x, "boolean")
        near = kl.bfs(g, 0).distances
        assert x[near == hops].all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"semiring": "tropical"}, "did you mean 'min_plus'? There are 'plus_times', 'min_plus'"),
        ({"form": "dok"}, "no form 'dok'; there are 'csr'"),
        ({"x": [1, 2]}, "x has shape (2,), but the graph has 9 vertices"),
        ({"device": "tpu"}, "no device 'tpu'; there are 'auto', 'cpu', 'cuda', 'emulated'"),
        ({"threads": 0}, "threads must be an integer from 1"),
        ({"x": ["a"] * 9}, "x "),
    ],
)
def test_refusals(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"graph": graph("nine_vertices"), "x": np.ones(9)} | change
    with pytest.raises(kl.KleeneError) as caught:
        kl.spmv(**arguments)
    assert message in str(caught.value)
    with pytest.raises(kl.GraphError, match="not list"):
        kl.spmv([], [])  # type: ignore[arg-type]
