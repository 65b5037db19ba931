"""Searches on a GPU: milliseconds on the device and in whole calls, arcs a second, each level.

The graph is on the device, and what a search fills in has been cleared, when its clock starts; it
stops when distances are there. GTEPS are arcs that leave reached vertices, in 10^9 a second; an
edge of an undirected graph counts twice, "edges once" is the convention of Graph500. Whole calls
are from arrays on the host to arrays on the host, with predecessors. Answers are proved by
``verify``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from importlib import import_module
from typing import Any, NamedTuple

import gpu_graphs as graphs
import numpy as np
from gpu_session import Session, shown
from numpy.typing import NDArray

import kleene as kl
from kleene.cuda.runtime import Device
from kleene.cuda.variants import VARIANTS
from kleene.registry import Method, find, methods

_SOURCES = 8

_LONG = 500  # milliseconds

#: What is searched: by hops, and by lengths.
_HOPS = [
    *(("R-MAT", scale) for scale in (20, 21, 22)),
    ("R-MAT x 48", 21),
    ("uniform", 22),
    ("grid", 4096),
    (graphs.ROADS, 0),
    *(("R-MAT", scale) for scale in (23, 24, 25)),
]
_LENGTHS = [("R-MAT", 22), ("grid", 4096), (graphs.ROADS, 0)]
_QUICK = [("R-MAT", 6), ("grid", 8), (graphs.ROADS, 0)]


# ---- the clock of the device --------------------------------------------------------------------

#: Where the classes are whose objects search, and what they do that is timed.
_BASES = (("hops", "HopSearch"), ("lengths", "LengthSearch"))
_STEPS = ("run", "tree")


def _forms() -> Iterator[type]:
    """Yield every class that searches."""
    for problem in ("bfs", "sssp"):
        for row in methods(problem, "cuda"):
            row.load()
    waiting: list[type] = []
    for module, name in _BASES:
        with suppress(ImportError):
            waiting.append(getattr(import_module(f"kleene.cuda.{module}"), name))
    while waiting:
        form = waiting.pop()
        waiting += form.__subclasses__()
        yield form


@contextmanager
def device_times() -> Iterator[dict[str, list[float]]]:
    """Collect the milliseconds on the device of each search, and of each tree found after one."""
    times: dict[str, list[float]] = {step: [] for step in _STEPS}
    kept = []
    for form in set(_forms()):
        for step in _STEPS:
            function = vars(form).get(step)
            if function is not None and not getattr(function, "__isabstractmethod__", False):
                kept.append((form, step, function))
                setattr(form, step, _timed(function, times[step]))
    try:
        yield times
    finally:
        for form, step, function in kept:
            setattr(form, step, function)


def _timed(function: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    @wraps(function)
    def timed(search: Any, *args: Any) -> Any:
        before, begun = len(times), search.device.main.record()
        found = function(search, *args)
        taken = search.device.main.record().milliseconds_since(begun)
        del times[before:]  # of a base class, which was part of this
        times.append(taken)
        return found

    return timed


def kernels_in(device: Device, call: Callable[[], object]) -> float:
    """Return the milliseconds of a call's kernels alone, all in the main stream."""
    file, rows = next(iter(VARIANTS.items()))
    kind: Any = type(next(iter(device.kernels(file, **rows[0]).values())))
    launch, passed = kind.launch, []

    def noted(kernel: Any, *args: Any, **named: Any) -> None:
        begun = device.main.record()
        launch(kernel, *args, **named)
        passed.append((begun, device.main.record()))

    kind.launch = noted
    try:
        call()
    finally:
        kind.launch = launch
    return sum(ended.milliseconds_since(begun) for begun, ended in passed)


# ---- one search ---------------------------------------------------------------------------------


class Searched(NamedTuple):
    """A call with several sources that was proved, and its times in milliseconds."""

    result: kl.Result
    runs: list[float]  # on the device, of each source; of the call, if it has no such step
    trees: list[float]
    on_device: bool


def search(
    session: Session, row: Method, g: kl.Graph, sources: NDArray[Any], predecessors: bool
) -> Searched:
    """Search from each source by one method, after a warm-up, and prove the answers that differ.

    Where the warm-up takes long, it is the only search.
    """
    call = partial(
        getattr(kl, row.problem), g, method=row.name, device=session.device.kind,
        predecessors=predecessors,
    )  # fmt: skip
    found = _searched(call, sources[:1])  # loads kernels, derives forms
    if found.runs[0] < _LONG:
        found = _searched(call, sources)
    found.result.verify(sample=min(graphs.proofs(g), len(np.unique(found.result.sources))))
    return found


