"""Trials of dense closures of whole matrices on a GPU, beside the ceiling of its arithmetic.

A trial closes a graph that is a matrix on the host; copies and computation are timed apart, by the
GPU's clock. Rows of the answer, chosen at random, are computed again on the host before a time
counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np

import kleene as kl
from kleene.calls.programs import device_memory, relaxation_ceiling
from kleene_lab.harness.dense_check import best_row, require_paths, require_row
from kleene_lab.harness.dense_inputs import Array, Case, Weights
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Skipped
from kleene_lab.harness.formatting import size
from kleene_lab.harness.trial import Parts, Trial, parts_of

__all__ = ["ceiling_of", "resident", "streamed"]


def resident(environment: Environment, case: Case, n: int, most: int) -> Trial:
    """Return the trial of a matrix that fits; ``most`` is the largest n of the experiment."""
    device = _device(environment)
    needed, free = _device_bytes(case, n), device_memory(device).free
    if needed > free:
        raise Skipped(f"needs {size(needed)} on the GPU, and {size(free)} are free there")
    return _trial(environment, case, n, most)


def streamed(environment: Environment, case: Case, n: int, times: float) -> Trial:
    """Return the trial of whole calls with a matrix so many times as large as the usable memory."""
    device = _device(environment)
    trial = _trial(environment, case, n, n)
    call, budget = trial.run, int(_device_bytes(case, n) / times)

    def run() -> kl.Result:
        limited = _limited(device_memory(device).used + budget) if times > 1 else nullcontext()
        with limited:
            result: kl.Result = call()
        return result

    trial.run = run
    # Copies and computation overlap: the whole call counts.
    trial.parts = lambda result: Parts(compute=result.stats.total)
    return trial


def ceiling_of(environment: Environment, case: Case, device: str, threads: int | None) -> float:
    """Return the relaxations per second that a device's arithmetic allows, measured once."""
    key = (case.semiring, case.dtype, case.negative, case.paths and device == "cpu")
    measured = partial(
        relaxation_ceiling, case.semiring, case.dtype, device=device, threads=threads,
        predecessors=case.paths and device == "cpu", nonnegative=not case.negative,
        seconds=0.01 if environment.quick else 0.1,
    )  # fmt: skip
    return environment.kept("ceiling", (device, threads, *key), measured)


def _trial(environment: Environment, case: Case, n: int, most: int) -> Trial:
    weights = _weights(environment, most)
    matrix = weights.matrix(case, n)
    graph = environment.last(
        "matrix", (case._replace(paths=False), n, most), partial(_graph, matrix)
    )

    def check(result: kl.Result) -> str:
        rows = np.random.default_rng(0).integers(0, n, 1 if n > 8192 else 2).tolist()
        for source in rows:
            key = (case.name, n, source)
            if key not in weights.right:
                weights.right[key] = best_row(case, matrix, source, weights.heights)
            require_row(case, result.distances[source], weights.right[key], source)
            if result.predecessors is not None:
                row, own = result.distances[source], result.predecessors[source]
                require_paths(case, matrix, row, own, source)
        return f"{len(rows)} of {n} rows computed again by Dijkstra's algorithm"

    device = _device(environment)
    call = partial(
        kl.closure, graph, case.semiring, method="tiled", device=device, predecessors=case.paths
    )
    return Trial(
        call, check, parts_of, n, n * n, "tiled", case.dtype, None, float(n) ** 3, "relaxations",
        ceiling_of(environment, case, device, None), 3 if n > 2048 else 9,
    )  # fmt: skip


def _graph(matrix: Array) -> kl.Graph:
    if matrix.dtype == bool:  # sparse: as a matrix of weights it would take four times the memory
        tails, heads = np.nonzero(matrix)
        return kl.Graph.from_edges(tails, heads, n=len(matrix))
    return kl.Graph.from_dense(matrix, null_value=np.inf)


def _device(environment: Environment) -> str:
    assert environment.gpu is not None
    environment.unplace()  # frees memory
    return environment.gpu


def _device_bytes(case: Case, n: int) -> int:
    """Return about how many bytes of device memory a closure takes: a matrix of whole tiles."""
    if case.dtype == "bool":
        return n * n // 8 + 2**21
    padded, width = -(-n // 128) * 128, 8 if "64" in case.dtype else 4
    matrices = 3 if case.paths else 1
    return matrices * padded * padded * width + 256 * padded * width + 2**20


def _weights(environment: Environment, most: int) -> Weights:
    needed = 16 * most * most  # weights, a matrix, the graph's own, the answer
    if needed > environment.memory:
        raise Skipped(f"needs {size(needed)}; {size(environment.memory)} are free")
    return environment.last("weights", most, lambda: Weights(most))


@contextmanager
def _limited(nbytes: int) -> Iterator[None]:
    """Let calls take no more of a GPU's memory."""
    before = os.environ.get("KLEENE_DEVICE_MEMORY")
    os.environ["KLEENE_DEVICE_MEMORY"] = str(nbytes)
    try:
        yield
    finally:
        del os.environ["KLEENE_DEVICE_MEMORY"]
        if before is not None:
            os.environ["KLEENE_DEVICE_MEMORY"] = before
