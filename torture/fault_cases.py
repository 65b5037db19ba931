"""Calls that faults are put into: every method, generator, reader, writer and interface.

Together they call every function of ``kleene._native``; ``missing_natives`` names those that none
does.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

import kleene as kl
from kleene import _native
from kleene.calls.programs import relaxation_ceiling
from kleene.distributed import Communicator, DistributedGraph, bfs, sssp
from kleene.graph.core import Graph
from kleene.graph.incoming import IncomingArcs
from kleene.prepared.elimination import eliminate, expect
from kleene.registry import PATH_PROBLEMS
from kleene.results.result import Result
from torture.fault_files import file_cases
from torture.fault_inputs import Case, circle, edges, heavy, matrix, on, small, sparse, tiny
from torture.fault_measures import measure_cases
from torture.fault_prepared import prepared_cases
from torture.sample_files import BAD_FILES

__all__ = ["Case", "all_cases", "as_plain", "missing_natives"]


def as_plain(value: Any) -> Any:
    """Return what must be equal in two answers, as plain values."""
    if isinstance(value, Result):
        return as_plain(value.values)
    if isinstance(value, Graph):
        return value.n, as_plain(value.csr), value.directed
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if sp.issparse(value):
        return as_plain(value.tocsr().toarray())
    if isinstance(value, dict):
        return {key: as_plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(each) for each in value]
    return value if isinstance(value, (int, float, str, bytes, type(None))) else repr(value)


# ---- cases --------------------------------------------------------------------------------------


def search_cases(device: str) -> Iterator[Case]:
    for row in kl.methods(device=device):
        if row.problem not in PATH_PROBLEMS:
            continue
        single = row.problem in ("bfs", "sssp")
        make = tiny if device == "emulated" else sparse if single else small
        for semiring in row.semirings if row.problem == "closure" else [None]:

            def solve(g: Graph, row: Any = row, semiring: Any = semiring) -> Any:
                extra = {} if semiring is None else {"semiring": semiring}
                start = {"sources": [0, 3]} if row.problem in ("bfs", "sssp") else {}
                call = getattr(kl, row.problem)
                g = g.reweight(arcs=g.weights * 0.125) if semiring == "max_times" else g
                return call(g, method=row.name, device=device, threads=3, **start, **extra)

            what = row.name if semiring is None else f"{row.name}, {semiring}"
            yield Case(f"{row.problem} {what} on {device}", on(make, solve), device=device)


def split_over_two(g: Graph) -> Any:
    """Search from sources that two devices share."""
    os.environ["KLEENE_EMULATOR_DEVICES"] = "2"
    try:
        return kl.sssp(g, sources=[0, 3, 5], devices=["emulated:0", "emulated:1"], threads=3)
    finally:
        del os.environ["KLEENE_EMULATOR_DEVICES"]


def matrix_on_two(g: Graph) -> Any:
    """Close a matrix whose rows two devices share."""
    os.environ["KLEENE_EMULATOR_DEVICES"] = "2"
    try:
        two = ["emulated:1", "emulated:0"]
        return kl.closure(g, "max_min", method="tiled", devices=two, threads=3)
    finally:
        del os.environ["KLEENE_EMULATOR_DEVICES"]


def kept_cases() -> Iterator[Case]:
    """Answers that stay on the device, of graphs that are placed there; sources that are split."""
    for problem, start in (("bfs", {"source": 0}), ("sssp", {"source": 0}), ("apsp", {})):

        def solve(g: Graph, problem: str = problem, start: Any = start) -> Any:
            there, call = g.to("emulated"), getattr(kl, problem)
            for _ in range(2):  # the second call finds the buffers of the first
                kept = call(there, device="emulated", keep="device", threads=3, **start)
            return [np.from_dlpack(kept.device_arrays.distances), kept.values, kept.predecessors]

        yield Case(f"{problem}, kept on emulated", on(tiny, solve), device="emulated")
    yield Case("sssp on two emulated devices", on(tiny, split_over_two), device="emulated")
    ring = lambda: kl.generate.uniform(130, 300, weights=(1, 9), seed=2)  # noqa: E731
    yield Case("matrix on two emulated devices", on(ring, matrix_on_two), device="emulated")
    both = lambda a: kl.product(a, a.T, argmin=True, device="emulated", threads=3)  # noqa: E731
    yield Case("product on emulated", on(matrix, both), device="emulated")
    kept = lambda: kl.bfs(tiny(), 0, device="emulated", keep="device")  # noqa: E731
    yield Case("dlpack", on(kept, lambda r: np.from_dlpack(r.device_arrays.distances)))


def graph_cases() -> Iterator[Case]:
    yield Case("from_edges", on(edges, lambda e: Graph.from_edges(*e, threads=3)))
    yield Case(
        "from_edges, undirected",
        on(edges, lambda e: Graph.from_edges(e[0], e[1], directed=False, combine="sum", threads=3)),
    )
    csr = lambda: sp.random(300, 300, 0.05, "csr", random_state=1)  # noqa: E731
    yield Case("from_scipy", on(csr, lambda a: Graph.from_scipy(a)))
    yield Case("from_dense", on(matrix, lambda a: Graph.from_dense(a)))
    yield Case("csr of a dense graph", on(lambda: Graph.from_dense(matrix()), lambda g: g.csr))
    yield Case("transpose", on(small, lambda g: g.transpose()))
    yield Case("symmetrise", on(small, lambda g: g.symmetrise()))
    yield Case("symmetric", on(small, lambda g: g.stats.symmetric))
    yield Case("diameter_estimate", on(small, lambda g: g.stats.diameter_estimate))
    yield Case("closure_reattach", on(circle, reattach))
    yield Case("closure_multiply", on(matrix, multiply))
    yield Case("product", on(matrix, lambda a: kl.product(a, a.T, argmin=True, threads=3)))
    bits = lambda a: kl.product(a < 0.1, a > 0.9, "boolean", threads=3)  # noqa: E731
    yield Case("product, boolean", on(matrix, bits))
    yield Case("ego", on(small, lambda g: kl.ego(g, 0, 9)))
    yield Case(
        "dense graph",
        on(lambda: Graph.from_dense(matrix()), lambda g: kl.apsp(g, predecessors=True, threads=3)),
    )
    yield Case("incoming arcs", on(small, incoming))
    yield Case("eliminate", on(small, eliminated))
    yield Case("expect", on(lambda: kl.generate.grid(140, 140), lambda g: expect(g).fill))
    yield from csgraph_cases()
    for kind in ("weak", "strong"):
        call = lambda g, kind=kind: kl.components(g, kind, threads=3).component  # noqa: E731
        yield Case(f"{kind} components", on(sparse, call))
    pairs = [(0, 7), (3, 9), (5, 9)]
    yield Case(
        "k_shortest",
        on(small, lambda g: [list(r.paths) for r in kl.k_shortest(g, k=4, pairs=pairs, threads=3)]),
    )
    yield from measure_cases()
    turn = {"from": [0], "via": [1], "to": [2]}
    yield Case(
        "turns",
        on(
            lambda: kl.generate.grid(9, 9),
            lambda g: kl.TurnGraph(g, turn, u_turns=3).sssp(0, threads=3),
        ),
    )
    for form in ("csr", "csc", "coo", "ell", "dense"):
        call = lambda g, form=form: kl.spmv(g, np.ones(g.n), form=form, threads=3)  # noqa: E731
        yield Case(f"spmv {form}", on(small, call))
    yield Case(
        "sssp, 32-bit sums first",
        on(heavy, lambda g: kl.sssp(g, 0, method="delta_stepping", device="cpu", threads=3)),
    )
    yield Case("verify", on(lambda: kl.sssp(small(), 0, threads=1), lambda r: bool(r.verify())))
    yield Case("relaxation_ceiling", on(lambda: "min_plus", ceiling))
    yield Case("a copy by threads", on(lambda: np.arange(2.0**17), copied))
    yield Case("methods", on(lambda: None, lambda _: len(_native.methods())))
    yield Case("simd", on(lambda: None, lambda _: [_native.simd(), *_native.simd_levels()]))


def eliminated(g: Graph) -> Any:
    """Order the vertices, eliminate them, and derive what answers use."""
    made = eliminate(g)
    return made.order, made.heads, made.depths, made.sizes, made.lower


def incoming(g: Graph) -> Any:
    """Look for symmetry, and make the incoming arcs as searches do that have paid for them."""
    account = IncomingArcs()
    account.record(60.0)
    account.prepare(g)
    return g.csc


def csgraph_cases() -> Iterator[Case]:
    """Searches on SciPy's own arrays."""
    stored = lambda: small().to_scipy().astype(float)  # noqa: E731
    yield Case("csgraph order", on(stored, lambda a: kl.csgraph.breadth_first_order(a, 0)))
    yield Case("csgraph tree", on(stored, lambda a: kl.csgraph.breadth_first_tree(a, 0)))
    yield Case("csgraph strong", on(stored, _strong))
    parts = lambda: sp.random(300, 300, 0.003, "csr", random_state=1)  # noqa: E731
    yield Case("csgraph weak", on(parts, lambda a: kl.csgraph.connected_components(a)))
    for n in (60, 100):  # by itself, and by a Graph
        close = lambda a: kl.csgraph.floyd_warshall(a, return_predecessors=True)  # noqa: E731
        yield Case(f"csgraph, {n} vertices, dense", on(lambda n=n: matrix(n), close))
        rows = lambda n=n: small(n).to_scipy()  # noqa: E731
        yield Case(f"csgraph, {n} vertices, sparse", on(rows, close))
    for directed in (True, False):
        call = lambda a, directed=directed: kl.csgraph.dijkstra(  # noqa: E731
            a, directed, [0, 3], return_predecessors=True
        )
        yield Case(f"csgraph dijkstra, directed={directed}", on(stored, call))


