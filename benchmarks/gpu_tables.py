"""Every form of search by size, and the seed documents' tables of searches and products.

Times of searches are those on the device, with the graph there already; "whole call" is from arrays
on the host to arrays on the host.
"""

from __future__ import annotations

import inspect
import statistics
from collections.abc import Callable, Iterable
from functools import partial
from math import log2
from typing import Any

import gpu_graphs as graphs
import numpy as np
from gpu_session import PATIENCE, Session, shown
from gpu_traversal import kernels_in, median_call, search

import kleene as kl
from kleene.registry import Method, find, methods

#: How much longer a search may take on a graph of twice the size, before it is known.
_GROWTH = 8.0

#: Few levels, and many: scales of R-MAT, sides of a grid.
_LOW, _HIGH = (16, 18, 20, 22), (256, 512, 1024, 4096)


def climb(
    session: Session, what: str, sizes: Iterable[float], run: Callable[[float], float | None]
) -> bool:
    """Measure by size, until that would take too long; did it come to the end?

    ``sizes`` are logarithms to base 2. ``run`` returns milliseconds, None for nothing measured.
    """
    known: list[tuple[float, float]] = []
    for size in sizes:
        growth = _GROWTH
        if len(known) > 1:
            (a, before), (b, after) = known[-2:]
            growth = max(1.5, (after / before) ** (1 / (b - a)))
        expected = known[-1][1] * growth ** (size - known[-1][0]) / 1e3 if known else 0.0
        told = f"{what}, size 2^{size:g}"
        if expected > PATIENCE:
            session.skip(told, f"would take about {expected:.0f} s a search")
            return False
        if not session.fits(told, 3 * expected + 0.5):
            return False
        with session.attempt(told):
            taken = run(size)
            if taken is not None:
                known.append((size, taken))
                continue
        return False
    return True


# ---- every form ---------------------------------------------------------------------------------


def forms(session: Session) -> None:
    """Every method for one source, on graphs with few levels, with many, and on roads."""
    kind = session.device.kind
    for problem in ("bfs", "sssp"):
        for row in methods(problem, kind):
            done = {}
            for family, sizes in (("R-MAT", _LOW), ("grid", _HIGH)):
                logarithms = sizes if family == "R-MAT" else [log2(side) for side in sizes]
                run = partial(_form, session, row, family)
                what = f"{row.name}, {problem}, {family}"
                done[family] = climb(session, what, [3] if session.quick else logarithms, run)
            if done["grid"] and not session.quick:
                with session.attempt(f"{row.name}, {problem}, {graphs.ROADS}"):
                    _form(session, row, graphs.ROADS, 0)
            elif not session.quick:
                why = "it did not come to the end of the grids, which have as many levels"
                session.skip(f"{row.name}, {problem}, {graphs.ROADS}", why)


def _form(session: Session, row: Method, family: str, logarithm: float) -> float | None:
    size = round(2**logarithm) if family == "grid" else int(logarithm)
    g = graphs.obtain(session, family, size)
    if g is None:
        return None
    sources = graphs.sources_in(family, g, 1 if session.quick else 4)
    placed = _placed(session, g)
    name = f"{row.problem}, {graphs.name_of(family, size)}"
    found = search(session, row, placed, sources, False)
    taken = statistics.median(found.runs)
    how = "" if found.on_device else ", whole call"
    session.add(row.name, name + how, g.n, found.result.plan.dtype, taken, "ms")
    print(f"  {row.name:20} {name:30} {taken:10.3f} ms{how}", flush=True)
    return taken


_last: list[tuple[kl.Graph, kl.Graph]] = []


def _placed(session: Session, g: kl.Graph) -> kl.Graph:
    """Return the graph on the device; the last one stays there."""
    if not _last or _last[0][0] is not g:
        _last.clear()  # gives memory back first
        _last.append((g, g.to(session.device.kind)))
    return _last[0][1]


# ---- the documents' tables ----------------------------------------------------------------------


def seed_tables(session: Session) -> None:
    """BFS by size, density and degree; products by form; Bellman-Ford and LLP by size."""
    with session.attempt("paths by size"):
        _paths_by_size(session)
    with session.attempt("products by form"):
        _products(session)
    with session.attempt("hops by size, density and degree"):
        _hops(session)


