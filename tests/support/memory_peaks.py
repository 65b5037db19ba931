"""A program for test_memory.py: measures the peak memory of building graphs.

For each case it prints its name, the peak in bytes, whether the case is refused when a little less
is available, and whether it is refused when half as much again is available.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import kleene as kl
from kleene.graph import checks

Call = Callable[[], object]
Case = tuple[str, Call]

MB = 2**20


def resident(field: str) -> int:
    """Return a line of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def peak(call: Call) -> int:
    """Return the growth of the resident memory during a call."""
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = resident("VmRSS")
    kept = call()
    after = resident("VmHWM")
    del kept
    return after - before


def refused(call: Call, available: float) -> bool:
    """Return whether a call is refused with so much memory."""
    memory_for = checks.memory_for
    checks.memory_for = lambda most: int(available)
    try:
        call()
    except kl.MemoryBudgetError:
        return True
    finally:
        checks.memory_for = memory_for
    return False


def edges() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    kinds: list[tuple[Any, Any, bool, int]] = [
        (np.int32, None, True, 1),
        (np.int32, np.float32, False, 2),
        (np.int32, np.float64, True, 8),
        (np.int64, np.int32, True, 1),
        (np.int64, np.float64, False, 2),
    ]
    for n, m in [(10_000_000, 1), (2_000_000, 2_000_000), (1000, 2_000_000), (1, 4_000_000)]:
        for ids, dtype, directed, threads in kinds:
            s, t = (rng.integers(0, n, m).astype(ids) for _ in range(2))
            w = None if dtype is None else -np.ones(m, dtype)
            given: Any = (s, t, w, n, directed)
            yield (
                f"edges n={n} m={m} {np.dtype(ids)} {dtype} {directed=} {threads=}",
                lambda given=given, threads=threads: kl.Graph.from_edges(*given, threads=threads),
            )
    s = np.arange(3_000_000, dtype=np.int32)  # no parallel arcs; then one row with all arcs
    w = np.ones(len(s))
    for name, ends in (("distinct", (s, s[::-1].copy())), ("star", (np.zeros_like(s), s))):
        for combine in ("min", "sum"):
            yield (
                f"edges {name} {combine}",
                lambda given=(*ends, w), c=combine: kl.Graph.from_edges(*given, combine=c),
            )


def matrices() -> Iterator[Case]:
    n, m = 2_000_000, 6_000_000
    offsets = np.arange(n + 1) * 3
    for ids in (np.int32, np.int64):
        heads = ((np.arange(n)[:, None] + [1, 5, 9]) % n).astype(ids)
        heads.sort(axis=1)
        for w in (None, np.ones(m)):
            rows: Any = (offsets, heads.ravel(), w)
            yield f"csr {np.dtype(ids)} {w is not None}", lambda a=rows: kl.Graph.from_csr(*a)
    few = sp.csr_array((10_000_000, 10_000_000))
    yield "scipy empty", lambda: kl.Graph.from_scipy(few)
    matrix = np.random.default_rng(0).random((3000, 3000)) * 100
    for dtype in (np.float32, np.float64, np.int8, bool):
        given = matrix.astype(dtype)
        yield f"dense {dtype.__name__}", lambda a=given: kl.Graph.from_dense(a, np.inf)
    yield "dense transposed", lambda: kl.Graph.from_dense(matrix.T)
    masked = np.ma.masked_greater(matrix, 50)
    yield "dense masked", lambda: kl.Graph.from_dense(masked)


def files() -> Iterator[Case]:
    n = 15_000_000
    texts = {
        "dimacs": f"p sp {n} 1\na 1 2 3\n",
        "matrix_market": f"%%MatrixMarket matrix coordinate real general\n{n} {n} 1\n1 2 3\n",
        "edge_list": f"0 {n}\n",
    }
    for form, text in texts.items():
        options: dict[str, Any] = {"relabel": False} if form == "edge_list" else {}
        yield (
            f"file {form}",
            lambda t=text, f=form, o=options: kl.read(io.BytesIO(t.encode()), format=f, **o),
        )


def generators() -> Iterator[Case]:
    make = kl.generate
    calls: dict[str, Callable[..., kl.Graph]] = {
        "path": lambda **k: make.path(2_000_000, **k),
        "cycle": lambda **k: make.cycle(2_000_000, directed=True, **k),
        "star": lambda **k: make.star(2_000_000, **k),
        "tree": lambda **k: make.tree(2_000_000, **k),
        "complete": lambda **k: make.complete(2500, **k),
        "uniform": lambda **k: make.uniform(1_000_000, 4_000_000, **k),
        "undirected": lambda **k: make.uniform(1_000_000, 3_000_000, directed=False, **k),
        "sparse": lambda **k: make.uniform(10_000_000, 10, **k),
        "small_world": lambda **k: make.small_world(1_000_000, 6, 0.1, **k),
        "grid": lambda **k: make.grid(2000, 1000, **k),
        "rmat": lambda **k: make.rmat(17, 16, **k),
    }
    for name, call in calls.items():
        for weights, threads in ((None, 1), (None, 16), ((0.0, 1.0), 2)):
            options: dict[str, Any] = {"weights": weights, "threads": threads}
            yield f"{name} {options}", lambda c=call, o=options: c(**o)


if __name__ == "__main__":
    for name, call in globals()[sys.argv[1]]():
        most = peak(call)
        low, high = 0.95 * most - 4 * MB, 1.5 * most + 24 * MB
        print(name, most, low <= 0 or refused(call, low), refused(call, high), sep="\t", flush=True)