def _strong(stored: Any) -> Any:
    return kl.csgraph.connected_components(stored, connection="strong")


def reattach(made: tuple[Any, ...]) -> Any:
    sources, values, predecessors, csr, csc = made
    own = predecessors.copy()
    loose = _native.closure_find_detached(sources, values, own, np.inf, 3)
    _native.closure_reattach("min_plus", sources, values, own, np.inf, loose, *csr[:3], *csc[:3], 3)
    return own


def multiply(entries: Any) -> Any:
    """Multiply a matrix with itself, with predecessors."""
    right = np.ascontiguousarray(entries, np.float64)
    values, found = right.copy(), np.full(right.shape, -1, np.int32)
    before = np.zeros_like(found)
    _native.closure_multiply(
        "min_plus", right, right, before, values, found, len(right), len(right), 3
    )
    return values, found


def copied(entries: Any) -> Any:
    """Copy an array as matrices for a GPU are."""
    to = np.empty_like(entries)
    _native.copy_bytes(to, entries, 3)
    return to


def ceiling(semiring: str) -> bool:
    return relaxation_ceiling(semiring, "float32", threads=3, seconds=0.001) > 0


def failing(call: Callable[[Any], Any], kind: type[Exception]) -> Callable[[Any], Any]:
    """Return a call whose answer is the message of an error."""

    def message(made: Any) -> str:
        try:
            call(made)
        except kind as error:
            if isinstance(error, MemoryError):
                raise
            return str(error)
        raise AssertionError("no error")

    return message


