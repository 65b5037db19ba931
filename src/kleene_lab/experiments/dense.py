"""Dense matrices: how many operations a second closures and products do, and could do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kleene as kl
from kleene_lab.experiments.searches import patience_for, places
from kleene_lab.harness.dense import CASES, PLAIN, Case, ceiling_of, graph_like, resident, streamed
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import amount, three
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.record import Point
from kleene_lab.harness.trial import Trial, solve

__all__ = ["EXPERIMENTS"]

_NOTES = (
    "A relaxation is one triple of vertices; n vertices have n^3. CPU: whole calls from arcs to "
    "answer. GPU: by its clock, without copies. The ceiling is the same inner operation "
    "with all operands in the nearest cache, or in registers, measured in the same run."
)


def _share(point: Point) -> str:
    return "" if not (point.rate and point.ceiling) else f"{point.rate / point.ceiling:.0%}"


_UNIT = "relaxations a second"


def _on_cpu(environment: Environment, case: Case, n: int, threads: int) -> Trial:
    trial = solve(
        "closure", graph_like(case._replace(paths=False), n), semiring=case.semiring,
        method="tiled", device="cpu", threads=threads, predecessors=case.paths,
        work=float(n) ** 3, unit="relaxations",
    )  # fmt: skip
    trial.ceiling = ceiling_of(environment, case, "cpu", threads)
    return trial


def _guess(n: int, case: Case, device: str, threads: int = 1) -> float:
    """Return the seconds of a call, before any is known."""
    if device == "cpu":
        return float(n) ** 3 / (threads * (2e11 if case.semiring == "boolean" else 8e9))
    return float(n) ** 3 / (8e12 if device == "cuda" else 1e7)


# ---- by size ------------------------------------------------------------------------------------

_CPU_SIZES, _GPU_SIZES = (256, 512, 1024, 2048, 4096, 8192), (1024, 2048, 4096, 8192, 16384, 32768)
_MOST_PATHS = 16384


def _by_size(environment: Environment) -> Iterator[Plan]:
    paths = PLAIN._replace(paths=True)
    on_cpu, on_gpu = environment.sizes(_CPU_SIZES, (64,)), environment.sizes(_GPU_SIZES, (128,))
    for n in sorted({*on_cpu, *(on_gpu if environment.gpu else ())}):
        every = environment.cores
        for series, case, threads in (
            ("lengths, one core", PLAIN, 1),
            *((("lengths, all cores", PLAIN, every),) if every > 1 else ()),
            ("paths, all cores", paths, every),
        ):
            if n in on_cpu:
                trial = partial(_on_cpu, environment, case, n, threads)
                guess = _guess(n, case, "cpu", threads)
                yield Plan(series, n, trial, threads=threads, guess=guess, setup=n**2 / 2e7)
        for series, case in (("lengths, GPU", PLAIN), ("paths, GPU", paths)):
            if environment.gpu and n in on_gpu and (n <= _MOST_PATHS or not case.paths):
                yield Plan(
                    series, n, partial(resident, environment, case, n, max(on_gpu)),
                    device=environment.gpu, guess=_guess(n, case, environment.gpu),
                    setup=n**2 / 2e8,
                )  # fmt: skip


def _findings_by_size(results: Measurements) -> Iterator[str]:
    for series in ("lengths, all cores", "lengths, one core"):
        points = [point for point in results.of(series) if point.rate]
        if points:
            best = max(points, key=lambda point: point.rate or 0)
            yield (
                f"The CPU, {series.partition(', ')[2]}, comes to {amount(best.rate or 0, _UNIT)} "
                f"at n = {best.x:,.0f}, {_share(best)} of its ceiling."
            )
            break
    gpu = [point for point in results.of("lengths, GPU") if point.rate]
    if gpu:
        best = max(gpu, key=lambda point: point.rate or 0)
        yield (
            f"The GPU comes to {amount(best.rate or 0, _UNIT)} at n = {best.x:,.0f}, "
            f"{_share(best)} of its ceiling; at n = {gpu[0].x:,.0f} it is {_share(gpu[0])}."
        )
    for n, ratio in list(results.speedups("lengths, all cores", "lengths, GPU"))[-1:]:
        yield f"At n = {n:,.0f} the GPU is {times_as(ratio)} as fast as all cores."
    for device in ("all cores", "GPU"):
        for n, ratio in list(results.speedups(f"paths, {device}", f"lengths, {device}"))[-1:]:
            where = "the GPU" if device == "GPU" else device
            yield f"On {where}, paths take {times_as(ratio)} as long as lengths at n = {n:,.0f}."


# ---- by type ------------------------------------------------------------------------------------

_CPU, _GPU = "on the CPU", "on the GPU"


def _variants(case: Case) -> Iterator[tuple[str, Case]]:
    """Yield lengths alone, and with paths where the same type is computed in."""
    yield "lengths", case
    if case.semiring != "boolean" and case.dtype != "int16":
        yield "paths", case._replace(paths=True)


def _by_type(environment: Environment) -> Iterator[Plan]:
    cpu_n, gpu_n, bits_n = (64, 128, 128) if environment.quick else (2048, 8192, 32768)
    cases = list(enumerate(CASES))
    cases = cases[:: len(cases) - 1] if environment.quick else cases
    for x, case in cases:
        for what, variant in _variants(case):
            threads = environment.cores
            trial = partial(_on_cpu, environment, variant, cpu_n, threads)
            guess = _guess(cpu_n, variant, "cpu", threads)
            yield Plan(f"{what}, all cores", x, trial, _CPU, threads=threads, guess=guess, size=0)
    for x, case in cases if environment.gpu else ():
        assert environment.gpu is not None
        n = bits_n if case.semiring == "boolean" else gpu_n
        for what, variant in _variants(case):
            trial = partial(resident, environment, variant, n, gpu_n)
            yield Plan(
                f"{what}, GPU", x, trial, _GPU, environment.gpu,
                guess=_guess(gpu_n, variant, environment.gpu), setup=gpu_n**2 / 1e8, size=0,
            )  # fmt: skip


def _findings_by_type(results: Measurements) -> Iterator[str]:
    for panel, series in ((_CPU, "lengths, all cores"), (_GPU, "lengths, GPU")):
        points = {CASES[int(p.x)].name: p for p in results.of(series, panel) if p.rate}
        plain = points.get("float32")
        if plain is None or plain.rate is None:
            continue
        texts = []
        for name in ("boolean", "hops, int16 inside", "int32", "float64"):
            if name in points:
                ratio = (points[name].rate or 0) / plain.rate
                texts.append(f"{name} {times_as(ratio)}")
        if texts:
            yield f"Beside float32, {panel}: {'; '.join(texts)} as many relaxations a second."
        shares = {
            name: point.rate / point.ceiling
            for name, point in points.items()
            if point.rate and point.ceiling
        }
        if shares:
            low = min(shares, key=shares.__getitem__)
            high = max(shares, key=shares.__getitem__)
            yield (
                f"Lengths alone reach {shares[low]:.0%} ({low}) to {shares[high]:.0%} ({high}) of "
                f"the ceiling {panel}."
            )


# ---- larger than the memory of the GPU ----------------------------------------------------------


def _out_of_core(environment: Environment) -> Iterator[Plan]:
    if not environment.gpu:
        raise Skipped("needs a GPU: it measures matrices that its memory does not hold")
    n = 300 if environment.quick else 32768
    if environment.gpu == "emulated" and not environment.quick:
        raise Skipped("takes hours in the emulator; --quick tries it")
    guess, setup = _guess(n, PLAIN, environment.gpu), n**2 / 1e8
    yield Plan(
        "matrix there", 1, partial(streamed, environment, PLAIN, n, 1.0),
        device=environment.gpu, guess=guess, setup=setup,
    )  # fmt: skip
    for times in environment.sizes((2.0, 4.0, 8.0), (4 / 3,)):
        yield Plan(
            "streamed from the host", times, partial(streamed, environment, PLAIN, n, times),
            device=environment.gpu, guess=guess, setup=setup, size=1,
        )  # fmt: skip


def _findings_out_of_core(results: Measurements) -> Iterator[str]:
    whole = results.at("matrix there", 1)
    for point in results.of("streamed from the host")[-1:]:
        if whole is not None and whole.rate and point.rate:
            yield (
                f"A matrix {point.x:g} times as large as the memory that may be used keeps "
                f"{point.rate / whole.rate:.0%} of the rate of one that is on the GPU, copies "
                "from the host and back included."
            )


# ---- products of matrices, by size ---------------------------------------------------------------


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
        "dense-rate-by-size",
        "Dense rate by size",
        "How many relaxations a second do dense all pairs reach, and how many could they?",
        Axis("vertices"),
        _by_size,
        _findings_by_size,
        ("ours", "gpu"),
        y="rate",
        budget=40,
        patience=10,
        headline=finding("The GPU comes to", ""),
        notes=f"float32, no weight negative. {_NOTES}",
    ),
    Experiment(
        "dense-rate-by-type",
        "Dense rate by type and semiring",
        "Which numbers are fast: how many relaxations a second in every type and semiring?",
        Axis("type", log=False, labels=tuple(case.name for case in CASES)),
        _by_type,
        _findings_by_type,
        ("ours", "gpu"),
        y="rate",
        kind="bars",
        budget=45,
        notes=f"n is 2,048 on the CPU, 8,192 on a GPU, 32,768 for booleans there. {_NOTES}",
    ),
    Experiment(
        "dense-out-of-core",
        "Matrices larger than the GPU's memory",
        "How much slower are all pairs if the matrix does not fit into the GPU's memory?",
        Axis("matrix over memory"),
        _out_of_core,
        _findings_out_of_core,
        ("ours", "gpu"),
        y="rate",
        budget=30,
        patience=15,
        notes=(
            "n = 32,768, float32: 4 GiB. The memory that may be used is limited for the purpose. "
            "Whole calls, by the host's clock."
        ),
    ),
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
