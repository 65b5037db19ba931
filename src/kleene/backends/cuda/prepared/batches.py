"""Batches of climbs and sweeps on a device; kernels in ``kernels/prepared/prepared_trees.cu``."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.backends.answer import Answer, KeptRows
from kleene.backends.common.johnson import johnson
from kleene.backends.cuda.graph import deriving
from kleene.backends.cuda.prepared.customize import customize
from kleene.backends.cuda.prepared.layout import (
    DeviceElimination,
    PairArrays,
    place_elimination,
    variant,
)
from kleene.backends.cuda.rows import (
    RowBuffers,
    RowWriter,
    copy_threads,
    fill_host,
    fill_kept,
    fill_rows,
    largest_width,
)
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import Argument, Array, Device, Kernel, ceil_div
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import prepared as tuning
from kleene.backends.cuda.tuning import transfers
from kleene.backends.task import Progress, Task
from kleene.prepared.cache import Preparation
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.prepared.sweeps import is_safe, repair_trees, reverse_values
from kleene.system.machine import cores

__all__ = [
    "Rows",
    "Selection",
    "TreeBatch",
    "TreeWorkspace",
    "matrix",
    "matrix_on_device",
    "open_batch",
    "repair_kept",
    "rows",
    "select_ancestors",
    "trees",
    "trees_on_device",
]

_FILE = "prepared_trees"
_ROW_THREADS = constant(_FILE, "kRowThreads")
_SWEEP_THREADS = constant(_FILE, "kSweepThreads")

#: Kernels that write answers in another integer type than that of the values, by its size.
_OTHER_INTEGERS = {4: "_int", 8: "_long"}


def group_size(dtype: np.dtype[Any]) -> int:
    """Return the sources of a group, kGroup."""
    return 32 * constant(_FILE, "kRowBytes") // max(4, dtype.itemsize)


# ---- which vertices a matrix needs --------------------------------------------------------------


class Selection:
    """Vertices by piece and level that a sweep visits: all, or the ancestors of some targets."""

    def __init__(self, placed: DeviceElimination) -> None:
        self.vertices, self.counts = placed.vertices, placed.counts
        self.columns: Array | None = None  # vertices of the graph; None for all


def select_ancestors(placed: DeviceElimination, kernels: Any, targets: Array) -> Selection:
    """Return the targets and their ancestors, without which their values cannot be known."""
    device, selection = placed.device, Selection(placed)
    marks = device.zeros(placed.n, np.uint32, "marks")
    selection.vertices = device.empty(placed.n, placed.vertices.dtype, "selected vertices")
    selection.counts = device.empty(placed.level_count, np.int32, "selected counts")
    selection.columns = targets
    kernels["prepared_mark"].launch(
        (ceil_div(targets.size, _ROW_THREADS),),
        (_ROW_THREADS,),
        (targets, targets.size, placed.ranks, placed.parents, marks),
    )
    kernels["prepared_select"].launch(
        (ceil_div(placed.level_count, _ROW_THREADS // 32),),
        (_ROW_THREADS,),
        (
            placed.vertices,
            placed.levels,
            placed.level_count,
            marks,
            selection.vertices,
            selection.counts,
        ),
    )
    return selection


# ---- memory -------------------------------------------------------------------------------------


class TreeWorkspace:
    """Buffers for the climbs and sweeps of one batch."""

    def __init__(
        self, placed: DeviceElimination, dtype: np.dtype[Any], width: int, paths: bool
    ) -> None:
        device, group = placed.device, group_size(dtype)
        self.nbytes = self.needed(placed, dtype, width, paths)
        self.width, self.key = width, self.key_of(dtype, width, paths)
        groups = ceil_div(width, group)
        lanes, climbs = groups * group, (groups * group, placed.tree_levels)
        rows = (groups, placed.n, group)
        self.source_ranks = device.empty(lanes, np.int32, "source ranks")
        self.climbed = device.empty(climbs, dtype, "climbs")
        self.values = device.empty(rows, dtype, "values by rank")
        self.climbed_last: Array | None = None
        self.predecessors: Array | None = None
        if paths:
            self.climbed_last = device.empty(climbs, np.int32, "climbs' predecessors")
            self.predecessors = device.empty(rows, np.int32, "predecessors by rank")
        self.finished = device.empty(placed.pieces * groups, np.uint32, "finished pieces")
        self.taken = device.empty(1, np.uint32, "taken pieces")

    @staticmethod
    def key_of(dtype: np.dtype[Any], width: int, paths: bool) -> Hashable:
        """Return what a workspace depends on besides the elimination."""
        return dtype.str, width, paths

    @staticmethod
    def needed(placed: DeviceElimination, dtype: np.dtype[Any], width: int, paths: bool) -> int:
        """Return the device bytes of a workspace."""
        group = group_size(dtype)
        groups = ceil_div(width, group)
        number = dtype.itemsize + (4 if paths else 0)
        row = (placed.n + placed.tree_levels) * number + 4
        return groups * (group * row + 4 * placed.pieces)


# ---- batches ------------------------------------------------------------------------------------


class TreeBatch:
    """Fills rows of the answer, a batch of sources at a time."""

    def __init__(
        self,
        placed: DeviceElimination,
        semiring: str,
        values: PairArrays,
        last: PairArrays | None,
        selection: Selection,
        workspace: TreeWorkspace,
    ) -> None:
        self._device: Device = placed.device
        self._placed, self._selection, self._space = placed, selection, workspace
        self._group = group_size(values.up.dtype)
        macros = variant(semiring, values.up.dtype)
        self._kernels = placed.device.kernels(_FILE, **macros)
        paths = "_paths" if workspace.predecessors is not None else ""
        self._sweep: Kernel = self._kernels[f"prepared_sweep{paths}"]
        self._climb_params = struct_type(_FILE, "ClimbParams", **macros).pack(
            offsets=placed.offsets,
            heads=placed.heads,
            depths=placed.depths,
            up=values.up,
            last=None if last is None else last.up,
            ranks=placed.ranks,
            sources=None,
            count=0,
            lanes=0,
            levels=placed.tree_levels,
            source_ranks=workspace.source_ranks,
            climbed=workspace.climbed,
            climbed_last=workspace.climbed_last,
        )
        self._sweep_params = struct_type(_FILE, "SweepParams", **macros).pack(
            vertices=selection.vertices,
            levels=placed.levels,
            counts=selection.counts,
            piece_levels=placed.piece_levels,
            piece_parents=placed.piece_parents,
            heads=placed.heads,
            down=values.down,
            last=None if last is None else last.down,
            source_ranks=workspace.source_ranks,
            climbed=workspace.climbed,
            climbed_last=workspace.climbed_last,
            values=workspace.values,
            predecessors=workspace.predecessors,
            taken=workspace.taken,
            finished=workspace.finished,
            pieces=placed.pieces,
            groups=0,
            n=placed.n,
            tree_levels=placed.tree_levels,
        )

    def start(self, sources: Array, rows: RowBuffers) -> None:
        """Launch everything; does not wait."""
        with self._device.timer.span("compute", self._device.main):
            self.climb(sources)
            self.sweep()
            self.write(rows)

    def finish(self) -> None:
        """Return the horizon: none, all rows are complete."""

    def climb(self, sources: Array) -> None:
        """Find the best paths from the sources to their ancestors."""
        self._count = sources.size
        self._groups = ceil_div(sources.size, self._group)
        lanes = self._groups * self._group
        self._climb_params.update(sources=sources, count=sources.size, lanes=lanes)
        blocks = ceil_div(32 * lanes, _ROW_THREADS)
        self._kernels["prepared_climb"].launch((blocks,), (_ROW_THREADS,), (self._climb_params,))

    def sweep(self) -> None:
        """Find the values of all selected vertices, from the roots down."""
        for counter in (self._space.taken, self._space.finished):
            self._device.fill(counter, 0)
        self._sweep_params.update(groups=self._groups)
        resident = self._sweep.resident_blocks(_SWEEP_THREADS)
        blocks = (min(self._groups * self._placed.pieces, resident),)
        # Blocks wait for each other: all must be resident.
        self._sweep.launch(blocks, (_SWEEP_THREADS,), (self._sweep_params,), cooperative=True)

    def write(self, rows: RowBuffers) -> None:
        """Write the rows of the answer."""
        space, count, columns = self._space, self._count, rows.values.shape[1]
        answer = rows.values.view(np.uint8) if rows.values.dtype.kind == "b" else rows.values
        kind = "" if answer.dtype == space.values.dtype else _OTHER_INTEGERS[answer.dtype.itemsize]
        shape = (self._placed.n, self._placed.ranks, self._selection.columns, columns, count)
        self._write(f"prepared_write{kind}", count, columns, space.values, *shape, answer)
        if rows.predecessors is not None:
            found = (space.predecessors, *shape, rows.predecessors)
            self._write("prepared_write_predecessors", count, columns, *found)

    def _write(self, name: str, rows: int, columns: int, *args: Argument) -> None:
        """Launch a block for each 32 x 32 numbers, as far as they are resident."""
        tiles = ceil_div(rows, 32) * ceil_div(columns, 32)  # and some without a source
        most = tuning.BLOCKS_PER_MULTIPROCESSOR * self._device.multiprocessors
        self._kernels[name].launch((min(tiles, most),), (_ROW_THREADS,), args)


# ---- Trees and matrices of a prepared graph on a GPU --------------------------------------------
# The functions mirror those of ``kleene.prepared.sweeps``. Rows leave the device in batches, while
# the next batch runs, or stay there.
#
# Cost on highways (560,282 vertices, 2.4 M pairs), 1024 trees of 4-byte lengths and 8-byte answers:
# the sweep writes 2.3 GB and reads 9.8 GB, mostly from the caches; the rows of the answer read 2.3
# GB and write 4.6 GB. At 4 TB/s that is some 4 ms, 4 us a tree; the copy to the host at 55 GB/s
# takes 84 ms. A matrix of 10,000 targets visits their 90,000 ancestors with 1.0 M pairs.

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


# ---- Rows by elimination on a GPU: the method ``prepared`` of sssp, apsp and closure ------------
# Order and elimination run on the host, once for a graph (``kleene.prepared.cache``); weights are
# customized and rows are swept on the device.


def rows(task: Task) -> Answer:
    """Return one row per source: the best paths over the task's semiring."""
    graph, semiring = task.graph, task.semiring.name
    if graph.n == 0 or len(task.sources) == 0:
        return Answer(task.empty_values(), task.empty_predecessors())
    on_device = partial(customize, device=task.device)
    with deriving():
        parts = Preparation.of(graph).sure_parts(
            graph, semiring, task.dtype, threads=task.threads, by=on_device
        )
    if parts is None:
        return johnson(task)
    elimination, customization = parts
    wanted = Rows(elimination, customization, task.sources, None, task.predecessors)
    device, whole = open_device(task.device), replace(task, limit=None, targets=None)
    with open_batch(wanted, device, buffers=0 if task.keep else 2) as (batch, width):
        answer = fill_rows(whole, device, batch, width)
    if answer.kept is not None:
        repair_kept(wanted, answer.kept)
    elif answer.predecessors is not None:
        found = answer.values, answer.predecessors
        repair_trees(elimination, customization, task.sources, *found, task.threads)
    return answer
