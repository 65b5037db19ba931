"""Batches of climbs and sweeps on a device; kernels in ``kernels/prepared_trees.cu``."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from kleene.backends.cuda.prepared_device import DeviceElimination, PairArrays, variant
from kleene.backends.cuda.row_batches import RowBuffers
from kleene.backends.cuda.runtime.interface import Argument, Array, Device, Kernel, ceil_div
from kleene.backends.cuda.runtime.structs import constant, struct_type
from kleene.backends.cuda.tuning import prepared as tuning

__all__ = ["Selection", "TreeBatch", "TreeWorkspace", "select_ancestors"]

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
