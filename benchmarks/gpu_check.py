"""Is everything right on this GPU, and how fast is it? Writes the record ``benchmarks/<gpu>.json``.

    make gpu-check                                        # on a machine with an NVIDIA GPU
    python benchmarks/gpu_check.py --budget 120           # what does not fit is skipped, and listed
    python benchmarks/gpu_check.py --device emulated --quick    # tries this program, not a GPU

First the checks: the tests that mean something on a GPU, and compute-sanitizer over every method.
Then the times, on a GPU that has nothing else to do: medians after a warm-up, each of an answer
that was checked. One relaxation is one triple of vertices; a closure of n vertices has n^3.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gpu_checks
import gpu_rates as rates
import gpu_record
import numpy as np

import kleene as kl
from kleene import nvidia
from kleene.cuda import loader
from kleene.cuda.runtime import Device, open_device
from kleene.cuda.variants import VARIANTS
from kleene.registry import Method, methods

#: The slowest that a case should be, in relaxations a second: to tell beforehand what will fit.
_SLOWEST = 2e12

#: Sizes of Padamata and Raveendran's table, and of Zuccato and Lena's charts, with their blocks.
_TABLE = (512, 1024, 2048, 3072, 4096)
_CHART = (80, 160, 240, 320, 480, 640, 720, 1200)
_BLOCKS = (8, 16, 24, 32)
_PATIENCE = 2.0  # seconds that one call of a slow method may take


class Session:
    """What was found so far, and how much time is left."""

    def __init__(self, device: Device, seconds: float, quick: bool) -> None:
        self.device, self.quick = device, quick
        self._end = time.monotonic() + seconds
        self.results: list[dict[str, Any]] = []
        self.skipped: list[str] = []
        self.failed = 0
        self.weights: rates.Weights | None = None

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self._end - time.monotonic()

    def add(self, method: str, case: str, n: int, dtype: str, value: float, unit: str) -> None:
        """Note one result."""
        row = {"method": method, "case": case, "n": n, "dtype": dtype}
        self.results.append({**row, "value": float(f"{value:.4g}"), "unit": unit})

    def fits(self, what: str, seconds: float) -> bool:
        """Is there time for something that may take so long? If not, it is listed as skipped."""
        if seconds <= self.left:
            return True
        self.skipped.append(f"{what}: needs about {seconds:.0f} s, {self.left:.0f} s are left")
        return False

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """Let one thing fail without the others, but not in silence."""
        try:
            yield
        except Exception as error:
            told = f"{what}: FAILED: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            self.skipped.append(told)
            self.failed += 1
            print(f"  {told}", flush=True)


def shown(value: float) -> str:
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


# ---- parts --------------------------------------------------------------------------------------


def compile_all(session: Session) -> None:
    """Load every kernel, which compiles it where it was not kept: on all cores."""

    def load(job: tuple[str, dict[str, Any]]) -> None:
        device = open_device(session.device.kind)  # current in this thread
        device.kernels(job[0], **job[1])

    jobs = [(file, row) for file, variants in VARIANTS.items() for row in variants]
    jobs = jobs[:1] if session.quick else jobs
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(load, jobs))
    session.add("kernels", "compiled", len(jobs), "", time.perf_counter() - began, "s")


def tiled_rates(session: Session) -> None:
    """Relaxations a second by case and n, and as a share of the ceiling."""
    quick = session.quick
    most = 300 if quick else 32768
    if not quick and session.left < 100:
        most = 16384
    weights = session.weights = rates.Weights(most)
    ceilings: dict[str, float] = {}
    jobs = [(case, n) for case in rates.CASES for n in rates.sizes_of(case)]
    # What takes long comes last.
    jobs.sort(key=lambda job: (job[1] == 32768, job[1] == 16384 and job[0].dtype.endswith("64")))
    if quick:
        jobs = [(case, most) for case in rates.CASES if case.dtype in ("float32", "uint64")][:4]
    for case, n in jobs:
        what = f"tiled, {case}, {case.shown}, n = {n}"
        estimate = 0 if quick else 4 * n**3 / _SLOWEST / case.layout(n).lanes + n**2 / 1e8
        if n <= most and session.fits(what, estimate):
            with session.attempt(what):
                _rate(session, case, n, weights, ceilings)


def _rate(
    session: Session, case: rates.Case, n: int, weights: rates.Weights, ceilings: dict[str, float]
) -> None:
    layout, quick = case.layout(n), session.quick
    if layout.algebra not in ceilings:
        rounds, blocks = (2, 1) if quick else (10_000, 0)
        ceilings[layout.algebra] = rates.ceiling(session.device, layout, rounds, blocks)[0]
        top = ceilings[layout.algebra] / 1e12
        session.add("ceiling", layout.algebra, 0, case.shown, top, "Trelax/s")
    found = rates.measure(session.device, case, n, weights, 1 if quick else 3, 1 if n > 8192 else 2)
    rate, top = n**3 / found.run * 1e3, ceilings[layout.algebra]
    session.add("tiled", str(case), n, case.shown, rate / 1e12, "Trelax/s")
    session.add("tiled", str(case), n, case.shown, rate / top, "fraction")
    session.add("tiled", f"{case}, copy in", n, case.shown, found.copy_in, "ms")
    session.add("tiled", f"{case}, copy out", n, case.shown, found.copy_out, "ms")
    line = f"  {case!s:26} {case.shown:8} n = {n:<6} {found.run:9.2f} ms {shown(rate / 1e12):>6}"
    print(f"{line} of {shown(top / 1e12)} T/s ({rate / top:.0%})", flush=True)


def calls(session: Session) -> None:
    """The public interface, from arcs on the host to the answer on the host."""
    n = 40 if session.quick else 8192
    cases = [case for case in rates.CASES if not case.tracked]
    for case in cases[:1] if session.quick else cases:
        what = f"call of closure, {case}, {case.shown}, n = {n}"
        if not session.fits(what, n / 2000):
            continue
        with session.attempt(what):
            seconds = rates.call(case, n, session.device.kind)
            session.add("tiled", f"{case}, whole call", n, case.shown, seconds * 1e3, "ms")
            print(f"  {case!s:26} {case.shown:8} n = {n:<6} {seconds * 1e3:9.2f} ms, a whole call")


def streamed(session: Session) -> None:
    """A matrix on the host, four times as large as the device memory that may be used."""
    from kleene.cuda import closure_streamed

    weights, case = session.weights, rates.PLAIN
    assert weights is not None, "rates come first"
    n = weights.most
    if not session.fits(f"out of core, n = {n}", 0 if session.quick else 2.5 * n**2 / 1e8):
        return
    arcs = weights.matrix(case, n)
    matrix = arcs.copy()
    layout = case.layout(n)
    memory = layout.bytes * 3 // 4 if session.quick else n * n
    os.environ["KLEENE_DEVICE_MEMORY"] = str(memory)
    try:
        task: Any = rates.Silent()
        run = lambda: closure_streamed.close(session.device, layout, task, matrix, None, False)  # noqa: E731
        seconds = rates.timed(run) / 1e3
    finally:
        del os.environ["KLEENE_DEVICE_MEMORY"]
    rates.require_right(case, arcs, matrix, None, np.array([n // 3]), weights.heights)
    rate, what = n**3 / seconds / 1e12, f"{case}, a quarter fits"
    session.add("tiled", what, n, case.shown, rate, "Trelax/s")
    inside = [
        row["value"]
        for row in session.results
        if (row["case"], row["n"], row["unit"]) == (str(case), n, "Trelax/s")
    ]
    for whole in inside[:1]:
        session.add("tiled", f"{what}, of all in memory", n, case.shown, rate / whole, "fraction")
        print(f"  out of core, n = {n}: {shown(rate)} T/s, {rate / whole:.0%} of all in memory")


def seed_methods(session: Session) -> None:
    """Every other way to all pairs, whole calls in milliseconds, beside ``tiled``."""
    kind = session.device.kind
    rows = [row for row in methods("apsp", kind) if row.name != "tiled"]
    table = (24,) if session.quick else _TABLE
    answers: dict[int, tuple[kl.Graph, np.ndarray]] = {}
    for n in table:
        g = _whole_numbers(n)
        answers[n] = (g, kl.apsp(g, method="tiled", device=kind, predecessors=False).distances)
        tiled = next(row for row in methods("apsp", kind) if row.name == "tiled")
        session.add("tiled", "whole call", n, "int32", _one(session, tiled, n, answers, {}), "ms")
    for row in rows:
        _by_size(session, row, table, answers, None)
    blocked = [r for r in rows if r.name.startswith("blocked_") and "block" in options_of(r)]
    chart = (24,) if session.quick else _CHART
    for n in chart if blocked else ():
        g = _whole_numbers(n)
        answers[n] = (g, kl.apsp(g, method="tiled", device=kind, predecessors=False).distances)
    for row in blocked:
        for block in _BLOCKS:
            _by_size(session, row, tuple(n for n in chart if n % block == 0), answers, block)


def options_of(row: Method) -> tuple[str, ...]:
    return getattr(row, "options", ())


def _whole_numbers(n: int) -> kl.Graph:
    """Return a complete graph; whole numbers, so that all methods agree to the last bit."""
    return kl.Graph.from_dense(np.random.default_rng(n).integers(1, 1000, (n, n), dtype=np.int32))


def _by_size(
    session: Session, row: Method, sizes: tuple[int, ...], answers: Any, block: int | None
) -> None:
    """Measure one method by n; where it would take too long, from what it took before, stop."""
    before = 0.0
    smaller = 1
    case = "whole call" if block is None else f"B = {block}"
    options = {} if block is None else {"options": {"block": block}}
    for n in sizes:
        expected = before * (n / smaller) ** 3 / 1e3
        if expected > _PATIENCE:
            told = f"would take about {expected:.0f} s a call"
            session.skipped.append(f"{row.name}, {case}, n = {n}: {told}")
            continue
        if not session.fits(f"{row.name}, {case}, n = {n}", 4 * expected + 0.2):
            continue
        with session.attempt(f"{row.name}, {case}, n = {n}"):
            before, smaller = _one(session, row, n, answers, options), n
            session.add(row.name, case, n, "int32", before, "ms")
    if before:
        print(f"  {row.name:18} {case:10} n = {smaller:<6} {before:9.2f} ms", flush=True)


def _one(session: Session, row: Method, n: int, answers: Any, options: dict[str, Any]) -> float:
    g, wanted = answers[n]

    def run() -> float:
        kind = session.device.kind
        result = kl.apsp(g, method=row.name, device=kind, predecessors=False, **options)
        assert (result.distances == wanted).all(), f"{row.name} differs from tiled at n = {n}"
        return result.stats.compute * 1e3

    first = run()
    repeats = 1 if first > 1000 or session.quick else 3
    return statistics.median(run() for _ in range(repeats))


_FIRST = """
import time; began = time.perf_counter()
import kleene as kl
kl.apsp(kl.generate.grid(8, 8), method="tiled", device={device!r}, predecessors=False)
print(time.perf_counter() - began)
"""


def first_use(session: Session) -> None:
    """From ``import kleene`` to the first answer, in a new process."""

    def seconds(environment: dict[str, str]) -> float:
        done = subprocess.run(
            [sys.executable, "-c", _FIRST.format(device=session.device.kind)],
            capture_output=True, text=True, check=True, env={**os.environ, **environment},
        )  # fmt: skip
        return float(done.stdout)

    seconds({})  # warms the kernels' cache and the disk's
    warm = statistics.median(seconds({}) for _ in range(1 if session.quick else 3))
    session.add("first use", "kernels kept from before", 64, "int32", warm, "s")
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds({"KLEENE_CACHE_DIR": empty, "CUDA_CACHE_DISABLE": "1"})
    session.add("first use", "kernels to be compiled", 64, "int32", cold, "s")
    print(f"  first answer in a new process: {warm:.2f} s, with nothing compiled {cold:.2f} s")


# ---- the whole ----------------------------------------------------------------------------------


def about(device: Device) -> dict[str, Any]:
    """Say what this was measured on and with."""
    versions = {
        "kleene": kl.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cupy": nvidia.package_version(),
    }
    driver = ""
    runtime = getattr(device, "runtime", None)
    if runtime is not None:
        number = runtime.runtimeGetVersion()
        versions["cuda runtime"] = f"{number // 1000}.{number % 1000 // 10}"
        driver = _driver()
    return {
        "device": device.name,
        "capability": ".".join(map(str, device.capability)),
        "driver": driver,
        "versions": versions,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "digest": loader.digest(),
    }


def _driver() -> str:
    library = nvidia.library()
    cuda = None if library is None else nvidia.driver_version(library)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        return f"{said.splitlines()[0].strip()} (CUDA {cuda})"
    except (OSError, subprocess.CalledProcessError, IndexError):
        return f"CUDA {cuda}"


_PARTS: tuple[tuple[str, Callable[[Session], None]], ...] = (
    ("rates", tiled_rates),
    ("out of core", streamed),
    ("first use", first_use),
    ("calls", calls),
    ("other methods", seed_methods),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try the program")
    parser.add_argument("--budget", type=float, default=240, help="seconds for everything")
    parser.add_argument("--record", type=Path, help="where to write; by default by the device")
    options = parser.parse_args()
    try:
        device = open_device(options.device)
    except kl.DeviceError as error:
        print(f"gpu-check needs an NVIDIA GPU: {error}", file=sys.stderr)
        return 2
    session = Session(device, options.budget, options.quick)
    record = about(device)
    print(f"{record['device']}, driver {record['driver'] or 'none'}, {record['versions']}")
    with tempfile.TemporaryDirectory() as kernels:
        os.environ["KLEENE_CACHE_DIR"] = kernels
        with session.attempt("compiling"):
            compile_all(session)
        share = max(10.0, 0.45 * options.budget)
        with session.attempt("checks"):
            record["checks"], unchecked = gpu_checks.run_all(device.kind, options.quick, share)
            session.skipped += unchecked
            print(f"  {record['checks']}")
        for name, part in _PARTS:
            began = time.monotonic()
            with session.attempt(name):
                part(session)
            print(f"  ({name}: {time.monotonic() - began:.1f} s)", flush=True)
    record.setdefault("checks", {"passed": 0, "failed": 1, "sanitizer_errors": 0})
    record["checks"]["failed"] += session.failed
    record |= {"skipped": session.skipped, "results": session.results}
    for line in session.skipped:
        print(f"  skipped: {line}")
    path = options.record
    if path is None and device.kind == "cuda" and not options.quick:
        path = gpu_record.path_for(device.name)
    if path is not None:
        gpu_record.write(path, record)
        print(f"written to {path}")
    return int(record["checks"]["failed"] + record["checks"]["sanitizer_errors"] > 0)


if __name__ == "__main__":
    sys.exit(main())
