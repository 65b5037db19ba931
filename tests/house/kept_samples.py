"""The calls whose files earlier versions wrote, and what is compared of these files.

``data/<version>`` has the files, and the program that made them by the code of that version. The
calls are those of today: they must open, prove and resume what is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kleene as kl

FOLDER = Path(__file__).parents[1] / "data" / "0.1.0.dev0"

Opened = Callable[[str], Any]  # a graph or prepared graph of this version, by its name


def opened(name: str) -> Any:
    """Return a graph of a file, or a prepared one where the name ends with ``.kp``."""
    if name.endswith(".kp"):
        return kl.load_prepared(FOLDER / "prepared" / name)
    return kl.read(FOLDER / "graphs" / f"{name}.npz")


# ---- results ------------------------------------------------------------------------------------

PAIRS = [(0, 5), (0, 9), (7, 5), (3, 3), (11, 2)]

#: The graph or prepared graph, and the call.
RESULTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "bfs": ("web", lambda g: kl.bfs(g, 0)),
    "bfs-limit": ("web", lambda g: kl.bfs(g, sources=[0, 5, 7], limit=2)),
    "bfs-reverse": ("web", lambda g: kl.bfs(g, sources=[3, 4], reverse=True)),
    "bfs-float": ("web", lambda g: kl.bfs(g, 0, dtype="float64", predecessors=False)),
    "sssp-labels": ("labels", lambda g: kl.sssp(g, "a")),
    "sssp-negative": ("negative", lambda g: kl.sssp(g, sources=[0, 3])),
    "sssp-limit-reverse": ("city", lambda g: kl.sssp(g, sources=[0, 9], limit=12, reverse=True)),
    "sssp-values": ("noise", lambda g: kl.sssp(g, 1, predecessors=False)),
    "sssp-targets": ("noise", lambda g: kl.sssp(g, 1, targets=[5, 9])),
    "sssp-deterministic": ("city", lambda g: kl.sssp(g, sources=[0, 9], deterministic=True)),
    "apsp": ("negative", lambda g: kl.apsp(g)),
    "apsp-tiled": ("labels", lambda g: kl.apsp(g, method="tiled")),
    "apsp-wider": ("city", lambda g: kl.apsp(g, sources=[0, 1], dtype="float64")),
    "closure-boolean": ("web", lambda g: kl.closure(g.subgraph(range(40)), predecessors=True)),
    "closure-min_plus": ("negative", lambda g: kl.closure(g, "min_plus", predecessors=True)),
    "closure-max_min": ("labels", lambda g: kl.closure(g, "max_min")),
    "closure-max_times": (
        "chances",
        lambda g: kl.closure(g, "max_times", sources=[4, 9], predecessors=True),
    ),
    "matrix": ("min_plus-int32.kp", lambda p: p.matrix([0, 3, 7], [5, 9])),
    "tree": ("min_plus-int32.kp", lambda p: p.tree(4)),
    "pairs": ("city", lambda g: kl.sssp(g, pairs=PAIRS)),
    "pairs-by-target": ("city", lambda g: kl.sssp(g, pairs=[(s, 5) for s in range(9)])),
    "pairs-values": ("city", lambda g: kl.sssp(g, pairs=PAIRS, predecessors=False)),
    "pairs-limit": ("web", lambda g: kl.bfs(g, pairs=PAIRS, limit=2)),
    "pairs-climbed": ("min_plus-int32.kp", lambda p: p.paths(PAIRS)),
}  # fmt: skip


def graph_of(name: str) -> kl.Graph:
    """Return the graph that a result is about."""
    source, _ = RESULTS[name]
    found = opened(source)
    found = opened(PREPARED[source].graph) if source.endswith(".kp") else found
    return found.subgraph(range(40)) if name == "closure-boolean" else found


#: Answers that are written as tables, about the graph with labels; paths in it are unique.
TABLES: dict[str, Callable[[Any], Any]] = {
    "bfs.tsv": lambda g: kl.bfs(g, sources=["a", "b"]),
    "sssp.csv": lambda g: kl.sssp(g, "a"),
    "sssp.json": lambda g: kl.sssp(g, sources=["c", "d"], limit=10),
    "pairs.csv": lambda g: kl.sssp(g, pairs=[("a", "e"), ("c", "b")]),
    "nearest.csv": lambda g: kl.nearest(g, ["a", "d"], k=2),
    "within.csv": lambda g: kl.within(g, ["a", "c"], 9),
    "isochrones.csv": lambda g: kl.isochrones(g, "a", [3, 9]),
    "isochrones.geojson": lambda g: kl.isochrones(g, "a", [3, 9]),
    "loads.csv": lambda g: kl.loads(g, [("a", "e"), ("b", "d")]),
    "betweenness.csv": lambda g: kl.betweenness(g),
}


# ---- prepared graphs ----------------------------------------------------------------------------


class PreparedSample(NamedTuple):
    """What a prepared graph was made of."""

    graph: str
    semiring: str = "min_plus"
    dtype: str | None = None


PREPARED = {
    "min_plus-int32.kp": PreparedSample("city"),
    "min_plus-int64.kp": PreparedSample("city", dtype="int64"),
    "min_plus-float32.kp": PreparedSample("noise", dtype="float32"),
    "min_plus-float64.kp": PreparedSample("noise"),
    "max_min-int32.kp": PreparedSample("city", "max_min"),
    "max_min-float64.kp": PreparedSample("noise", "max_min"),
    "max_times-float64.kp": PreparedSample("chances", "max_times"),
    "boolean.kp": PreparedSample("web", "boolean"),
    "hops.kp": PreparedSample("web"),
    "negative.kp": PreparedSample("negative"),
    "labels-rows.kp": PreparedSample("labels"),
}


# ---- stores -------------------------------------------------------------------------------------


class StoreSample(NamedTuple):
    """A call with ``out=``, and how it was ended in the middle."""

    graph: str
    call: Callable[[Any, Path], Any]
    suffixes: tuple[str, ...] = ("npy", "zarr")
    end: float = 0.5  # the part of all writes to the disk after which the process was killed
    memory: str = ""  # KLEENE_MEMORY of the call that began it
    device: str = "cpu"


STORES = {
    "apsp": StoreSample("noise", lambda g, out: kl.apsp(g, out=out)),
    "apsp-deterministic": StoreSample(
        "city", lambda g, out: kl.apsp(g, out=out, deterministic=True)
    ),
    "bfs": StoreSample("web", lambda g, out: kl.bfs(g, sources=range(9, 60), limit=3, out=out)),
    "sssp": StoreSample(
        "city",
        lambda g, out: kl.sssp(g, sources=range(60), targets=[8, 3], reverse=True, out=out),
    ),
    "labels": StoreSample(
        "labels", lambda g, out: kl.sssp(g, sources=["b", "a", "e"], out=out), ("zarr",)
    ),
    "matrix": StoreSample(
        "min_plus-int32.kp", lambda p, out: p.matrix(range(60), range(0, 80, 3), out=out)
    ),
    "trees": StoreSample("max_min-int32.kp", lambda p, out: p.closure(out=out), ("npy",)),
    "rounds": StoreSample(
        "dense",
        lambda g, out: kl.apsp(g, method="tiled", device="cpu", out=out, predecessors=False),
        ("npy",), 0.55, "280K",
    ),
    "rounds-paths": StoreSample(
        "counted",
        lambda g, out: kl.apsp(
            g, method="tiled", device="cpu", out=out, reverse=True, limit=40, deterministic=True
        ),
        ("zarr",), 0.3, "500K",
    ),
    "rounds-bits": StoreSample(
        "dense",
        lambda g, out: kl.closure(g, "boolean", method="tiled", device="cpu", out=out),
        ("npy",), 0.9, "40K",
    ),
    "rounds-device": StoreSample(
        "counted",
        lambda g, out: kl.apsp(
            g, method="tiled", device="emulated", out=out, predecessors=False
        ),
        ("npy",), 0.5, "260K", "emulated",
    ),
}  # fmt: skip

#: The stores as they are named: ``apsp.npy``.
STORE_NAMES = [f"{name}.{suffix}" for name, sample in STORES.items() for suffix in sample.suffixes]

#: Begun and finished by the workers of a Dask cluster; begun in tiles, and by rows.
TILES, ROWS = "tiles.npy", "workers.npy"


def close_tiles(out: Path, client: Any) -> Any:
    """Close a matrix in tiles on a cluster."""
    graph = opened("dense").subgraph(range(128))
    return kl.closure(graph, "min_plus", method="tiled", on=client, out=out, predecessors=True)


def search_rows(out: Path, client: Any) -> Any:
    """Search from every vertex, on a cluster or here."""
    return kl.sssp(opened("noise"), sources=range(80), predecessors=False, out=out, on=client)


#: Written by three MPI ranks.
RANKS = "ranks.npy"


def search_on_ranks(out: Path) -> Callable[[Any], Any]:
    """Return the work of a rank."""

    def work(comm: Any) -> None:
        graph = kl.distributed.read(FOLDER / "graphs" / "city.npz", comm=comm)
        kl.distributed.write(kl.distributed.sssp(graph, 0, predecessors=False), out)

    return work


# ---- what is compared ---------------------------------------------------------------------------


def digest_of_graph(graph: kl.Graph) -> str:
    """Return a digest of all that a graph file holds."""
    sums = hashlib.sha256()
    for array in (graph.csr.offsets, graph.csr.neighbors, graph.csr.weights):
        if array is not None:
            sums.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    labels = [graph.label(v) for v in range(graph.n)]
    sums.update(json.dumps([graph.n, graph.m, labels], default=str).encode())
    return sums.hexdigest()


def content(path: Path) -> dict[str, str]:
    """Return a digest of each file of a finished store but its ledger, or of each of its arrays.

    Compressed chunks are unpacked: other versions of Zarr may write other bytes of them.
    """
    if path.suffix == ".zarr":
        import zarr

        group = zarr.open_group(path, mode="r")
        arrays = {name: np.asarray(array[...]) for name, array in group.arrays()}
        found = {
            name: hashlib.sha256(f"{a.dtype.str} {a.shape}".encode() + a.tobytes()).hexdigest()
            for name, a in arrays.items()
        }
        text = json.dumps(group.attrs["kleene"]["call"], sort_keys=True)
        return found | {"call": hashlib.sha256(text.encode()).hexdigest()}
    files = [file for file in path.parent.iterdir() if file.suffix == ".npy"]
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(files)}


def pack(folder: Path, to: Path) -> None:
    """Write a folder as an archive whose bytes follow from its contents."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.mtime = info.uid = info.gid = 0
        info.uname = info.gname = ""
        return info

    with tarfile.open(to, "w:xz", preset=9) as archive:
        for file in sorted(folder.rglob("*")):
            archive.add(file, file.relative_to(folder).as_posix(), recursive=False, filter=plain)


def unpack(name: str, folder: Path) -> Path:
    """Unpack an archive of stores."""
    with tarfile.open(FOLDER / "stores" / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def killed_at(count: int) -> Callable[[], int]:
    """Kill this process at a write to the disk, 0 for none; return a function that counts them."""
    sync, calls = os.fsync, 0

    def fsync(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        sync(descriptor)

    os.fsync = fsync
    return lambda: calls
