"""The calls that users make: arguments are checked here, once; then planned, run and wrapped."""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.common.predecessors import settle
from kleene.backends.semiring import semiring as find_semiring
from kleene.backends.task import Answer, Task
from kleene.errors import DeviceError, GraphError, RequestError
from kleene.graph import Graph
from kleene.planning.plan import Plan, Request, graph_facts, make_plan
from kleene.registry import PROBLEMS, find, methods
from kleene.results.result import Result, Timings
from kleene.system.atomic_file import atomic_path
from kleene.system.machine import Machine, as_threads, this_machine, with_memory
from kleene.system.progress import reporter

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.timing import CallTimer

__all__ = ["apsp", "bfs", "closure", "explain", "methods", "sssp"]

Array = NDArray[Any]
Vertices = Iterable[Any]
Progress = bool | Callable[[int, int], object] | None
Out = Array | str | Path | None

_WORTH_ASKING = 2**26  # bytes


def bfs(
    graph: Graph,
    source: Hashable | None = None,
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    limit: float | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
) -> Result:
    """Count the fewest hops from a source to every vertex; weights are not looked at.

    Parameters
    ----------
    graph : Graph
        Where to search.
    source : vertex
        A vertex id, or a label of the graph. Integers are always ids; for labels that are
        integers, ``graph.index(label)`` is the id.
    sources : sequence of vertices, optional
        Several sources in one call; the result has one row for each.
    targets : sequence of vertices, optional
        The vertices of interest: the search stops when all are found, and the result holds their
        distances in this order.
    limit : int, optional
        The depth to stop at; vertices further away count as not reached.
    predecessors : bool
        Whether to keep what paths are made of.
    deterministic : bool
        Whether predecessors must be the same in every run: among the best paths to a vertex,
        those with the fewest arcs, and among their last arcs the one from the smallest vertex.
        Takes another look at every arc for each source, on one core. With float weights and a
        method on matrices, rows in which sums round differently keep the method's own choice.
    method, device : str
        ``"auto"`` is the fastest choice that is right; see :func:`kleene.methods`.
    dtype : optional
        The type of the hop counts, int32 unless given.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).
    out : array, str or Path, optional
        Where to put the distances: an array of the right shape and type, or the name of an
        ``.npy`` file, which is then mapped into memory.

    Returns
    -------
    Result
        ``distances`` are hop counts, -1 where there is no path.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 0], [1, 2, 3], n=5)
    >>> kl.bfs(g, 0).distances.tolist()
    [0, 1, 2, 1, -1]
    """
    return _solve(
        "bfs", graph, source, sources, "min_plus", targets, limit, predecessors,
        deterministic, method, device, dtype, threads, progress, out,
    )  # fmt: skip


def sssp(
    graph: Graph,
    source: Hashable | None = None,
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    limit: float | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
) -> Result:
    """Find shortest paths from a source to every vertex; weights may be negative.

    The parameters are those of :func:`bfs`. ``limit`` is a length, and needs weights that are not
    negative.

    Returns
    -------
    Result
        ``distances`` are lengths. No path is infinity for floats, the largest value of the type
        for integers; the result's ``no_path`` says which.

    Raises
    ------
    NegativeCycleError
        When the source leads to a cycle of negative length; the error's ``cycle`` lists it.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], [4.0, 9.0, -3.0, 1.0])
    >>> r = kl.sssp(g, 0)
    >>> r.distances.tolist(), r.path(3)
    ([0.0, 4.0, 1.0, 2.0], [0, 1, 2, 3])
    """
    return _solve(
        "sssp", graph, source, sources, "min_plus", targets, limit, predecessors,
        deterministic, method, device, dtype, threads, progress, out,
    )  # fmt: skip