def bounded_cases() -> Iterator[Case]:
    calls: dict[str, Callable[[Graph], Any]] = {
        "within": lambda g: kl.within(g, range(0, 900, 9), 12, threads=3).distances,
        "within, k nearest by hops": lambda g: (
            kl.within(g, None, k=5, hops=True, threads=3).distances
        ),
        "nearest": lambda g: kl.nearest(g, range(0, 900, 50), threads=3).which,
        "nearest, several": lambda g: kl.nearest(g, range(0, 900, 50), 3, threads=3).which,
        "nearest, paths": lambda g: list(kl.nearest(g, [1, 7], threads=3).paths(range(30))),
        "within, verify": lambda g: bool(kl.within(g, [0, 3], 12).verify()),
    }
    for name, call in calls.items():
        yield Case(name, on(sparse, call))

    def zones(g: Graph) -> Any:
        places = np.random.default_rng(5).random((g.n, 2))
        return kl.isochrones(g.with_positions(places), 0, [4, 8]).to_geojson()

    yield Case("isochrones", on(small, zones))


def distributed_cases() -> Iterator[Case]:
    """Searches on parts of a graph; one rank, whose errors are its own."""

    def part(directed: bool) -> DistributedGraph:
        tails, heads, weights = small().coo
        alone = Communicator()
        return DistributedGraph.from_arcs(alone, 150, tails, heads, weights, directed)

    yield Case("distributed graph", on(lambda: None, lambda _: part(True).incoming.slots))
    for name, search in (("bfs", bfs), ("sssp", sssp)):
        call = lambda g, search=search: search(g, 0).gather()  # noqa: E731
        yield Case(f"distributed {name}", on(lambda: part(False), call))