def _searched(call: Callable[..., kl.Result], sources: NDArray[Any]) -> Searched:
    with device_times() as times:
        began = time.perf_counter()
        result = call(sources=sources)
        whole = (time.perf_counter() - began) * 1e3
    on_device = len(times["run"]) == len(sources)
    runs = times["run"] if on_device else [whole / len(sources)] * len(sources)
    return Searched(result, runs, times["tree"], on_device)


def chosen(problem: str, kind: str, g: kl.Graph) -> Method:
    """Return what the planner takes on this device."""
    row = find(problem, kl.explain(g, problem, device=kind).method, kind)
    assert row is not None
    return row


def planned(session: Session, problem: str) -> bool:
    """Does the planner take any method on this device? If not, that is told."""
    kind = session.device.kind
    try:
        chosen(problem, kind, kl.generate.path(2))
    except kl.RequestError as error:
        session.skip(problem, f"the planner takes no method for it on {kind}: {error}")
        return False
    return True


def median_call(call: Callable[[], object]) -> float:
    """Return the milliseconds of a call: the median of five, of fewer where they take long."""
    times: list[float] = []
    while len(times) < 5 and sum(times) < 1000:
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


# ---- the part -----------------------------------------------------------------------------------


def traversal(session: Session) -> None:
    """The planner's method on graphs of every kind."""
    for problem, jobs in (("sssp", _LENGTHS), ("bfs", _HOPS)):
        if not planned(session, problem):
            continue
        for family, size in _QUICK if session.quick else jobs:
            name = f"{problem}, {graphs.name_of(family, size)}"
            with session.attempt(name):
                g = graphs.obtain(session, family, size)
                if g is not None:
                    sources = graphs.sources_in(family, g, 2 if session.quick else _SOURCES)
                    _measure(session, problem, name, g, sources)


def _measure(session: Session, problem: str, name: str, g: kl.Graph, sources: NDArray[Any]) -> None:
    kind = session.device.kind
    placed = g.to(kind)
    row = chosen(problem, kind, placed)
    session.add("graph", name, g.n, "", g.m, "arcs")
    for predecessors in (False, True):
        found = search(session, row, placed, sources, predecessors)
        _note(session, row, name + (", paths" if predecessors else ""), g, found)
    for where, graph in (("placed", placed), ("not placed", g)):
        call = partial(getattr(kl, problem), graph, int(sources[0]), method=row.name, device=kind)
        call()
        taken = median_call(call)
        dtype = found.result.plan.dtype
        session.add(row.name, f"{name}, whole call, {where}", g.n, dtype, taken, "ms")
        print(f"  {row.name:20} {name:30} {taken:10.3f} ms, a whole call, {where}", flush=True)


def _note(session: Session, row: Method, case: str, g: kl.Graph, found: Searched) -> None:
    result, taken = found.result, statistics.median(found.runs)
    dtype = result.plan.dtype
    session.add(row.name, case, g.n, dtype, taken, "ms")
    if found.trees:
        session.add(row.name, f"{case}, tree", g.n, dtype, statistics.median(found.trees), "ms")
    arcs = [g.stats.degrees[reached].sum() for reached in result.reached]
    rate = statistics.median(a / t / 1e6 for a, t in zip(arcs, found.runs, strict=True))
    session.add(row.name, case, g.n, dtype, rate, "GTEPS")
    if not g.directed:
        session.add(row.name, case, g.n, dtype, rate / 2, "GTEPS, edges once")
    line = f"  {row.name:20} {case:30} {taken:10.3f} ms {shown(rate):>6} GTEPS"
    levels = 1 + int(result.distances[0].max(where=result.reached[0], initial=0))
    if row.problem == "bfs" and (levels > 100 or session.quick):
        each = 1e3 * found.runs[0] / levels
        session.add(row.name, case, g.n, dtype, levels, "levels")
        session.add(row.name, case, g.n, dtype, each, "us/level")
        line += f" {shown(each)} us for each of {levels} levels"
    print(line + ("" if found.on_device else " (whole call)"), flush=True)


def same(a: kl.Result, b: kl.Result) -> bool:
    """Do two answers tell the same distances?"""
    return bool(np.array_equal(a.distances, b.distances))