def apsp(
    graph: Graph,
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    limit: float | None = None,
    predecessors: bool = True,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
    options: Mapping[str, int] | None = None,
) -> Result:
    """Find shortest paths between all pairs, or from ``sources`` to all vertices.

    The parameters are those of :func:`bfs`; weights may be negative.

    Parameters
    ----------
    options : mapping of str to int, optional
        Numbers that the method lets one set, as in ``method="blocked", options={"block": 48}`` for
        the side of a block; ``kleene.methods("apsp")`` rows list theirs as ``options``. Left alone,
        they are chosen well.

    Returns
    -------
    Result
        ``distances[i, j]`` is the length from the i-th source to vertex j, as in :func:`sssp`.

    Raises
    ------
    NegativeCycleError
        When a source leads to a cycle of negative length.
    MemoryBudgetError
        When the answer does not fit in memory; the message says what would make it fit.

    Examples
    --------
    >>> import kleene as kl
    >>> r = kl.apsp(kl.Graph.from_edges([0, 1, 2], [1, 2, 0], [1, 2, 3]))
    >>> r.distances.tolist()
    [[0, 1, 3], [5, 0, 2], [3, 4, 0]]
    >>> r.path(2, 1)
    [2, 0, 1]
    """
    return _solve(
        "apsp", graph, None, sources, "min_plus", targets, limit, predecessors,
        deterministic, method, device, dtype, threads, progress, out, _options(options),
    )  # fmt: skip


