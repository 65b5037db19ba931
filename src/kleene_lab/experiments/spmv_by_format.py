"""A vector times a sparse matrix, by the form of the matrix: dense, COO, CSR, CSC, ELL."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene.calls.programs import spmv_kernel_timer
from kleene_lab.experiments.documents import ALL, CHAPTER, GPU, ONE, Entrant, as_fast, entrants
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Published
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.trial import Parts, Trial

__all__ = ["EXPERIMENTS"]

_SIZES = (1024, 2048, 4096, 8192)
_ZEROS = (90, 99)  # per cent
_FORMS = ("dense", "coo", "csr", "csc", "ell")
_PLACES = (ONE, ALL, GPU)

_TOGETHER = 20  # products in one launch of a CUDA graph, where kernels alone are timed


def _label(form: str) -> str:
    return form if form == "dense" else form.upper()


def _panel(zeros: int, place: str) -> str:
    return f"{zeros} % zeros, {place}"


def _plans(environment: Environment) -> Iterator[Plan]:
    for zeros in _ZEROS:
        for place in _PLACES:
            for n in environment.sizes(_SIZES, (40,)):
                for e in entrants(environment, ((_label(form), form, place) for form in _FORMS)):
                    trial = partial(_trial, environment, e, n, zeros)
                    yield Plan(
                        e.series, n, trial, _panel(zeros, place), e.device, e.threads,
                        guess=e.guess(_TOGETHER * n**2), setup=3e-8 * n**2, size=float(n) ** 2,
                        growth=3,
                    )  # fmt: skip


def _matrix(n: int, zeros: int) -> kl.Graph:
    g = kl.generate.uniform(n, round(n * n * (1 - zeros / 100)), seed=1, weights=(0.5, 1.5))
    assert g.weights is not None
    return g.reweight(arcs=g.weights.astype(np.float32))


def _trial(environment: Environment, entrant: Entrant, n: int, zeros: int) -> Trial:
    g = environment.graph(("sparse", n, zeros), partial(_matrix, n, zeros))
    x = np.random.default_rng(1).random(n, dtype=np.float32)
    wanted = g.to_scipy().T @ x.astype(np.float64)
    where = {"form": entrant.method, "device": entrant.device}
    g = g if entrant.device == "cpu" else environment.placed(g)
    call = partial(kl.spmv, g, x, threads=entrant.threads, **where)
    trial = Trial(
        call, partial(_check, wanted), n=g.n, m=g.m, method=f"spmv by {entrant.method}",
        dtype="float32", threads=entrant.threads, work=float(g.m), unit="arcs", repeats=5,
    )  # fmt: skip
    if entrant.device != "cpu":
        timer = spmv_kernel_timer(g, x, products=_TOGETHER, **where)
        trial.parts = lambda answer: Parts(timer())
    return trial


def _check(wanted: NDArray[Any], y: NDArray[Any]) -> str:
    np.testing.assert_allclose(y, wanted, rtol=1e-3)
    return "compared with SciPy, up to rounding"


# ---- sentences ----------------------------------------------------------------------------------


def _findings(results: Measurements) -> Iterator[str]:
    for zeros in _ZEROS:
        yield from _fastest(results, zeros)
    yield from _sparse_or_dense(results)
    yield from _on_gpu(results)
    yield from _beside_theirs(results)


def _fastest(results: Measurements, zeros: int) -> Iterator[str]:
    texts = []
    for place in _PLACES:
        points = results.of(panel=_panel(zeros, place))
        n = max((point.x for point in points), default=0)
        best = results.fastest(n, _panel(zeros, place))
        if best is not None and sum(point.x == n for point in points) > 1:
            texts.append(f"{best.series} (n = {n:,.0f})")
    if texts:
        yield f"With {zeros} % zeros the fastest forms are {', '.join(texts)}."


def _sparse_or_dense(results: Measurements) -> Iterator[str]:
    """Is it worth it to leave out zeros?"""
    for place in (GPU, ONE):
        texts = []
        for zeros in _ZEROS:
            ratios = results.speedups(f"dense, {place}", f"CSR, {place}", _panel(zeros, place))
            for n, ratio in list(ratios)[-1:]:
                texts.append(f"{as_fast(ratio)} dense with {zeros} % zeros (n = {n:,.0f})")
        if texts:
            yield f"CSR, {place}, is {' and '.join(texts)}."


def _on_gpu(results: Measurements) -> Iterator[str]:
    for zeros in _ZEROS[:1]:
        here, there = _panel(zeros, ONE), _panel(zeros, GPU)
        for n in results.shared(f"CSR, {GPU}", panel=there)[-1:]:
            slow, fast = results.at(f"CSR, {ONE}", n, here), results.at(f"CSR, {GPU}", n, there)
            if slow is not None and fast is not None:
                ratio = results.value(slow) / max(results.value(fast), 1e-12)
                yield (
                    f"The kernel for CSR is {as_fast(ratio)} CSR on one core at n = {n:,.0f} and "
                    f"{zeros} % zeros; the document's was 348 times as fast as a dense product on "
                    "one core, at 4,096."
                )


def _beside_theirs(results: Measurements) -> Iterator[str]:
    for theirs in _PUBLISHED:
        series = theirs.series.replace(f", {_YEAR}", "")
        for n, ratio in list(results.over_published(theirs, series))[-1:]:
            if theirs.panel.startswith("90"):
                yield f"At n = {n:,.0f}, {series}, is {as_fast(ratio)} the document's."


# ---- what the document printed ------------------------------------------------------------------

_YEAR = "document"


def _published(
    label: str, place: str, zeros: int, x: tuple[int, ...], *seconds: float
) -> Published:
    series, machine = f"{label}, {place}, {_YEAR}", "machine not stated"
    return Published(series, tuple(map(float, x)), seconds, machine, _panel(zeros, place))


_90 = (1024, 2048, 4096)
_PUBLISHED = (
    _published("dense", ONE, 90, _90, 1.390e-3, 5.020e-3, 20.371e-3),
    _published("dense", GPU, 90, _90[1:], 8.872e-3, 70.466e-3),
    _published("COO", GPU, 90, _90, 38.375e-6, 136.445e-6, 925.923e-6),
    _published("CSR", GPU, 90, _90, 10.964e-6, 21.846e-6, 58.500e-6),
    _published("ELL", GPU, 90, _90, 15.038e-6, 24.254e-6, 44.541e-6),
    _published("dense", ONE, 99, (2048,), 5.061e-3),
    _published("dense", GPU, 99, (2048,), 8.872e-3),
    _published("COO", GPU, 99, (2048,), 11.319e-6),
    _published("CSR", GPU, 99, (2048,), 8.447e-6),
    _published("ELL", GPU, 99, (2048,), 8.839e-6),
)

EXPERIMENTS = (
    Experiment(
        "spmv-by-format",
        "Matrix-vector product by format",
        "Which form of a sparse matrix is multiplied fastest, by size and share of zeros?",
        Axis("rows and columns"),
        _plans,
        _findings,
        ("documents", "gpu"),
        CHAPTER,
        _PUBLISHED,
        budget=30,
        patience=2,
        notes=(
            f"float32, ordinary arithmetic. On the GPU the time is that of the kernels, from "
            f"{_TOGETHER} products in one CUDA graph, so that small matrices are in its cache; "
            "whole calls, with the vector's way there and back, are in the record. The document's "
            "CPU is taken to be one core, and dense, since its times hardly depend on zeros."
        ),
    ),
)
