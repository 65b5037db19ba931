"""Trees and matrices of a prepared graph on a GPU.

The functions mirror those of ``kleene.prepared.sweeps``. Rows leave the device in batches, while
the next batch runs, or stay there.

Cost on highways (560,282 vertices, 2.4 M pairs), 1024 trees of 4-byte lengths and 8-byte answers:
the sweep writes 2.3 GB and reads 9.8 GB, mostly from the caches; the rows of the answer read 2.3
GB and write 4.6 GB. At 4 TB/s that is some 4 ms, 4 us a tree; the copy to the host at 55 GB/s takes
84 ms. A matrix of 10,000 targets visits their 90,000 ancestors with 1.0 M pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import KeptRows
from kleene.backends.cuda.prepared_batches import (
    Selection,
    TreeBatch,
    TreeWorkspace,
    select_ancestors,
)
from kleene.backends.cuda.prepared_device import DeviceElimination, place_elimination, variant
from kleene.backends.cuda.row_batches import (
    RowBuffers,
    RowWriter,
    copy_threads,
    fill_host,
    fill_kept,
    largest_width,
)
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Device, ceil_div
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.backends.cuda.tuning import transfers
from kleene.backends.task import Progress
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.sweeps import reverse_values
from kleene.prepared.tree_repair import is_safe, repair_trees
from kleene.system.machine import cores

__all__ = [
    "Rows",
    "matrix",
    "matrix_on_device",
    "open_batch",
    "repair_kept",
    "trees",
    "trees_on_device",
]

HostArray = NDArray[Any]


class Rows(NamedTuple):
    """What is asked of a prepared graph: a row for each source, all vertices or some targets."""

    elimination: Elimination
    customization: Customization
    sources: HostArray
    targets: HostArray | None = None  # None for all vertices
    predecessors: bool = False

    @property
    def columns(self) -> int:
        """The numbers of a row."""
        return self.elimination.n if self.targets is None else len(self.targets)


# ---- rows on the host ---------------------------------------------------------------------------


def trees(
    elimination: Elimination,
    customization: Customization,
    sources: HostArray,
    values: HostArray,
    predecessors: HostArray | None = None,
    *,
    reverse: bool = False,
    device: str = "cuda",
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Fill a row of values for each source, and of predecessors, in the order of the vertices."""
    c = reverse_values(customization) if reverse else customization
    wanted = Rows(elimination, c, sources, None, predecessors is not None)
    _fill_host(wanted, values, predecessors, device, threads, progress)
    if predecessors is not None:
        repair_trees(elimination, c, sources, values, predecessors, threads or cores())


