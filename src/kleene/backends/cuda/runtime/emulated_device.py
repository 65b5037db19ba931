"""The device that is none: CUDA kernels run on the CPU by ``kleene._emulator``.

With seed 0 everything runs at once and in order. Any other seed shuffles the threads of a block at
every barrier, the blocks of a launch and the work of streams that nothing holds in order, so that
an order which is only usual shows. Work then waits in its stream until somebody synchronises.

The checked build of the emulator also watches every access to memory.
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
from kleene.backends.cuda.runtime.timing import MeterOfThread
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.formatting import format_bytes
from kleene.system.machine import cores

__all__ = ["EmulatedDevice"]

#: A thread that gives way this often without anybody going on is stuck.
_YIELDS = 1 << 21
_WORTH_WORKERS = 1 << 12  # threads in a launch
_GARBAGE = 0xCD

Work = Callable[[], None]


# ---- memory -------------------------------------------------------------------------------------


class _Memory:
    """Bytes that go back to the device when nobody holds them."""

    def __init__(self, device: EmulatedDevice, nbytes: int, item: int, name: str) -> None:
        # Room to align to 256 bytes, as CUDA does.
        self._room = np.empty(nbytes + 256, np.uint8)
        self.address = -(-self._room.ctypes.data // 256) * 256
        self.bytes = self._room[self.address - self._room.ctypes.data :][:nbytes]
        device.taken += nbytes
        device.peak = max(device.peak, device.taken)
        if device.native.checked:
            device.native.register_array(self.address, nbytes, item, name)
        weakref.finalize(self, _give_back, weakref.ref(device), device.native, self.address, nbytes)


def _give_back(
    device_ref: weakref.ref[EmulatedDevice], native: Any, address: int, nbytes: int
) -> None:
    if native.checked:
        native.forget_array(address)
    device = device_ref()
    if device is not None:
        device.taken -= nbytes


class _Pinned(np.ndarray[Any, Any]):
    """Host memory from :meth:`EmulatedDevice.pinned`; copies from and to it do not wait."""


def _seen(array: Array | HostArray) -> HostArray:
    """Return any array as a NumPy array on the same memory."""
    if not isinstance(array, Array):
        return array
    memory = array.owner
    assert isinstance(memory, _Memory), "an array of some other device"
    offset = array.address - memory.address
    return np.ndarray(array.shape, array.dtype, memory.bytes.data, offset, array.strides)


# ---- streams ------------------------------------------------------------------------------------


class _Event:
    def __init__(self, stream: _Stream) -> None:
        self.stream = stream
        self.time: float | None = None  # when it passed
        self.after: set[int] = set()  # what it stands for in a recording
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
    """Pieces of work, and which others each comes after."""

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
        """Run everything in some order that the dependencies allow."""
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
        self.queue: deque[tuple[_Event | None, Work]] = deque()  # (what it waits for, what to do)
        self.recording: _Recording | None = None
        self.after: set[int] = set()  # in a recording: what the next work comes after

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

        def passes() -> None:
            event.time = time.perf_counter()

        self.put(passes)
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

        def run(_kept: list[Array] = kept) -> None:  # arrays live as long as their launch
            device.launches += 1
            try:
                device.native.launch(
                    self._number, full_grid, full_block, packed, shared, cooperative,
                    device.seed and device.seed + device.launches, device.yields, workers,
                )  # fmt: skip
            except device.native.KernelError as error:
                raise KernelError(device.with_line(str(error))) from None

        device.in_stream(stream).put(run)

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        return self._device.resident_blocks(threads, shared)

    def _check(
        self, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, together: bool
    ) -> None:
        """Refuse what a driver would refuse."""
        most = self._device.resident_blocks(prod(block), shared) if together else 2**31 - 1
        wrong = None
        if min(grid) < 1 or grid[0] > 2**31 - 1 or max(grid[1:]) > 65535:
            wrong = f"a grid of {grid} blocks"
        elif min(block) < 1 or prod(block) > self._max_threads or block[2] > 64:
            wrong = f"blocks of {block} threads, with at most {self._max_threads} allowed"
        elif shared > self._device.shared_memory:
            wrong = f"{shared} bytes of shared memory, with {self._device.shared_memory} there"
        elif prod(grid) > most:
            wrong = f"{prod(grid)} blocks that run together, with room for {most}"
        if wrong is not None:
            raise KernelError(f"{self._title}: launched with {wrong}")


def _three(shape: Shape) -> tuple[int, int, int]:
    x, y, z = (*map(int, shape), 1, 1)[:3]
    return x, y, z


# ---- the device ---------------------------------------------------------------------------------


class EmulatedDevice:
    """A GPU of four multiprocessors, played by the CPU.

    Parameters
    ----------
    seed : int
        Which schedule to run; 0 runs everything in order.
    module : str
        The native module with the kernels: ``_emulator``, or ``_emulator_checked``.
    memory : int
        Bytes of device memory.
    """

    kind = "emulated"
    name = "the emulator"
    capability = (9, 0)
    multiprocessors = 4
    shared_memory = 99 * 1024

    def __init__(
        self, seed: int = 0, module: str = "_emulator", memory: int = 2**33, yields: int = _YIELDS
    ) -> None:
        self.native: Any = import_module(f"kleene.{module}")
        self.seed, self.memory, self.yields = seed, memory, yields
        self.taken = self.peak = 0
        self.meter = MeterOfThread()
        self.launches = 0
        self.joined: list[_Stream] = []  # streams that are being captured
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
        return max(0, total - self.taken)

    def empty(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        if self.joined:
            raise KernelError("memory cannot be taken while a stream is captured")
        extents = (shape,) if isinstance(shape, int) else shape
        kind = np.dtype(dtype)
        nbytes = prod(extents) * kind.itemsize
        if nbytes > self.free_memory():
            raise MemoryBudgetError(
                f"{format_bytes(nbytes)} were asked of {self.name} and "
                f"{format_bytes(self.free_memory())} are free"
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
                raise KernelError("a captured copy from or to host memory that is not pinned")
        if not isinstance(source, (Array, _Pinned)):
            source = source.copy()  # as a driver does, before the call returns
        keep = (to, source)

        def run() -> None:
            _seen(keep[0])[...] = _seen(keep[1])

        part = "copy_in" if not isinstance(source, Array) else ""
        if not isinstance(to, Array):
            part = "copy_out"
        with self.meter.span("" if on.recording is not None else part, on):
            on.put(run)
        if not isinstance(to, (Array, _Pinned)):
            on.synchronize()

    def fill(self, array: Array, byte: int, stream: _Stream | None = None) -> None:
        def run() -> None:
            whole = np.frombuffer(bytes([byte]) * array.dtype.itemsize, array.dtype)
            _seen(array)[...] = whole[0]

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
        """Run waiting work of all streams, in some order that events allow."""
        if self.joined:
            raise KernelError("nothing can be waited for while a stream is captured")
        while not finished():
            free = [
                stream
                for stream in sorted(self._streams, key=id)
                if stream.queue
                and ((first := stream.queue[0][0]) is None or first.time is not None)
            ]
            if not free:
                raise KernelError("streams wait for an event that nobody will pass")
            self.pick(free).queue.popleft()[1]()

    def resident_blocks(self, threads: int, shared: int) -> int:
        """As of a GPU with 2048 threads and 100 KiB of shared memory to each multiprocessor."""
        by_memory = (100 * 1024) // (shared + 1024)
        return self.multiprocessors * min(2048 // max(threads, 1), by_memory, 4)

    def with_line(self, message: str) -> str:
        """Put source lines for addresses in the code, where the tool that knows them is there."""

        def line(found: re.Match[str]) -> str:
            command = ["addr2line", "-e", self.native.__file__, hex(int(found[1], 16) - 1)]
            try:
                told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            except (OSError, subprocess.CalledProcessError):
                return found[0]
            place = told.strip().rpartition("/")[2].partition(" ")[0]
            # Older tools give the file that includes the kernel; see variants.py.
            return found[0] if "?" in place else re.sub(r"_\d+\.cpp:", ".cu:", place)

        return re.sub(r"pc\+(0x[0-9a-f]+)", line, message)


def open_emulated() -> EmulatedDevice:
    """Return the emulator that the environment asks for.

    KLEENE_EMULATOR_SEED chooses the schedule; KLEENE_EMULATOR=checked the build that checks.
    """
    text = os.environ.get("KLEENE_EMULATOR_SEED") or "0"
    if not text.isdecimal():
        raise DeviceError(f"KLEENE_EMULATOR_SEED must be a whole number from 0 on, not {text!r}")
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