def error_cases() -> Iterator[Case]:
    """Return calls that end in an error without any fault."""
    for name, text in BAD_FILES.items():
        call = lambda data, n=name: kl.read(io.BytesIO(data), n, threads=3)  # noqa: E731
        yield Case(f"read a bad {name} file", on(lambda t=text: t, failing(call, kl.FormatError)))
    bad = lambda e: Graph.from_edges(e[0] - 1, e[1], n=500, threads=3)  # noqa: E731
    yield Case("from_edges, a bad arc", on(edges, failing(bad, kl.GraphError)))

    def negative() -> Graph:
        return Graph.from_edges([*range(80), 79], [*range(1, 80), 0, 78], [-1] * 81)

    calls: dict[str, Callable[[Graph], Any]] = {
        "apsp": lambda g: kl.apsp(g, threads=3),
        "closure": lambda g: kl.closure(g, "min_plus", threads=3),
        "sssp": lambda g: kl.sssp(g, 0, threads=3),
    }
    for name, call in calls.items():
        cycle = failing(call, kl.NegativeCycleError)
        yield Case(f"a negative cycle, {name}", on(negative, cycle))

    def stop(*_: int) -> None:
        raise KeyError("stopped")

    stopped = failing(lambda g: kl.apsp(g, threads=3, progress=stop), KeyError)
    yield Case("a progress function that raises", on(sparse, stopped))


GENERATORS: dict[str, Callable[[], Any]] = {
    "capped": lambda: kl.generate.capped(500, 0.02, 20, seed=1, threads=3),
    "complete": lambda: kl.generate.complete(60, weights=(1, 5), seed=1),
    "cycle": lambda: kl.generate.cycle(100),
    "dense": lambda: kl.generate.dense(60, 0.5, seed=1),
    "grid": lambda: kl.generate.grid(20, 20, weights=(1, 5), seed=1, threads=3),
    "path": lambda: kl.generate.path(100),
    "path_plus": lambda: kl.generate.path_plus(500, 2000, seed=1, threads=3),
    "rmat": lambda: kl.generate.rmat(9, 8, weights=(1.0, 5.0), seed=1, threads=3, noise=0.1),
    "small_world": lambda: kl.generate.small_world(300, 6, 0.1, seed=1, threads=3),
    "star": lambda: kl.generate.star(100),
    "tree": lambda: kl.generate.tree(100, seed=1),
    "uniform, undirected": lambda: kl.generate.uniform(
        500, 4000, directed=False, seed=1, threads=3
    ),
    "uniform": lambda: kl.generate.uniform(500, 4000, weights=(1, 5), seed=1, threads=3),
}


