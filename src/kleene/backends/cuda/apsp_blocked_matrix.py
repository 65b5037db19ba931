"""What all versions of blocked Floyd-Warshall share: a matrix on the device, split into blocks.

The phases for one block are in ``kernels/apsp_blocked.cuh``; here are their launches, the layout of
blocks in shared memory, and the copies of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import lcm
from typing import Any

import numpy as np

from kleene.backends.answer import Answer
from kleene.backends.common.dense_driver import close_matrix, plain_form
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.runtime.interface import (
    Device,
    HostArray,
    Kernel,
    ceil_div,
    ctype,
    require_memory,
)
from kleene.backends.cuda.runtime.structs import struct_type
from kleene.backends.cuda.tuning import apsp as tuning
from kleene.backends.task import Task
from kleene.errors import RequestError
from kleene.system.cached_property import cached_property
from kleene.system.formatting import format_bytes

__all__ = ["BlockedMatrix", "bank_conflict", "run"]


def bank_conflict(side: int, itemsize: int = 4) -> bool:
    """Return whether reading a column of a block has bank conflicts in shared memory.

    The banks deliver 128 bytes at a time: to 32 threads, or to 16 with 8-byte numbers. Rows that
    are lcm(side, banks) / side apart share a bank; there is a conflict if a warp reads two of them.

    >>> [side for side in range(1, 33) if bank_conflict(side)]
    [8, 12, 16, 18, 20, 22, 24, 26, 28, 30, 32]
    """
    banks = 128 // itemsize
    return lcm(side, banks) <= (min(side, banks) - 1) * side


class BlockedMatrix:
    """A matrix and its predecessors on the device, split into blocks."""

    def __init__(
        self,
        method: str,
        task: Task,
        block: int,
        matrix: HostArray,
        predecessors: HostArray | None,
    ) -> None:
        self.task = task
        self.device: Device = open_device(task.device)
        self.host = (matrix,) if predecessors is None else (matrix, predecessors)
        self.n = len(matrix)
        self.side = min(block or tuning.BLOCKED_SIDE, self.n)
        self.count = ceil_div(self.n, self.side)
        self.threads = (min(self.side, 32),) * 2
        what = f"apsp by {method} on {self.n:,} vertices"
        require_memory(self.device, sum(array.nbytes for array in self.host), what)
        self.arrays = [self.device.empty(array.shape, array.dtype) for array in self.host]
        self.d, self.predecessors = (
            self.arrays[0],
            self.arrays[1] if predecessors is not None else None,
        )
        self.cycle = self.device.zeros(1, np.int32, "cycle")
        self._files: dict[str, Mapping[str, Kernel]] = {}
        params = struct_type("apsp_blocked_shared", "BlockedParams", KL_TYPE=ctype(task.dtype))
        #: The first argument of all kernels in apsp_blocked_*.cu.
        self.params = params.pack(
            d=self.d, predecessors=self.predecessors, n=self.n, cycle=self.cycle, side=self.side,
            column_major=0, pitch=self.side, down=self.side, across=1,
        )  # fmt: skip
        self.pitch = self.side

    def kernels(self, file: str) -> Mapping[str, Kernel]:
        if file not in self._files:
            paths = int(self.predecessors is not None)
            defines: dict[str, str | int] = {"KL_TYPE": ctype(self.task.dtype), "KL_PATHS": paths}
            self._files[file] = self.device.kernels(file, **defines)
        return self._files[file]

    # ---- shared memory --------------------------------------------------------------------------

    def by_columns(self) -> None:
        """Let adjacent threads have adjacent rows, not columns."""
        self.params.update(column_major=1)

    def without_conflicts(self) -> None:
        """Choose a layout without bank conflicts, for threads by columns.

        The diagonal block is read by rows and by columns: its rows are padded by a cell. Elsewhere
        only the left factor is read by columns: it is transposed.
        """
        self.by_columns()
        if bank_conflict(self.side, self.d.dtype.itemsize):
            self.pitch = self.side + 1
            self.params.update(pitch=self.pitch, down=1, across=self.side)

    def check(self) -> None:
        """Load kernels and check shared memory, which is not allowed during capture."""
        self.kernels("apsp_blocked_shared")
        _ = self.two_blocks

    @property
    def one_block(self) -> int:
        """Bytes of a padded block in shared memory."""
        return self.two_blocks * self.pitch // (2 * self.side)

    @cached_property
    def two_blocks(self) -> int:
        """Bytes of two blocks in shared memory; RequestError if they do not fit."""
        needed = 2 * self.side**2 * self.d.dtype.itemsize
        if needed > self.device.shared_memory:
            most = int((self.device.shared_memory / (2 * self.d.dtype.itemsize)) ** 0.5)
            raise RequestError(
                f"two blocks of side {self.side} take {format_bytes(needed)} of shared memory, and "
                f"{self.device.name} has {format_bytes(self.device.shared_memory)}; the side can "
                f"be up to {most} here"
            )
        return needed

    # ---- the phases -----------------------------------------------------------------------------

    def diagonal(self, t: int, stream: Any = None, grid: tuple[int, int] = (1, 1)) -> None:
        """Phase 1, in shared memory."""
        self.kernels("apsp_blocked_shared")["apsp_blocked_shared_diagonal"].launch(
            grid, self.threads, (self.params, t), self.one_block, stream
        )

    def whole(self, phase: str, grid: tuple[int, int], t: int, stream: Any = None) -> None:
        """All blocks of phase 2 (``cross``) or 3 (``rest``), in shared memory."""
        if grid[0] == 0:
            return
        self.kernels("apsp_blocked_shared")[f"apsp_blocked_shared_{phase}"].launch(
            grid, self.threads, (self.params, t), self.two_blocks, stream
        )

    def piece(
        self,
        t: int,
        rows: tuple[int, int],
        columns: tuple[int, int],
        stream: Any = None,
        grid: tuple[int, int] | None = None,
    ) -> None:
        """A rectangle of blocks in phase 2 or 3, from a first block to one before the end."""
        height, width = rows[1] - rows[0], columns[1] - columns[0]
        if height <= 0 or width <= 0:
            return
        args = (self.params, t, rows[0], height, columns[0], width)
        self.kernels("apsp_blocked_shared")["apsp_blocked_shared_piece"].launch(
            grid or (width, height), self.threads, args, self.two_blocks, stream
        )

    # ---- copies and rounds ----------------------------------------------------------------------

    def upload(self) -> None:
        for array, host in zip(self.arrays, self.host, strict=True):
            self.device.copy(array, host)

    def rounds(self, one: Callable[[int], None]) -> None:
        """Run all rounds; synchronise and report progress now and then."""
        with self.computing():
            for t in range(self.count):
                one(t)
                if (t + 1) % tuning.BLOCKED_ROUNDS == 0:
                    self.device.synchronize()
                    self.task.report(t + 1, self.count)

    def computing(self) -> AbstractContextManager[None]:
        """Time the work of the main stream, and what it waits for, as computation."""
        return self.device.timer.span("compute", self.device.main)

    def download(self) -> bool:
        """Copy the result to the host; False on a negative cycle."""
        self.device.synchronize()
        if self.device.download(self.cycle)[0]:
            return False
        for array, host in zip(self.arrays, self.host, strict=True):
            self.device.download(array, host)
        return True


Version = Callable[[BlockedMatrix], bool]  # closes the matrix; False at a negative cycle


def run(method: str, version: Version, task: Task, block: int = 0) -> Answer:
    """Close the matrix of a task by one version."""

    def engine(matrix: HostArray, predecessors: HostArray | None) -> bool:
        if len(matrix) == 0:
            task.report(1, 1)
            return True
        blocks = BlockedMatrix(method, task, block, matrix, predecessors)
        closed = version(blocks)
        if closed:
            task.report(blocks.count, blocks.count)
        return closed

    return close_matrix(engine, plain_form(method, task), task)
