"""Many sources at once on a GPU, and from which size on a GPU is the better place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gpu_graphs as graphs
import numpy as np
from gpu_session import Session, shown
from gpu_traversal import chosen, median_call, planned, same

import kleene as kl
from kleene.registry import find

DATA = Path(__file__).parent / "data"

#: Sparse and unweighted: a user of another library waited two hours for all pairs of such a graph.
_WAITED = (44_000, 500_000)


# ---- many sources -------------------------------------------------------------------------------


def many_sources(session: Session) -> None:
    """All pairs of sparse graphs on both devices, lengths on the host; and searches in batches."""
    for name, make, cost in _pairs(session.quick):
        with session.attempt(name):
            if session.fits(name, cost):
                _all_pairs(session, name, make())
    with session.attempt("searches in batches"):
        _batches(session)


def _pairs(quick: bool) -> Iterator[tuple[str, Callable[[], kl.Graph], float]]:
    """Yield names, graphs, and the seconds that they may take."""
    n, m = (200, 600) if quick else _WAITED
    uniform = partial(kl.generate.uniform, n, m, seed=1, directed=False)
    yield f"uniform, {n} vertices", uniform, 0 if quick else 40
    if not quick:
        yield "Rome", kl.datasets.rome, 3
        for name, file, cost in (
            ("Facebook", "facebook_combined", 3),
            ("Enron", "email-Enron", 30),
        ):
            yield name, partial(kl.read, DATA / f"{file}.txt.gz", directed=False), cost


def _all_pairs(session: Session, name: str, g: kl.Graph) -> None:
    kind = session.device.kind
    row = find("apsp", "batched", kind)
    cpu = partial(kl.apsp, g, device="cpu", predecessors=False)
    dtype = cpu(sources=[0]).distances.dtype
    out = np.ones((g.n, g.n), dtype)  # touched: the system need not give it page by page
    for where, call in (
        ("cpu", cpu),
        (kind, partial(kl.apsp, g, method="batched", device=kind, predecessors=False)),
    ):
        if where == kind and row is None:
            session.skip(f"{name}, batched", "it is not in the registry")
            continue
        call(sources=[0])  # loads kernels
        for memory, options in (("", {}), (", memory at hand", {"out": out})):
            began = time.perf_counter()
            result = call(**options)
            seconds = time.perf_counter() - began
            result.verify(sample=4)
            case = f"apsp, {name}, on {where}{memory}"
            session.add(result.plan.method, case, g.n, str(dtype), seconds, "s")
            print(f"  {result.plan.method:20} {case:50} {shown(seconds)} s", flush=True)
            del result


def _batches(session: Session) -> None:
    """Hops from many sources of a placed graph: sources times arcs, a second."""
    kind = session.device.kind
    row = find("bfs", "multi_source", kind)
    if row is None:
        session.skip("bfs, multi_source", "it is not in the registry")
        return
    for family, size in [("R-MAT", 6)] if session.quick else [("R-MAT", 18), ("R-MAT", 20)]:
        g = graphs.obtain(session, family, size)
        if g is None:
            continue
        placed = g.to(kind)
        for count in (4,) if session.quick else (64, 512):
            sources = graphs.sources_in(family, g, count)
            out = np.ones((len(sources), g.n), np.int32)
            call = partial(
                kl.bfs, placed, sources=sources, method=row.name, device=kind,
                predecessors=False, out=out,
            )  # fmt: skip
            call().verify(sample=4)
            seconds = median_call(call) / 1e3
            case = f"bfs, {family} {size}, {len(sources)} sources, whole call, placed"
            rate = len(sources) * g.m / seconds / 1e9
            session.add(row.name, case, g.n, "int32", rate, "G sources x arcs/s")
            print(f"  {row.name:20} {case:50} {shown(rate)} G sources x arcs/s", flush=True)


# ---- crossovers ---------------------------------------------------------------------------------


def crossovers(session: Session) -> None:
    """Whole calls by size on the CPU and on the GPU: what the planner's estimates come from."""
    sizes = [
        *(("R-MAT", scale) for scale in range(10, 23, 2)),
        *(("grid", side) for side in (64, 128, 256, 512, 1024, 2048)),
    ]
    problems = [problem for problem in ("bfs", "sssp") if planned(session, problem)]
    for family, size in [("R-MAT", 6)] if session.quick else sizes:
        name = graphs.name_of(family, size)
        with session.attempt(name):
            g = graphs.obtain(session, family, size) if problems else None
            if g is not None:
                for problem in problems:
                    _both_places(session, problem, name, g, [int(g.stats.degrees.argmax())])
    if find("apsp", "batched", session.device.kind) is None:
        session.skip("apsp, batched", "it is not in the registry")
        return
    for n in (40,) if session.quick else (500, 1000, 2000, 4000, 8000, 16000):
        for weights in (None, graphs.WEIGHTS):
            name = f"uniform, {n} vertices, {'un' if weights is None else ''}weighted"
            if session.fits(name, 0 if session.quick else 3):
                with session.attempt(name):
                    g = kl.generate.uniform(n, 8 * n, seed=1, weights=weights)
                    _both_places(session, "apsp", name, g, None)


def _both_places(
    session: Session, problem: str, name: str, g: kl.Graph, sources: list[int] | None
) -> None:
    """Measure a call on the CPU, and on the GPU with and without the graph there already."""
    kind = session.device.kind
    options: dict[str, Any] = {} if sources is None else {"sources": sources}
    if problem == "apsp":
        method, options["predecessors"] = "batched", False
    else:
        method = chosen(problem, kind, g).name
    solve = getattr(kl, problem)
    right = solve(g, device="cpu", **options)
    right.verify(sample=4)
    line = f"  {problem:5} {name:34}"
    for where, graph in (("cpu", g), (kind, g), (f"{kind}, placed", g.to(kind))):
        on = {"device": "cpu"} if where == "cpu" else {"device": kind, "method": method}
        call = partial(solve, graph, **on, **options)
        result = call()
        assert same(result, right), f"{where} differs from the CPU"
        taken = median_call(call)
        case = f"crossover, {problem}, {name}, {where}"
        session.add(result.plan.method, case, g.n, result.plan.dtype, taken, "ms")
        line += f" {where} {taken:9.3f} ms"
    session.add("graph", f"crossover, {problem}, {name}", g.n, "", g.m, "arcs")
    print(line, flush=True)