def closure(
    graph: Graph,
    semiring: str = "boolean",
    *,
    sources: Vertices | None = None,
    targets: Vertices | None = None,
    predecessors: bool = False,
    deterministic: bool = False,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
    out: Out = None,
) -> Result:
    """Find the value of the best path between all pairs, the empty path included.

    Parameters
    ----------
    semiring : {"boolean", "min_plus", "max_min", "max_times"}
        Which path is best: any (is there one?), the shortest, the widest (its narrowest arc is
        as wide as possible), or the most reliable (the product of its weights, probabilities
        from 0 to 1, is largest). The other parameters are those of :func:`bfs`.

    Returns
    -------
    Result
        ``values[i, j]`` belongs to the best path from i to j. On the diagonal stands the empty
        path: True, 0, infinity (or the largest integer), 1. No path is False, infinity (or the
        largest integer), minus infinity (or the smallest integer), 0.

    Examples
    --------
    >>> import kleene as kl
    >>> g = kl.Graph.from_edges([0, 1, 0], [1, 2, 2], [0.9, 0.8, 0.5])
    >>> kl.closure(g, "max_times").values[0].round(2).tolist()
    [1.0, 0.9, 0.72]
    >>> kl.closure(g).values.astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    return _solve(
        "closure", graph, None, sources, semiring, targets, None, predecessors,
        deterministic, method, device, dtype, threads, progress, out,
    )  # fmt: skip


def explain(
    graph: Graph,
    problem: str,
    *,
    semiring: str | None = None,
    sources: Vertices | None = None,
    predecessors: bool | None = None,
    deterministic: bool = False,
    limit: float | None = None,
    method: str = "auto",
    device: str = "auto",
    dtype: Any = None,
    threads: int | None = None,
    out: Out = None,
    options: Mapping[str, int] | None = None,
) -> Plan:
    """Say what a call would run, why, and how much memory it takes, without running it.

    Examples
    --------
    >>> import kleene as kl
    >>> print(kl.explain(kl.Graph.from_edges([0, 1], [1, 2], [5, -2]), "sssp"))
    sssp by bellman_ford on ..., int64 values
      memory   ...
      because  ...
      because  bellman_ford: some weights are negative
      because  int64: the type of the weights
    """
    if problem not in PROBLEMS:
        raise RequestError(f"no problem {problem!r}; there are {', '.join(map(repr, PROBLEMS))}")
    _require_graph(graph)
    count = 1 if problem in ("bfs", "sssp") else None
    if sources is not None:
        count = len(_vertices(graph, sources, "sources"))
    request = Request(
        problem,
        find_semiring(semiring or ("boolean" if problem == "closure" else "min_plus")).name,
        _name(method, "method"),
        _name(device, "device"),
        count,
        problem != "closure" if predecessors is None else predecessors,
        None if dtype is None else _dtype_name(dtype),
        limit is not None,
        as_threads(threads),
        out is not None,
        _options(options),
        bool(deterministic),
    )
    return make_plan(
        graph_facts(graph, hops=problem == "bfs"), request, with_memory(this_machine())
    )


# ---- the way through the house ------------------------------------------------------------------


def _solve(
    problem: str,
    graph: Graph,
    source: Hashable | None,
    sources: Vertices | None,
    semiring: str,
    targets: Vertices | None,
    limit: float | None,
    predecessors: bool,
    deterministic: bool,
    method: str,
    device: str,
    dtype: Any,
    threads: int | None,
    progress: Progress,
    out: Out,
    options: tuple[tuple[str, int], ...] = (),
) -> Result:
    _require_graph(graph)
    algebra = find_semiring(semiring)
    rows = _sources(problem, graph, source, sources)
    columns = None if targets is None else _vertices(graph, targets, "targets")
    request = Request(
        problem,
        algebra.name,
        _name(method, "method"),
        _name(device, "device"),
        None if source is None and sources is None else len(rows),
        bool(predecessors),
        None if dtype is None else _dtype_name(dtype),
        limit is not None,
        as_threads(threads),
        out is not None,
        options,
        bool(deterministic),
    )
    facts = graph_facts(graph, hops=problem == "bfs")
    here = this_machine()
    plan = _usual_plan(facts, request, here)
    if plan.device == "cuda" and request.device == "auto" and not _gpu_serves(plan, graph):
        here = _without_gpu(here)
        plan = _usual_plan(facts, request, here)
    if plan.memory >= _WORTH_ASKING:  # the system is asked what is free only when it may matter
        plan = make_plan(facts, request, with_memory(here))
    value_dtype = np.dtype(plan.dtype)
    row = find(problem, plan.method, plan.device)
    assert row is not None
    with (
        reporter(progress, f"{problem} by {plan.method}") as report,
        _output(out, (len(rows), graph.n), value_dtype, source is not None) as memory,
    ):
        task = Task(
            graph,
            algebra,
            rows,
            columns,
            _limit(limit, value_dtype),
            request.predecessors,
            value_dtype,
            plan.threads,
            report,
            memory,
            plan.device,
            hops=problem == "bfs",
        )
        began = time.perf_counter()
        with _meter(plan.device) as meter:
            answer = _within_limit(row.load()(task, **dict(options)), task)
            if request.deterministic:
                settle(task, answer)
        stats = _timings(time.perf_counter() - began, meter)
    return Result(graph, plan, stats, answer, rows, columns, task.limit, source is not None)


def _meter(device: str) -> AbstractContextManager[CallTimer | None]:
    """Return what counts the parts of a call, where they can be told apart."""
    if device not in ("cuda", "emulated"):
        return nullcontext()
    from kleene.backends.cuda.runtime.timing import timed_call

    return timed_call(device)


def _timings(total: float, meter: CallTimer | None) -> Timings:
    if meter is None:
        return Timings(compute=total, total=total)
    there, back = meter.seconds("copy_in") or 0.0, meter.seconds("copy_out") or 0.0
    compute = meter.seconds("compute")
    rest = max(0.0, total - there - back)  # where nobody counts what the kernels take
    return Timings(there, rest if compute is None else compute, back, total)


#: With so much memory of a GPU, matrices that are larger are worked on in large parts.
_WORTH_STREAMING = 2**30


@cache
def _gpu_opens() -> bool:
    """Does the GPU that seems to be there work? Nobody asked for it, so nobody is told."""
    from kleene.backends.cuda.runtime.device import open_device

    try:
        open_device("cuda")
    except DeviceError:
        return False
    return True


def _gpu_serves(plan: Plan, graph: Graph) -> bool:
    """Does the GPU work, and has it the memory, or enough to work on a part at a time?"""
    from kleene.backends.cuda.runtime.device import open_device

    there = 0 if graph.device != "cuda" else graph.offsets.nbytes + graph.neighbors.nbytes
    needed = 1.2 * (plan.device_memory - there)
    if plan.streams:
        needed = min(needed, _WORTH_STREAMING)
    return _gpu_opens() and open_device("cuda").free_memory() > needed


def _without_gpu(machine: Machine) -> Machine:
    return replace(machine, devices=tuple(d for d in machine.devices if d != "cuda"))


def _within_limit(answer: Answer, task: Task) -> Answer:
    """Cut off what lies beyond the limit, unless the method stopped there by itself."""
    if task.limit is None or answer.horizons is not None:
        return answer
    beyond = answer.values > task.limit
    answer.values[beyond] = task.no_path
    if answer.predecessors is not None:
        answer.predecessors[beyond] = -1
    horizons = np.full(len(task.sources), task.limit, dtype=task.dtype)
    return Answer(answer.values, answer.predecessors, horizons)


#: Plans are pure, so those made before serve again; they matter where calls are small and many.
_usual_plan = lru_cache(maxsize=256)(make_plan)


# ---- checks at the door -------------------------------------------------------------------------


def _require_graph(graph: Any) -> None:
    if isinstance(graph, Graph):
        return
    raise GraphError(
        f"expected a kleene.Graph, not {type(graph).__name__}; make one with "
        "kleene.Graph.from_any(...) and use it for all calls"
    )


def _vertices(graph: Graph, vertices: Vertices, name: str) -> Array:
    """Return ids for a sequence of ids or labels."""
    if isinstance(vertices, (str, bytes)) or not np.iterable(vertices):
        raise RequestError(f"{name} must be a sequence of vertices, not {vertices!r}")
    if isinstance(vertices, np.ndarray):
        if vertices.ndim != 1:
            raise RequestError(f"{name} must be one-dimensional, not of shape {vertices.shape}")
        vertices = vertices.tolist()
    ids = [graph.vertex(v) for v in vertices]
    return np.array(ids, dtype=graph.id_dtype)


def _sources(
    problem: str, graph: Graph, source: Hashable | None, sources: Vertices | None
) -> Array:
    if source is not None and sources is not None:
        raise RequestError("give either source or sources, not both")
    if sources is not None:
        return _vertices(graph, sources, "sources")
    if source is not None:
        if isinstance(source, Iterable) and not isinstance(source, Hashable):
            raise RequestError(f"several sources go by keyword: {problem}(g, sources=[...])")
        return np.array([graph.vertex(source)], dtype=graph.id_dtype)
    if problem in ("bfs", "sssp"):
        raise RequestError(f"{problem} needs a source, or several with sources=[...]")
    return np.arange(graph.n, dtype=graph.id_dtype)


def _name(name: Any, what: str) -> str:
    if not isinstance(name, str):
        raise RequestError(f"{what} must be a name, not {name!r}")
    return name


def _options(options: Any) -> tuple[tuple[str, int], ...]:
    if options is None:
        return ()
    if not isinstance(options, Mapping):
        raise RequestError(f"options must be a mapping of names to numbers, not {options!r}")
    for name, value in options.items():
        _name(name, "an option")
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
            raise RequestError(f"option {name!r} must be an integer from 1 on, not {value!r}")
    return tuple(sorted((name, int(value)) for name, value in options.items()))


def _dtype_name(dtype: Any) -> str:
    try:
        return str(np.dtype(dtype))
    except TypeError:
        return str(dtype)  # the plan says what it may be


def _limit(limit: Any, dtype: np.dtype[Any]) -> int | float | None:
    if limit is None:
        return None
    real: object = limit
    if isinstance(real, bool) or not isinstance(real, numbers.Real):
        raise RequestError(f"limit must be a number, not {limit!r}")
    if limit != limit or limit < 0:  # NaN alone differs from itself
        raise RequestError(f"limit must be a number from 0 on, and is {limit}")
    most = float(np.finfo(dtype).max) if dtype.kind == "f" else int(np.iinfo(dtype).max)
    if limit >= most:  # no value of this type is beyond
        return None
    # Values are compared with the limit in their own type.
    rounded: int | float = dtype.type(math.floor(limit) if dtype.kind == "i" else limit).item()
    return rounded


def _output(
    out: Out, shape: tuple[int, int], dtype: np.dtype[Any], single: bool
) -> AbstractContextManager[Array | None]:
    """Return a context with two-dimensional memory for the values, or None."""
    if out is None:
        return nullcontext()
    outer = shape[1:] if single else shape
    if isinstance(out, (str, Path)):
        if Path(out).suffix != ".npy":
            raise RequestError(f"out must name an .npy file, not {str(out)!r}")
        return _file_output(out, shape, outer, dtype)
    if not isinstance(out, np.ndarray):
        raise RequestError(f"out must be an array or a file name, not {type(out).__name__}")
    if out.shape != outer or out.dtype != dtype or not out.flags.writeable:
        kind = "" if out.flags.writeable else "read-only "
        raise RequestError(
            f"out must be a writable {dtype} array of shape {outer}, and is a "
            f"{kind}{out.dtype} array of shape {out.shape}"
        )
    if not out.flags.c_contiguous:
        raise RequestError("out must be C-contiguous")
    return nullcontext(out.reshape(shape))


@contextmanager
def _file_output(
    out: str | Path, shape: tuple[int, int], outer: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[Array]:
    """Yield a mapped file, which appears under its name at the end."""
    with atomic_path(out) as beside:
        mapped = np.lib.format.open_memmap(beside, mode="w+", dtype=dtype, shape=outer)
        yield mapped.reshape(shape)
        mapped.flush()
