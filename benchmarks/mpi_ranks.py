"""Distributed searches on 1 to 4 ranks: answers, messages and bytes, and rates for a model.

    python benchmarks/mpi_ranks.py                     # R-MAT 18 and 20, a grid; some minutes
    python benchmarks/mpi_ranks.py --scales 14 --side 200

For every graph and number of ranks a job of ``mpiexec`` makes or reads the graph in parts, searches
and proves the results; distances are compared with those of one process. What a breadth-first
search sends is predicted from the whole graph: a rank sends each vertex of another rank that its
arcs lead to once, 8 bytes, with the others of its level. Prints one JSON document. The model: a
search takes what its slowest rank computes, and calls * latency + bytes / bandwidth seconds; more
ranks than cores wait for each other beyond that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene import distributed as dist
from kleene.system.machine import cores

MPIEXEC = Path(sys.executable).with_name("mpiexec")
SEARCHES = ("bfs", "sssp")
REPEATS = 3
SOURCE_SEED = 0


# ---- a rank -------------------------------------------------------------------------------------


class TimedCommunicator(dist.MpiCommunicator):
    """The ranks of the job, and the seconds that this one spends in MPI, waiting included."""

    in_mpi = 0.0

    def exchange(self, parts: Any) -> list[Any]:
        return self._timed(super().exchange, parts)

    def gather_arrays(self, array: Any, counts: Any) -> list[Any]:
        return self._timed(super().gather_arrays, array, counts)

    def reduce(self, value: Any, op: str) -> Any:
        return self._timed(super().reduce, value, op)

    def gather_all(self, item: Any) -> list[Any]:
        return self._timed(super().gather_all, item)

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return call(*arguments)
        finally:
            self.in_mpi += time.perf_counter() - began


def job(graph: str, folder: Path) -> None:
    """Measure one graph on the ranks of this job; the first rank prints JSON."""
    comm = TimedCommunicator()
    (source,) = np.load(folder / "source.npy").tolist()
    making = timed(comm, lambda: made(graph, folder, comm))
    parts = making.value
    found: dict[str, Any] = {"ranks": comm.size, "make_seconds": making.seconds, **speed(comm)}
    for name in SEARCHES:
        search = getattr(dist, name)
        runs = [timed(comm, lambda search=search: search(parts, source)) for _ in range(REPEATS)]
        best = min(runs, key=lambda run: run.seconds)
        result = best.value
        expected = np.load(folder / f"{name}.npy", mmap_mode="r")[parts.first : parts.stop]
        same = comm.gather_all(bool(np.array_equal(result.distances, expected)))
        proof = timed(comm, lambda result=result: dist.verify(result))
        found[name] = {
            "seconds": best.seconds,
            "compute_seconds": best.computing,
            "equal": all(same),
            "proof": proof.value.tolerance,
            "proof_seconds": proof.seconds,
            **result.stats._asdict(),
        }
    if comm.rank == 0:
        print(json.dumps(found))


def made(graph: str, folder: Path, comm: dist.Communicator) -> dist.DistributedGraph:
    kind, size = graph.split("-")
    if kind == "rmat":
        return dist.rmat(int(size), seed=1, weights=(1, 255), comm=comm)
    return dist.read(folder / "graph.npz", comm=comm)


def speed(comm: TimedCommunicator) -> dict[str, float]:
    """Return the seconds of a call that exchanges little, and the bytes a second of a large one."""
    small = [np.zeros(1, np.int64)] * comm.size
    large = [np.zeros(2**20, np.int64)] * comm.size
    latency = min(timed(comm, lambda: comm.exchange(small)).seconds for _ in range(50)) / 2
    duration = min(timed(comm, lambda: comm.exchange(large)).seconds for _ in range(5))
    return {"latency": latency, "bandwidth": large[0].nbytes * (comm.size - 1) / duration}


class Timing(NamedTuple):
    """What a step took: the most of all ranks, with and without MPI; and what came of it."""

    seconds: float
    computing: float
    value: Any


def timed(comm: TimedCommunicator, work: Callable[[], Any]) -> Timing:
    """Do a step on all ranks at once."""
    comm.barrier()
    began, before = time.perf_counter(), comm.in_mpi
    value = work()
    duration, waited = time.perf_counter() - began, comm.in_mpi - before
    both = zip(*comm.gather_all((duration, duration - waited)), strict=True)
    return Timing(*map(max, both), value)


# ---- the driver ---------------------------------------------------------------------------------


def measure(graph: str, whole: kl.Graph, most: int) -> dict[str, Any]:
    """Run the jobs of one graph; compare and predict."""
    source = int(np.random.default_rng(SOURCE_SEED).choice(np.flatnonzero(np.diff(whole.offsets))))
    hops, lengths = kl.bfs(whole, source), kl.sssp(whole, source)
    reached = int(np.diff(whole.offsets)[hops.reached].sum())
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "source.npy", [source])
        np.save(folder / "bfs.npy", hops.distances)
        np.save(folder / "sssp.npy", lengths.distances)
        if not graph.startswith("rmat"):
            kl.write(whole, folder / "graph.npz")
        for ranks in range(1, most + 1):
            command = [MPIEXEC, "-n", str(ranks), sys.executable, __file__, "--job", graph]
            done = subprocess.run([*command, folder], capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
            run = json.loads(done.stdout)
            if whole.directed:
                run["bfs"]["predicted"] = predicted(whole, hops.distances, ranks)
            runs.append(run)
    for run in runs:
        for name in SEARCHES:
            found = run[name]
            found["arcs_per_second"] = reached / found["seconds"]
            sent = found["collectives"] * run["latency"] + (
                found["bytes"] / run["ranks"] / run["bandwidth"] if found["bytes"] else 0.0
            )
            found["model_seconds"] = found["compute_seconds"] + sent
    facts = {"graph": graph, "vertices": whole.n, "arcs": whole.m, "reached_arcs": reached}
    return {**facts, "runs": runs}


def predicted(graph: kl.Graph, depths: Any, ranks: int) -> dict[str, int]:
    """Return the messages and bytes of a breadth-first search that pushes."""
    bounds = [rank * graph.n // ranks for rank in range(ranks + 1)]
    tails, heads, _ = graph.coo
    owner = (np.searchsorted(bounds, np.arange(graph.n), side="right") - 1).astype(np.int64)
    leads = (depths[tails] >= 0) & (owner[tails] != owner[heads])
    tails, heads = tails[leads], heads[leads]
    pairs, where = np.unique(owner[tails] * graph.n + heads, return_inverse=True)
    first = np.full(len(pairs), np.iinfo(np.int32).max)
    np.minimum.at(first, where, depths[tails])  # the level at which a rank first sees a head
    rank, head = np.divmod(pairs, graph.n)
    messages = np.unique((first * ranks + rank) * ranks + owner[head])
    return {"messages": len(messages), "bytes": 8 * len(pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="*", default=[18, 20], help="of R-MAT graphs")
    parser.add_argument("--side", type=int, default=1000, help="of the grid; 0 for none")
    parser.add_argument("--ranks", type=int, default=4, help="the largest number")
    parser.add_argument("--job", nargs=2, metavar=("GRAPH", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job(options.job[0], Path(options.job[1]))
        return
    graphs = [
        (f"rmat-{scale}", lambda scale=scale: kl.generate.rmat(scale, seed=1, weights=(1, 255)))
        for scale in options.scales
    ]
    if options.side:
        side = options.side
        graphs.append((f"grid-{side}", lambda: kl.generate.grid(side, side, weights=(1, 99))))
    measured = [measure(name, make(), options.ranks) for name, make in graphs]
    right = all(run[name]["equal"] for one in measured for run in one["runs"] for name in SEARCHES)
    as_predicted = all(
        run["bfs"].get("predicted", {}).items() <= run["bfs"].items()
        for one in measured
        for run in one["runs"]
    )
    print(json.dumps({"cores": cores(), "equal": right, "as_predicted": as_predicted,
                      "graphs": measured}, indent=1))  # fmt: skip
    raise SystemExit(0 if right and as_predicted else 1)


if __name__ == "__main__":
    main()
