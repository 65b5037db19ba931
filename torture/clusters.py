"""Workers and clients of a Dask cluster that are killed while it computes.

A cluster of two processes computes rows of a random graph into a store, or closes its matrix in
tiles. In some cases workers are killed (SIGKILL, at random moments); in others the client is, a
process of its own, which is started again until the store is finished. Then the store must be equal
byte for byte to the answer of a single process, no block may be in the ledger twice, and what the
ledger said before a kill must still be there, as it was. Workers are also killed while they compute
pairs with their paths, and sums over rows, which must be those of an undisturbed call.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import kleene as kl
from kleene.engine.pieces import split
from kleene.errors import ClusterError
from kleene.stores.sink import BlockSize
from torture.campaign import Budget, Outcome

__all__ = ["Clusters", "run"]

ROOT = Path(__file__).resolve().parent.parent
HANG = 120.0  # seconds that no case takes
PATIENCE = 20.0  # seconds until workers that were killed are there again
SILENT = logging.CRITICAL + 1  # the scheduler logs a traceback for each message to a killed client
MOST_KILLS = 3  # in a case: Dask gives a task up whose workers ended four times


def run(budget: Budget) -> Outcome:
    """Kill workers and clients in turn until the time is over."""
    with (
        tempfile.TemporaryDirectory(prefix="kleene-clusters-") as folder,
        Clusters(budget.seed, Path(folder)) as clusters,
    ):
        while not clusters.cases or (budget.left() > 10 and len(clusters.failures) < 20):
            clusters.kill_workers()
            clusters.kill_workers_of_parts()
            clusters.kill_client()
    return Outcome(clusters.cases, clusters.failures, dict(sorted(clusters.counts.items())))


def in_tiles(seed: int) -> bool:
    """Return whether the case of a seed is a closure in tiles."""
    return seed % 4 == 1


def graph_of(seed: int) -> tuple[kl.Graph, list[int]]:
    """Return a random graph and the sources of its rows."""
    chance = random.Random(seed)
    if in_tiles(seed):
        graph = kl.generate.rmat(scale=9, edge_factor=8, seed=seed, weights=(1, 9))
        return graph, list(range(graph.n))
    weights = chance.choice([None, (1, 9), (0.5, 2.0)])
    if chance.random() < 0.3:
        side = chance.randrange(30, 50)
        graph = kl.generate.grid(side, side, weights=weights, seed=seed)
    else:
        graph = kl.generate.rmat(scale=11, edge_factor=8, seed=seed, weights=weights)
    rows = chance.randrange(400, 1000)
    return graph, [chance.randrange(graph.n) for _ in range(rows)]


def compute(seed: int, out: Path, on: Any = None, progress: Any = None) -> None:
    """Compute the rows of a seed into a store, in many small pieces, or in small tiles."""
    graph, sources = graph_of(seed)
    if in_tiles(seed):
        with (
            patch("kleene.clusters.dask.closure.choose_layout", _small_tiles),
            patch("kleene.clusters.dask.tiles.CHECKPOINT_SECONDS", 0.2),
        ):
            kl.apsp(graph, out=out, on=on, progress=progress, deterministic=True, method="tiled")
        return
    call = kl.bfs if seed % 3 == 0 else kl.sssp
    blocks = BlockSize(seconds=0.002, memory=2**26)
    with _small_pieces(), patch("kleene.stores.sink.BLOCKS", blocks):
        call(graph, sources=sources, out=out, on=on, progress=progress, deterministic=True)


def parts(seed: int, on: Any = None, progress: Any = None) -> list[Any]:
    """Return what a seed asks of rows that are not kept: paths of pairs, or sums."""
    graph, sources = graph_of(seed)
    options = {"on": on, "progress": progress}
    with (
        _small_pieces(),
        patch("kleene.engine.entries._roots_together", lambda *_: 32),
        patch("kleene.engine.reduce.split", lambda rows, _: split(rows, 32)),
        patch.dict(os.environ, KLEENE_PIECE_SECONDS="1e-4"),
    ):
        if seed % 3 == 0:
            pairs = list(zip(sources, reversed(sources), strict=True))
            found = kl.sssp(graph, pairs=pairs, **options)
            return [found.distances, *found._stored_walks]
        if seed % 3 == 1:
            sums = kl.reduce_distances(graph, sources=sources, bins=9, **options)
            return [sums.sums, sums.maxima, sums.reached, sums.histogram]
        closeness = kl.closeness(graph, sources=sorted(set(sources)), **options)
        return [closeness.totals, closeness.reached, closeness.values]


@contextlib.contextmanager
def _small_pieces() -> Iterator[None]:
    with (
        patch("kleene.clusters.dask.runner.RUN_SECONDS", 0.02),
        patch("kleene.clusters.dask.runner._LAST", 0.005),
    ):
        yield


def _small_tiles(n: int, pair_bytes: float, cluster: Any, grid: Any = None) -> Any:
    from kleene.stores.tile_grid import TileGrid, choose_layout

    return choose_layout(n, pair_bytes, cluster, grid or TileGrid(n, 128, 64))


def expected(seed: int) -> tuple[Any, Any]:
    """Return the distances and predecessors of a seed, by one process."""
    graph, sources = graph_of(seed)
    if in_tiles(seed):
        result = kl.apsp(graph, deterministic=True)
        return result.distances, result.predecessors
    result = (kl.bfs if seed % 3 == 0 else kl.sssp)(graph, sources=sources, deterministic=True)
    return result.distances, result.predecessors


class Clusters:
    """The cases of a run, on one cluster."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.cases = 0
        self.failures: list[str] = []
        self.counts: Counter[str] = Counter()
        self.client: Any = None
        self._cluster = contextlib.ExitStack()

    def __enter__(self) -> Clusters:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.close()

    def _start(self) -> None:
        """Start a cluster of two processes, whose workers are started again when they end."""
        from dask.distributed import Client, LocalCluster

        logging.getLogger("distributed").setLevel(SILENT)
        cluster = LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=SILENT,
        )
        self._cluster.enter_context(cluster)
        self.client = self._cluster.enter_context(Client(cluster, set_as_default=False))

    def _require_workers(self) -> None:
        """Wait for workers that were killed; Dask gives up one that is killed while it starts."""
        end = time.monotonic() + PATIENCE
        while len(self.client.run(os.getpid, on_error="ignore")) < 2:
            if time.monotonic() > end:
                self._cluster.close()
                self._start()
                end = time.monotonic() + PATIENCE
            time.sleep(0.1)

    # ---- cases ------------------------------------------------------------------------------

    def kill_workers(self, kills: int | None = None) -> None:
        """Kill workers while they compute rows for a store."""
        seed, path = self._begin("workers")
        ended = self._killing_workers(seed, kills, lambda *given: compute(seed, path, *given))
        if ended is not None:
            self._check(seed, path, "workers")

    def kill_workers_of_parts(self, kills: int | None = None) -> None:
        """Kill workers while they compute pairs or sums, and compare the answer."""
        seed, _ = self._begin("workers")
        ended = self._killing_workers(seed, kills, lambda *given: parts(seed, *given))
        # Floats of all sources are added up by pieces, which a single process does not make.
        right = parts(seed, self.client if seed % 3 == 2 else None)
        if ended is not None and not all(map(np.array_equal, ended[0], right)):
            self._fail(seed, "workers", "pairs or sums are not those of one process")

    def _killing_workers(
        self, seed: int, kills: int | None, do: Callable[..., Any]
    ) -> tuple[Any] | None:
        """Return what a call returns whose workers are killed; None if it fails."""
        left = self.random.randrange(1, MOST_KILLS + 1) if kills is None else kills

        def progress(done: int, total: int) -> None:
            nonlocal left
            if left and self.random.random() < 0.5:
                left -= 1
                self._kill_one_worker()

        try:
            try:
                return (do(self.client, progress),)
            except ClusterError as error:  # all workers are gone for good: another cluster resumes
                if "has had no worker" not in str(error):
                    raise
                self._require_workers()
                return (do(self.client),)
        except Exception as error:
            self._fail(seed, "workers", f"{type(error).__name__}: {error}")
            return None

    def _kill_one_worker(self) -> None:
        time.sleep(self.random.uniform(0, 0.1))
        found = self.client.run(os.getpid, on_error="ignore")
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.random.choice(sorted(found.values())), signal.SIGKILL)
                self.counts["workers killed"] += 1

    def kill_client(self, kills: int | None = None) -> None:
        """Kill the client, and start it again, until the store is finished."""
        left = self.random.randrange(1, MOST_KILLS + 1) if kills is None else kills
        seed, path = self._begin("client")
        command = [sys.executable, "-m", "torture.clusters", str(seed), str(path)]
        command.append(self.client.scheduler.address)
        ledger = path.with_name(path.name + ".ledger")
        before = b""
        while True:
            with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
                try:
                    if left:
                        self._kill_at_work(process, ledger, before.count(b"\n"))
                    _, said = process.communicate(timeout=HANG)
                except subprocess.TimeoutExpired:
                    process.kill()
                    self._fail(seed, "client", f"hangs for {HANG:.0f} s")
                    return
            after = ledger.read_bytes() if ledger.exists() else b""
            whole = before[: before.rfind(b"\n") + 1]  # a torn line goes
            if not after.startswith(whole):
                self._fail(seed, "client", "the ledger lost what it said before a kill")
            before = after
            if process.returncode == 0:
                break
            if process.returncode != -signal.SIGKILL:
                last = said.decode(errors="replace").strip().splitlines()[-1:]
                self._fail(seed, "client", f"exit code {process.returncode}: {last}")
                return
            left -= 1
            self.counts["clients killed"] += 1
        self._check(seed, path, "client")

    def _kill_at_work(self, process: subprocess.Popen[bytes], ledger: Path, lines: int) -> None:
        """Kill a process soon after it entered something into the ledger, unless it ends."""
        end = time.monotonic() + HANG
        wanted = lines + self.random.randrange(1, 5)
        while process.poll() is None and time.monotonic() < end:
            if ledger.exists() and ledger.read_bytes().count(b"\n") >= wanted:
                break
            time.sleep(0.001)
        time.sleep(self.random.uniform(0, 0.03))
        process.kill()

    # ---- what is left -----------------------------------------------------------------------

    def _begin(self, what: str) -> tuple[int, Path]:
        self._require_workers()
        self.cases += 1
        seed = self.random.randrange(2**31)
        return seed, self.folder / f"{what}-{seed}.{self.random.choice(['npy', 'zarr'])}"

    def _check(self, seed: int, path: Path, what: str) -> None:
        """Compare the store with the answer of one process; remove it if it is right."""
        from kleene.stores.store import Store

        store = Store.look(path)
        if store is None or not store.finished:
            self._fail(seed, what, "the store is not finished")
            return
        store.verify()
        distances, predecessors = store.writer().rows(0, store.spec.shape[0])
        right = expected(seed)
        for name, held, wanted in zip(
            ("distances", "predecessors"), (distances, predecessors), right, strict=True
        ):
            if not np.array_equal(held, wanted):
                self._fail(seed, what, f"{name} are not those of one process")
        left = [file.name for file in self.folder.iterdir() if ".kleene-" in file.name]
        left += [file.name for file in self.folder.glob(f"{path.name}.tiles*")]
        if left:
            self._fail(seed, what, f"left: {left}")

    def _fail(self, seed: int, what: str, why: str) -> None:
        self.failures.append(f"seed {seed}: {what} killed: {why}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("address")
    args = parser.parse_args()
    compute(args.seed, args.out, args.address)


if __name__ == "__main__":
    main()
