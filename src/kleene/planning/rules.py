"""Which method runs: for each problem and device, the first rule that fits.

Every threshold says where it was measured. ``tests/planning/test_plan.py`` holds each rule to a
row of the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from kleene.errors import RequestError
from kleene.planning import cost_model
from kleene.planning.ask import Ask
from kleene.planning.facts import Facts
from kleene.planning.prepared_cost import elimination_pays, elimination_pays_on_gpu
from kleene.registry import Method, find, methods
from kleene.system.machine import cores
from kleene.system.suggestions import no_such

__all__ = ["RULES", "Rule", "choose_method", "unknown_method"]


@dataclass(frozen=True)
class Rule:
    """Use ``method`` when ``fits``; the first rule that fits wins."""

    method: str
    fits: Callable[[Facts, Ask], bool]
    reason: str


#: One Floyd-Warshall step costs 2.6 ns a pair of vertices with predecessors, one arc of one
#: Dijkstra search 1.0 us (both references, n = 500 to 3000, Xeon with AVX-512, NumPy 2.4): the
#: matrix wins when the arcs are more than n^2 over this number.
_MATRIX_WORTH = 400

#: The tiled engine wins over searches in vector lanes when the arcs are more than n^2 over this
#: number; with paths, which cost it half its rate and them next to nothing, over the second one.
#: Uniform graphs of 500, 1000 and 2000 vertices and degrees 4 to 64, two cores with AVX-512.
_TILES_WORTH, _TILES_WORTH_PATHS = 60, 12

_ALWAYS: Callable[[Facts, Ask], bool] = lambda facts, ask: True  # noqa: E731


#: With fewer vertices and arcs than this, one queue is done before more than that pays: random
#: graphs of degree 8 and chains from 2^4 to 2^14 vertices, two cores of a Xeon with AVX-512.
_TINY = 2**12


def _share_work(facts: Facts, ask: Ask) -> bool:
    """Searching from several sources at once beats searching from each, where they meet.

    On a grid, where searches have little in common, it loses by a factor of 3 even for 64 sources.
    """
    return cost_model.many_sources(facts, ask) and not cost_model.is_road_like(facts)


def _tiny(facts: Facts, ask: Ask) -> bool:
    return facts.n + facts.m < _TINY


#: Vertices and arcs up to which one queue is ahead on roads and grids, of fewer arcs a vertex than
#: the second number: it takes 0.7 of the time of direction_optimizing on Rome (12,000) and on grids
#: of 30 x 30 to 300 x 300 (450,000), whose levels are too small to share. Two Zen 3 cores.
_THIN, _THIN_DEGREE = 2**19, 5


def _few_in_a_level(facts: Facts, ask: Ask) -> bool:
    return facts.n + facts.m < _THIN and facts.m < _THIN_DEGREE * facts.n


#: From this many sources, searches share vector lanes, even on the smallest graphs.
_TOGETHER = 32


def _tiny_and_few(facts: Facts, ask: Ask) -> bool:
    return _tiny(facts, ask) and (ask.what.sources or facts.n) < _TOGETHER


def _incoming(facts: Facts, ask: Ask) -> bool:
    return facts.csc


def _negative(facts: Facts, ask: Ask) -> bool:
    return facts.min_weight < 0


def _matrix_pays(facts: Facts, ask: Ask) -> bool:
    if ask.decided("cuts"):
        return False
    return ask.what.sources is None and facts.m * _MATRIX_WORTH > facts.n * facts.n


def _unweighted(facts: Facts, ask: Ask) -> bool:
    """Bit-parallel searches beat tiles by 4 to 20 at every density from 4 arcs a vertex to n / 4.

    Uniform graphs of 500 and 2000 vertices and the Facebook graph of 4,039, with and without
    predecessors; two cores of a Xeon with AVX-512.
    """
    return facts.weight_dtype is None


def _tiles_pay(facts: Facts, ask: Ask) -> bool:
    if ask.decided("cuts"):
        return False
    sources = facts.n if ask.what.sources is None else ask.what.sources
    worth = _TILES_WORTH_PATHS if ask.what.predecessors else _TILES_WORTH
    return facts.m * sources * worth > facts.n**3


def _searches_pay_on_gpu(facts: Facts, ask: Ask) -> bool:
    return ask.decided("cuts") is not None or cost_model.batches_pay(facts, ask)


def _prepare(facts: Facts, ask: Ask) -> bool:
    threads = ask.where.threads or cores()
    return not _tiny(facts, ask) and elimination_pays(facts, ask, threads)


def _prepare_for_gpu(facts: Facts, ask: Ask) -> bool:
    threads = ask.where.threads or cores()
    return not _tiny(facts, ask) and elimination_pays_on_gpu(facts, ask, threads)


_ELIMINATED = "vertices are eliminated once, then a row is two sweeps"
_PREPARED = Rule("prepared", _prepare, _ELIMINATED)
_PREPARED_ON_GPU = Rule("prepared", _prepare_for_gpu, _ELIMINATED)


RULES: dict[tuple[str, str], tuple[Rule, ...]] = {
    ("bfs", "cpu"): (
        Rule("multi_source", _share_work, "searches from many sources share their work"),
        Rule("queue", _tiny, "the graph is too small to share among threads"),
        Rule("queue", _few_in_a_level, "levels are too small to share among threads"),
        Rule("direction_optimizing", _incoming, "looks at a small part of the arcs"),
        Rule(
            "direction_optimizing",
            _ALWAYS,
            "uses all threads; it is faster with incoming arcs, which take longer to make than "
            "one search",
        ),
    ),
    ("bfs", "reference"): (Rule("queue", _ALWAYS, "looks at each arc once"),),
    ("sssp", "cpu"): (
        _PREPARED,
        Rule("bellman_ford", _negative, "some weights are negative"),
        Rule("dijkstra", _tiny_and_few, "the graph is too small for more than one core"),
        Rule("delta_stepping", _ALWAYS, "no weight is negative, and all cores can help"),
    ),
    ("sssp", "reference"): (
        Rule("bellman_ford", _negative, "some weights are negative"),
        Rule("dijkstra", _ALWAYS, "no weight is negative, so each vertex is settled once"),
    ),
    ("apsp", "cpu"): (
        _PREPARED,
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
            cost_model.searches_share,
            "searches from many sources share their work",
        ),
        Rule("direction_optimizing", _ALWAYS, "looks at a small part of the arcs"),
    ),
    ("sssp", "cuda"): (
        _PREPARED_ON_GPU,
        Rule("bellman_ford", _negative, "some weights are negative"),
        Rule(
            "batched",
            cost_model.lanes_pay,
            "searches from many sources share each pass over the arcs",
        ),
        Rule("near_far", _ALWAYS, "no weight is negative, so most vertices are settled once"),
    ),
    ("apsp", "cuda"): (
        _PREPARED_ON_GPU,
        Rule("batched", _unweighted, "hops are counted for a thousand sources at once"),
        Rule("tiled", _negative, "some weights are negative, which a matrix takes"),
        Rule(
            "batched",
            _searches_pay_on_gpu,
            "searching from each source costs less than filling a matrix",
        ),
        Rule("tiled", _ALWAYS, "the graph is small or dense enough for a matrix"),
    ),
    ("closure", "cpu"): (
        _PREPARED,
        Rule("tiled", _ALWAYS, "takes every semiring, on all cores"),
    ),
    ("closure", "cuda"): (_PREPARED_ON_GPU, Rule("tiled", _ALWAYS, "takes every semiring")),
    ("closure", "reference"): (Rule("floyd_warshall", _ALWAYS, "takes every semiring"),),
    ("product", "cpu"): (Rule("tiled", _ALWAYS, "the only method"),),
    ("product", "cuda"): (Rule("tiled", _ALWAYS, "the only method"),),
    ("product", "reference"): (Rule("broadcast", _ALWAYS, "the only method"),),
    ("spmv", "cpu"): (Rule("csr", _ALWAYS, "the form that every graph has"),),
    ("spmv", "cuda"): (Rule("csr", _ALWAYS, "the form that every graph has"),),
    ("k_shortest", "cpu"): (Rule("yen", _ALWAYS, "the only method"),),
    ("distance_encodings", "cpu"): (Rule("batched", _ALWAYS, "the only method"),),
    ("within", "cpu"): (Rule("bounded_dijkstra", _ALWAYS, "the only method"),),
    ("nearest", "cpu"): (
        _PREPARED,
        Rule("k_labels", _ALWAYS, "one search, with k labels per vertex"),
    ),
    ("loads", "cpu"): (
        Rule("prepared", _prepare, "vertices are eliminated once, then a trip is two climbs"),
        Rule("searches", _ALWAYS, "one search for each root of trips"),
    ),
    ("loads", "reference"): (Rule("plain", _ALWAYS, "the only method"),),
    ("weak_components", "cpu"): (Rule("afforest", _ALWAYS, "the only method"),),
    ("betweenness", "cpu"): (
        Rule("lanes", _unweighted, "many sources share a search by hops"),
        Rule("dijkstra", _ALWAYS, "supports weights"),
    ),
    ("betweenness", "cuda"): (
        Rule("lanes", _unweighted, "sources share each row of a vertex by hops"),
        Rule("batched", _ALWAYS, "supports weights"),
    ),
    ("betweenness", "reference"): (Rule("brandes", _ALWAYS, "the only method"),),
    ("strong_components", "cpu"): (Rule("forward_backward", _ALWAYS, "the only method"),),
}


def choose_method(facts: Facts, ask: Ask, device: str) -> tuple[Method, str]:
    if ask.where.method != "auto":
        row = find(ask.what.problem, ask.where.method, device)
        if row is None:
            unknown_method(ask, [device])
        frozen = ask.decided("method")
        reason = frozen.reason if frozen else f"method {ask.where.method!r} was asked for"
    else:
        rules = RULES.get((ask.what.problem, "cuda" if device == "emulated" else device))
        if rules is None or not methods(ask.what.problem, device):
            unknown_method(ask, [device])
        rule = next(rule for rule in rules if rule.fits(facts, ask))
        row = find(ask.what.problem, rule.method, device)
        assert row is not None, rule
        reason = f"{rule.method}: {rule.reason}"
    if ask.what.semiring not in row.semirings:
        raise RequestError(
            f"method {row.name!r} does not take the semiring {ask.what.semiring!r}",
            option="method",
        )
    if not row.negative and facts.min_weight < 0:
        raise RequestError(
            f"method {row.name!r} needs non-negative weights, and the smallest is "
            f"{facts.min_weight:g}",
            option="method",
            advice=["leave the method to 'auto'"],
        )
    for name, value in ask.where.options:
        if name not in row.options:
            takes = (
                f"it takes {', '.join(map(repr, row.options))}" if row.options else "it has none"
            )
            raise RequestError(
                f"method {row.name!r} has no option {name!r}; {takes}", option="options"
            )
        reason += f", with {name} = {value}"
    return row, reason


def unknown_method(ask: Ask, devices: Sequence[str]) -> NoReturn:
    """Refuse a method that does not exist, and list those that do, of these devices first."""
    anywhere = ask.where.device == "auto"
    real = [device for device in devices if not (anywhere and device == "emulated")]
    rows = [row for device in real for row in methods(ask.what.problem, device)]
    if anywhere:
        rows += [row for row in methods(ask.what.problem) if row.device != "emulated"]
    if not rows:
        there = dict.fromkeys(repr(row.device) for row in methods(ask.what.problem))
        raise RequestError(
            f"{ask.what.problem} does not run on device {ask.where.device!r}; it runs on "
            + " and ".join(there),
            option="device",
        )
    where = f" for {ask.what.problem}" + ("" if anywhere else f" on device {ask.where.device!r}")
    message = no_such("method", ask.where.method, dict.fromkeys(row.name for row in rows), where)
    others = dict.fromkeys(
        row.device for row in methods(ask.what.problem) if row.name == ask.where.method
    )
    problems = dict.fromkeys(row.problem for row in methods() if row.name == ask.where.method)
    if others:
        message += f"; {ask.where.method!r} is for device {' and '.join(map(repr, others))}"
    elif problems:
        message += f"; {ask.where.method!r} is a method of {' and '.join(problems)}"
    raise RequestError(message, option="method")
