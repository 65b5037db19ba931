"""What will run, on which device, in which type, with how much memory, and why.

``make_plan`` is a pure function of the facts about the graph, the request and the machine. It
touches no array and starts nothing, so a plan can be made for a graph or a machine that is not
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from kleene import trees
from kleene.errors import DeviceError, GraphError, MemoryBudgetError, RequestError
from kleene.graph.checks import format_bytes
from kleene.machine import Machine
from kleene.registry import DEVICES, Method, Size, find, methods
from kleene.valuetype import choose_dtype

if TYPE_CHECKING:
    from kleene.graph import Graph

__all__ = ["Facts", "Plan", "Request", "graph_facts", "make_plan"]


@dataclass(frozen=True)
class Facts:
    """What a plan needs to know of a graph."""

    n: int
    m: int
    weight_dtype: str | None
    min_weight: int | float
    max_weight: int | float
    path_bound: int | float
    csc: bool = False  # are the incoming arcs at hand?
    device: str = "cpu"  # where the arcs are, besides main memory


class Request(NamedTuple):
    """What the user asked for, without the data."""

    problem: str
    semiring: str = "min_plus"
    method: str = "auto"
    device: str = "auto"
    sources: int | None = None  # how many; None for all vertices
    predecessors: bool = True
    dtype: str | None = None
    limited: bool = False
    threads: int | None = None
    out: bool = False  # the caller brings the memory for the values
    options: tuple[tuple[str, int], ...] = ()  # what is to be set of the method
    deterministic: bool = False


@dataclass(frozen=True)
class Plan:
    """What runs and why; prints as an explanation.

    Attributes
    ----------
    problem, method, device : str
        The registry's row.
    semiring : str
        What "best path" means.
    dtype : str
        The type of the path values.
    threads : int
        How many threads the method may use.
    memory : int
        Bytes for the answer and the method's work.
    available : int or None
        Bytes that were available when the plan was made, where the system says.
    reasons : tuple of str
        Why these, in order of the decisions.
    device_memory : int
        Bytes on the GPU, which is asked whether it has them before anything starts.
    streams : bool
        Whether a GPU with less will do: the matrix then goes through it piece by piece.
    """

    problem: str
    method: str
    device: str
    semiring: str
    dtype: str
    threads: int
    memory: int
    available: int | None
    reasons: tuple[str, ...]
    device_memory: int = 0
    streams: bool = False

    def __str__(self) -> str:
        has = "" if self.available is None else f" of {format_bytes(self.available)} available"
        less = "; streamed from the host if there is less" if self.streams else ""
        on_it = f"  on it    {format_bytes(self.device_memory)}{less}"
        lines = [
            f"{self.problem} by {self.method} on {self.device}, {self.dtype} values",
            f"  memory   {format_bytes(self.memory)}{has}",
            *([on_it] if self.device_memory else []),
            *(f"  because  {reason}" for reason in self.reasons),
        ]
        return "\n".join(lines)


# ---- the choice of a method ---------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """Use ``method`` when ``fits``; the first rule that fits wins."""

    method: str
    fits: Callable[[Facts, Request], bool]
    reason: str


#: One Floyd-Warshall step costs 2.6 ns a pair of vertices with predecessors, one arc of one
#: Dijkstra search 1.0 us (both references, n = 500 to 3000, Xeon with AVX-512, NumPy 2.4): the
#: matrix wins when the arcs are more than n^2 over this number.
_MATRIX_WORTH = 400

#: The tiled engine needs some 0.03 ns a triple of vertices on two cores, a search from one source
#: 10 ns an arc or more: the matrix wins when the arcs are more than n^2 over this number.
_TILES_WORTH = 300

_ALWAYS: Callable[[Facts, Request], bool] = lambda facts, request: True  # noqa: E731


#: With fewer vertices and arcs than this, one queue is done before more than that pays: random
#: graphs of degree 8 and chains from 2^4 to 2^14 vertices, two cores of a Xeon with AVX-512.
_TINY = 2**12

#: Searching from this many sources at once beats searching from each, on R-MAT graphs of 2^14 and
#: 2^17 vertices. On a grid, where searches have little in common, it loses by a factor of 3 even
#: for 64 sources; graphs as thin as road networks and grids are told by their degree. Same
#: Xeon, while other work was running.
_SEVERAL = 8
_THIN = 6


def _share_work(facts: Facts, request: Request) -> bool:
    sources = facts.n if request.sources is None else request.sources
    return sources >= _SEVERAL and facts.m >= _THIN * facts.n


def _tiny(facts: Facts, request: Request) -> bool:
    return facts.n + facts.m < _TINY


def _incoming(facts: Facts, request: Request) -> bool:
    return facts.csc


def _negative(facts: Facts, request: Request) -> bool:
    return facts.min_weight < 0


def _matrix_pays(facts: Facts, request: Request) -> bool:
    return request.sources is None and facts.m * _MATRIX_WORTH > facts.n * facts.n


def _unweighted(facts: Facts, request: Request) -> bool:
    """Bit-parallel searches beat tiles by 4 to 20 at every density from 4 arcs a vertex to n / 4.

    Uniform graphs of 500 and 2000 vertices and the Facebook graph of 4,039, with and without
    predecessors; two cores of a Xeon with AVX-512.
    """
    return facts.weight_dtype is None


def _tiles_pay(facts: Facts, request: Request) -> bool:
    sources = facts.n if request.sources is None else request.sources
    return facts.m * sources * _TILES_WORTH > facts.n**3


_RULES: dict[tuple[str, str], tuple[Rule, ...]] = {
    ("bfs", "cpu"): (
        Rule("multi_source", _share_work, "many searches share their way through the graph"),
        Rule("queue", _tiny, "the graph is too small to share among threads"),
        Rule("direction_optimizing", _incoming, "looks at a small part of the arcs"),
        Rule(
            "direction_optimizing",
            _ALWAYS,
            "uses all threads; it would be faster with incoming arcs, which take longer to make "
            "than one search (to have them for many searches, touch graph.csc once)",
        ),
    ),
    ("bfs", "reference"): (Rule("queue", _ALWAYS, "looks at each arc once"),),
    ("sssp", "cpu"): (
        Rule("bellman_ford", _negative, "some weights are negative"),
        Rule("dijkstra", _tiny, "the graph is too small for more than one core"),
        Rule("delta_stepping", _ALWAYS, "no weight is negative, and all cores can help"),
    ),
    ("sssp", "reference"): (
        Rule("bellman_ford", _negative, "some weights are negative"),
        Rule("dijkstra", _ALWAYS, "no weight is negative, so each vertex is settled once"),
    ),
    ("apsp", "cpu"): (
        Rule("batched", _unweighted, "hops are counted for hundreds of sources at once"),
        Rule("tiled", _tiles_pay, "the graph is small or dense enough for a matrix"),
        Rule("johnson", _negative, "some weights are negative, and the graph is sparse"),
        Rule("batched", _ALWAYS, "searching from each source costs less than filling a matrix"),
    ),
    ("apsp", "reference"): (
        Rule("floyd_warshall", _matrix_pays, "the graph is small or dense enough for a matrix"),
        Rule("johnson", _ALWAYS, "searching from each source costs less than filling a matrix"),
    ),
    ("apsp", "cuda"): (Rule("tiled", _ALWAYS, "a matrix suits a GPU best"),),
    ("closure", "cpu"): (Rule("tiled", _ALWAYS, "serves every semiring on all cores"),),
    ("closure", "cuda"): (Rule("tiled", _ALWAYS, "serves every semiring"),),
    ("closure", "reference"): (Rule("floyd_warshall", _ALWAYS, "serves every semiring"),),
}


# ---- the choice of a device ---------------------------------------------------------------------

#: Opening a GPU in a process, loading kernels: 0.35 s (H200, CUDA 13), once. A plan cannot know
#: whether that was done before.
_GPU_START = 0.35

#: Bytes a second between memory that is not page-locked and a GPU: some 10 GB/s (H200, PCIe 5).
_GPU_COPY = 10e9

#: Relaxations a second of the tiled engine on an H200: float32 takes 5 ms for 4096 vertices, 13 T/s
#: from 8192 on; words of 8 bytes and paths take about as many times longer as the CPU's.
_GPU_RATE = 12e12

#: Relaxations a second and core of the CPU's tiled engine, float32: 35 G with AVX-512, less
#: without. Bits are some 15 times as fast, 8-byte words half as fast, paths cost half.
_CPU_RATE = 35e9

#: Seconds for an arc of a search from one source, on one core: 10 ns or more with weights; 2 ns
#: without, where many searches share their way (random graphs of degree 8 and 16).
_CPU_ARC, _CPU_ARC_OF_HOPS = 10e-9, 2e-9

#: The GPU must be faster by this: the numbers above are those of one GPU and one CPU.
_CLEARLY = 2.0


class Seconds(NamedTuple):
    """How long a call should take on a GPU and on the CPU, by rough estimate."""

    gpu: float
    cpu: float


def _matrix_seconds(facts: Facts, request: Request, machine: Machine) -> Seconds:
    """Estimate all pairs or a closure: as a matrix on both, or by searches on the CPU."""
    bits = request.semiring == "boolean" and not request.predecessors
    item = np.dtype("i4" if request.semiring == "boolean" else facts.weight_dtype or "i4").itemsize
    relative = (15.0 if bits else 4 / item) * (0.5 if request.predecessors else 1.0)
    pair = item + (4 if request.predecessors else 0)
    n, threads = float(facts.n), request.threads or machine.cores
    gpu = _GPU_START + 2 * n**2 * pair / _GPU_COPY + n**3 / (_GPU_RATE * relative)
    cpu = n**3 / (_CPU_RATE * relative * threads)
    if request.problem == "apsp":
        sources = facts.n if request.sources is None else request.sources
        arc = _CPU_ARC_OF_HOPS if facts.weight_dtype is None else _CPU_ARC
        cpu = min(cpu, sources * (facts.m + facts.n) * arc / min(threads, max(1, sources)))
    return Seconds(gpu, cpu)


#: For which problems a GPU may be the better place, and how long they take.
_GPU_WORTH: dict[str, Callable[[Facts, Request, Machine], Seconds]] = {
    "apsp": _matrix_seconds,
    "closure": _matrix_seconds,
}


def _gpu_pays(facts: Facts, request: Request, machine: Machine) -> tuple[bool, str]:
    """Is a GPU clearly the better place, and why, or why not?"""
    estimate = _GPU_WORTH.get(request.problem)
    if estimate is None:
        return False, ""
    gpu, cpu = estimate(facts, request, machine)
    pays = gpu * _CLEARLY < cpu
    than = f"than the CPU, about {gpu:.2g} s against {cpu:.2g} s"
    return pays, f"clearly faster {than}" if pays else f"the GPU is not clearly faster {than}"


def _choose_device(facts: Facts, request: Request, machine: Machine) -> tuple[str, str]:
    if request.device != "auto":
        if request.device not in DEVICES:
            known = ", ".join(map(repr, ("auto", *DEVICES)))
            raise RequestError(f"no device {request.device!r}; there are {known}")
        _require_device(request.device, machine)
        return request.device, f"device {request.device!r} was asked for"
    chosen = (device for device in machine.devices if device != "emulated")
    why = ""
    for device in chosen:
        if request.method == "auto" and device == "cuda":
            pays, why = _gpu_pays(facts, request, machine)
            if not pays:
                continue
        offered = methods(request.problem, device)
        if any(request.method in ("auto", row.name) for row in offered):
            return device, f"device {device}: {DEVICES[device]}" + (f"; {why}" if why else "")
    if find(request.problem, request.method, "cuda") is not None:
        _require_device("cuda", machine)
    _unknown_method(request)


def _require_device(device: str, machine: Machine) -> None:
    if device in machine.devices:
        return
    why = dict(machine.absent).get(device)
    instead = "; device='emulated' runs the same kernels on the CPU" if device == "cuda" else ""
    raise DeviceError(
        f"device {device!r} ({DEVICES[device]}) is not available here: "
        + (why or f"there are {', '.join(map(repr, machine.devices))}")
        + f"{instead}; see `kleene doctor`"
    )


def _unknown_method(request: Request) -> NoReturn:
    device = None if request.device == "auto" else request.device
    names = dict.fromkeys(row.name for row in methods(request.problem, device))
    where = "" if device is None else f" on device {device!r}"
    there = f"there are {', '.join(map(repr, names))}" if names else "there are none yet"
    raise RequestError(f"no method {request.method!r} for {request.problem}{where}; {there}")


def _choose_method(facts: Facts, request: Request, device: str) -> tuple[Method, str]:
    if request.method != "auto":
        row = find(request.problem, request.method, device)
        if row is None:
            _unknown_method(request)
        reason = f"method {request.method!r} was asked for"
    else:
        rules = _RULES.get((request.problem, "cuda" if device == "emulated" else device))
        if rules is None:
            _unknown_method(request)
        rule = next(rule for rule in rules if rule.fits(facts, request))
        row = find(request.problem, rule.method, device)
        assert row is not None, rule
        reason = f"{rule.method}: {rule.reason}"
    if request.semiring not in row.semirings:
        raise RequestError(f"method {row.name!r} does not take the semiring {request.semiring!r}")
    if not row.negative and facts.min_weight < 0:
        raise RequestError(
            f"method {row.name!r} needs weights that are not negative, and the smallest is "
            f"{facts.min_weight:g}; leave the method to 'auto'"
        )
    for name, value in request.options:
        if name not in row.options:
            takes = (
                f"it takes {', '.join(map(repr, row.options))}" if row.options else "it has none"
            )
            raise RequestError(f"method {row.name!r} has no option {name!r}; {takes}")
        reason += f", with {name} = {value}"
    return row, reason


# ---- the plan -----------------------------------------------------------------------------------


def make_plan(facts: Facts, request: Request, machine: Machine) -> Plan:
    """Decide everything, or refuse with a reason and advice."""
    _check_semantics(facts, request)
    device, why_device = _choose_device(facts, request, machine)
    method, why_method = _choose_method(facts, request, device)
    dtype, why_dtype = choose_dtype(facts, request)
    sources = facts.n if request.sources is None else request.sources
    size = Size(facts.n, facts.m, sources, dtype.itemsize, request.predecessors)
    memory = _answer_bytes(size, request) + method.workspace(size)
    reasons: tuple[str, ...] = (why_device, why_method, why_dtype)
    if request.deterministic and request.predecessors:
        memory += trees.workspace(size.m, size.item)
        reasons += ("predecessors: chosen by rule afterwards, the same in every run",)
    _require_memory(memory, size, request, machine)
    return Plan(
        request.problem,
        method.name,
        device,
        request.semiring,
        str(dtype),
        request.threads or machine.cores,
        memory,
        machine.memory,
        reasons,
        method.device_memory(size) if method.device_memory is not None else 0,
        method.streams,
    )


def _check_semantics(facts: Facts, request: Request) -> None:
    if request.limited and facts.min_weight < 0:
        raise RequestError(
            "limit needs weights that are not negative: a path may pass the limit and come back"
        )
    if request.semiring == "max_times" and facts.m:
        low, high = facts.min_weight, facts.max_weight
        if low < 0 or high > 1:
            raise GraphError(
                "the semiring 'max_times' takes weights from 0 to 1 (probabilities), and these "
                f"run from {low:g} to {high:g}"
            )


def _answer_bytes(size: Size, request: Request) -> int:
    ids = 4 if size.n < 2**31 else 8
    per_pair = (0 if request.out else size.item) + (ids if request.predecessors else 0)
    return per_pair * size.sources * size.n


def _require_memory(memory: int, size: Size, request: Request, machine: Machine) -> None:
    if machine.memory is None or memory <= machine.memory:
        return
    advice = []
    if request.problem in ("apsp", "closure"):
        advice.append("sources=[...] for some of the rows")
    if size.sources > 1 and not request.out:
        advice.append("out='distances.npy' to keep the values in a file")
    if request.predecessors:
        advice.append("predecessors=False")
    if size.item == 8:
        advice.append("a narrower dtype")
    raise MemoryBudgetError(
        f"{request.problem} on {size.n:,} vertices needs {format_bytes(memory)} and "
        f"{format_bytes(machine.memory)} are available"
        + (f"; what makes it fit: {', or '.join(advice)}" if advice else "")
    )


#: Facts seen before are the same object, which makes plans quick to find again.
_known_facts = lru_cache(maxsize=256)(Facts)


def graph_facts(graph: Graph, hops: bool = False) -> Facts:
    """Collect what a plan needs to know of this graph; for hop counts, without its weights."""
    n, m = graph.n, graph.m
    if hops:
        return _known_facts(n, m, None, min(1, m), min(1, m), n, graph.csc_at_hand, graph.device)
    stats = graph.stats
    return _known_facts(
        n,
        m,
        None if graph.weights is None else str(graph.weights.dtype),
        stats.min_weight,
        stats.max_weight,
        stats.path_bound,
        graph.csc_at_hand,
        graph.device,
    )
