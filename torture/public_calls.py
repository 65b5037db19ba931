"""Every public call, on some graphs, prepared graphs, results and files that all threads share.

``soak``, ``interrupts`` and ``threads`` make these calls. A public function that is not called here
fails a test: one of ``kl``, ``kl.csgraph``, ``kl.generate`` or the NetworkX backend, or a method of
a prepared graph.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.interop_calls import conversions, csgraph_calls, networkx_calls
from torture.sample_files import READ_ONLY

__all__ = ["Call", "all_calls"]


@dataclass(frozen=True)
class Call:
    """Something a user does; it returns an answer that is always the same."""

    name: str
    do: Callable[[], Any]
    often: int  # how often, beside the others
    interruptible: bool = False  # long enough for an interrupt to land inside


def all_calls(folder: Path) -> list[Call]:
    """Return the calls; files that they write go into a folder."""
    import numpy as np

    import kleene as kl
    from kleene.system.machine import this_machine

    tails, heads = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 1, 4, 0]
    plain = kl.Graph.from_edges(tails, heads)
    whole = kl.Graph.from_edges(tails, heads, [4, 9, 3, 1, 7, 2, 5])
    real = kl.Graph.from_edges(tails, heads, [0.5, 2.25, -0.125, 1, 3, 1e-3, 7])
    dense = kl.Graph.from_dense(np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))
    grid = kl.generate.grid(40, 40)
    large = kl.generate.grid(150, 150)
    hubs = kl.generate.rmat(11, 24, seed=1, directed=False)
    answer = kl.apsp(whole)
    turned = kl.TurnGraph(whole, {"from": [2], "via": [3], "to": [4]})
    formats = dict.fromkeys(("dimacs", "matrix_market", "edge_list", "graphml", "gap"), whole)
    formats |= {"npz": whole, "npy": whole, "parquet": whole, "metis": whole.symmetrise()}
    files = dict(READ_ONLY)
    for name, graph in formats.items():
        file = io.BytesIO()
        kl.write(graph, file, name)
        files[name] = file.getvalue()

    def search(problem: Callable[..., Any], graph: Any, **options: Any) -> Callable[[], Any]:
        return lambda: problem(graph, **options).distances.tolist()

    def read(name: str) -> Callable[[], Any]:
        return lambda: repr(kl.read(io.BytesIO(files[name]), name))

    def write(name: str) -> Callable[[], Any]:
        def written() -> bytes:
            file = io.BytesIO()
            kl.write(formats[name], file, name)
            return file.getvalue()

        return written

    def build() -> Any:
        graph = kl.Graph.from_edges(tails, heads, [4, 9, 3, 1, 7, 2, 5], directed=False)
        return graph.csr.offsets.tolist(), graph.csc.neighbors.tolist()

    def refused() -> str:
        try:
            kl.read(io.BytesIO(b"p sp 2 1\na 1 3 7\n"))
        except kl.KleeneError as error:
            return str(error)
        raise AssertionError("a damaged file was read")

    def negative() -> list[int]:
        try:
            kl.sssp(kl.Graph.from_edges([0, 1], [1, 0], [1, -2]), 0)
        except kl.NegativeCycleError as error:
            return sorted(error.cycle)
        raise AssertionError("a negative cycle was overlooked")

    def saved() -> Any:
        path = folder / f"saved-{threading.get_ident()}-{os.getpid()}.npz"
        try:
            answer.save(path)
            return kl.Result.load(path, whole).verify().rows
        finally:
            path.unlink(missing_ok=True)

    def out() -> Any:
        path = folder / f"out-{threading.get_ident()}-{os.getpid()}.npy"
        try:
            kl.apsp(whole, out=str(path))
            return np.load(path).tolist()
        finally:
            path.unlink(missing_ok=True)

    def incoming_arcs() -> Any:
        graph = kl.Graph.from_csr(hubs.offsets, hubs.neighbors)
        return [int(kl.bfs(graph, source).distances.sum()) for source in (0, 1)], graph.has_csc

    def cancelled() -> str:
        def stop(done: int, total: int) -> None:
            raise InterruptedError

        try:
            kl.apsp(large, sources=range(64), method="batched", threads=2, progress=stop)
        except InterruptedError:
            return "cancelled"
        return "cancelled"  # it was over before it reported

    calls = [
        Call("bfs", search(kl.bfs, plain, source=0), 200),
        Call("sssp", search(kl.sssp, whole, source=0), 200),
        Call("sssp, negative weights", search(kl.sssp, real, source=0), 60),
        Call("bfs, batch", search(kl.bfs, plain, sources=[0, 1, 2, 3]), 60),
        Call("sssp, batch", search(kl.sssp, whole, sources=[0, 1, 2, 3]), 60),
        Call("sssp, targets", search(kl.sssp, whole, source=0, targets=[3]), 60),
        Call("sssp, limit", search(kl.sssp, whole, source=0, limit=9), 60),
        Call("within", lambda: kl.within(whole, [0, 3], 9).distances.data.tolist(), 30),
        Call("within, k", lambda: kl.within(grid, range(64), k=9).distances.nnz, 10, True),
        Call("nearest", lambda: kl.nearest(whole, [1, 4]).which.tolist(), 30),
        Call("nearest, k", lambda: int(kl.nearest(grid, range(90), 4).which.sum()), 5, True),
        Call("closeness", lambda: kl.closeness(hubs).totals.tolist(), 5, True),
        Call("diameter", lambda: kl.diameter(hubs, unreachable="ignore"), 20),
        Call("apsp", search(kl.apsp, whole), 60),
        Call("apsp, dense", search(kl.apsp, dense), 30),
        Call("closure", search(kl.closure, plain), 30),
        Call("closure, widest", search(kl.closure, whole, semiring="max_min"), 30),
        Call("path", lambda: answer.path(0, 4), 100),
        Call("paths", lambda: answer.paths(source=0).vertices.tolist(), 30),
        Call("route", lambda: answer.route(0, 4).arcs.tolist(), 30),
        Call("arrivals", search(kl.sssp, whole, source=0, reverse=True), 60),
        Call("pairs", search(kl.sssp, whole, pairs=[(0, 4), (1, 4), (4, 2)]), 60),
        Call("verify", lambda: answer.verify().rows, 20),
        Call("explain", lambda: kl.explain(whole, "apsp").method, 20),
        Call("notebook", lambda: whole._repr_html_(), 30),
        Call("draw", lambda: str(kl.draw(answer, target=4)), 2),
        Call("build", build, 60),
        Call("components", lambda: kl.components(whole, "strong").sizes.tolist(), 60),
        Call("components, two threads", lambda: kl.components(grid, threads=2).count, 10),
        Call("k_shortest", lambda: list(kl.k_shortest(whole, 0, 4, 3).paths), 40),
        Call("turns", lambda: turned.sssp(0).path(4), 40),
        Call("incoming arcs", incoming_arcs, 4, True),
        Call("refused file", refused, 20),
        Call("negative cycle", negative, 20),
        Call("two threads", search(kl.bfs, grid, source=0, threads=2), 10),
        Call("delta stepping", search(kl.sssp, grid, source=0, threads=2), 10, True),
        Call("larger", lambda: int(kl.apsp(grid, sources=range(32)).distances.sum()), 2, True),
        Call("save and load", saved, 4),
        *_prepared_calls(folder, grid),
        *_measure_calls(plain, whole, grid, hubs),
        *_table_calls(whole, answer),
        *_generated(),
        *(Call(*call, 2) for call in networkx_calls()),
        *(Call(*call, 10) for call in csgraph_calls(whole.to_scipy())),
        *(Call(*call, 2) for call in conversions(whole, answer)),
        *_file_calls(folder, whole, answer),
        Call("out=", out, 4),
        Call("cancelled", cancelled, 1, True),
        *(Call(f"read {name}", read(name), 8) for name in files),
        *(Call(f"write {name}", write(name), 8) for name in formats if name != "npz"),
    ]
    if "emulated" in this_machine().devices:
        from kleene.backends.cuda.tuning import transfers

        transfers.PINNED_LEAST = 16  # these answers go to page-locked memory that is used again
        os.environ["KLEENE_EMULATOR_DEVICES"] = "2"
        there, device = whole.to("emulated"), {"device": "emulated"}
        four = {"sources": [3, 0, 1, 4], "devices": ["emulated:0", "emulated:1"]}
        calls += [
            Call("emulated", search(kl.bfs, plain, source=0, **device), 1),
            Call("placed", search(kl.sssp, there, source=0, **device), 1),
            Call("kept", search(kl.bfs, there, source=0, keep="device", **device), 1),
            Call("two devices", search(kl.sssp, there, **four), 1),
        ]
    return calls


def _measure_calls(plain: Any, whole: Any, grid: Any, hubs: Any) -> list[Call]:
    """Return calls that make numbers of whole graphs."""
    import numpy as np

    import kleene as kl

    placed = kl.generate.grid(6, 6, weights=(1, 9), seed=2)
    placed = placed.with_positions([divmod(v, 6) for v in range(36)])
    points = np.stack([np.arange(40.0), np.arange(40.0) ** 2], axis=1)
    lengths = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0) ** 2))
    demand = ([0, 1, 2], [3, 4, 0], [5.0, 2.0, 1.0])

    def listed(call: Callable[..., Any], *args: Any, **options: Any) -> Callable[[], Any]:
        return lambda: np.asarray(call(*args, **options)).tolist()

    def map_of_flows() -> Any:
        return kl.loads(placed, ([0, 7], [35, 3], [1.0, 2])).to_geojson()

    def patched() -> Any:
        with kl.patch_sklearn():
            return kl.geodesic_distances(points, 4, threads=1).tolist()

    def unpatched() -> None:
        kl.patch_sklearn()
        kl.unpatch_sklearn()

    return [
        Call("betweenness", listed(kl.betweenness, whole), 20),
        Call("betweenness, edges", lambda: len(kl.betweenness(whole, edges=True).edges), 5),
        Call("betweenness, larger", lambda: round(max(kl.betweenness(hubs)), 9), 1, True),
        Call("betweenness, sampled", listed(kl.betweenness, hubs, error=0.1), 2, True),
        Call("harmonic", listed(kl.harmonic, whole), 20),
        Call("eccentricity", listed(kl.eccentricity, grid), 5, True),
        Call("radius", lambda: kl.radius(grid), 5),
        Call("center", listed(kl.center, grid), 5),
        Call("periphery", listed(kl.periphery, grid), 5),
        Call("distance_histogram", lambda: kl.distance_histogram(plain).counts.tolist(), 20),
        Call("efficiency", lambda: kl.efficiency(hubs), 5, True),
        Call("wiener_index", lambda: kl.wiener_index(plain), 20),
        Call("path_counts", listed(kl.path_counts, plain, 0), 20),
        Call("reduce_distances", lambda: kl.reduce_distances(whole).sums.tolist(), 20),
        Call("loads", listed(kl.loads, whole, demand), 20),
        Call("loads, split", listed(kl.loads, whole, demand, split=True), 10),
        Call("isochrones", lambda: list(kl.isochrones(placed, 0, [5, 9]).limits), 5),
        Call("nearest_vertex", lambda: placed.nearest_vertex([1.2, 3], [4.9, 2])[0].tolist(), 20),
        Call("loads on a map", lambda: len(map_of_flows()["features"]), 5),
        Call("ego", lambda: kl.ego(whole, 0, 9).n, 20),
        Call("product", listed(kl.product, lengths, lengths), 20),
        Call("close_distances", lambda: kl.close_distances(lengths.copy()).tolist(), 20),
        Call("spmv", listed(kl.spmv, whole, np.arange(5)), 20),
        Call("distance_encodings", lambda: kl.distance_encodings([plain])[0].tolist(), 10),
        Call("geodesic_distances", listed(kl.geodesic_distances, points, 4, threads=1), 5),
        Call("patched sklearn", patched, 0),
        Call("unpatched sklearn", unpatched, 0),
        Call("methods", lambda: len(kl.methods("apsp")), 20),
    ]


def _table_calls(whole: Any, answer: Any) -> list[Call]:
    """Return calls that make graphs and tables of others."""
    import numpy as np

    import kleene as kl

    tails, heads, weights = (array.tolist() for array in (*whole.coo[:2], whole.weights))
    table = {"source": tails, "target": heads, "weight": weights}
    names = ["a", "b", "c", "d", "e"]
    named = {"source": [names[v] for v in tails], "target": [names[v] for v in heads]}
    labelled = kl.Graph.from_table({**named, "weight": weights})
    other = np.array(weights)[::-1].copy()

    def distances(graph: Any, source: Any = 0) -> Any:
        return kl.sssp(graph, source).distances.tolist()

    return [
        Call("from_table", lambda: distances(kl.Graph.from_table(table)), 20),
        Call("labels", lambda: distances(labelled, "a"), 40),
        Call("named path", lambda: kl.sssp(labelled, "a").path("e")[-1], 20),
        Call("reweight", lambda: distances(whole.reweight(arcs=other)), 20),
        Call("update", lambda: distances(whole.update({(0, 1): 2})), 20),
        Call("subgraph", lambda: whole.subgraph([0, 1, 2]).m, 20),
        Call("transpose", lambda: distances(whole.transpose()), 20),
        Call("symmetrise", lambda: whole.symmetrise().m, 20),
        Call("rome", lambda: kl.datasets.rome().m, 1),
        Call("to_numpy", lambda: answer.to_numpy().tolist(), 10),
        Call("next_hops", lambda: answer.next_hops.shape, 20),
        Call("routes", lambda: len(answer.routes(source=0)), 10),
        Call("no job of ranks", lambda: kl.distributed.Communicator().size, 5),
    ]


def _generated() -> list[Call]:
    """Return a call of each generator."""
    from kleene import generate

    made: dict[str, Callable[[], Any]] = {
        "capped": lambda: generate.capped(60, 0.1, seed=3),
        "complete": lambda: generate.complete(12),
        "cycle": lambda: generate.cycle(12, weights=(1, 9), seed=3),
        "dense": lambda: generate.dense(12, 0.5, seed=3),
        "grid": lambda: generate.grid(5, 6, diagonals=True),
        "path": lambda: generate.path(12),
        "path_plus": lambda: generate.path_plus(50, 90, seed=3),
        "rmat": lambda: generate.rmat(6, 8, seed=3),
        "small_world": lambda: generate.small_world(50, 4, 0.1, seed=3),
        "star": lambda: generate.star(12),
        "tree": lambda: generate.tree(12, 3),
        "uniform": lambda: generate.uniform(50, 200, seed=3, weights=(0.5, 2.0)),
    }
    return [
        Call(f"generate {name}", lambda make=make: make().neighbors.tolist(), 5)
        for name, make in made.items()
    ]


def _file_calls(folder: Path, whole: Any, answer: Any) -> list[Call]:
    """Return calls that read the same files from all threads, and write their own."""
    import kleene as kl

    shared = folder / f"shared-{os.getpid()}"
    shared.mkdir(exist_ok=True)
    ends = ("npz", "gr", "mtx", "csv", "graphml", "npy", "parquet")
    for end in ends:
        if not (shared / f"g.{end}").exists():
            kl.write(whole, shared / f"g.{end}")
    if not (shared / "g.kp").exists():
        kl.prepare(whole).save(shared / "g.kp")
        answer.save(shared / "r.npz")
        kl.apsp(whole, sources=[3, 0, 1], targets=[4, 2], out=str(shared / "d.zarr"))

    def written(end: str) -> Callable[[], Any]:
        def write() -> int:
            path = folder / f"saved-{threading.get_ident()}-{os.getpid()}.{end}"
            try:
                kl.write(whole, path)
                return path.stat().st_size
            finally:
                path.unlink(missing_ok=True)

        return write

    return [
        *(Call(f"read g.{end}", lambda e=end: kl.read(shared / f"g.{e}").m, 5) for end in ends),
        *(Call(f"write g.{end}", written(end), 2) for end in ends),
        Call("read in two threads", lambda: kl.read(shared / "g.npz", threads=2).m, 5),
        Call("load_prepared", lambda: kl.load_prepared(shared / "g.kp").distance(0, 4), 10),
        Call("load result", lambda: kl.Result.load(shared / "r.npz", whole).path(0, 4)[0], 10),
        Call("load store", lambda: kl.Result.load(shared / "d.zarr", whole).distances.tolist(), 5),
    ]


def _prepared_calls(folder: Path, grid: Any) -> list[Call]:
    """Return calls on a prepared graph that all threads share."""
    import kleene as kl

    ready = kl.prepare(grid)
    small = kl.generate.grid(5, 5)
    handy = kl.prepare(small)

    def saved() -> Any:
        path = folder / f"saved-{threading.get_ident()}-{os.getpid()}.kp"
        try:
            ready.save(path)
            return kl.load_prepared(path).distance(0, 899)
        finally:
            path.unlink(missing_ok=True)

    return [
        Call("prepare", lambda: kl.prepare(small).distance(0, 24), 20),
        Call("prepared path", lambda: ready.path(0, 899), 100),
        Call("prepared pairs", lambda: ready.distances([(0, 7), (9, 899)]).tolist(), 60),
        Call("prepared trees", lambda: int(ready.trees(range(32)).distances.sum()), 10, True),
        Call("prepared matrix", lambda: ready.matrix([0, 9], [5, 899]).distances.tolist(), 60),
        Call("prepared tree", lambda: ready.tree(5).distances.tolist(), 20),
        Call("prepared paths", lambda: ready.paths([(0, 7), (9, 899)]).path(1), 20),
        Call("prepared within", lambda: ready.within([0, 9], 5).distances.data.tolist(), 20),
        Call("prepared nearest", lambda: ready.nearest([0, 9], [5, 899], 2).which.tolist(), 20),
        Call("prepared closure", lambda: handy.closure().values.tolist(), 10),
        Call("prepared explain", lambda: ready.explain().method, 10),
        Call("new weights", lambda: ready.customize(2).distance(0, 899), 10),
        Call("save and load prepared", saved, 4),
    ]
