"""Checks and measures prepared graphs on a GPU, beside what was predicted by counting bytes.

    python benchmarks/gpu_prepared.py                            # on a machine with an NVIDIA GPU
    python benchmarks/gpu_prepared.py --device emulated --quick  # tries this program, not a GPU

``gpu_check.py`` runs it too. Nothing is timed before it was compared with the CPU. Kernels are
timed by events, calls by the clock; each figure is the least of some runs, in milliseconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import highways
import numpy as np

import kleene as kl
from kleene.backends.cuda.prepared import batches
from kleene.backends.cuda.prepared import customize as prepared_customize
from kleene.backends.cuda.prepared.batches import Rows, TreeBatch, open_batch
from kleene.backends.cuda.prepared.layout import place_elimination
from kleene.backends.cuda.rows import RowBuffers
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Device
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.prepared.customization import Customization, customize
from kleene.prepared.elimination import Elimination, eliminate
from kleene.prepared.order import elimination_order

RUNS = 5

#: The elimination order of the highways, so that a machine with a GPU needs no METIS.
ORDER = highways.PATH.with_suffix(".order.npy")

#: Milliseconds on an H200, highways, before anything was measured.
PREDICTED = {
    "32 trees, kernels": 0.9,
    "1024 trees, climb": 0.15,
    "1024 trees, sweep": 2.2,
    "1024 trees, write": 2.0,
    "1024 trees, kernels": 4.4,
    "1024 trees with predecessors, kernels": 6.5,
    "1024 trees, call, kept": 5.0,
    "matrix 1000 x 1000, call, kept": 2.0,
    "matrix 10000 x 10000, call, kept": 12.0,
    "customize, kernels": 1.8,
    "customize, proof of 32 bits": 0.4,
    "customize, call": 6.0,
}

#: At most, in milliseconds.
TARGETS = {
    "1024 trees, kernels": 10.24,
    "matrix 10000 x 10000, call, kept": 50.0,
    "customize, kernels": 10.0,
}


class Line(NamedTuple):
    """One figure."""

    name: str
    milliseconds: float

    def text(self, quick: bool) -> str:
        """Return the figure, beside what was predicted and what is asked for."""
        text = f"{self.name}: {self.milliseconds:.3g} ms"
        if not quick and self.name in PREDICTED:
            text += f", predicted {PREDICTED[self.name]:g}"
        if not quick and self.name in TARGETS:
            text += f", at most {TARGETS[self.name]:g}"
        return text


class Subject(NamedTuple):
    """A prepared graph, and where it is measured."""

    graph: kl.Graph
    elimination: Elimination
    customization: Customization
    device: Device

    def rows(self, count: int, targets: int | None = None, **options: Any) -> Rows:
        """Return so many sources, and so many targets, at random."""
        rng = np.random.default_rng([count, targets or 0])
        columns = None if targets is None else rng.integers(0, self.graph.n, targets)
        sources = rng.integers(0, self.graph.n, count)
        return Rows(self.elimination, self.customization, sources, columns, **options)


def make_subject(kind: str, quick: bool) -> Subject:
    """Prepare the highways, or a small grid."""
    graph = kl.generate.grid(12, 12, seed=1, weights=(1, 20)) if quick else load_highways()
    elimination = eliminate(graph, None if quick else read_order(graph))
    return Subject(
        graph, elimination, customize(elimination, graph, dtype=np.int64), open_device(kind)
    )


def load_highways() -> kl.Graph:
    """Return the highways, or end with how to make them."""
    if not highways.PATH.exists():
        raise SystemExit(highways.HOW)
    return kl.read(highways.PATH)


def read_order(graph: kl.Graph) -> Any:
    """Return the order beside the highways; made and written the first time."""
    if not ORDER.exists():
        np.save(ORDER, elimination_order(graph))
    return np.load(ORDER)


# ---- checks -------------------------------------------------------------------------------------


def check(subject: Subject) -> None:
    """Compare trees, predecessors, a matrix and values with the CPU."""
    graph, elimination, customization, device = subject
    sources = subject.rows(20).sources
    want = kl.sssp(graph, sources=sources.tolist(), device="cpu", predecessors=False).distances
    kept = batches.trees_on_device(elimination, customization, sources, device=device.kind)
    np.testing.assert_array_equal(device.download(kept.values), want)
    targets = subject.rows(20, 50).targets
    assert targets is not None
    kept = batches.matrix_on_device(
        elimination, customization, sources, targets, device=device.kind
    )
    np.testing.assert_array_equal(device.download(kept.values), want[:, targets])
    made = prepared_customize.customize(
        elimination, graph, dtype=customization.dtype, device=device.kind
    )
    assert made.up.dtype == customization.up.dtype
    np.testing.assert_array_equal(made.up, customization.up)
    np.testing.assert_array_equal(made.down, customization.down)
    found = kl.sssp(graph, sources=sources[:3].tolist(), method="prepared", device=device.kind)
    assert found.verify()


# ---- measurements -------------------------------------------------------------------------------


def by_events(device: Device, work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the least milliseconds that the device worked."""
    best = float("inf")
    for _ in range(runs + 1):
        began = device.main.record()
        work()
        best = min(best, device.main.record().milliseconds_since(began))
    return best


