"""The emulated device: CUDA kernels run on the CPU by ``kleene._emulator``.

With seed 0 everything runs immediately and in order. Any other seed shuffles the threads of a block
at every barrier, the blocks of a launch and the work of unordered streams, which exposes code that
relies on an accidental order. Work then stays in its stream until the host synchronises.

The checked build of the emulator also checks every memory access.

There may be several devices, for code that uses several GPUs. Each has memory and streams of its
own, and a kernel that is given an array of another device is refused. All devices share a schedule:
a thread that waits for one may run the work of another, in an order that events allow.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kleene.backends.cuda.runtime.emulated_memory import (
    EmulatedMemory,
    EmulatedStream,
    PinnedArray,
    as_numpy,
)
from kleene.backends.cuda.runtime.interface import Argument, Array, HostArray, Shape, memory_budget
from kleene.backends.cuda.runtime.loader import find_variant
from kleene.backends.cuda.runtime.structs import Signature, arrays_of
from kleene.backends.cuda.runtime.timing import ThreadTimer
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.devices import count_from, device_name
from kleene.system.formatting import format_bytes
from kleene.system.live_set import LiveSet
from kleene.system.machine import cores

__all__ = [
    "EmulatedDevice",
    "EmulatedKernel",
    "open_emulated",
]

#: A thread that yields this often without progress of any thread is stuck.
_YIELDS = 1 << 21
_GARBAGE = 0xCD

#: The checker of a module follows one launch at a time.
_CHECKING: dict[str, threading.RLock] = {}


class _Schedule:
    """The streams of devices that may wait for each other, and what runs next."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.streams: LiveSet[EmulatedStream] = LiveSet()
        self.lock = threading.RLock()  # a thread runs work of any device


