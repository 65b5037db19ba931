"""Rows on a Dask cluster of this machine beside the same call in one process.

    python benchmarks/dask_rows.py                     # Enron and highways, three times each
    python benchmarks/dask_rows.py --graph enron --folder /dev/shm
    python benchmarks/dask_rows.py --sums              # reductions of rows, which are not stored

"alone" is one process on one core, without Dask. "speed-up" is its time over that of two workers of
one thread each; "overhead" is what one worker takes longer, with pieces of one second: sharing the
graph, scheduling, proofs, receipts. Starting the cluster is not counted. Every store is compared
with that of one process. Times are the least of the repeats, taken in turn.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import kleene as kl

DATA = Path(__file__).parent / "data"


def enron() -> tuple[kl.Graph, Any]:
    """Hops between e-mail addresses: bit-parallel searches."""
    graph = kl.read(DATA / "email-Enron.txt.gz", "edge_list", directed=False)
    return graph.unlabelled(), np.arange(24_000)


def highways() -> tuple[kl.Graph, Any]:
    """Metres along the world's highways: sweeps of a graph that is prepared before."""
    graph = kl.read(DATA / "world-highways.npz").unlabelled()
    kl.prepare(graph)
    return graph, np.arange(0, graph.n, graph.n // 1600)[:1600]


GRAPHS: dict[str, Callable[[], tuple[kl.Graph, Any]]] = {"enron": enron, "highways": highways}


@contextlib.contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """Yield a client of so many processes with one thread each."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.run(_import_kleene)
        yield client


def _import_kleene() -> None:
    pass


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core: a thread that writes to the store shares it."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def timed_sums(graph: kl.Graph, sources: Any, folder: Path, on: Any) -> tuple[float, int]:
    """Return the seconds of a reduction of rows, and a checksum of its numbers."""
    with one_core() if on is None else contextlib.nullcontext():
        began = time.perf_counter()
        found = kl.reduce_distances(graph, sources=sources, on=on, threads=1)
        seconds = time.perf_counter() - began
    return seconds, zlib.crc32(found.sums.data, zlib.crc32(found.maxima.data))


def timed_rows(graph: kl.Graph, sources: Any, folder: Path, on: Any) -> tuple[float, int]:
    """Return the seconds of a call into a store, and a checksum of what it wrote."""
    out = folder / "d.npy"
    os.sync()
    with one_core() if on is None else contextlib.nullcontext():
        began = time.perf_counter()
        kl.apsp(graph, sources=sources, predecessors=False, out=out, on=on, threads=1)
        seconds = time.perf_counter() - began
    check = zlib.crc32(np.load(out, mmap_mode="r").reshape(-1).view(np.uint8).data)
    for file in folder.iterdir():
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    return seconds, check


def measure(name: str, folder: Path, repeats: int, sums: bool) -> str:
    """Return a line of the table."""
    graph, sources = GRAPHS[name]()
    if sums:  # takes no space
        sources = np.arange(graph.n)[:: max(1, graph.n // 30_000)]
    timed = timed_sums if sums else timed_rows
    with local_client(1) as one, local_client(2) as two:
        least = dict.fromkeys(("alone", "one worker", "two workers"), float("inf"))
        checks = set()
        for _ in range(repeats):
            for how, client in zip(least, (None, one, two), strict=True):
                with patch("kleene.clusters.dask.runner.RUN_SECONDS", 1.0):
                    took, check = timed(graph, sources, folder, client)
                least[how] = min(least[how], took)
                checks.add(check)
    assert len(checks) == 1, "the stores differ"
    speed_up = least["alone"] / least["two workers"]
    overhead = least["one worker"] / least["alone"] - 1
    times = ", ".join(f"{how} {seconds:.2f} s" for how, seconds in least.items())
    return (
        f"{name}, {'sums' if sums else 'rows'}: {len(sources):,} rows of {graph.n:,}; {times}; "
        f"speed-up {speed_up:.2f}, overhead {overhead:.1%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--graph", choices=GRAPHS, action="append", help="both by default")
    parser.add_argument("--sums", action="store_true", help="reductions instead of stores")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where stores go; a temporary folder")
    options = parser.parse_args()
    for name in options.graph or GRAPHS:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            print(measure(name, Path(folder), options.repeats, options.sums), flush=True)


if __name__ == "__main__":
    main()
