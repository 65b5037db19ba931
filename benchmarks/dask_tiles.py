"""A dense closure in tiles on two workers beside the same closure in one process.

    python benchmarks/dask_tiles.py                    # n = 8192, float32, three times each
    python benchmarks/dask_tiles.py --n 4096 --paths --folder /dev/shm

One process has two threads, two workers have one each. "in memory" is the call without a store,
"store" the call in one process with out=, "tiles" the call on the cluster with out=. "rounds" is
the time of the tiles from the first task of the rounds to the last, and its rate is compared with
that of the process in memory: both close the matrix, and nothing else. "client and scheduler" is
the processor time of the process that has both, over the time of the call: what it takes beyond the
same time without work, and that (Dask looks at its processes several times a second).
Starting the cluster is not counted. Answers are compared. Times are the least of the repeats, taken
in turn.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl


def matrix_graph(n: int, seed: int = 1) -> kl.Graph:
    """Return a complete graph of random lengths."""
    lengths = np.random.default_rng(seed).random((n, n), dtype=np.float32)
    return kl.Graph.from_dense(lengths, null_value=np.inf)


def closed(graph: kl.Graph, paths: bool, **where: Any) -> tuple[float, kl.Result]:
    """Return the seconds of a closure, and its result."""
    began = time.perf_counter()
    result = kl.closure(graph, "min_plus", method="tiled", predecessors=paths, **where)
    return time.perf_counter() - began, result


def in_tiles(
    graph: kl.Graph, paths: bool, client: Any, out: Path
) -> tuple[float, float, float, kl.Result]:
    """Return the seconds of a call on the cluster, of its rounds and of their scheduler."""
    from dask.distributed import get_task_stream

    used = time.process_time()
    with get_task_stream(client) as stream:
        seconds, result = closed(graph, paths, on=client, out=out)
    used = time.process_time() - used
    steps = ("closure close", "closure panel", "closure relax")
    times = [
        (part["start"], part["stop"])
        for task in stream.data
        for part in task["startstops"]
        if str(task["key"]).startswith(steps)
    ]
    return seconds, max(e for _, e in times) - min(b for b, _ in times), used, result


def idle_part(seconds: float = 3.0) -> float:
    """Return the part of a core that this process takes while the cluster has nothing to do."""
    used = time.process_time()
    time.sleep(seconds)
    return (time.process_time() - used) / seconds


def measure(n: int, paths: bool, repeats: int, folder: Path) -> None:
    """Print a table."""
    from dask.distributed import Client, LocalCluster

    graph = matrix_graph(n)
    least: dict[str, float] = {}

    def keep(**seconds: float) -> None:
        least.update({k: min(s, least.get(k, s)) for k, s in seconds.items()})

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        print(kl.explain(graph, "closure", semiring="min_plus", predecessors=paths, on=client))
        idle = idle_part()
        for turn in range(repeats):
            memory, here = closed(graph, paths, threads=2)
            store, _ = closed(graph, paths, threads=2, out=folder / f"one{turn}.npy")
            tiles, rounds, used, there = in_tiles(graph, paths, client, folder / f"{turn}.npy")
            keep(memory=memory, store=store, tiles=tiles, rounds=rounds)
            keep(scheduler=max(0.0, used / tiles - idle))
            assert np.allclose(there.values, here.values, rtol=1e-5), "the answers differ"
            for file in folder.iterdir():
                file.unlink()
    work = n**3 / 1e9
    print(f"\nn = {n:,}, float32{', with predecessors' if paths else ''}")
    print("| | seconds | G relaxations a second | beside memory |")
    print("|---|---|---|---|")
    for name in ("memory", "store", "tiles", "rounds"):
        rate = work / least[name]
        print(f"| {name} | {least[name]:.2f} | {rate:.1f} | {least['memory'] / least[name]:.0%} |")
    print(f"client and scheduler: {least['scheduler']:.1%} of the time, and {idle:.1%} when idle")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--paths", action="store_true", help="with predecessors")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where stores go; a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure(options.n, options.paths, options.repeats, Path(folder))


if __name__ == "__main__":
    main()