def by_clock(device: Device, work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the least milliseconds of a whole call."""
    best = float("inf")
    for _ in range(runs + 1):
        device.synchronize()
        began = time.perf_counter()
        work()
        device.synchronize()
        best = min(best, 1e3 * (time.perf_counter() - began))
    return best


def trees(subject: Subject, count: int, predecessors: bool = False) -> Iterator[Line]:
    """Yield the steps of a batch of trees."""
    device, wanted = subject.device, subject.rows(count, predecessors=predecessors)
    shape = (count, subject.graph.n)
    found = device.empty(shape, np.int32) if predecessors else None
    rows = RowBuffers(device.empty(shape, subject.customization.dtype), found)
    sources = device.upload(wanted.sources.astype(np.int32))
    name = f"{count} trees" + (" with predecessors" if predecessors else "")
    with open_batch(wanted, device, buffers=0) as (batch, _):
        yield from steps(name, device, batch, sources, rows)


def steps(
    name: str, device: Device, batch: TreeBatch, sources: Any, rows: RowBuffers
) -> Iterator[Line]:
    """Yield climb, sweep, write and all of them."""
    climb = by_events(device, lambda: batch.climb(sources))
    yield Line(f"{name}, climb", climb)
    yield Line(f"{name}, sweep", by_events(device, batch.sweep))
    yield Line(f"{name}, write", by_events(device, lambda: batch.write(rows)))
    yield Line(f"{name}, kernels", by_events(device, lambda: batch.start(sources, rows)))


def calls(subject: Subject, quick: bool) -> Iterator[Line]:
    """Yield whole calls whose answers stay on the device, and one whose answer does not."""
    _, elimination, customization, device = subject
    pair = (elimination, customization)
    count = 20 if quick else 1024
    sources = subject.rows(count).sources

    def kept_trees() -> object:
        return batches.trees_on_device(*pair, sources, device=device.kind)

    yield Line(f"{count} trees, call, kept", by_clock(device, kept_trees))
    values = np.empty((count, subject.graph.n), customization.dtype)

    def host_trees() -> None:
        batches.trees(*pair, sources, values, device=device.kind)

    yield Line(f"{count} trees, call, to the host", by_clock(device, host_trees, 2))
    for side in (30,) if quick else (1000, 10_000):
        wanted = subject.rows(side, side)

        def matrix(wanted: Rows = wanted) -> object:
            return batches.matrix_on_device(
                *pair, wanted.sources, wanted.targets, device=device.kind
            )

        yield Line(f"matrix {side} x {side}, call, kept", by_clock(device, matrix))


def customizing(subject: Subject) -> Iterator[Line]:
    """Yield new weights: the kernels, the proof and the whole call."""
    graph, elimination, customization, device = subject
    work = prepared_customize.Work(elimination, graph, "min_plus", device)
    kind = customization.up.dtype
    pending = work.prepare(kind)
    yield Line("customize, kernels", by_events(device, lambda: work.launch(pending)))
    values = work.values(kind)
    if kind == np.int32:
        yield Line("customize, proof of 32 bits", by_events(device, lambda: work.reach(values)))

    def call() -> object:
        return prepared_customize.customize(
            elimination, graph, dtype=customization.dtype, device=device.kind
        )

    yield Line("customize, call", by_clock(device, call))


def piece_sizes(subject: Subject, quick: bool) -> Iterator[Line]:
    """Yield sweeps and new weights with other pieces than those of ``tuning/prepared.py``."""
    graph, elimination, customization, device = subject
    chosen = tuning.PIECE_VERTICES, tuning.PIECE_RATIO
    count = 20 if quick else 1024
    try:
        for most, ratio in ((128, 4), (256, 4), (512, 2), (512, 8), (1024, 4), (2048, 4)):
            tuning.PIECE_VERTICES, tuning.PIECE_RATIO = most, ratio
            copy = Elimination(*(getattr(elimination, name) for name in _FIELDS))  # placed anew
            other = Subject(graph, copy, customization, device)
            name = f"pieces of {most}, ratio {ratio}"
            for line in (*trees(other, count), *customizing(other)):
                if line.name.endswith(("sweep", "customize, kernels")):
                    yield Line(f"{name}: {line.name}", line.milliseconds)
    finally:
        tuning.PIECE_VERTICES, tuning.PIECE_RATIO = chosen


_FIELDS = ("order", "ranks", "parents", "offsets", "heads")


def measure(kind: str, quick: bool) -> Iterator[str]:
    """Check, then yield one line for each figure."""
    subject = make_subject(kind, quick)
    graph, elimination, _, device = subject
    yield f"{graph.n:,} vertices, {elimination.arcs:,} pairs, {graph.m:,} arcs"
    began = time.perf_counter()
    place_elimination(elimination, device)
    yield Line("placed", 1e3 * (time.perf_counter() - began)).text(quick)
    check(subject)
    yield "trees, matrix, predecessors and new weights are those of the CPU"
    for line in _figures(subject, quick):
        yield line.text(quick)


def _figures(subject: Subject, quick: bool) -> Iterator[Line]:
    for count in (20,) if quick else (32, 128, 256, 512, 1024):
        yield from trees(subject, count)
    yield from trees(subject, 20 if quick else 1024, predecessors=True)
    yield from calls(subject, quick)
    yield from customizing(subject)
    yield from piece_sizes(subject, quick)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--quick", action="store_true", help="a tiny graph, to try the program")
    options = parser.parse_args()
    for line in measure(options.device, options.quick):
        print(line, flush=True)


if __name__ == "__main__":
    main()
