"""The emulated device: CUDA kernels run on the CPU by ``kleene._emulator``.

With seed 0 everything runs immediately and in order. Any other seed shuffles the threads of a block
at every barrier, the blocks of a launch and the work of unordered streams, which exposes code that
relies on an accidental order. Work then stays in its stream until the host synchronises.

The checked build of the emulator also checks every memory access.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kleene.backends.cuda.runtime.device import Argument, Array, HostArray, Shape, memory_budget
from kleene.backends.cuda.runtime.loader import Signature, find_variant
from kleene.backends.cuda.runtime.timing import ThreadTimer
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.formatting import format_bytes
from kleene.system.machine import cores

__all__ = ["EmulatedDevice"]

#: A thread that yields this often without progress of any thread is stuck.
_YIELDS = 1 << 21
_WORTH_WORKERS = 1 << 12  # threads of a launch that are worth several workers
_GARBAGE = 0xCD

Work = Callable[[], None]


# ---- memory -------------------------------------------------------------------------------------


class _Memory:
    """Emulated device memory, freed with the last reference."""

    def __init__(self, device: EmulatedDevice, nbytes: int, item: int, name: str) -> None:
        # Aligned to 256 bytes, as in CUDA.
        self._memory = np.empty(nbytes + 256, np.uint8)
        self.address = -(-self._memory.ctypes.data // 256) * 256
        self.bytes = self._memory[self.address - self._memory.ctypes.data :][:nbytes]
        device.allocated += nbytes
        device.peak = max(device.peak, device.allocated)
        if device.native.checked:
            device.native.register_array(self.address, nbytes, item, name)
        weakref.finalize(self, _free, weakref.ref(device), device.native, self.address, nbytes)


def _free(device_ref: weakref.ref[EmulatedDevice], native: Any, address: int, nbytes: int) -> None:
    if native.checked:
        native.forget_array(address)
    device = device_ref()
    if device is not None:
        device.allocated -= nbytes


class _Pinned(np.ndarray[Any, Any]):
    """Host memory from :meth:`EmulatedDevice.pinned`; copies from and to it are asynchronous."""


def _as_numpy(array: Array | HostArray) -> HostArray:
    """Return a NumPy view of a device or host array."""
    if not isinstance(array, Array):
        return array
    memory = array.owner
    assert isinstance(memory, _Memory), "an array of another device"
    offset = array.address - memory.address
    return np.ndarray(array.shape, array.dtype, memory.bytes.data, offset, array.strides)


# ---- streams ------------------------------------------------------------------------------------


class _Event:
    def __init__(self, stream: _Stream) -> None:
        self.stream = stream
        self.time: float | None = None  # when it was reached
        self.after: set[int] = set()  # the work it follows in a capture
        self.recording: _Recording | None = None

    def synchronize(self) -> None:
        self.stream.device.run_until(lambda: self.time is not None)

    def milliseconds_since(self, earlier: _Event) -> float:
        self.synchronize()
        earlier.synchronize()
        assert self.time is not None
        assert earlier.time is not None
        return (self.time - earlier.time) * 1e3


@dataclass
class _Recording:
    """Captured work and its dependencies."""

    origin: _Stream
    work: list[tuple[Work, set[int]]] = field(default_factory=list)
    graph: _Graph | None = None

    def finish(self) -> None:
        joined, todo = set(), set(self.origin.after)
        while todo:
            joined.add(node := todo.pop())
            todo |= self.work[node][1] - joined
        if len(joined) < len(self.work):
            raise KernelError("a stream that joined a capture was not waited for before its end")
        self.graph = _Graph(self.origin.device, self.work)


class _Graph:
    def __init__(self, device: EmulatedDevice, work: list[tuple[Work, set[int]]]) -> None:
        self._device, self._work = device, work

    def launch(self, stream: _Stream | None = None) -> None:
        self._device.in_stream(stream).put(self._run)

    def _run(self) -> None:
        """Run all work in an order that the dependencies allow."""
        done: set[int] = set()
        left = list(range(len(self._work)))
        while left:
            free = [node for node in left if self._work[node][1] <= done]
            node = self._device.pick(free)
            self._work[node][0]()
            done.add(node)
            left.remove(node)


class _Stream:
    def __init__(self, device: EmulatedDevice) -> None:
        self.device = device
        self.queue: deque[tuple[_Event | None, Work]] = deque()  # (event to wait for, work)
        self.recording: _Recording | None = None
        self.after: set[int] = set()  # dependencies of the next captured work

    def put(self, work: Work, wait: _Event | None = None) -> None:
        if self.recording is not None:
            self.recording.work.append((work, self.after))
            self.after = {len(self.recording.work) - 1}
        elif self.device.seed == 0:
            work()
        else:
            self.queue.append((wait, work))

    def record(self) -> _Event:
        event = _Event(self)
        if self.recording is not None:
            event.recording, event.after = self.recording, set(self.after)
            return event

        def reach() -> None:
            event.time = time.perf_counter()

        self.put(reach)
        return event

    def wait(self, event: _Event) -> None:
        if event.recording is not None:
            if self.recording is None:
                self.recording, self.after = event.recording, set()
                self.device.joined.append(self)
            self.after |= event.after
        elif self.recording is not None:
            raise KernelError("a captured stream cannot wait for an event outside the capture")
        else:
            self.put(lambda: None, event)

    def synchronize(self) -> None:
        self.device.run_until(lambda: not self.queue)

    @contextmanager
    def capture(self) -> Iterator[_Recording]:
        recording = _Recording(self)
        self.recording, self.after = recording, set()
        self.device.joined = [self]
        try:
            yield recording
            recording.finish()
        finally:
            for stream in self.device.joined:
                stream.recording, stream.after = None, set()
            self.device.joined = []


# ---- kernels ------------------------------------------------------------------------------------


class _Kernel:
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
        stream: _Stream | None = None,
        cooperative: bool = False,
    ) -> None:
        device = self._device
        full_grid, full_block = _three(grid), _three(block)
        self._check(full_grid, full_block, shared, cooperative)
        packed = self._signature.pack(args)
        kept = [arg for arg in args if isinstance(arg, Array)]
        threads = prod(full_grid) * prod(full_block)
        workers = cores() if threads >= _WORTH_WORKERS else 1

        def run(_kept: list[Array] = kept) -> None:  # keeps arrays alive until the launch runs
            device.launches += 1
            try:
                device.native.launch(
                    self._number, full_grid, full_block, packed, shared, cooperative,
                    device.seed and device.seed + device.launches, device.yields, workers,
                )  # fmt: skip
            except device.native.KernelError as error:
                raise KernelError(device.with_line(str(error))) from None
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


# ---- the device ---------------------------------------------------------------------------------


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
    """

    kind = "emulated"
    index = 0
    name = "the emulator"
    capability = (9, 0)
    multiprocessors = 4
    shared_memory = 99 * 1024

    def __init__(
        self, seed: int = 0, module: str = "_emulator", memory: int = 2**33, yields: int = _YIELDS
    ) -> None:
        self.native: Any = import_module(f"kleene.{module}")
        self.seed, self.memory, self.yields = seed, memory, yields
        self.allocated = self.peak = 0
        self.timer = ThreadTimer()
        self.launches = 0
        self.joined: list[_Stream] = []  # streams under capture
        self._random = random.Random(seed)
        self._streams: weakref.WeakSet[_Stream] = weakref.WeakSet()
        self.main = self.stream()
        self._kernels: dict[tuple[str, str], dict[str, _Kernel]] = {}
        for number, file, variant, name, codes, max_threads in self.native.kernels():
            title = f"kernel {name} ({file}.cu{', ' if variant else ''}{variant})"
            kernel = _Kernel(self, number, name, title, codes, max_threads)
            self._kernels.setdefault((file, variant), {})[name] = kernel

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
        memory = _Memory(self, nbytes, kind.itemsize, name)
        if nbytes < 2**20 or self.seed != 0:
            memory.bytes[...] = _GARBAGE
        return Array.new(memory.address, extents, kind, memory, name)

    def zeros(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        array = self.empty(shape, dtype, name)
        self.fill(array, 0)
        return array

    def pinned(self, shape: int | Shape, dtype: DTypeLike) -> HostArray:
        return np.empty(shape, dtype).view(_Pinned)

    def copy(
        self, to: Array | HostArray, source: Array | HostArray, stream: _Stream | None = None
    ) -> None:
        if to.shape != source.shape or to.dtype != source.dtype:
            raise TypeError(f"copy of {source.dtype} {source.shape} to {to.dtype} {to.shape}")
        on = self.in_stream(stream)
        for end in (to, source):
            if on.recording is not None and not isinstance(end, (Array, _Pinned)):
                raise KernelError("a captured copy from or to pageable host memory")
        if not isinstance(source, (Array, _Pinned)):
            source = source.copy()  # staged before the call returns, as by a driver
        keep = (to, source)

        def run() -> None:
            _as_numpy(keep[0])[...] = _as_numpy(keep[1])

        part = "copy_in" if not isinstance(source, Array) else ""
        if not isinstance(to, Array):
            part = "copy_out"
        with self.timer.span("" if on.recording is not None else part, on):
            on.put(run)
        if not isinstance(to, (Array, _Pinned)):
            on.synchronize()

    def fill(self, array: Array, byte: int, stream: _Stream | None = None) -> None:
        def run() -> None:
            whole = np.frombuffer(bytes([byte]) * array.dtype.itemsize, array.dtype)
            _as_numpy(array)[...] = whole[0]

        self.in_stream(stream).put(run)

    def upload(self, source: HostArray, name: str = "", stream: _Stream | None = None) -> Array:
        array = self.empty(source.shape, source.dtype, name)
        self.copy(array, source, stream)
        return array

    def download(
        self, source: Array, out: HostArray | None = None, stream: _Stream | None = None
    ) -> NDArray[Any]:
        result = np.empty(source.shape, source.dtype) if out is None else out
        self.copy(result, source, stream)
        self.in_stream(stream).synchronize()
        return result

    def stream(self, urgent: bool = False) -> _Stream:
        stream = _Stream(self)
        self._streams.add(stream)
        return stream

    def kernels(self, file: str, **defines: str | int) -> Mapping[str, _Kernel]:
        known = self._kernels.get((file, "")) if not defines else None
        return known or self._kernels[file, find_variant(file, defines)]

    def synchronize(self) -> None:
        self.run_until(lambda: not any(stream.queue for stream in self._streams))

    # ---- for the classes above -------------------------------------------------------------------

    def in_stream(self, stream: _Stream | None) -> _Stream:
        return self.main if stream is None else stream

    def pick(self, candidates: Sequence[Any]) -> Any:
        return candidates[0] if self.seed == 0 else self._random.choice(candidates)

    def run_until(self, finished: Callable[[], bool]) -> None:
        """Run the work of all streams, in an order that events allow."""
        if self.joined:
            raise KernelError("the host cannot synchronise while a stream is captured")
        while not finished():
            free = [
                stream
                for stream in sorted(self._streams, key=id)
                if stream.queue
                and ((first := stream.queue[0][0]) is None or first.time is not None)
            ]
            if not free:
                raise KernelError("deadlock: streams wait for an event that is never recorded")
            self.pick(free).queue.popleft()[1]()

    def resident_blocks(self, threads: int, shared: int) -> int:
        """Return the value for 2048 threads and 100 KiB of shared memory per multiprocessor."""
        by_memory = (100 * 1024) // (shared + 1024)
        return self.multiprocessors * min(2048 // max(threads, 1), by_memory, 4)

    def with_line(self, message: str) -> str:
        """Replace code addresses in a message by source lines, if addr2line is installed."""

        def line(match: re.Match[str]) -> str:
            command = ["addr2line", "-e", self.native.__file__, hex(int(match[1], 16) - 1)]
            try:
                output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            except (OSError, subprocess.CalledProcessError):
                return match[0]
            location = output.strip().rpartition("/")[2].partition(" ")[0]
            # Older versions return the file that includes the kernel; see variants.py.
            return match[0] if "?" in location else re.sub(r"_\d+\.cpp:", ".cu:", location)

        return re.sub(r"pc\+(0x[0-9a-f]+)", line, message)


def open_emulated() -> EmulatedDevice:
    """Return the emulator that the environment selects.

    KLEENE_EMULATOR_SEED selects the schedule, KLEENE_EMULATOR=checked the checked build.
    """
    text = os.environ.get("KLEENE_EMULATOR_SEED") or "0"
    if not text.isdecimal():
        raise DeviceError(f"KLEENE_EMULATOR_SEED must be a non-negative integer, not {text!r}")
    seed = int(text)
    kind = os.environ.get("KLEENE_EMULATOR", "")
    module = f"_emulator_{kind}" if kind else "_emulator"
    if (seed, module) not in _opened:
        try:
            _opened[seed, module] = EmulatedDevice(seed, module)
        except ImportError as error:
            raise DeviceError(f"this build of Kleene has no such emulator: {error}") from None
    return _opened[seed, module]


_opened: dict[tuple[int, str], EmulatedDevice] = {}
