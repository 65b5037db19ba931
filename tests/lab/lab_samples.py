"""Small records and declarations for the tests of the lab's report and comparison."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from kleene_lab.harness.experiment import Axis, Document, Experiment, Published
from kleene_lab.harness.measurements import Measurements
from kleene_lab.harness.record import Check, Point, Record, Run, Skip

GPU = Run(
    "g",
    "2026-11-15T10:00:00Z",
    {
        "processor": "Xeon",
        "cores": 16,
        "simd": "avx512",
        "clock": 2100,
        "memory": 1 << 37,
        "versions": {"numpy": "2.3"},
        "gpu": {"name": "NVIDIA H200", "driver": "580.1", "clock": "1980 MHz"},
    },
    "0.1.0",
    "abc",
)
CPU = Run("c", "2026-11-14T10:00:00Z", {"processor": "EPYC", "cores": 2}, "0.1.0", "abc")

DOCUMENT = Document("Ann and Bob", "Graphs on GPUs", "2013")
PUBLISHED = (
    Published("naive", (512, 1024), (0.5, 4.0), "Tesla M2090"),
    Published("one core", (512, 1024), (1.5, 8.0), "a Xeon"),
)


def unhurried(experiment: Experiment) -> Experiment:
    """Return an experiment that leaves no point out, however busy the machine is."""
    return replace(experiment, budget=3600, patience=600)


def experiment(
    name: str = "by-size",
    findings: Callable[[Measurements], Iterable[str]] = lambda results: ["Larger takes longer."],
    **rest: Any,
) -> Experiment:
    """Return a declaration that measures nothing."""
    given: dict[str, Any] = {
        "title": f"Title of {name}",
        "question": f"What is {name}?",
        "x": Axis("vertices"),
        "plans": lambda environment: (),
        "suites": ("documents",),
    }
    return Experiment(id=name, findings=findings, **(given | rest))


def point(series: str, x: float, *seconds: float, **rest: Any) -> Point:
    """Return a point of the CPU's run."""
    given: dict[str, Any] = {"run": "c", "experiment": "by-size"}
    return Point(series=series, x=x, seconds=seconds, **(given | rest))


def record_of(*lines: Any, runs: Sequence[Run] = (GPU, CPU)) -> Record:
    """Return a record with both machines and some lines."""
    record = Record()
    for line in (*runs, *lines):
        record.add(line)
    return record


def repeats(
    median: float, count: int = 7, spread: float = 0.02, rng: Any = random
) -> tuple[float, ...]:
    """Return times that vary by a factor around a median."""
    return tuple(median * math.exp(rng.gauss(0, spread)) for _ in range(count))


def everything() -> tuple[Record, tuple[Experiment, ...]]:
    """Return a record that has some of all that there is, and the declarations for it."""
    rng = random.Random(1)
    lines: list[Any] = []
    for run, device, speed in (("g", "cuda", 1e12), ("c", "cpu", 1e10)):
        for n in (512, 1024, 2048, 4096):
            for series, slower in (("tiled", 1), ("naive", 9), ("blocked, 4 x 2 a thread", 3)):
                seconds = n**3 / speed * slower
                lines.append(
                    Point(
                        run, "by-size", series, n, device=device, method="tiled", dtype="int32",
                        n=n, m=n * n, seconds=repeats(2 * seconds, rng=rng),
                        compute=repeats(seconds, rng=rng), cold=5 * seconds, copy_in=seconds / 2,
                        copy_out=seconds / 2, peak=4 * n * n, device_peak=4 * n * n,
                        work=float(n) ** 3, unit="relaxations", ceiling=2 * speed,
                        checked="verified", threads=2 if device == "cpu" else None,
                    )
                )  # fmt: skip
        for x in range(3):
            for series in ("kleene", "SciPy"):
                seconds = (x + 1) * (0.01 if series == "kleene" else 0.4)
                lines.append(
                    point(series, x, *repeats(seconds, rng=rng), run=run, experiment="peers")
                )
        for panel in ("roads", "grids"):
            for n in (1000, 1_000_000):
                known = {"facts": {"interval": (n / 2e9, n / 5e8)}, "ceiling": 2e9}
                known |= {"experiment": "panels", "work": float(n), "unit": "arcs"}
                lines.append(point("bfs", n, *repeats(n / 1e9, 3), run=run, panel=panel, **known))
    lines += [
        Skip("c", "by-size", "would take about 12 s a call", series="naive", x=8192.0),
        Skip("c", "by-size", "would take about 96 s a call", series="naive", x=16384.0),
        Skip("g", "by-size", "CudaError: out of memory", series="tiled", x=65536.0, failed=True),
        Skip("c", "not-measured", "needs a GPU"),
        Check("g", "all methods", 266, 0),
        Check("c", "all methods", 99, 1, ("bfs: wrong at vertex 3",)),
        point("alpha", 3, 1.0, experiment="from-the-future"),
    ]
    return record_of(*lines), (
        experiment(document=DOCUMENT, published=PUBLISHED, notes="Without copies."),
        experiment("peers", kind="bars", baseline="SciPy",
                   x=Axis("graph", labels=("Rome", "kron 18", "grid"))),
        experiment("panels", y="rate"),
        experiment("shares", y="share"),
        experiment("not-measured"),
    )  # fmt: skip
