"""What the soak calls: everything that people do often, on some graphs that all threads share."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    from kleene import csgraph
    from kleene.system.machine import this_machine

    tails, heads = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 1, 4, 0]
    plain = kl.Graph.from_edges(tails, heads)
    whole = kl.Graph.from_edges(tails, heads, [4, 9, 3, 1, 7, 2, 5])
    real = kl.Graph.from_edges(tails, heads, [0.5, 2.25, -0.125, 1, 3, 1e-3, 7])
    dense = kl.Graph.from_dense(np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))
    grid = kl.generate.grid(40, 40)
    large = kl.generate.grid(150, 150)
    hubs = kl.generate.rmat(11, 24, seed=1, directed=False)
    matrix = whole.to_scipy()
    answer = kl.apsp(whole)
    turned = kl.TurnGraph(whole, {"from": [2], "via": [3], "to": [4]})
    formats = ("dimacs", "matrix_market", "edge_list", "graphml", "gap", "npz", "npy")
    files = dict(READ_ONLY)
    for name in formats:
        file = io.BytesIO()
        kl.write(whole, file, name)
        files[name] = file.getvalue()

    def search(problem: Callable[..., Any], graph: Any, **options: Any) -> Callable[[], Any]:
        return lambda: problem(graph, **options).distances.tolist()

    def read(name: str) -> Callable[[], Any]:
        return lambda: repr(kl.read(io.BytesIO(files[name]), name))

    def write(name: str) -> Callable[[], Any]:
        def written() -> bytes:
            file = io.BytesIO()
            kl.write(whole, file, name)
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
        Call("csgraph", lambda: csgraph.dijkstra(matrix, indices=0).tolist(), 40),
        Call("csgraph tree", lambda: csgraph.breadth_first_tree(matrix, 0).nnz, 40),
        Call("incoming arcs", incoming_arcs, 4, True),
        Call("refused file", refused, 20),
        Call("negative cycle", negative, 20),
        Call("two threads", search(kl.bfs, grid, source=0, threads=2), 10),
        Call("delta stepping", search(kl.sssp, grid, source=0, threads=2), 10, True),
        Call("larger", lambda: int(kl.apsp(grid, sources=range(32)).distances.sum()), 2, True),
        Call("save and load", saved, 4),
        *_prepared_calls(folder, grid),
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


def _prepared_calls(folder: Path, grid: Any) -> list[Call]:
    """Return calls on a prepared graph that all threads share."""
    import kleene as kl

    ready = kl.prepare(grid)
    small = kl.generate.grid(5, 5)

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
        Call("new weights", lambda: ready.customize(2).distance(0, 899), 10),
        Call("save and load prepared", saved, 4),
    ]