def matrix(
    elimination: Elimination,
    customization: Customization,
    sources: HostArray,
    targets: HostArray,
    values: HostArray,
    *,
    reverse: bool = False,
    device: str = "cuda",
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Fill the values from each source to each target."""
    c = reverse_values(customization) if reverse else customization
    wanted = Rows(elimination, c, sources, targets)
    _fill_host(wanted, values, None, device, threads, progress)


def _fill_host(
    wanted: Rows,
    values: HostArray,
    predecessors: HostArray | None,
    kind: str,
    threads: int | None,
    progress: Progress | None,
) -> None:
    if values.size == 0:
        return
    device = open_device(kind)
    sources = device.upload(wanted.sources.astype(np.int32, copy=False), "sources")
    rows, staged = _HostRows(values, predecessors), values.nbytes >= transfers.STAGED_LEAST
    with (
        open_batch(wanted, device, buffers=2) as (batch, width),
        copy_threads(threads or cores()) as pool,
    ):
        writer = RowWriter(device, pool, staged)
        fill_host(device, batch, width, sources, rows, _NONE, writer, progress or _silent)


class _HostRows(NamedTuple):
    values: HostArray
    predecessors: HostArray | None


_NONE: HostArray = np.empty(0)  # rows are complete: no horizons


def _silent(done: int, total: int) -> None:
    pass


# ---- rows on the device -------------------------------------------------------------------------


def trees_on_device(
    elimination: Elimination,
    customization: Customization,
    sources: HostArray,
    *,
    predecessors: bool = False,
    reverse: bool = False,
    device: str = "cuda",
    progress: Progress | None = None,
) -> KeptRows:
    """Return a row for each source, on the device."""
    c = reverse_values(customization) if reverse else customization
    return _fill_kept(Rows(elimination, c, sources, None, predecessors), device, progress)


def matrix_on_device(
    elimination: Elimination,
    customization: Customization,
    sources: HostArray,
    targets: HostArray,
    *,
    reverse: bool = False,
    device: str = "cuda",
    progress: Progress | None = None,
) -> KeptRows:
    """Return the values from each source to each target, on the device."""
    c = reverse_values(customization) if reverse else customization
    return _fill_kept(Rows(elimination, c, sources, targets), device, progress)


def _fill_kept(wanted: Rows, kind: str, progress: Progress | None) -> KeptRows:
    device = open_device(kind)
    shape = (len(wanted.sources), wanted.columns)
    values = device.empty(shape, wanted.customization.dtype, "kept values")
    found = device.empty(shape, np.int32, "kept predecessors") if wanted.predecessors else None
    if values.size > 0:
        sources = device.upload(wanted.sources.astype(np.int32, copy=False), "sources")
        with open_batch(wanted, device, buffers=0) as (batch, width):
            kept = RowBuffers(values, found)
            fill_kept(batch, width, sources, kept, _NONE, progress or _silent)
    rows = KeptRows(device, values, found)
    repair_kept(wanted, rows)
    return rows


def repair_kept(wanted: Rows, rows: KeptRows) -> None:
    """Repair predecessors on the device; the host does it, where it is needed."""
    if rows.predecessors is None or is_safe(wanted.customization):
        return
    values, found = (rows.device.download(array) for array in (rows.values, rows.predecessors))
    repair_trees(wanted.elimination, wanted.customization, wanted.sources, values, found, cores())
    rows.device.copy(rows.predecessors, found)
    rows.device.synchronize()


# ---- batches ------------------------------------------------------------------------------------


@contextmanager
def open_batch(wanted: Rows, device: Device, buffers: int) -> Iterator[tuple[TreeBatch, int]]:
    """Yield a batch, and its width: as many sources as fit with so many buffers of rows.

    Its workspace waits for the next call, unless it is large or this one ends with an error.
    """
    custom, paths = wanted.customization, wanted.predecessors
    placed = place_elimination(wanted.elimination, device)
    values, last = placed.values(custom), None
    if paths:
        last = placed.last_vertices(wanted.elimination, custom)
    kernels = device.kernels("prepared_trees", **variant(custom.semiring, custom.up.dtype))
    selection = Selection(placed)
    if wanted.targets is not None:
        targets = device.upload(wanted.targets.astype(np.int32, copy=False), "targets")
        selection = select_ancestors(placed, kernels, targets)
    space = _workspace(wanted, placed, buffers)
    try:
        yield TreeBatch(placed, custom.semiring, values, last, selection, space), space.width
    finally:  # nothing may use memory that is freed now
        device.synchronize()
    if space.nbytes <= tuning.IDLE_PART * device.free_memory():
        placed.keep_idle(space.key, space)


def _workspace(wanted: Rows, placed: DeviceElimination, buffers: int) -> TreeWorkspace:
    custom, total, paths = wanted.customization, len(wanted.sources), wanted.predecessors
    most = tuning.TREE_SOURCES if wanted.targets is None else tuning.MATRIX_SOURCES
    most = ceil_div(total, ceil_div(total, most))
    kind, number = custom.up.dtype, custom.dtype.itemsize + (4 if paths else 0)
    idle: TreeWorkspace | None = placed.take_idle(TreeWorkspace.key_of(kind, most, paths))
    if idle is not None:
        return idle

    def needed(width: int) -> int:
        space = TreeWorkspace.needed(placed, kind, width, paths)
        return space + min(buffers, ceil_div(total, width)) * width * wanted.columns * number

    what = f"batches of sweeps over {placed.n:,} vertices"
    return TreeWorkspace(placed, kind, largest_width(placed.device, most, needed, what), paths)
