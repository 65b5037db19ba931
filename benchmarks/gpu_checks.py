"""Checks on a GPU: the tests for GPUs, and NVIDIA's compute-sanitizer.

    python benchmarks/gpu_checks.py cuda    # every method on a small graph: what the sanitizer runs

Nothing here is timed.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

import kleene as kl
from kleene.registry import PATH_PROBLEMS
from kleene.registry.measures import HOPS_ONLY

TESTS = Path(__file__).parent.parent / "tests"
SMALL = 150  # vertices: more than one tile, and not a multiple of anything


class Outcome(NamedTuple):
    """The outcome of a check: counts, or in the details why there are none."""

    passed: int = 0
    failed: int = 0
    details: tuple[str, ...] = ()


LATE = Outcome(details=("not done within the budget",))


class Check(ABC):
    """A program that was started, and its output."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the object
        self._process = subprocess.Popen(
            command, stdout=self._output, stderr=subprocess.STDOUT, cwd=TESTS.parent,
            start_new_session=True,
        )  # fmt: skip

    def text(self, until: float) -> str | None:
        """Wait for the end and return the output; None after a timeout."""
        try:
            self._process.wait(max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # it and what it started
            self._process.wait()
            return None
        self._output.seek(0)
        return self._output.read()

    @abstractmethod
    def outcome(self, until: float) -> Outcome:
        """Wait for the end and return the outcome."""


class Pytest(Check):
    """Tests of this project, counted by their own report."""

    def __init__(self, name: str, arguments: list[str]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._report = Path(self._folder.name) / "report.xml"
        options = ["-q", "-p", "no:cacheprovider", f"--junitxml={self._report}", "--tb=line"]
        super().__init__(name, [sys.executable, "-m", "pytest", *options, *arguments])

    def outcome(self, until: float) -> Outcome:
        text = self.text(until)
        if text is None:
            return LATE
        if not self._report.exists():
            return Outcome(0, 1, tuple(text.splitlines()[-3:]))
        cases = list(ElementTree.parse(self._report).iter("testcase"))
        bad = [c for c in cases if c.find("failure") is not None or c.find("error") is not None]
        unrun = sum(case.find("skipped") is not None for case in cases)
        names = tuple(f"{case.get('name')} failed" for case in bad[:10])
        return Outcome(len(cases) - len(bad) - unrun, len(bad), names)


_SUMMARY = {
    "memcheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
    "racecheck": re.compile(r"RACECHECK SUMMARY: (\d+) hazard"),
    "synccheck": re.compile(r"ERROR SUMMARY: (\d+) error"),
}


class Sanitizer(Check):
    """One tool of compute-sanitizer over every method on a small graph."""

    def __init__(self, program: str, tool: str, device: str) -> None:
        self._tool = tool
        inner = [sys.executable, __file__, device]
        # cuda.core looks for functions that older drivers do not have, which is no error.
        options = ["--tool", tool, "--report-api-errors", "no"]
        super().__init__(f"compute-sanitizer {tool}", [program, *options, *inner])

    def outcome(self, until: float) -> Outcome:
        text = self.text(until)
        if text is None:
            return LATE
        totals = _SUMMARY[self._tool].findall(text)
        done = re.search(r"(\d+) methods verified", text)
        if not totals or done is None:
            return Outcome(details=(f"it did not work: {' '.join(text.split())[-300:]}",))
        errors = sum(map(int, totals))
        lines = [line for line in text.splitlines() if line.startswith("=========")][:10]
        return Outcome(int(done[1]), errors, tuple(lines if errors else ()))


def sanitizer_program() -> str | None:
    """Return where compute-sanitizer is, or None."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    return shutil.which("compute-sanitizer", path=f"{os.environ.get('PATH', '')}:{home}/bin")


def run_all(
    device: str, quick: bool, seconds: float, which: Sequence[str] = ()
) -> Iterator[tuple[str, Outcome]]:
    """Run every check, or those whose names contain one of ``which``; yield names and outcomes.

    Tests run one after the other: processes share a GPU in turns of milliseconds, which slows
    methods that return to the host for every level. The sanitizers, slow by themselves, run
    together.
    """
    until = time.monotonic() + seconds
    os.environ["KLEENE_TEST_DEVICE"] = device
    tests = {
        "test_gpu": ["tests/cuda/test_gpu.py"],
        "test_gpu_device": ["tests/runtime/test_gpu_device.py"],
        "test_gpu_devices": ["tests/runtime/test_gpu_devices.py"],
        "test_gpu_searches": ["tests/cuda/test_gpu_searches.py"],
        "test_prepared_cuda": [
            "tests/cuda/test_prepared_cuda.py",
            "tests/cuda/test_prepared_cuda_weights.py",
        ],
        "test_cuda_betweenness": ["tests/cuda/test_cuda_betweenness.py"],
        "test_cuda_placed": ["tests/cuda/test_cuda_placed.py"],
        "test_methods": ["tests/backends/test_methods.py", "-k", device],
    }
    if quick:
        tests = {
            "tests": ["tests/backends/test_methods.py", "-k", f"{device} and one_arc and naive"]
        }
    sanitizers = {f"compute-sanitizer {tool}": tool for tool in _SUMMARY}
    named = [name for name in (*tests, *sanitizers) if any(one in name for one in which or [""])]
    waves: list[list[Callable[[], Check]]] = [
        [partial(Pytest, name, tests[name])] for name in named if name in tests
    ]
    program = sanitizer_program()
    wanted = [sanitizers[name] for name in named if name in sanitizers]
    possible = device == "cuda" and program is not None
    if program is not None and possible:
        waves.append([partial(Sanitizer, program, tool, device) for tool in wanted])
    for check in (check for wave in waves for check in [start() for start in wave]):
        yield check.name, check.outcome(until)
    if wanted and not possible:
        why = "compute-sanitizer is not installed" if device == "cuda" else "needs a GPU"
        yield "compute-sanitizer", Outcome(details=(why,))


# ---- every method on a small graph --------------------------------------------------------------


def small_graph(semiring: str) -> kl.Graph:
    rng = np.random.default_rng(SMALL)
    s, t = rng.integers(0, SMALL, (2, 8 * SMALL))
    weights = rng.random(len(s)) if semiring == "max_times" else rng.integers(1, 90, len(s))
    return kl.Graph.from_edges(s, t, weights, n=SMALL)


def mixed_graph() -> kl.Graph:
    """Return a hub whose arcs a block cannot take at once, a chain behind it, and an island."""
    hub, chain = 3000, 40
    s = np.concatenate([np.zeros(hub, int), hub + np.arange(chain), [hub + chain + 1]])
    t = np.concatenate([1 + np.arange(hub), hub + 1 + np.arange(chain), [hub + chain + 2]])
    weights = np.random.default_rng(1).integers(1, 6, len(s)).astype(np.float32)
    return kl.Graph.from_edges(s, t, weights, n=hub + chain + 3, directed=False)


def solve(row: Any, semiring: str, device: str, predecessors: bool) -> None:
    options: dict[str, Any] = {"method": row.name, "device": device, "predecessors": predecessors}
    if row.problem == "closure":
        options["semiring"] = semiring
    if row.problem not in ("bfs", "sssp"):
        g = small_graph(semiring)
        for one in (g, g.to(device)):
            getattr(kl, row.problem)(one, **options).verify()
        return
    for g in (small_graph(semiring), mixed_graph()):
        getattr(kl, row.problem)(g, sources=[0, g.n // 2], **options).verify()


def multiply(device: str) -> None:
    """Multiply by every form of a graph, where the device can, and compare with the CPU."""
    if "device" not in inspect.signature(kl.spmv).parameters:
        return
    g = small_graph("min_plus")
    x = np.random.default_rng(1).integers(0, 9, g.n)
    for semiring in ("plus_times", "min_plus", "boolean"):
        for form in ("csr", "csc", "coo", "ell", "dense"):
            options: dict[str, Any] = {"form": form, "device": device}
            y = kl.spmv(g, x, semiring, **options)
            assert (y == kl.spmv(g, x, semiring, form=form)).all(), (semiring, form)


def verify_betweenness(device: str) -> None:
    """Verify every method of betweenness that the device has."""
    for row in kl.methods("betweenness", device):
        for g in (small_graph("min_plus"), mixed_graph()):
            options: dict[str, Any] = {"method": row.name, "device": device, "edges": True}
            hops = row.name in HOPS_ONLY
            kl.betweenness(g, sources=[0, g.n // 2], hops=hops, **options).verify(sample=2)


def main() -> None:
    device, done = sys.argv[1], 0
    multiply(device)
    verify_betweenness(device)
    for row in kl.methods(device=device):
        if row.problem not in PATH_PROBLEMS:
            continue
        for semiring in row.semirings:
            for predecessors in (False, True):
                solve(row, semiring, device, predecessors)
        done += 1
    print(f"{done} methods verified")


if __name__ == "__main__":
    main()
