"""What will run, on which device, in which type, with how much memory, and why.

``make_plan`` is a pure function of the facts about the graph, the request and the machine. It
touches no array and starts nothing, so a plan can be made for a graph or a machine that is not
there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kleene.backends.common import predecessors as trees
from kleene.errors import GraphError, MemoryBudgetError, RequestError
from kleene.graph.checks import format_bytes
from kleene.planning import cost_model as estimates
from kleene.planning.device_choice import choose_device, unknown_method
from kleene.planning.dtype_choice import choose_dtype
from kleene.registry import Method, Size, find
from kleene.system.machine import Machine

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

#: The tiled engine wins over searches in vector lanes when the arcs are more than n^2 over this
#: number; with paths, which cost it half its rate and them next to nothing, over the second one.
#: Uniform graphs of 500, 1000 and 2000 vertices and degrees 4 to 64, two cores with AVX-512.
_TILES_WORTH, _TILES_WORTH_PATHS = 60, 12

_ALWAYS: Callable[[Facts, Request], bool] = lambda facts, request: True  # noqa: E731


#: With fewer vertices and arcs than this, one queue is done before more than that pays: random
#: graphs of degree 8 and chains from 2^4 to 2^14 vertices, two cores of a Xeon with AVX-512.
_TINY = 2**12


def _share_work(facts: Facts, request: Request) -> bool:
    """Searching from several sources at once beats searching from each, where they meet.

    On a grid, where searches have little in common, it loses by a factor of 3 even for 64 sources.
    """
    return estimates.several(facts, request) and not estimates.is_thin(facts)


def _tiny(facts: Facts, request: Request) -> bool:
    return facts.n + facts.m < _TINY


#: Sources from which on searches go together in vector lanes, even on the smallest graphs.
_TOGETHER = 32


def _tiny_and_few(facts: Facts, request: Request) -> bool:
    return _tiny(facts, request) and (request.sources or facts.n) < _TOGETHER


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
    worth = _TILES_WORTH_PATHS if request.predecessors else _TILES_WORTH
    return facts.m * sources * worth > facts.n**3


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
        Rule("dijkstra", _tiny_and_few, "the graph is too small for more than one core"),
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
    ("bfs", "cuda"): (
        Rule(
            "multi_source",
            estimates.searches_share,
            "many searches share their way through the graph",
        ),
        Rule("direction_optimizing", _ALWAYS, "looks at a small part of the arcs"),
    ),
    ("sssp", "cuda"): (
        Rule("bellman_ford", _negative, "some weights are negative"),
        Rule("near_far", _ALWAYS, "no weight is negative, so most vertices are settled once"),
    ),
    ("apsp", "cuda"): (
        Rule("batched", _unweighted, "hops are counted for a thousand sources at once"),
        Rule("tiled", _negative, "some weights are negative, which a matrix takes"),
        Rule(
            "batched",
            estimates.batches_pay,
            "searching from each source costs less than filling a matrix",
        ),
        Rule("tiled", _ALWAYS, "the graph is small or dense enough for a matrix"),
    ),
    ("closure", "cpu"): (Rule("tiled", _ALWAYS, "serves every semiring on all cores"),),
    ("closure", "cuda"): (Rule("tiled", _ALWAYS, "serves every semiring"),),
    ("closure", "reference"): (Rule("floyd_warshall", _ALWAYS, "serves every semiring"),),
}


def _choose_method(facts: Facts, request: Request, device: str) -> tuple[Method, str]:
    if request.method != "auto":
        row = find(request.problem, request.method, device)
        if row is None:
            unknown_method(request)
        reason = f"method {request.method!r} was asked for"
    else:
        rules = _RULES.get((request.problem, "cuda" if device == "emulated" else device))
        if rules is None:
            unknown_method(request)
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
    device, why_device = choose_device(facts, request, machine)
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
        None if graph.weight_dtype is None else str(graph.weight_dtype),
        stats.min_weight,
        stats.max_weight,
        stats.path_bound,
        graph.csc_at_hand,
        graph.device,
    )
