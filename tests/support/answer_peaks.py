"""A program for test_memory.py: measures the peak memory of answers beside their own memory.

For each case it prints its name, the bytes of the answer, the growth of the process beyond what the
answer itself takes here, and the most that this may be. An answer is in an array of the caller, in
new arrays, in a mapped file (whose pages count while they are written), or in a store, of which
only blocks are in memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from memory_peaks import peak

import kleene as kl

TWO = 2  # threads: each has memory to work in, and machines have many


class Case(NamedTuple):
    """A call, the bytes of its answer that are in this process at its end, and what it may add."""

    name: str
    call: Callable[[], object]
    answer: int
    here: int  # bytes of the answer that the call brings into this process
    most: float  # of the answer, beyond that


def arrays(_: Path) -> Iterator[Case]:
    """Answers in memory of the caller: methods fill it, and copy nothing."""
    links = kl.generate.rmat(scale=14, edge_factor=8, seed=1)
    streets = kl.generate.grid(80, 80, weights=(1, 9), seed=1)
    dense = kl.generate.uniform(2000, 250_000, weights=(1, 99), seed=1)

    def given(
        name: str, graph: kl.Graph, kind: Any, rows: int | None, most: float, **options: Any
    ) -> Case:
        call = getattr(kl, options.pop("problem", "sssp"))
        asked = {} if rows is None else {"sources": range(rows)}
        out = np.zeros((graph.n if rows is None else rows, graph.n), kind)
        out += 1  # in memory before the call
        asked |= {"out": out, "predecessors": False, "threads": TWO, **options}
        return Case(f"{name}, out=array", lambda: call(graph, **asked), out.nbytes, 0, most)

    yield given("bfs", links, np.int32, 1000, 0.2, problem="bfs")
    yield given("sssp", streets, np.int32, 1000, 0.1, method="dijkstra")
    yield given("sssp by the int32 engine", streets, np.float64, 1000, 0.1, dtype="float64",
                method="dijkstra")  # fmt: skip
    yield given("sssp, limit", streets, np.int32, 1000, 0.1, limit=40, method="dijkstra")
    yield given("sssp, reverse", streets, np.int32, 1000, 0.1, reverse=True, method="dijkstra")
    yield given("apsp, tiled", dense, np.int32, None, 0.25, problem="apsp", method="tiled")
    yield given("apsp, tiled, wide", dense, np.float64, None, 0.25, problem="apsp",
                method="tiled", dtype="float64")  # fmt: skip
    yield given("closure, max_min", dense, np.int32, None, 0.25, problem="closure",
                semiring="max_min")  # fmt: skip
    prepared = kl.prepare(streets)
    prepared.tree(0)
    out = np.ones((1000, streets.n), np.int32)
    yield Case(
        "sssp, prepared, out=array",
        lambda: kl.sssp(prepared, sources=range(1000), out=out, predecessors=False, threads=TWO),
        out.nbytes, 0, 0.1,
    )  # fmt: skip


def new(_: Path) -> Iterator[Case]:
    """Answers in new arrays: a matrix is closed in the memory of its answer."""
    dense = kl.generate.uniform(2000, 250_000, weights=(1, 99), seed=1)
    dense.dense  # noqa: B018  (kept with the graph)
    n2 = dense.n**2
    for name, item, most, call in (
        (
            "values",
            4,
            0.4,
            lambda: kl.apsp(dense, method="tiled", predecessors=False, threads=TWO),
        ),
        ("paths", 8, 0.25, lambda: kl.apsp(dense, method="tiled", threads=TWO)),
        (
            "max_min paths",
            8,
            0.25,
            lambda: kl.closure(dense, "max_min", predecessors=True, threads=TWO),
        ),
        ("boolean", 1, 0.4, lambda: kl.closure(dense, "boolean", threads=TWO)),
        ("batched paths", 8, 0.25, lambda: kl.apsp(dense, method="batched", threads=TWO)),
    ):
        yield Case(f"{name}, new arrays", call, item * n2, item * n2, most)
    lengths = np.where(np.random.default_rng(1).random((2000, 2000)) < 0.1, np.float32(1), np.inf)
    lengths = lengths.astype(np.float32)
    yield Case(
        "close_distances", lambda: kl.close_distances(lengths, threads=TWO), lengths.nbytes, 0, 0.25
    )  # fmt: skip


def files(folder: Path) -> Iterator[Case]:
    """Answers in files: mapped as they are computed, or written a block at a time."""
    os.environ["KLEENE_PIECE_SECONDS"] = "0.01"
    streets = kl.generate.grid(56, 56, weights=(1, 9), seed=1)
    dense = kl.generate.uniform(2000, 250_000, weights=(1, 99), seed=1)
    kl.apsp(kl.generate.path(9), out=folder / "first.zarr")  # imports Zarr
    whole, matrix = 4 * streets.n**2, 4 * dense.n**2
    yield Case(
        "apsp, tiled, mapped .npy",
        lambda: kl.apsp(
            dense, method="tiled", predecessors=False, threads=TWO, out=folder / "mapped.npy"
        ),
        matrix, matrix, 0.25,
    )  # fmt: skip
    for suffix in ("npy", "zarr"):
        yield Case(
            f"apsp, store .{suffix}",
            lambda s=suffix: kl.apsp(
                streets, method="batched", predecessors=False, threads=TWO, out=folder / f"rows.{s}"
            ),
            whole, 0, 0.5,
        )  # fmt: skip
        yield Case(
            f"apsp, paths, store .{suffix}",
            lambda s=suffix: kl.apsp(
                streets, method="batched", threads=TWO, out=folder / f"paths.{s}"
            ),
            2 * whole, 0, 0.5,
        )  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        for case in globals()[sys.argv[1]](Path(made)):
            beyond = peak(case.call) - case.here
            print(case.name, case.answer, beyond, round(case.most * case.answer), sep="\t")
