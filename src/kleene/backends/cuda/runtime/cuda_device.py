"""A GPU through NVIDIA's ``cuda.core``, and ``cuda_driver.py`` for what that lacks.

NVRTC runs only the first time a kernel is used; its output is cached on disk.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
from cuda.core import Device as CoreDevice
from numpy.typing import DTypeLike

from kleene.backends.cuda.runtime import cuda_driver, loader
from kleene.backends.cuda.runtime.cuda_kernel import CudaKernel, load_kernels
from kleene.backends.cuda.runtime.cuda_memory import (
    DeviceMemory,
    PinnedMemory,
    Pool,
    as_rows,
    is_contiguous,
)
from kleene.backends.cuda.runtime.cuda_stream import CudaStream
from kleene.backends.cuda.runtime.device import Array, HostArray, Shape, memory_budget
from kleene.backends.cuda.runtime.timing import ThreadTimer
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.formatting import format_bytes

__all__ = ["CudaDevice", "open_current"]

_OLDEST = (7, 0)  # supported compute capability


def open_current() -> CudaDevice:
    """Return the GPU that is current in the calling thread, or raise DeviceError."""
    try:
        core = CoreDevice()
        core.set_current()
    except Exception as error:  # of a class that cuda.core does not export
        if "NO_DEVICE" in str(error):
            raise DeviceError("CUDA sees no GPU; is CUDA_VISIBLE_DEVICES empty?") from error
        raise DeviceError(f"CUDA does not start: {error}; see `kleene doctor`") from error
    return CudaDevice(core)


class _Errors:
    """Raises CUDA's errors as KernelError: ``with device.errors``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> None:
        # cuda.core does not export the class of its errors.
        if error is not None and (
            isinstance(error, cuda_driver.DriverError) or kind.__module__.startswith("cuda.")
        ):
            raise KernelError(f"{self._name}: {error}") from error


class _Thread(threading.local):
    """What a thread knows of the device."""

    used = False


