"""Matrix products over semirings: how many operations a second, by size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.experiments.searches import patience_for, places
from kleene_lab.harness.dense_inputs import PLAIN
from kleene_lab.harness.dense_trials import resident
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.formatting import three
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]

Array = NDArray[Any]

_NUMPY = "NumPy"
_THERE, _CLOSURE = "Kleene, GPU, matrices there", "a closure, GPU"
_SIZES, _QUICK = (256, 512, 1024, 2048, 4096, 8192), (24, 33)
#: Seconds for an operation on one core of Kleene, and of NumPy.
_STEP, _NUMPY_STEP = 3e-11, 1.5e-9
_ROWS = 16  # that are compared with NumPy's


def _factors(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    left, right = rng.random((2, n, n), dtype=np.float32)
    return left, right


def _rows(left: Array, right: Array) -> Array:
    """Return the min-plus product by NumPy, a row at a time."""
    return np.array([(row[:, None] + right).min(axis=0) for row in left])


def _trial(environment: Environment, n: int, make: Callable[..., Any] | None) -> Trial:
    left, right = environment.last("factors", n, lambda: _factors(n))
    run = partial(make or _rows, left, right)

    def check(answer: Any) -> str:
        some = np.linspace(0, n - 1, _ROWS).astype(int)
        if not np.array_equal(np.asarray(answer)[some], _rows(left[some], right)):
            raise AssertionError("the product differs from NumPy's")
        return f"{_ROWS} rows equal to NumPy's"

    return Trial(run, check, n=n, dtype="float32", work=float(n) ** 3, unit="operations", repeats=5)


def _there(environment: Environment, n: int) -> Trial:
    """Return the trial of matrices that are on the GPU: a closure, which is its own product."""
    graph = kl.Graph.from_dense(_factors(n)[0], null_value=np.inf)
    gpu = environment.gpu or "cuda"
    kept = kl.closure(graph, "min_plus", method="tiled", device=gpu, keep="device")
    there = kept.device_arrays.distances
    run = partial(kl.product, there, there, device=gpu)

    def check(answer: Any) -> str:
        some = np.linspace(0, n - 1, _ROWS).astype(int)
        if not np.allclose(np.asarray(answer)[some], kept.distances[some], rtol=1e-5):
            raise AssertionError("the product of a closure with itself is another one")
        return f"{_ROWS} rows equal to those of the closure"

    return Trial(run, check, n=n, dtype="float32", work=float(n) ** 3, unit="operations", repeats=5)


def _closure(environment: Environment, n: int, most: int) -> Trial:
    trial = resident(environment, PLAIN, n, most)
    trial.unit, trial.ceiling = "operations", None
    return trial


def _plans(environment: Environment) -> Iterator[Plan]:
    sizes = environment.sizes(_SIZES, _QUICK)
    for n in sizes:
        steps = float(n) ** 3
        for series, make in (
            (_THERE, partial(_there, environment, n)),
            (_CLOSURE, partial(_closure, environment, n, max(sizes))),
        ):
            if environment.gpu:
                guess = patience_for(environment, environment.gpu)
                yield Plan(series, n, make, "", environment.gpu, guess=guess, growth=10)
        for place, device, threads in places(environment):
            call = partial(kl.product, device=device, threads=threads)
            guess = steps * _STEP / (threads or 1) if device == "cpu" else 0.0
            guess = max(guess, patience_for(environment, device))
            trial = partial(_trial, environment, n, call)
            yield Plan(f"Kleene, {place}", n, trial, "", device, threads, guess, growth=10)
        guess = 0.0 if environment.quick else steps * _NUMPY_STEP
        yield Plan(_NUMPY, n, partial(_trial, environment, n, None), guess=guess, growth=10)


def _findings(results: Measurements) -> Iterator[str]:
    for series in results.series:
        points = results.of(series)
        if series != _NUMPY and points:
            rate = results.value(points[-1])
            text = f"{three(rate / 1e9)} billion operations a second"
            yield f"{series}: {text} at n = {points[-1].x:g}."
    for x, ratio in list(results.speedups(_CLOSURE, _THERE))[-1:]:
        yield f"Matrices on the GPU are multiplied at {ratio:.0%} of a closure's rate at n = {x:g}."
    for series in results.series:
        for x, ratio in list(results.speedups(_NUMPY, series))[-1:]:
            if series != _NUMPY:
                yield f"At n = {x:g}, {series} is {times_as(ratio)} as fast as {_NUMPY}."


EXPERIMENTS = (
    Experiment(
        "product-rate",
        "Min-plus products of matrices",
        "How many operations a second does a product over a semiring reach?",
        Axis("n"),
        _plans,
        _findings,
        ("measures", "gpu"),
        y="rate",
        quantity="seconds",
        budget=60,
        patience=20,
        headline=finding(),
        notes=(
            "float32 matrices, whole calls, on the host unless they are there. An operation is one "
            "sum and one minimum. The closure has as many, and is timed by the GPU's clock."
        ),
    ),
)