def generate_cases() -> Iterator[Case]:
    for name in sorted({*kl.generate.__all__, *GENERATORS} - {"WeightRule"}):
        yield Case(f"generate.{name}", on(lambda: None, lambda _, n=name: GENERATORS[n]()))


def interface_cases() -> Iterator[Case]:
    import networkx as nx

    from kleene import csgraph

    csr = lambda: sp.random(120, 120, 0.1, "csr", random_state=1)  # noqa: E731
    for method in ("D", "FW", "BF", "J"):
        call = lambda a, m=method: csgraph.shortest_path(a, m)  # noqa: E731
        yield Case(f"csgraph.shortest_path {method}", on(csr, call))
    order = lambda a: csgraph.breadth_first_order(a, 0)  # noqa: E731
    yield Case("csgraph.breadth_first_order", on(csr, order))
    yield Case("csgraph.yen", on(csr, lambda a: csgraph.yen(a, 0, 7, 4)))
    yield Case("csgraph of a matrix", on(lambda: matrix(40), lambda a: csgraph.shortest_path(a)))

    nx.config.cache_converted_graphs = False  # NetworkX remembers a conversion that failed

    def network() -> Any:
        g = nx.gnm_random_graph(60, 240, seed=1, directed=True)
        for number, (_, _, data) in enumerate(g.edges(data=True)):
            data["weight"] = number % 7 + 1
        return g

    calls: dict[str, Callable[[Any], Any]] = {
        "single_source_dijkstra": lambda g: nx.single_source_dijkstra(g, 0, backend="kleene"),
        "all_pairs_dijkstra_path_length": lambda g: dict(
            nx.all_pairs_dijkstra_path_length(g, backend="kleene")
        ),
        "single_source_shortest_path": lambda g: nx.single_source_shortest_path(
            g, 0, backend="kleene"
        ),
        "strongly_connected_components": lambda g: [
            sorted(c) for c in nx.strongly_connected_components(g, backend="kleene")
        ],
        "floyd_warshall": lambda g: dict(nx.floyd_warshall(g, backend="kleene")),
        "bidirectional_dijkstra": lambda g: nx.bidirectional_dijkstra(
            g.to_undirected(), 0, 9, backend="kleene"
        ),
        "shortest_simple_paths": lambda g: list(
            islice(nx.shortest_simple_paths(g, 0, 9, "weight", backend="kleene"), 5)
        ),
        "girvan_newman": lambda g: next(nx.community.girvan_newman(g, backend="kleene")),
        "load_centrality": lambda g: {  # sums of floats depend on the threads
            node: round(load, 9)
            for node, load in nx.load_centrality(g, weight="weight", backend="kleene").items()
        },
    }
    for name, call in calls.items():
        yield Case(f"networkx.{name}", on(network, call))
    encode = lambda g: kl.distance_encodings([g, g], threads=3)  # noqa: E731
    yield Case("distance_encodings", on(tiny, encode))
    points = lambda: np.random.default_rng(7).random((80, 3))  # noqa: E731
    geodesic = lambda x: kl.geodesic_distances(x, 6, threads=3)  # noqa: E731
    yield Case("geodesic_distances", on(points, geodesic))
    yield Case("close_distances", on(matrix, lambda a: kl.close_distances(a.copy(), threads=3)))


def all_cases() -> list[Case]:
    """Return all cases; names are unique."""
    return [
        *search_cases("cpu"),
        *graph_cases(),
        *bounded_cases(),
        *distributed_cases(),
        *error_cases(),
        *generate_cases(),
        *interface_cases(),
        *file_cases(),
        *prepared_cases(),
        *search_cases("emulated"),
        *kept_cases(),
    ]


def missing_natives(called: set[str]) -> list[str]:
    """Return the functions of the native module that are not among those called."""
    found = {name: getattr(_native, name) for name in dir(_native) if not name.startswith("_")}
    functions = {n for n, it in found.items() if callable(it) and not isinstance(it, type)}
    return sorted(functions - called)