class CudaDevice:
    """A GPU. A call makes it current in the calling thread: see :meth:`use`.

    An answer on the device may be read, and arrays are freed, in any other thread: methods make it
    current there at their first call.
    """

    kind = "cuda"

    def __init__(self, core: Any) -> None:
        self.index = int(core.device_id)
        self._thread = _Thread()
        self.name = str(core.name)
        self.errors = _Errors(self.name)
        self.capability = (int(core.compute_capability[0]), int(core.compute_capability[1]))
        if self.capability < _OLDEST:
            have = ".".join(map(str, self.capability))
            raise DeviceError(
                f"{self.name} has compute capability {have}, and 7.0 or newer is required "
                "(Volta, 2017)"
            )
        self.multiprocessors = int(core.properties.multiprocessor_count)
        self.shared_memory = int(core.properties.max_shared_memory_per_block_optin)
        self.allocated = self.peak = 0  # bytes of all arrays; largest value so far
        self.blocks = Pool(cuda_driver.allocate, cuda_driver.free)
        self.pages = Pool(cuda_driver.allocate_pinned, cuda_driver.free_pinned)
        self.timer = ThreadTimer()
        self.kept: list[object] | None = None  # arrays that a graph under capture keeps alive
        self.main = CudaStream(self)
        self._kernels: dict[tuple[str, str], Mapping[str, CudaKernel]] = {}

    @property
    def core(self) -> Any:
        """The device of ``cuda.core``, which has one object for each thread."""
        return CoreDevice(self.index)

    def use(self) -> None:
        """Make this the current device of the calling thread."""
        self.core.set_current()
        self._thread.used = True

    def use_once(self) -> None:
        """Make this the current device of a thread that has not used it."""
        if not self._thread.used:
            with suppress(Exception):  # the process may be ending; the next call reports the error
                self.use()

    def free_memory(self) -> int:
        """Return the bytes that can still be allocated, within the budget."""
        self.use_once()
        with self.errors:
            free = cuda_driver.free_memory() + self.blocks.kept
        budget = memory_budget()
        return free if budget is None else max(0, min(free, budget - self.allocated))

    def empty(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        """Return an uninitialised array; it is freed with its last reference."""
        extents = (shape,) if isinstance(shape, int) else shape
        nbytes = prod(extents) * np.dtype(dtype).itemsize
        budget = memory_budget()
        if budget is not None and nbytes > self.free_memory():
            raise self._out_of_memory(nbytes)
        try:
            memory = DeviceMemory(self, nbytes)
        except cuda_driver.DriverError as error:
            if not error.out_of_memory:
                raise DeviceError(f"{self.name}: {error}") from error
            raise self._out_of_memory(nbytes) from error
        return Array.new(memory.address, extents, dtype, memory, name)

    def zeros(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        """Return an array of zeros, filled in the main stream."""
        array = self.empty(shape, dtype, name)
        self.fill(array, 0)
        return array

    def pinned(self, shape: int | Shape, dtype: DTypeLike) -> HostArray:
        """Return page-locked host memory, for asynchronous copies."""
        extents = (shape,) if isinstance(shape, int) else shape
        kind = np.dtype(dtype)
        nbytes = prod(extents) * kind.itemsize
        with self.errors:
            memory = PinnedMemory(self, nbytes)
        memory_view = (ctypes.c_ubyte * nbytes).from_address(memory.address)
        memory_view._owner = memory  # type: ignore[attr-defined]  # keeps it alive
        array: HostArray = np.frombuffer(memoryview(memory_view), kind, prod(extents)).reshape(
            extents
        )
        return array

    def copy(
        self, to: Array | HostArray, source: Array | HostArray, stream: CudaStream | None = None
    ) -> None:
        """Copy between arrays on the device or the host; rectangles too."""
        if to.shape != source.shape or to.dtype != source.dtype:
            raise TypeError(f"copy of {source.dtype} {source.shape} to {to.dtype} {to.shape}")
        if to.nbytes == 0:
            return
        self.use_once()
        part, on = "", self.in_stream(stream)
        if not isinstance(source, Array):
            part = "copy_in"
        elif not isinstance(to, Array):
            part = "copy_out"
        if self.kept is not None:
            self.kept += [to, source]
        captured = self.kept is not None  # a captured copy is not timed
        with self.errors, self.timer.span("" if captured else part, on):
            self._copy(to, source, part, on.handle)

    def _copy(self, to: Array | HostArray, source: Array | HostArray, part: str, on: Any) -> None:
        if is_contiguous(to) and is_contiguous(source):
            # NumPy takes long to tell an address; the bindings take the host array itself.
            where = to.address if isinstance(to, Array) else to
            whence = source.address if isinstance(source, Array) else source
            cuda_driver.copy(where, whence, to.nbytes, part, on)
            return
        to_at, width, rows, to_pitch = as_rows(to)
        from_at, from_width, from_rows, from_pitch = as_rows(source)
        if rows == 1:  # the other array has gaps: use its rows
            width, rows, to_pitch = from_width, from_rows, from_width
        elif from_rows == 1:
            from_pitch = width
        cuda_driver.copy_rows(to_at, to_pitch, from_at, from_pitch, width, rows, part, on)

    def fill(self, array: Array, byte: int, stream: CudaStream | None = None) -> None:
        """Set every byte of an array."""
        if array.nbytes == 0:
            return
        if self.kept is not None:
            self.kept.append(array)
        self.use_once()
        on = self.in_stream(stream).handle
        with self.errors:
            if array.contiguous:
                cuda_driver.fill(array.address, byte, array.nbytes, on)
            else:
                address, width, rows, pitch = as_rows(array)
                cuda_driver.fill_rows(address, pitch, byte, width, rows, on)

    def upload(self, source: HostArray, name: str = "", stream: CudaStream | None = None) -> Array:
        """Return a copy on the device."""
        array = self.empty(source.shape, source.dtype, name)
        self.copy(array, np.ascontiguousarray(source), stream)
        return array

    def download(
        self, source: Array, out: HostArray | None = None, stream: CudaStream | None = None
    ) -> HostArray:
        """Return a copy on the host, after waiting for the stream."""
        result = np.empty(source.shape, source.dtype) if out is None else out
        self.copy(result, source, stream)
        self.in_stream(stream).synchronize()
        return result

    def stream(self, urgent: bool = False) -> CudaStream:
        """Return a new stream."""
        self.use_once()
        return CudaStream(self, urgent)

    def kernels(self, file: str, **defines: str | int) -> Mapping[str, CudaKernel]:
        """Return the kernels of one variant of a file, by name."""
        variant = loader.find_variant(file, defines)
        if (file, variant) not in self._kernels:
            self._kernels[file, variant] = load_kernels(self, file, variant, defines)
        return self._kernels[file, variant]

    def synchronize(self) -> None:
        """Wait for all streams."""
        self.use_once()
        with self.errors:
            cuda_driver.synchronize()

    # ---- for its parts --------------------------------------------------------------------------

    def in_stream(self, stream: CudaStream | None) -> CudaStream:
        """Return the stream, or the main stream for None."""
        return self.main if stream is None else stream

    def _out_of_memory(self, nbytes: int) -> MemoryBudgetError:
        return MemoryBudgetError(
            f"{format_bytes(nbytes)} requested on {self.name}, "
            f"{format_bytes(self.free_memory())} free"
        )