class EmulatedDevice:
    """An emulated GPU of four multiprocessors.

    Parameters
    ----------
    seed : int
        The schedule; 0 runs everything in order.
    module : str
        The native module with the kernels: ``_emulator``, or ``_emulator_checked``.
    memory : int
        Bytes of device memory.
    index : int
        Its number among several devices.
    beside : EmulatedDevice, optional
        Another device of the same seed, whose schedule this one shares.
    """

    kind = "emulated"
    ordinal = 0
    capability = (9, 0)
    multiprocessors = 4
    shared_memory = 99 * 1024

    def __init__(
        self,
        seed: int = 0,
        module: str = "_emulator",
        memory: int = 2**33,
        yields: int = _YIELDS,
        index: int = 0,
        beside: EmulatedDevice | None = None,
    ) -> None:
        self.native: Any = import_module(f"kleene.{module}")
        self.checked = bool(self.native.checked)
        self.checking: AbstractContextManager[Any] = nullcontext()
        if self.checked:
            self.checking = _CHECKING.setdefault(module, threading.RLock())
        self.index = index
        self.name = "the emulator" + (f" ({device_name('emulated', index)})" if index else "")
        self.live: dict[int, int] = {}  # bytes of all arrays, by address; needs no lock
        self.seed, self.memory, self.yields = seed, memory, yields
        self.peak = 0
        self.timer = ThreadTimer()
        self.launches = 0
        self.joined: list[EmulatedStream] = []  # streams under capture
        self._schedule: _Schedule = _Schedule(seed) if beside is None else beside._schedule
        self.main = self.stream()
        self._kernels: dict[tuple[str, str], dict[str, EmulatedKernel]] = {}
        for number, file, variant, name, codes, max_threads in self.native.kernels():
            title = f"kernel {name} ({file}.cu{', ' if variant else ''}{variant})"
            kernel = EmulatedKernel(self, number, name, title, codes, max_threads)
            self._kernels.setdefault((file, variant), {})[name] = kernel

    @property
    def allocated(self) -> int:
        return sum(list(self.live.values()))

    def free_memory(self) -> int:
        budget = memory_budget()
        total = self.memory if budget is None else min(budget, self.memory)
        return max(0, total - self.allocated)

    def empty(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        if self.joined:
            raise KernelError("memory cannot be allocated while a stream is captured")
        extents = (shape,) if isinstance(shape, int) else shape
        kind = np.dtype(dtype)
        nbytes = prod(extents) * kind.itemsize
        if nbytes > self.free_memory():
            raise MemoryBudgetError(
                f"{format_bytes(nbytes)} requested on {self.name}, "
                f"{format_bytes(self.free_memory())} free"
            )
        memory = EmulatedMemory(self, nbytes, kind, name)
        if nbytes < 2**20 or self.seed != 0:
            memory.bytes[...] = _GARBAGE
        return Array.new(memory.address, extents, kind, memory, name)

    def zeros(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        array = self.empty(shape, dtype, name)
        self.fill(array, 0)
        return array

    def pinned(self, shape: int | Shape, dtype: DTypeLike) -> HostArray:
        return np.empty(shape, dtype).view(PinnedArray)

    def copy(
        self, to: Array | HostArray, source: Array | HostArray, stream: EmulatedStream | None = None
    ) -> None:
        if to.shape != source.shape or to.dtype != source.dtype:
            raise TypeError(f"copy of {source.dtype} {source.shape} to {to.dtype} {to.shape}")
        self.require_own(f"a copy on {self.name}", (to, source))
        self._copy(to, source, self.in_stream(stream))

    def copy_from(self, to: Array, source: Array, stream: EmulatedStream | None = None) -> None:
        if to.shape != source.shape or to.dtype != source.dtype:
            raise TypeError(f"copy of {source.dtype} {source.shape} to {to.dtype} {to.shape}")
        self.require_own(f"a copy to {self.name}", (to,))
        self._copy(to, source, self.in_stream(stream))

    def _copy(self, to: Array | HostArray, source: Array | HostArray, on: EmulatedStream) -> None:
        for end in (to, source):
            if on.recording is not None and not isinstance(end, (Array, PinnedArray)):
                raise KernelError("a captured copy from or to pageable host memory")
        if not isinstance(source, (Array, PinnedArray)):
            source = source.copy()  # staged before the call returns, as by a driver
        keep = (to, source)

        def run() -> None:
            as_numpy(keep[0])[...] = as_numpy(keep[1])

        part = "copy_in" if not isinstance(source, Array) else ""
        if not isinstance(to, Array):
            part = "copy_out"
        with self.timer.span("" if on.recording is not None else part, on):
            on.put(run)
        if not isinstance(to, (Array, PinnedArray)):
            on.synchronize()

    def fill(self, array: Array, byte: int, stream: EmulatedStream | None = None) -> None:
        def run() -> None:
            whole = np.frombuffer(bytes([byte]) * array.dtype.itemsize, array.dtype)
            as_numpy(array)[...] = whole[0]

        self.in_stream(stream).put(run)

    def upload(
        self, source: HostArray, name: str = "", stream: EmulatedStream | None = None
    ) -> Array:
        array = self.empty(source.shape, source.dtype, name)
        self.copy(array, source, stream)
        return array

    def download(
        self, source: Array, out: HostArray | None = None, stream: EmulatedStream | None = None
    ) -> NDArray[Any]:
        result = np.empty(source.shape, source.dtype) if out is None else out
        self.copy(result, source, stream)
        self.in_stream(stream).synchronize()
        return result

    def stream(self, urgent: bool = False) -> EmulatedStream:
        stream = EmulatedStream(self)
        if self.seed != 0:  # else its work is done at once
            with self._schedule.lock:
                self._schedule.streams.add(stream)
        return stream

    def kernels(self, file: str, **defines: str | int) -> Mapping[str, EmulatedKernel]:
        known = self._kernels.get((file, "")) if not defines else None
        return known or self._kernels[file, find_variant(file, defines)]

    def synchronize(self) -> None:
        own = [stream for stream in self._all_streams() if stream.device is self]
        self.run_until(lambda: not any(stream.queue for stream in own))

    # ---- for the classes above -------------------------------------------------------------------

    def in_stream(self, stream: EmulatedStream | None) -> EmulatedStream:
        return self.main if stream is None else stream

    def require_own(self, what: str, arrays: Sequence[Array | HostArray]) -> None:
        """Raise KernelError for an array of another device, which a GPU could not reach."""
        for array in arrays:
            memory = array.owner if isinstance(array, Array) else None
            if isinstance(memory, EmulatedMemory) and memory.device is not self:
                title = f"array {memory.name!r}" if memory.name else "an array"
                raise KernelError(f"{what} uses {title} of {memory.device.name}")

    def pick(self, candidates: Sequence[Any]) -> Any:
        return candidates[0] if self.seed == 0 else self._schedule.random.choice(candidates)

    def run_until(self, finished: Callable[[], bool]) -> None:
        """Run the work of all streams, in an order that events allow."""
        if self.joined:
            raise KernelError("the host cannot synchronise while a stream is captured")
        while not finished():
            with self._schedule.lock:
                if finished():  # another thread ran it
                    return
                free = [
                    stream
                    for stream in self._all_streams()
                    if stream.queue
                    and ((first := stream.queue[0][0]) is None or first.time is not None)
                ]
                if not free:
                    raise KernelError("deadlock: streams wait for an event that is never recorded")
                self.pick(free).queue.popleft()[1]()

    def _all_streams(self) -> list[EmulatedStream]:
        if self.seed == 0:
            return []
        with self._schedule.lock:
            return sorted(self._schedule.streams, key=id)

    def resident_blocks(self, threads: int, shared: int) -> int:
        """Return the value for 2048 threads and 100 KiB of shared memory per multiprocessor."""
        by_memory = (100 * 1024) // (shared + 1024)
        return self.multiprocessors * min(2048 // max(threads, 1), by_memory, 4)


def open_emulated(index: int = 0) -> EmulatedDevice:
    """Return one of the emulated devices that the environment selects.

    KLEENE_EMULATOR_DEVICES is their number, KLEENE_EMULATOR_SEED selects the schedule,
    KLEENE_EMULATOR=checked the checked build.
    """
    count = count_from("KLEENE_EMULATOR_DEVICES")
    if index >= count:
        raise DeviceError(
            f"there is no device {device_name('emulated', index)!r}: there "
            f"{'is' if count == 1 else 'are'} {count}, counted from 0, and "
            "KLEENE_EMULATOR_DEVICES=4 emulates four"
        )
    text = os.environ.get("KLEENE_EMULATOR_SEED") or "0"
    if not text.isdecimal():
        raise DeviceError(f"KLEENE_EMULATOR_SEED must be a non-negative integer, not {text!r}")
    seed = int(text)
    kind = os.environ.get("KLEENE_EMULATOR", "")
    module = f"_emulator_{kind}" if kind else "_emulator"
    found = _opened.get((seed, module, index))
    if found is None:
        first = None if index == 0 else open_emulated()
        try:
            made = EmulatedDevice(seed, module, index=index, beside=first)
        except ImportError as error:
            raise DeviceError(f"this build of Kleene does not have the emulator: {error}") from None
        found = _opened.setdefault((seed, module, index), made)  # another thread may be first
    return found


_opened: dict[tuple[int, str, int], EmulatedDevice] = {}


# ---- Kernels on the emulated device -------------------------------------------------------------
# Strict checks of arguments and launches, and their messages.

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
