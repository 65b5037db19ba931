"""Makes the files of this folder, by the code of commit 7098ac6: see README.md.

    python tests/data/0.1.0.dev0/make.py     # with a Python that has that version installed

Stores that are half finished are those of processes that were killed: each runs this program again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(TESTS / "house"), str(TESTS / "support")]

import kept_samples as kept  # noqa: E402

import kleene as kl  # noqa: E402

FOLDER = Path(__file__).parent
SIDE = 64  # of the tiles of a cluster


def graphs() -> dict[str, kl.Graph]:
    rng = np.random.default_rng(5)
    n = 80  # streets of 8 times 10 crossings, some of them one way
    here = np.arange(n)
    east, south = here[here % 10 < 9], here[here < n - 10]
    tails, heads = np.r_[east, south, east + 1], np.r_[east + 1, south + 10, east]
    extra = rng.integers(0, n, (2, 12))
    ends = np.r_[tails, extra[0]], np.r_[heads, extra[1]]
    m = len(ends[0])
    n_dense = 200
    matrix = rng.random((n_dense, n_dense), np.float32) + np.float32(0.1)
    matrix[rng.random(matrix.shape) < 0.9] = np.inf
    np.fill_diagonal(matrix, 0)
    counts = rng.integers(1, 9, (n_dense, n_dense)).astype(np.int32)
    tails, heads = np.nonzero(rng.random((n_dense, n_dense)) < 0.03)
    table = {
        "source": ["a", "b", "a", "c", "d", "b", "e"],
        "target": ["b", "c", "b", "d", "e", "e", "a"],
        "weight": [5, 6, 2, 4, 9, 3, 1],
    }
    places = [(0, 0), (1, 2), (3, 4), (2, 2), (5, 1)]
    weights = rng.integers(1, 9, m)
    return {
        "web": kl.Graph.from_edges(*ends, n=n),
        "friends": kl.Graph.from_edges(*ends, n=n, directed=False),
        "city": kl.Graph.from_edges(*ends, weights.astype(np.int32), n=n),
        "noise": kl.Graph.from_edges(*ends, rng.random(m), n=n),
        "long": kl.Graph.from_edges(*ends, weights.astype(np.int64) << 33, n=n),
        "chances": kl.Graph.from_edges(*ends, rng.random(m).astype(np.float32), n=n),
        "negative": kl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 1, 3], [4, -2, 3, 0, 9], n=6),
        "labels": kl.Graph.from_table(table).with_positions(places),
        "dense": kl.Graph.from_dense(matrix),
        "counted": kl.Graph.from_edges(tails, heads, counts[tails, heads], n=n_dense),
        "empty": kl.Graph.from_edges([], [], n=0),
    }


def begin(name: str, out: Path, at: int, *more: str) -> int | None:
    """Run a call in a process that is killed at a write; return how many there were, if it ends."""
    sample = kept.STORES.get(out.stem)
    environment = dict(os.environ)
    if sample is not None and sample.memory:
        environment["KLEENE_MEMORY"] = sample.memory
    command = [sys.executable, __file__, name, str(out), str(at), *more]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        assert done.returncode == -9, done
        return None
    return int(done.stdout)


def run(name: str, out: Path, at: int, *more: str) -> None:
    """Be that process."""
    from kleene.api import stored_rows

    stored_rows.choose_block_rows = lambda rows, *_: min(24, max(1, rows // 3))
    counted = kept.killed_at(at)
    if name == "store":
        sample = kept.STORES[out.stem]
        if sample.device == "emulated":
            os.environ["KLEENE_DEVICE_MEMORY"] = str(2**19)
        sample.call(kept.opened(sample.graph), out)
    elif name == "ranks":
        from fake_communicator import run_ranks

        run_ranks(3, kept.search_on_ranks(out))
    else:
        on_cluster(name, out, at, *more)
    print(counted())


def on_cluster(name: str, out: Path, at: int, address: str) -> None:
    import dask.distributed
    from kleene.api import tiles_on_cluster
    from kleene.distributed.tile_grid import TileGrid, choose_layout

    from kleene.distributed import dask_rows, dask_tiles

    dask_rows.PIECE_SECONDS = dask_rows._LAST = 0.0005
    dask_tiles.CHECKPOINT_SECONDS = dask_tiles._CHECKPOINT_TIMES = 0.0
    tiles_on_cluster.choose_layout = lambda n, item, cluster, grid=None: choose_layout(
        n, item, cluster, grid or TileGrid(n, SIDE, SIDE)
    )
    with dask.distributed.Client(address, set_as_default=False) as client:
        (kept.close_tiles if name == "tiles" else kept.search_rows)(out, client)


def both(kind: str, name: str, end: float, work: Path, *more: str) -> dict[str, str]:
    """Make a store whole and half, in an archive; return what is compared of the whole one."""
    whole, half = (work / name / part / name for part in ("finished", "half"))
    whole.parent.mkdir(parents=True), half.parent.mkdir()
    count = begin(kind, whole, 0, *more)
    assert count is not None
    at = max(1, round(end * count))
    for _ in range(count):
        killed = begin(kind, half, at, *more) is None
        ledgers = list(half.parent.rglob("*ledger"))
        lines = sum(len(ledger.read_bytes().splitlines()) for ledger in ledgers)
        if killed and lines > 2:
            break
        at += 1 if killed else -1  # a cluster does not write as often every time
        shutil.rmtree(half.parent), half.parent.mkdir()
    found = kept.content(whole)
    assert killed, name
    assert lines > 2, name
    assert not half.exists(), name
    if name.startswith("rounds"):  # large; others of the kind are kept
        for file in whole.parent.iterdir():
            if file.suffix == ".npy":
                file.unlink()
        shutil.rmtree(whole.parent)
    kept.pack(work / name, FOLDER / "stores" / f"{name}.tar.xz")
    print(name, f"killed at write {at} of {count}", sorted(f.name for f in half.parent.iterdir()))
    return found


def main() -> None:
    for name in ("graphs", "results", "tables", "prepared", "stores"):
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        (FOLDER / name).mkdir()
    expected: dict[str, Any] = {"version": kl.__version__, "graphs": {}, "stores": {}}
    for name, graph in graphs().items():
        kl.write(graph, FOLDER / "graphs" / f"{name}.npz")
        expected["graphs"][name] = kept.digest_of_graph(graph)
    for name, (graph, semiring, dtype) in kept.PREPARED.items():
        made = kl.prepare(kept.opened(graph), semiring=semiring, dtype=dtype)
        made.save(FOLDER / "prepared" / name)
    for name, (graph, call) in kept.RESULTS.items():
        call(kept.opened(graph)).save(FOLDER / "results" / f"{name}.npz")
    for name, call in kept.TABLES.items():
        call(kept.opened("labels")).save(FOLDER / "tables" / name)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        stores = expected["stores"]
        for name in kept.STORE_NAMES:
            stores[name] = both("store", name, kept.STORES[Path(name).stem].end, work)
        stores[kept.RANKS] = both("ranks", kept.RANKS, 0.6, work)
        import dask.distributed

        with dask.distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster:
            for name, end in ((kept.TILES, 0.5), (kept.ROWS, 0.5)):
                kind = Path(name).stem
                stores[name] = both(kind, name, end, work, cluster.scheduler_address)
    text = json.dumps(expected, indent=1, sort_keys=True)
    (FOLDER / "expected.json").write_text(text + "\n")


Main: Callable[..., None] = run

if __name__ == "__main__":
    if len(sys.argv) > 1:
        kind, out, at, *more = sys.argv[1:]
        run(kind, Path(out), int(at), *more)
    else:
        main()
