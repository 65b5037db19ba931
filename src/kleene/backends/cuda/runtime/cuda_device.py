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
    CudaStream,
    DeviceMemory,
    PinnedMemory,
    Pool,
    as_rows,
    copied_rows,
    is_contiguous,
)
from kleene.backends.cuda.runtime.interface import Array, HostArray, Shape, memory_budget
from kleene.backends.cuda.runtime.timing import ThreadTimer
from kleene.backends.cuda.tuning import transfers
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system.devices import device_name
from kleene.system.formatting import format_bytes

__all__ = ["OLDEST", "CudaDevice", "find_gpu"]

OLDEST = (7, 0)  # supported compute capability


def find_gpu(ordinal: int | None) -> int:
    """Return the number of a GPU that starts: this one, or that which is current in the thread."""
    try:
        core = CoreDevice(ordinal)
        core.set_current()
    except Exception as error:  # of a class that cuda.core does not export
        if "NO_DEVICE" in str(error):
            raise DeviceError("CUDA sees no GPU; is CUDA_VISIBLE_DEVICES empty?") from error
        raise DeviceError(
            f"CUDA does not start: {error}", advice=["see `kleene doctor`"]
        ) from error
    return int(core.device_id)


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
    """What a thread knows of CUDA."""

    current: int | None = None  # the GPU that we made current


_THREAD = _Thread()

#: One for each GPU, held while work is captured: nothing may wait for the whole GPU meanwhile.
_CAPTURING: dict[int, threading.RLock] = {}


class CudaDevice:
    """A GPU, or a share of one: the parts of a GPU have streams and memory of their own.

    Work in any thread makes it current there, and a call makes it current again (:meth:`use`),
    since another library may have chosen another GPU. Arrays are freed in any thread.
    """

    kind = "cuda"
    checked = False

    def __init__(self, ordinal: int, index: int | None = None, parts: int = 1) -> None:
        core = CoreDevice(ordinal)
        self.ordinal, self._parts = ordinal, parts
        self._thread = _THREAD  # where the end of the process finds it
        self.index = ordinal if index is None else index
        self.name = str(core.name) + (f" ({device_name('cuda', self.index)})" if self.index else "")
        self.errors = _Errors(self.name)
        self.capability = (int(core.compute_capability[0]), int(core.compute_capability[1]))
        if self.capability < OLDEST:
            have = ".".join(map(str, self.capability))
            raise DeviceError(
                f"{self.name} has compute capability {have}, and 7.0 or newer is required "
                "(Volta, 2017)"
            )
        self.use()
        self.multiprocessors = int(core.properties.multiprocessor_count)
        self.shared_memory = int(core.properties.max_shared_memory_per_block_optin)
        self.allocated = self.peak = 0  # bytes of all arrays; largest value so far
        self.capturing = _CAPTURING.setdefault(ordinal, threading.RLock())
        wait = self._wait
        self.blocks = Pool(cuda_driver.allocate, cuda_driver.free, *transfers.POOL, wait)
        self.pages = Pool(
            cuda_driver.allocate_pinned, cuda_driver.free_pinned, *transfers.POOL_PINNED, wait
        )
        self.timer = ThreadTimer()
        self.kept: list[object] | None = None  # arrays that a graph under capture keeps alive
        self.main = CudaStream(self)
        self._kernels: dict[tuple[str, str], Mapping[str, CudaKernel]] = {}
        self._peers: set[int] = set()  # GPUs whose memory this one can reach, if any can

    @property
    def core(self) -> Any:
        """The device of ``cuda.core``, which has one object for each thread."""
        return CoreDevice(self.ordinal)

    def use(self) -> None:
        """Make this the current device of the calling thread."""
        self.core.set_current()
        self._thread.current = self.ordinal

    def use_once(self) -> None:
        """Make this the current device of a thread that used none or another one."""
        if self._thread.current != self.ordinal:
            with suppress(Exception):  # the process may be ending; the next call reports the error
                self.use()

    def free(self, pool: Pool, address: int, nbytes: int) -> None:
        """Give memory back in any thread, whose current device stays what it is."""
        before = self._thread.current
        self.use_once()
        pool.free(address, nbytes)
        if before is not None and before != self.ordinal:
            with suppress(Exception):
                CoreDevice(before).set_current()
                self._thread.current = before

    def free_memory(self) -> int:
        """Return the bytes that can still be allocated, within the budget."""
        self.use_once()
        with self.errors:
            free = cuda_driver.memory()[0] + self.blocks.kept
        budget = self._budget()
        return free if budget is None else max(0, min(free, budget - self.allocated))

    def _budget(self) -> int | None:
        """Return the bytes that all arrays may take; None for all that is free."""
        share = None if self._parts == 1 else cuda_driver.memory()[1] // self._parts
        given = [budget for budget in (memory_budget(), share) if budget is not None]
        return min(given, default=None)

    def empty(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        """Return an uninitialised array; it is freed with its last reference."""
        extents = (shape,) if isinstance(shape, int) else shape
        nbytes = prod(extents) * np.dtype(dtype).itemsize
        self.use_once()
        if self._budget() is not None and nbytes > self.free_memory():
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
        cuda_driver.copy_rows(*copied_rows(to, source), part, on)

    def copy_from(self, to: Array, source: Array, stream: CudaStream | None = None) -> None:
        """Copy an array of any GPU to one of this; see :func:`copy_between`."""
        owner: Any = source.owner
        other: CudaDevice = owner.device
        if other.ordinal == self.ordinal:
            self.copy(to, source, stream)
            return
        if to.shape != source.shape or to.dtype != source.dtype:
            raise TypeError(f"copy of {source.dtype} {source.shape} to {to.dtype} {to.shape}")
        if to.nbytes == 0:
            return
        self.use_once()
        with self.errors:
            if other.ordinal not in self._peers:
                cuda_driver.allow_peer_copies(self.ordinal, other.ordinal)
                self._peers.add(other.ordinal)
            cuda_driver.copy_peer_rows(
                *copied_rows(to, source), self.ordinal, other.ordinal, self.in_stream(stream).handle
            )

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
        """Wait for all streams, those of other parts of the GPU too."""
        self.use_once()
        with self.errors:
            self._wait()

    # ---- for its parts --------------------------------------------------------------------------

    def in_stream(self, stream: CudaStream | None) -> CudaStream:
        """Return the stream, or the main stream for None."""
        return self.main if stream is None else stream

    def _wait(self) -> None:
        with self.capturing:
            cuda_driver.synchronize()

    def _out_of_memory(self, nbytes: int) -> MemoryBudgetError:
        return MemoryBudgetError(
            f"{format_bytes(nbytes)} requested on {self.name}, "
            f"{format_bytes(self.free_memory())} free"
        )