def _hops(session: Session) -> None:
    """Padamata and Raveendran's graphs: a quarter of all arcs unless told otherwise, any degree."""
    sizes, middle = (1024, 2048, 4096, 8192, 10240, 16384, 20480, 32768, 40960), 10240
    if session.quick:
        sizes, middle = (48,), 48
    jobs = [(f"n = {n}, density 25 %", n, 0.25, 1.0) for n in sizes]
    jobs[7:7] = [
        *((f"density {p} %", middle, p / 100, 1.0) for p in range(20, 81, 10)),
        *((f"degree {p} %", middle, 0.25, p / 100) for p in (25, 35, 50, 70, 80, 90, 100)),
    ]
    each = 1e-8 * len(methods("bfs", session.device.kind))  # seconds for an arc
    for name, n, density, degree in jobs[:1] if session.quick else jobs:
        if not session.fits(f"hops, {name}", each * density * n**2):
            continue
        with session.attempt(f"hops, {name}"):
            g = kl.generate.capped(n, density, degree, seed=1)
            case = f"S0f, bfs, {name}"
            call = partial(kl.bfs, g, 0, predecessors=False)
            taken = median_call(partial(call, method="queue", device="cpu", threads=1))
            session.add("queue", f"{case}, one core", n, "int32", taken, "ms")
            _rows(session, "bfs", case, g, name.startswith("n = "))


def _rows(session: Session, problem: str, case: str, g: kl.Graph, calls: bool) -> None:
    """Measure every method on one graph from vertex 0: on the device, and whole calls."""
    kind = session.device.kind
    placed = g.to(kind)
    again = np.zeros(1 if session.quick else 5, np.int64)
    line = f"  {case:36}"
    for row in methods(problem, kind):
        with session.attempt(f"{row.name}, {case}"):
            found = search(session, row, placed, again, False)
            taken, dtype = statistics.median(found.runs), found.result.plan.dtype
            session.add(row.name, case, g.n, dtype, taken, "ms")
            line += f" {row.name} {shown(taken)}"
            if calls:
                call = partial(getattr(kl, problem), g, 0, method=row.name, device=kind)
                whole = median_call(partial(call, predecessors=False))
                session.add(row.name, f"{case}, whole call", g.n, dtype, whole, "ms")
    print(line, flush=True)


def _products(session: Session) -> None:
    """A vector times a matrix, by form, size and share of zeros; float32, ordinary arithmetic."""
    kind = session.device.kind
    places: dict[str, dict[str, Any]] = {"cpu": {}, "one core": {"threads": 1}}
    if "device" in inspect.signature(kl.spmv).parameters:
        places[f"{kind}, placed"] = {"device": kind}
    else:
        session.skip("products on the GPU", "there are none yet")
    for n in (64,) if session.quick else (1024, 2048, 4096):
        for zeros in (90, 99):
            m = round(n * n * (1 - zeros / 100))
            g = kl.generate.uniform(n, m, seed=1, weights=(0.5, 1.5))
            g = g.reweight(g.weights.astype(np.float32))  # type: ignore[union-attr]
            placed = g.to(kind)
            x = np.random.default_rng(1).random(n, dtype=np.float32)
            wanted = x.astype(np.float64) @ np.where(np.isfinite(g.dense), g.dense, 0)
            for form in ("dense", "coo", "csr", "csc", "ell"):
                for place, options in places.items():
                    graph = placed if "placed" in place else g
                    call = partial(kl.spmv, graph, x, form=form, **options)
                    np.testing.assert_allclose(call(), wanted, rtol=1e-3)
                    case = f"S1a, spmv, {form}, {zeros} % zeros, {place}"
                    session.add("spmv", case, n, "float32", median_call(call), "ms")
                    if graph is placed:
                        alone = [kernels_in(session.device, call) for _ in range(5)]
                        kernel = statistics.median(alone)
                        session.add("spmv", f"{case}, kernel", n, "float32", kernel, "ms")


def _paths_by_size(session: Session) -> None:
    """Periasubbramaniam and Denlinger's graphs: three seeds a point, and the interval of 99 %."""
    kind = session.device.kind
    sizes = (6,) if session.quick else (10, 11, 12, 13, 14, 15, 17, 20)
    seeds = (1, 2, 3)

    def run(row: Method, on: dict[str, Any], size: float) -> float:
        n, times = 2 ** int(size), []
        for seed in seeds:
            g = kl.generate.path_plus(n, seed=seed)
            if row.device == kind:
                taken = search(session, row, g.to(kind), np.array([0, 0]), False).runs[-1]
            else:
                kl.sssp(g, 0, method=row.name, predecessors=False, **on).verify()
                taken = median_call(
                    partial(kl.sssp, g, 0, method=row.name, predecessors=False, **on)
                )
            times.append(taken)
        mean = statistics.mean(times)
        half = 2.576 * statistics.stdev(times) / len(times) ** 0.5
        where = "one core" if row.device == "cpu" else kind
        session.add(row.name, f"S2c, sssp, {where}", n, "int32", mean, "ms")
        session.add(row.name, f"S2c, sssp, {where}, 99 % interval, half", n, "int32", half, "ms")
        return mean

    for row in methods("sssp", kind):
        climb(session, f"S2c, {row.name}, {kind}", sizes, partial(run, row, {}))
    for row in methods("sssp", "cpu"):
        if find("sssp", row.name, kind) is not None:
            on = {"device": "cpu", "threads": 1}
            climb(session, f"S2c, {row.name}, one core", sizes, partial(run, row, on))
