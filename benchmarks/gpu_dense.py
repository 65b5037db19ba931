"""Dense all pairs and closures on a GPU: rates beside a ceiling, whole calls, other methods."""

from __future__ import annotations

import os
import statistics
from typing import Any

import gpu_rates as rates
import numpy as np
from gpu_session import PATIENCE, Session, shown

import kleene as kl
from kleene.registry import Method, methods

#: The slowest that a case should be, in relaxations a second: to tell beforehand what will fit.
_SLOWEST = 2e12

#: Sizes of Padamata and Raveendran's table, and of Zuccato and Lena's charts, with their blocks.
_TABLE = (512, 1024, 2048, 3072, 4096)
_CHART = (80, 160, 240, 320, 480, 640, 720, 1200)
_BLOCKS = (8, 16, 24, 32)


def tiled_rates(session: Session) -> None:
    """Relaxations a second by case and n, as a share of the ceiling, and from host memory."""
    quick = session.quick
    most = 300 if quick else 32768
    if not quick and session.left < 100:
        most = 16384
    weights = rates.Weights(most)
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
    with session.attempt("out of core"):
        _streamed(session, weights)


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


def _streamed(session: Session, weights: rates.Weights) -> None:
    """A matrix on the host, four times as large as the device memory that may be used."""
    from kleene.cuda import closure_streamed

    case, n = rates.PLAIN, weights.most
    if not session.fits(f"out of core, n = {n}", 0 if session.quick else 2.5 * n**2 / 1e8):
        return
    arcs = weights.matrix(case, n)
    matrix = arcs.copy()
    layout = case.layout(n)
    memory = layout.bytes * 3 // 4 if session.quick else n * n
    os.environ["KLEENE_DEVICE_MEMORY"] = str(memory)
    try:
        task: Any = rates.Silent()
        run = lambda: closure_streamed.close(session.device, layout, task, matrix, None)  # noqa: E731
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
        if expected > PATIENCE:
            told = f"would take about {expected:.0f} s a call"
            session.skip(f"{row.name}, {case}, n = {n}", told)
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
