"""Kernels on the emulated device: strict checks of arguments and launches, and their messages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from kleene.backends.cuda.runtime.interface import Argument, Array, Shape
from kleene.backends.cuda.runtime.signature import Signature, arrays_of
from kleene.errors import DeviceError, KernelError
from kleene.system.machine import cores

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
    from kleene.backends.cuda.runtime.emulated_stream import EmulatedStream

__all__ = ["EmulatedKernel"]

_WORTH_WORKERS = 1 << 12  # threads of a launch that are worth several workers


class EmulatedKernel:
    def __init__(
        self, device: EmulatedDevice, number: int, name: str, title: str, codes: list[str],
        max_threads: int,
    ) -> None:  # fmt: skip
        self.name = name
        self._device, self._number, self._title = device, number, title
        self._signature = Signature(title, codes)
        self._max_threads = max_threads or 1024

    def launch(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[Argument],
        shared: int = 0,
        stream: EmulatedStream | None = None,
        cooperative: bool = False,
    ) -> None:
        device = self._device
        full_grid, full_block = _three(grid), _three(block)
        self._check(full_grid, full_block, shared, cooperative)
        packed = self._signature.pack(args)
        kept = arrays_of(args)
        device.require_own(self._title, kept)
        threads = prod(full_grid) * prod(full_block)
        workers = cores() if threads >= _WORTH_WORKERS else 1

        def run(_kept: list[Array] = kept) -> None:  # keeps arrays alive until the launch runs
            device.launches += 1
            try:
                with device.checking:
                    device.native.launch(
                        self._number, full_grid, full_block, packed, shared, cooperative,
                        device.seed and device.seed + device.launches, device.yields, workers,
                    )  # fmt: skip
            except device.native.KernelError as error:
                raise KernelError(_with_lines(device.native.__file__, str(error))) from None
            except device.native.ThreadError as error:
                raise DeviceError(
                    f"{error}. Raise the limit of processes (ulimit -u) or of memory, "
                    "or choose another device or method"
                ) from None

        device.in_stream(stream).put(run)

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        return self._device.resident_blocks(threads, shared)

    def _check(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        cooperative: bool,
    ) -> None:
        """Raise KernelError for launches that a driver refuses."""
        limit = self._device.resident_blocks(prod(block), shared) if cooperative else 2**31 - 1
        wrong = None
        if min(grid) < 1 or grid[0] > 2**31 - 1 or max(grid[1:]) > 65535:
            wrong = f"a grid of {grid} blocks"
        elif min(block) < 1 or prod(block) > self._max_threads or block[2] > 64:
            wrong = f"blocks of {block} threads, with at most {self._max_threads} allowed"
        elif shared > self._device.shared_memory:
            wrong = f"{shared} bytes of shared memory, with {self._device.shared_memory} available"
        elif prod(grid) > limit:
            wrong = f"{prod(grid)} cooperative blocks, with room for {limit}"
        if wrong is not None:
            raise KernelError(f"{self._title}: launched with {wrong}")


def _three(shape: Shape) -> tuple[int, int, int]:
    x, y, z = (*map(int, shape), 1, 1)[:3]
    return x, y, z


def _with_lines(library: str, message: str) -> str:
    """Replace code addresses in a message by source lines, if addr2line is installed."""

    def line(match: re.Match[str]) -> str:
        command = ["addr2line", "-e", library, hex(int(match[1], 16) - 1)]
        try:
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return match[0]
        location = output.strip().rpartition("/")[2].partition(" ")[0]
        # Older versions return the file that includes the kernel; see variants.py.
        return match[0] if "?" in location else re.sub(r"_\d+\.cpp:", ".cu:", location)

    return re.sub(r"pc\+(0x[0-9a-f]+)", line, message)
