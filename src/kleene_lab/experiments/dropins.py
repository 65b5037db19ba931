"""Kleene in the place of SciPy and NetworkX: the same call to the original and to the drop-in.

Conversions count on both sides, unless the series says otherwise. The drop-in's answer must be the
original's before either is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.metadata import entry_points
from importlib.util import find_spec
from math import inf
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import three
from kleene_lab.harness.measurements import Measurements, finding, times_as
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS"]

#: Answers of the originals, which run first; they take too long to run twice.
_RIGHT: dict[tuple[Any, ...], Any] = {}


def _trial(
    run: Callable[[], Any], key: tuple[Any, ...], same: Callable[[Any, Any], bool], original: bool
) -> Trial:
    def check(answer: Any) -> str:
        if original:
            _RIGHT[key] = answer
            return "it is the original"
        if key not in _RIGHT:
            raise Skipped("there is no answer of the original to compare with")
        if not same(answer, _RIGHT[key]):
            raise AssertionError(f"{key[-1]}: another answer than the original's")
        return "the same answer as the original's"

    return Trial(run, check, repeats=7)


def _ratios(original: str, ours: tuple[str, ...], results: Measurements) -> Iterator[str]:
    labels = results.experiment.x.labels
    for series in ours:
        for x, ratio in results.speedups(original, series):
            where = "" if len(ours) == 1 else f", {series}"
            yield f"{labels[int(x)]}{where}: {times_as(ratio)} as fast as {original}."


# ---- SciPy --------------------------------------------------------------------------------------

SCIPY, CSGRAPH = "scipy.sparse.csgraph", "kleene.csgraph"


class _Call(NamedTuple):
    """One call that a user makes: a function of csgraph, on which graph, and how."""

    name: str
    function: str
    graph: str
    how: dict[str, Any] = {}  # noqa: RUF012 - never changed


_PATHS = {"return_predecessors": True}
_CALLS = (
    _Call("dense 2048", "floyd_warshall", "dense"),
    _Call("dense 2048, paths", "floyd_warshall", "dense", _PATHS),
    _Call("Rome, all pairs", "dijkstra", "Rome"),
    _Call("Rome, all pairs, paths", "dijkstra", "Rome", _PATHS),
    _Call("Rome, all pairs, hops", "dijkstra", "Rome", {"unweighted": True}),
    _Call("R-MAT 18, Dijkstra", "dijkstra", "R-MAT", {"indices": 0}),
    _Call("R-MAT 18, Dijkstra, paths", "dijkstra", "R-MAT", {"indices": 0, **_PATHS}),
    _Call("R-MAT 18, undirected", "dijkstra", "R-MAT", {"indices": 0, "directed": False}),
    _Call("Rome, 50 shortest paths", "yen", "Rome", {"source": 0, "sink": 3000, "K": 50}),
    _Call("R-MAT 18, BFS order", "breadth_first_order", "R-MAT", {"i_start": 0}),
)


@cache
def _matrix(name: str, quick: bool) -> Any:
    if name == "dense":
        n = 64 if quick else 2048
        return np.random.default_rng(1).uniform(0.001, 1, (n, n))
    if name == "Rome":
        g = kl.datasets.rome()
    else:
        g = kl.generate.rmat(8 if quick else 18, 16, seed=1, directed=False, weights=(1, 255))
    return g.to_scipy().astype(np.float64)


def scipy_trial(
    matrix: Any, function: str, how: dict[str, Any], key: tuple[Any, ...], ours: bool
) -> Trial:
    """Return a call to SciPy's function, or to ours, whose answer must be SciPy's."""
    import scipy.sparse.csgraph as theirs

    from kleene import csgraph

    if not hasattr(theirs, function):
        raise Skipped(f"this SciPy has no {function}")

    def same(a: Any, b: Any) -> bool:  # where paths tie, predecessors may differ
        ours, theirs = (answer[0] if isinstance(answer, tuple) else answer for answer in (a, b))
        if hasattr(ours, "toarray"):  # a tree
            ours, theirs = ours.toarray(), theirs.toarray()
        return np.allclose(ours, theirs, rtol=1e-12)

    run = partial(getattr(csgraph if ours else theirs, function), matrix, **how)
    return _trial(run, ("scipy", *key), same, not ours)


def _scipy_trial(environment: Environment, call: _Call, ours: bool) -> Trial:
    matrix = _matrix(call.graph, environment.quick)
    return scipy_trial(matrix, call.function, call.how, (environment.quick, call.name), ours)


def _scipy(environment: Environment) -> Iterator[Plan]:
    for x, call in enumerate(_CALLS):
        if environment.quick and call.name == "Rome, all pairs, paths":
            continue
        for series in (SCIPY, CSGRAPH):
            trial = partial(_scipy_trial, environment, call, series == CSGRAPH)
            yield Plan(series, x, trial, size=0)


# ---- NetworkX -----------------------------------------------------------------------------------

_NETWORKX, _CONVERTED = "NetworkX", "Kleene, graph converted before"
_BACKEND = 'backend="kleene"'
_FUNCTIONS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("all-pairs lengths, Enron's 22-core", "all_pairs_shortest_path_length", "Enron", {}),
    ("closeness, Facebook", "closeness_centrality", "Facebook", {}),
    ("diameter, Facebook", "diameter", "Facebook", {}),
    ("Dijkstra lengths, Rome", "single_source_dijkstra_path_length", "Rome", {"source": 0}),
    ("Dijkstra paths, Rome", "single_source_dijkstra_path", "Rome", {"source": 0}),
    (
        "betweenness, 20 nodes of Facebook",
        "betweenness_centrality",
        "Facebook",
        {"k": 20, "seed": 1},
    ),
)


@cache
def _network(environment: Environment, name: str) -> Any:
    import networkx as nx

    if name == "Rome":
        return kl.datasets.rome().unlabelled().to_networkx()
    if environment.quick:
        return nx.connected_caveman_graph(4, 6)
    file = {"Enron": "email-Enron.txt.gz", "Facebook": "facebook_combined.txt.gz"}[name]
    path = environment.file(file)
    if path is None:
        raise Skipped(f"no file {file}; --data FOLDER says where it is")
    whole = nx.read_edgelist(path, nodetype=int)
    return nx.Graph(nx.k_core(whole, 22)) if name == "Enron" else whole


def _networkx_trial(
    environment: Environment, function: str, graph: str, how: dict[str, Any], series: str
) -> Trial:
    if not find_spec("networkx"):
        raise Skipped('not installed; pip install "kleene[networkx]"')
    import networkx as nx

    network = _network(environment, graph)
    key = ("networkx", environment.quick, graph, function)

    def run(backend: str | None = None, of: Any = network) -> Any:
        # A graph that was converted stays with its NetworkX graph, unless caching is off.
        with nx.config(cache_converted_graphs=False):
            named = {} if backend is None else {"backend": backend}
            answer = getattr(nx, function)(of, **how, **named)
            return answer if isinstance(answer, dict | int) else dict(answer)

    call = partial(run, "networkx" if series == _NETWORKX else "kleene")
    if series == _CONVERTED:
        call = partial(run, None, _converted(environment, graph))
    return _trial(call, key, _same, series == _NETWORKX)


def _same(ours: Any, theirs: Any) -> bool:
    """Compare two answers; sums of betweenness may differ by rounding."""
    if isinstance(theirs, dict) and all(isinstance(value, float) for value in theirs.values()):
        first, second = (np.array(list(answer.values())) for answer in (ours, theirs))
        return list(ours) == list(theirs) and np.allclose(first, second, rtol=1e-12, atol=1e-15)
    return bool(ours == theirs)


def _converted(environment: Environment, graph: str) -> Any:
    (backend,) = entry_points(group="networkx.backends", name="kleene")
    return backend.load().convert_from_nx(
        _network(environment, graph),
        edge_attrs={"weight": 1} if graph == "Rome" else None,
        preserve_edge_attrs=False,
        preserve_node_attrs=False,
    )


def _networkx(environment: Environment) -> Iterator[Plan]:
    for x, (_, function, graph, how) in enumerate(_FUNCTIONS):
        for series in (_NETWORKX, _BACKEND, _CONVERTED):
            trial = partial(_networkx_trial, environment, function, graph, how, series)
            yield Plan(series, x, trial, size=0)


_SHARED: dict[str, Any] = {
    "suites": ("ours", "peers"),
    "quantity": "seconds",
    "kind": "bars",
    "patience": 60,
    "headline": finding(),
}


# ---- calls to csgraph that take microseconds: does anyone lose by the drop-in? -------------------
# Such a call is mostly conversion, checks and memory; the drop-in answers it on SciPy's arrays.


_GRAPHS = ("34 vertices", "Rome", "grid 100", "R-MAT 12")
_QUICK = ("34 vertices",)


_TURNS = 50  # calls, of which the fastest counts: others wait for something else on the machine

#: What is called, the function, and how; from the vertex of highest degree.
_SMALL_CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("BFS order", "breadth_first_order", {}),
    ("BFS order, undirected", "breadth_first_order", {"directed": False}),
    ("BFS tree", "breadth_first_tree", {}),
    ("weak components", "connected_components", {}),
    ("strong components", "connected_components", {"connection": "strong"}),
    ("Dijkstra", "dijkstra", {}),
    ("Dijkstra, paths", "dijkstra", _PATHS),
    ("Dijkstra, undirected", "dijkstra", {"directed": False}),
    ("Dijkstra, hops", "dijkstra", {"unweighted": True}),
    ("Dijkstra, a limit", "dijkstra", {"limit": 3.0}),
    ("shortest_path", "shortest_path", {}),
)
_START = {"breadth_first_order": "i_start", "breadth_first_tree": "i_start"}
_NO_START = ("connected_components",)


@cache
def _small_matrix(name: str) -> Any:
    options: dict[str, Any] = {"seed": 1, "weights": (1, 255)}
    makers: dict[str, Callable[[], kl.Graph]] = {
        "34 vertices": partial(kl.generate.uniform, 34, 78, directed=False, **options),
        "Rome": kl.datasets.rome,
        "grid 100": partial(kl.generate.grid, 100, 100, **options),
        "R-MAT 12": partial(kl.generate.rmat, 12, 16, directed=False, **options),
    }
    return makers[name]().to_scipy().astype(np.float64)


def _small_trial(graph: str, call: tuple[str, str, dict[str, Any]], ours: bool) -> Trial:
    name, function, how = call
    matrix = _small_matrix(graph)
    if function not in _NO_START:
        how = {**how, _START.get(function, "indices"): int(np.diff(matrix.indptr).argmax())}
    once = scipy_trial(matrix, function, how, ("small", graph, name), ours)
    return Trial(
        partial(_fastest, once.run), lambda timed: once.check(timed.answer), repeats=5,
        timed=lambda timed: timed.seconds,
    )  # fmt: skip


class _Timed(NamedTuple):
    answer: Any
    seconds: float


def _fastest(run: Callable[[], Any]) -> _Timed:
    """Return the last answer of many calls, and the time of the fastest."""
    best = inf
    for _ in range(_TURNS):
        began = time.perf_counter()
        answer = run()
        best = min(best, time.perf_counter() - began)
    return _Timed(answer, best)


def _plans(environment: Environment) -> Iterator[Plan]:
    for graph in environment.sizes(_GRAPHS, _QUICK):
        for x, call in enumerate(_SMALL_CALLS):
            for series in (SCIPY, CSGRAPH):
                yield Plan(
                    series, x, partial(_small_trial, graph, call, series == CSGRAPH), graph, size=0
                )


def _findings(results: Measurements) -> Iterator[str]:
    behind = []
    for graph in results.panels:
        ratios = list(results.speedups(SCIPY, CSGRAPH, graph))
        behind += [(_SMALL_CALLS[int(x)][0], graph, ratio) for x, ratio in ratios if ratio < 1]
        if ratios:
            low, high = (pick(ratio for _, ratio in ratios) for pick in (min, max))
            yield f"{graph}: {three(low)} to {times_as(high)} as fast as SciPy."
    for call, graph, ratio in behind:
        yield f"{call}, {graph}: slower than SciPy, {ratio:.2g} of its speed."


EXPERIMENTS = (
    Experiment(
        "dropin-scipy",
        "In the place of SciPy",
        "How much faster is a program that imports kleene.csgraph instead of SciPy's?",
        Axis("call", log=False, labels=tuple(call.name for call in _CALLS)),
        _scipy,
        partial(_ratios, SCIPY, (CSGRAPH,)),
        budget=60,
        baseline=SCIPY,
        notes="Whole calls on SciPy's matrices, conversions included, float64 out.",
        **_SHARED,
    ),
    Experiment(
        "dropin-networkx",
        "In the place of NetworkX",
        'How much faster are NetworkX\'s functions with backend="kleene"?',
        Axis("call", log=False, labels=tuple(name for name, *_ in _FUNCTIONS)),
        _networkx,
        partial(_ratios, _NETWORKX, (_BACKEND, _CONVERTED)),
        budget=100,
        baseline=_NETWORKX,
        notes="Whole calls on NetworkX's graphs; answers are Python's dictionaries, as NetworkX's.",
        **_SHARED,
    ),
    Experiment(
        "dropin-scipy-small",
        "In the place of SciPy, on small graphs",
        "Does any small call get slower with kleene.csgraph?",
        Axis("call", log=False, labels=tuple(name for name, *_ in _SMALL_CALLS)),
        _plans,
        _findings,
        ("ours", "peers"),
        quantity="seconds",
        kind="bars",
        budget=35,
        headline=finding(),
        baseline=SCIPY,
        notes=(
            "Whole calls on SciPy's arrays of float64, from the vertex of highest degree; the "
            "fastest of fifty."
        ),
    ),
)
