"""Startup: a new process, and the overhead of a call."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import Any

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.trial import Parts, Trial

__all__ = ["EXPERIMENTS"]

# ---- a new process ------------------------------------------------------------------------------

_IMPORT = """
import time; began = time.perf_counter()
import kleene
print(time.perf_counter() - began, 0)
"""

_FIRST = """
import time; began = time.perf_counter()
import kleene as kl
r = kl.apsp(kl.generate.grid(8, 8), method="tiled", device={device!r}, predecessors=False)
print(time.perf_counter() - began, int(r.distances.sum()))
"""

_HELP = """
import time; began = time.perf_counter()
import contextlib, io, sys
from _kleene_cli import main
sys.argv = ["kleene", "--help"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
print(time.perf_counter() - began, 0)
"""

_WORDS = (
    "import kleene", "kleene --help", "first answer, CPU",
    "first answer, GPU, kernels kept from before", "first answer, GPU, kernels to be compiled",
)  # fmt: skip


class _Started:
    """The output of a process: seconds from its first line to its last, and the answer's sum."""

    def __init__(self, program: str, environment: dict[str, str]) -> None:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
            env={**os.environ, **environment},
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"the new process failed: {done.stderr.strip()[-300:]}")
        seconds, total = done.stdout.split()[-2:]
        self.seconds, self.total = float(seconds), int(total)


def _process(program: str, answers: bool, fresh: bool) -> Trial:
    wanted = 0
    if answers:
        right = kl.apsp(kl.generate.grid(8, 8), device="cpu")
        right.verify()
        wanted = int(right.distances.sum())

    def run() -> _Started:
        if not fresh:
            return _Started(program, {})
        with tempfile.TemporaryDirectory() as empty:
            return _Started(program, {"KLEENE_CACHE_DIR": empty, "CUDA_CACHE_DISABLE": "1"})

    def check(started: _Started) -> str:
        if started.total != wanted:
            raise AssertionError(f"the answer's sum is {started.total}, expected {wanted}")
        return "its sum is that of a verified answer" if answers else "exit status 0"

    return Trial(run, check, lambda started: Parts(compute=started.seconds), repeats=5)


def _new_process(environment: Environment) -> Iterator[Plan]:
    jobs: list[tuple[int, str, bool, bool]] = [
        (0, _IMPORT, False, False),
        (1, _HELP, False, False),
        (2, _FIRST.format(device="cpu"), True, False),
    ]
    if environment.gpu:
        program = _FIRST.format(device=environment.gpu)
        jobs += [(3, program, True, False), (4, program, True, True)]
    for x, program, answers, fresh in jobs:
        device = "cpu" if x < 3 or environment.gpu is None else environment.gpu
        trial = partial(_process, program, answers, fresh)
        yield Plan("new process", x, trial, device=device, setup=0.5, size=0)


def _findings_new_process(results: Measurements) -> Iterator[str]:
    for point in results.of("new process"):
        yield f"{_WORDS[int(point.x)]}: {results.value(point):.2f} s."


# ---- a tiny call --------------------------------------------------------------------------------

_CALLS = 200
_PROBLEMS = ("bfs", "sssp", "apsp")


def _overhead(problem: str, device: str, calls: int) -> Trial:
    g = kl.Graph.from_edges(range(9), range(1, 10), [3] * 9, n=10, directed=False)
    graph = g if device == "cpu" else g.to(device)
    start = () if problem == "apsp" else (0,)
    call: Any = partial(getattr(kl, problem), graph, *start, device=device)

    def run() -> kl.Result:
        for _ in range(calls - 1):
            call()
        results: kl.Result = call()
        return results

    def check(result: kl.Result) -> str:
        result.verify()
        return "verified"

    return Trial(run, check, n=g.n, m=g.m, work=float(calls), unit="calls")


def _tiny_calls(environment: Environment) -> Iterator[Plan]:
    calls = 2 if environment.quick else _CALLS
    for x, problem in enumerate(_PROBLEMS):
        yield Plan("CPU", x, partial(_overhead, problem, "cpu", calls), size=0)
        if environment.gpu:
            trial = partial(_overhead, problem, environment.gpu, min(calls, 20))
            yield Plan("GPU, graph there", x, trial, device=environment.gpu, size=0)


def _findings_tiny(results: Measurements) -> Iterator[str]:
    for series in results.series:
        texts = [
            f"{_PROBLEMS[int(point.x)]} {1e6 / results.value(point):.0f} µs"
            for point in results.of(series)
        ]
        yield f"A call on ten vertices takes, {series}: {', '.join(texts)}."


EXPERIMENTS = (
    Experiment(
        "first-use",
        "The first answer in a new process",
        "How long does it take from starting Python to the first answer?",
        Axis("what", log=False, labels=_WORDS),
        _new_process,
        _findings_new_process,
        ("ours", "gpu"),
        kind="bars",
        budget=15,
        notes=(
            "Seconds inside the process, import included, the interpreter's own start not. All "
            "pairs of 64 vertices; files are in the system's cache."
        ),
    ),
    Experiment(
        "call-overhead",
        "A call with next to nothing to do",
        "How many calls a second are possible on a graph of ten vertices?",
        Axis("problem", log=False, labels=_PROBLEMS),
        _tiny_calls,
        _findings_tiny,
        ("ours", "gpu"),
        y="rate",
        kind="bars",
        budget=5,
        notes="Whole calls with paths.",
    ),
)
