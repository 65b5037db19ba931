"""A GPU through CuPy's CUDA bindings; the only file that imports CuPy.

Only the thin layer over the CUDA API is used (``cupy_backends``): it imports in a few milliseconds,
the array library in a quarter of a second. NVRTC runs only the first time a kernel is used; its
output is cached on disk.

Freed arrays go back to CUDA, which synchronises the device, or into a pool. An allocation from the
pool synchronises too, so no running kernel sees its array freed or reused.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kleene.backends.cuda.runtime import loader
from kleene.backends.cuda.runtime.device import Argument, Array, HostArray, Shape, memory_budget
from kleene.backends.cuda.runtime.loader import Signature
from kleene.backends.cuda.runtime.timing import ThreadTimer
from kleene.errors import DeviceError, KernelError, MemoryBudgetError
from kleene.system import nvidia
from kleene.system.formatting import format_bytes

__all__ = ["CupyDevice", "open_cuda"]

_TO_DEVICE, _TO_HOST, _WITHIN = 1, 2, 3  # cudaMemcpyKind
_NON_BLOCKING = 1  # cudaStreamNonBlocking
_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation
_DEFAULT_SHARED = 48 * 1024  # bytes per block without opt-in
_OLDEST = (7, 0)  # supported compute capability


def open_cuda() -> CupyDevice:
    """Return the current GPU, or raise a DeviceError with the reason."""
    device = _open()
    device.use()
    return device


@cache
def _open() -> CupyDevice:
    reason = nvidia.missing()
    if reason is not None:
        raise DeviceError(f"device 'cuda' is not available: {reason}")
    try:
        from cupy_backends.cuda.api import driver, runtime
    except Exception as error:  # a broken installation fails in many ways
        raise DeviceError(
            f"CuPy is installed but cannot be imported ({error}); reinstall it"
        ) from error
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise DeviceError(f"CUDA does not start: {error}; see `kleene doctor`") from error
    if count == 0:
        raise DeviceError("CUDA sees no GPU; is CUDA_VISIBLE_DEVICES empty?")
    return CupyDevice(driver, runtime)


def _release(release: Any, handle: int) -> None:
    """Release a handle; errors are ignored, since the process may be ending."""
    with suppress(Exception):
        release(handle)


# ---- memory -------------------------------------------------------------------------------------


class _Memory:
    """Device memory, freed with the last reference."""

    def __init__(self, device: CupyDevice, nbytes: int) -> None:
        self._device, self._nbytes = device, nbytes
        self.address = 0
        self.address = device.blocks.allocate(nbytes)
        device.allocated += nbytes
        device.peak = max(device.peak, device.allocated)

    def __del__(self) -> None:
        if self.address:
            self._device.allocated -= self._nbytes
            self._device.blocks.free(self.address, self._nbytes)


class _PinnedMemory:
    """Page-locked host memory."""

    def __init__(self, device: CupyDevice, nbytes: int) -> None:
        self._pages, self._nbytes = device.pages, nbytes
        self.address = 0
        self.address = self._pages.allocate(nbytes)

    def __del__(self) -> None:
        if self.address:
            self._pages.free(self.address, self._nbytes)


#: Bytes that the pool keeps at most, per allocation and in all: enough for a search of a small
#: graph. An allocation from CUDA and its release cost 0.1 to 0.3 ms, and synchronise the device.
_KEPT_EACH, _KEPT = 2**24, 2**26


class _Pool:
    """A pool for one kind of memory; small freed allocations are reused."""

    def __init__(self, device: CupyDevice, allocate: Any, free: Any) -> None:
        self._device, self._allocate, self._free = device, allocate, free
        self._idle: dict[int, list[int]] = {}
        self.kept = 0  # bytes

    def allocate(self, nbytes: int) -> int:
        idle = self._idle.get(nbytes)
        if idle:
            address = idle.pop()
            self.kept -= nbytes
            # Work of its former array may still be running in another stream.
            self._device.runtime.deviceSynchronize()
            return address
        try:
            return int(self._allocate(max(nbytes, 1)))
        except self._device.runtime.CUDARuntimeError:
            if not self.kept:
                raise
        self.clear()
        return int(self._allocate(max(nbytes, 1)))

    def free(self, address: int, nbytes: int) -> None:
        if nbytes <= _KEPT_EACH and self.kept + nbytes <= _KEPT:
            self.kept += nbytes
            self._idle.setdefault(nbytes, []).append(address)
        else:
            _release(self._free, address)

    def clear(self) -> None:
        """Free all pooled memory."""
        idle, self._idle, self.kept = self._idle, {}, 0
        for addresses in idle.values():
            for address in addresses:
                _release(self._free, address)


def _rows(array: Array | HostArray) -> tuple[int, int, int, int]:
    """Return (address, bytes of a row, rows, row pitch); a contiguous array is one row."""
    address = array.address if isinstance(array, Array) else array.ctypes.data
    whole = array.contiguous if isinstance(array, Array) else array.flags.c_contiguous
    item = array.dtype.itemsize
    if whole:
        return address, prod(array.shape) * item, 1, prod(array.shape) * item
    if len(array.shape) == 2 and array.strides[1] == item:
        return address, array.shape[1] * item, array.shape[0], array.strides[0]
    if len(array.shape) == 1:
        return address, item, array.shape[0], array.strides[0]
    where = "device" if isinstance(array, Array) else "host"
    raise TypeError(
        f"a {where} array of shape {array.shape} with gaps cannot be copied in one call"
    )


# ---- streams ------------------------------------------------------------------------------------


class _Event:
    def __init__(self, device: CupyDevice, stream: _Stream) -> None:
        self._runtime = device.runtime
        self.handle = self._runtime.eventCreateWithFlags(0)
        self._runtime.eventRecord(self.handle, stream.handle)

    def __del__(self) -> None:
        _release(self._runtime.eventDestroy, self.handle)

    def synchronize(self) -> None:
        self._runtime.eventSynchronize(self.handle)

    def milliseconds_since(self, earlier: _Event) -> float:
        self.synchronize()
        return float(self._runtime.eventElapsedTime(earlier.handle, self.handle))


class _Captured:
    graph: _Graph | None = None


class _Graph:
    def __init__(self, device: CupyDevice, graph: int, kept: list[object]) -> None:
        self._device, self._kept = device, kept
        runtime = device.runtime
        self._handle = runtime.graphInstantiate(graph)
        runtime.graphDestroy(graph)
        runtime.graphUpload(self._handle, device.main.handle)

    def __del__(self) -> None:
        _release(self._device.runtime.graphExecDestroy, self._handle)

    def launch(self, stream: _Stream | None = None) -> None:
        device = self._device
        device.runtime.graphLaunch(self._handle, device.in_stream(stream).handle)


class _Stream:
    def __init__(self, device: CupyDevice, urgent: bool = False) -> None:
        self._device = device
        runtime = device.runtime
        # Does not synchronise with the null stream; a lower number is a higher priority.
        self.handle = runtime.streamCreateWithPriority(_NON_BLOCKING, -5 if urgent else 0)

    def __del__(self) -> None:
        _release(self._device.runtime.streamDestroy, self.handle)

    def record(self) -> _Event:
        return _Event(self._device, self)

    def wait(self, event: _Event) -> None:
        self._device.runtime.streamWaitEvent(self.handle, event.handle)

    def synchronize(self) -> None:
        with self._device.errors():
            self._device.runtime.streamSynchronize(self.handle)

    @contextmanager
    def capture(self) -> Iterator[_Captured]:
        device, captured = self._device, _Captured()
        device.runtime.streamBeginCapture(self.handle)
        device.kept = []
        try:
            yield captured
        except BaseException:
            device.runtime.streamEndCapture(self.handle)
            device.kept = None
            raise
        with device.errors():
            graph = device.runtime.streamEndCapture(self.handle)
            captured.graph = _Graph(device, graph, device.kept)
        device.kept = None


# ---- kernels ------------------------------------------------------------------------------------


class _Kernel:
    def __init__(self, device: CupyDevice, handle: int, name: str, signature: Signature) -> None:
        self.name = name
        self._device, self._handle, self._signature = device, handle, signature
        self._lock = threading.Lock()  # guards the argument buffer
        self._buffer = ctypes.create_string_buffer(max(8, 8 * len(signature.codes)))
        first = ctypes.addressof(self._buffer)
        pointers = [first + 8 * i for i in range(len(signature.codes))]
        self._pointers = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        self._arguments = ctypes.addressof(self._pointers)
        self._allowed = _DEFAULT_SHARED

    def launch(
        self,
        grid: Shape,
        block: Shape,
        args: Sequence[Argument],
        shared: int = 0,
        stream: _Stream | None = None,
        cooperative: bool = False,
    ) -> None:
        device, driver = self._device, self._device.driver
        gx, gy, gz = (*grid, 1, 1)[:3]
        bx, by, bz = (*block, 1, 1)[:3]
        on = (device.main if stream is None else stream).handle
        if shared > self._allowed:
            self._allow(shared)
        if device.kept is not None:
            device.kept.extend(arg for arg in args if isinstance(arg, Array))
        with self._lock:
            self._signature.pack_into(self._buffer, args)
            try:
                if cooperative:
                    driver.launchCooperativeKernel(
                        self._handle, gx, gy, gz, bx, by, bz, shared, on, self._arguments
                    )
                else:
                    driver.launchKernel(
                        self._handle, gx, gy, gz, bx, by, bz, shared, on, self._arguments, 0
                    )
            except driver.CUDADriverError as error:
                launched = f"launched as {grid} x {block} with {shared} bytes of shared memory"
                raise KernelError(f"{self._signature.title}, {launched}: {error}") from error

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        device = self._device
        if shared > self._allowed:
            self._allow(shared)
        each = device.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            self._handle, threads, shared
        )
        return int(each) * device.multiprocessors

    @property
    def registers(self) -> int:
        """Registers per thread."""
        driver = self._device.driver
        return int(driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, self._handle))

    @property
    def spilled(self) -> int:
        """Bytes of local memory per thread."""
        driver = self._device.driver
        attribute = driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
        return int(driver.funcGetAttribute(attribute, self._handle))

    def _allow(self, shared: int) -> None:
        """Opt in to more dynamic shared memory than the default."""
        driver = self._device.driver
        attribute = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        with self._device.errors():
            driver.funcSetAttribute(self._handle, attribute, shared)
        self._allowed = shared


# ---- the device ---------------------------------------------------------------------------------


class CupyDevice:
    """The GPU that was current when it was opened."""

    kind = "cuda"

    def __init__(self, driver: Any, runtime: Any) -> None:
        self.driver, self.runtime = driver, runtime
        self.index = runtime.getDevice()
        runtime.setDevice(self.index)
        runtime.free(0)  # initialises the device
        properties = runtime.getDeviceProperties(self.index)
        self.name = properties["name"].decode(errors="replace")
        self.capability = (int(properties["major"]), int(properties["minor"]))
        if self.capability < _OLDEST:
            have = ".".join(map(str, self.capability))
            raise DeviceError(
                f"{self.name} has compute capability {have}, and 7.0 or newer is required "
                "(Volta, 2017)"
            )
        self.multiprocessors = int(properties["multiProcessorCount"])
        self.shared_memory = int(
            runtime.deviceGetAttribute(runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin, self.index)
        )
        self.allocated = self.peak = 0  # bytes of all arrays; largest value so far
        self.blocks = _Pool(self, runtime.malloc, runtime.free)
        self.pages = _Pool(self, lambda nbytes: runtime.hostAlloc(nbytes, 0), runtime.freeHost)
        self.timer = ThreadTimer()
        self.kept: list[object] | None = None  # arrays that a graph under capture keeps alive
        self.main = _Stream(self)
        self._kernels: dict[tuple[str, str], Mapping[str, _Kernel]] = {}

    def use(self) -> None:
        """Make this the current device of the calling thread."""
        self.runtime.setDevice(self.index)

    def free_memory(self) -> int:
        free = int(self.runtime.memGetInfo()[0]) + self.blocks.kept
        budget = memory_budget()
        return free if budget is None else max(0, min(free, budget - self.allocated))

    def empty(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        extents = (shape,) if isinstance(shape, int) else shape
        nbytes = prod(extents) * np.dtype(dtype).itemsize
        budget = memory_budget()
        if budget is not None and nbytes > self.free_memory():
            raise self._out_of_memory(nbytes)
        try:
            memory = _Memory(self, nbytes)
        except self.runtime.CUDARuntimeError as error:
            if getattr(error, "status", None) != _OUT_OF_MEMORY:
                raise DeviceError(f"{self.name}: {error}") from error
            raise self._out_of_memory(nbytes) from error
        return Array.new(memory.address, extents, dtype, memory, name)

    def zeros(self, shape: int | Shape, dtype: DTypeLike, name: str = "") -> Array:
        array = self.empty(shape, dtype, name)
        self.fill(array, 0)
        return array

    def pinned(self, shape: int | Shape, dtype: DTypeLike) -> HostArray:
        extents = (shape,) if isinstance(shape, int) else shape
        kind = np.dtype(dtype)
        nbytes = prod(extents) * kind.itemsize
        memory = _PinnedMemory(self, nbytes)
        memory_view = (ctypes.c_ubyte * nbytes).from_address(memory.address)
        memory_view._owner = memory  # type: ignore[attr-defined]  # keeps it alive
        array: HostArray = np.frombuffer(memoryview(memory_view), kind, prod(extents)).reshape(
            extents
        )
        return array

    def copy(
        self, to: Array | HostArray, source: Array | HostArray, stream: _Stream | None = None
    ) -> None:
        if to.shape != source.shape or to.dtype != source.dtype:
            raise TypeError(f"copy of {source.dtype} {source.shape} to {to.dtype} {to.shape}")
        if prod(to.shape) == 0:
            return
        kind, part = _WITHIN, ""
        if not isinstance(source, Array):
            kind, part = _TO_DEVICE, "copy_in"
        elif not isinstance(to, Array):
            kind, part = _TO_HOST, "copy_out"
        if self.kept is not None:
            self.kept += [to, source]
            part = ""  # a captured copy is not timed
        with self.errors(), self.timer.span(part, self.in_stream(stream)):
            self._copy(to, source, kind, self.in_stream(stream).handle)

    def _copy(self, to: Array | HostArray, source: Array | HostArray, kind: int, on: int) -> None:
        to_at, width, rows, to_pitch = _rows(to)
        from_at, from_width, from_rows, from_pitch = _rows(source)
        if rows == from_rows == 1:
            self.runtime.memcpyAsync(to_at, from_at, width, kind, on)
            return
        if rows == 1:  # the other array has gaps: use its rows
            width, rows, to_pitch = from_width, from_rows, from_width
        elif from_rows == 1:
            from_pitch = width
        self.runtime.memcpy2DAsync(to_at, to_pitch, from_at, from_pitch, width, rows, kind, on)

    def fill(self, array: Array, byte: int, stream: _Stream | None = None) -> None:
        address, width, rows, pitch = _rows(array)
        if width == 0:
            return
        if self.kept is not None:
            self.kept.append(array)
        on = self.in_stream(stream).handle
        for row in range(rows):
            self.runtime.memsetAsync(address + row * pitch, byte, width, on)

    def upload(self, source: HostArray, name: str = "", stream: _Stream | None = None) -> Array:
        array = self.empty(source.shape, source.dtype, name)
        self.copy(array, np.ascontiguousarray(source), stream)
        return array

    def download(
        self, source: Array, out: HostArray | None = None, stream: _Stream | None = None
    ) -> HostArray:
        result = np.empty(source.shape, source.dtype) if out is None else out
        self.copy(result, source, stream)
        self.in_stream(stream).synchronize()
        return result

    def stream(self, urgent: bool = False) -> _Stream:
        return _Stream(self, urgent)

    def kernels(self, file: str, **defines: str | int) -> Mapping[str, _Kernel]:
        variant = loader.find_variant(file, defines)
        if (file, variant) not in self._kernels:
            self._kernels[file, variant] = self._load(file, variant, defines)
        return self._kernels[file, variant]

    def synchronize(self) -> None:
        with self.errors():
            self.runtime.deviceSynchronize()

    # ---- for the classes above ------------------------------------------------------------------

    def in_stream(self, stream: _Stream | None) -> _Stream:
        return self.main if stream is None else stream

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise CUDA errors as KernelError."""
        try:
            yield
        except (self.driver.CUDADriverError, self.runtime.CUDARuntimeError) as error:
            raise KernelError(f"{self.name}: {error}") from error

    def _out_of_memory(self, nbytes: int) -> MemoryBudgetError:
        return MemoryBudgetError(
            f"{format_bytes(nbytes)} requested on {self.name}, "
            f"{format_bytes(self.free_memory())} free"
        )

    def _load(
        self, file: str, variant: str, defines: Mapping[str, str | int]
    ) -> dict[str, _Kernel]:
        arch = self.capability[0] * 10 + self.capability[1]
        driver = self.driver
        for again in (False, True):
            image = loader.compiled(file, defines, arch, _compile, recompile=again)
            try:
                module = driver.moduleLoadData(image)
                break
            except driver.CUDADriverError as error:
                if again:
                    raise KernelError(f"{file}.cu does not load on {self.name}: {error}") from error
        return {
            name: _Kernel(self, driver.moduleGetFunction(module, name), name, signature)
            for name, signature in loader.signatures(file, variant).items()
        }


def _compile(source: str, name: str, options: Sequence[str], arch: int) -> bytes:
    """Return a cubin, or PTX for the nearest older GPU if NVRTC does not know this one."""
    import cupy  # noqa: F401 - finds the compiler's library
    from cupy_backends.cuda.libs import nvrtc

    older = [a for a in (121, 120, 103, 100, 90, 89, 86, 80, 75, 70) if a < arch]
    targets = [f"sm_{arch}", *(f"compute_{a}" for a in older)]
    for target in targets:
        program = nvrtc.createProgram(source, name, (), ())
        try:
            nvrtc.compileProgram(program, (*options, f"-arch={target}"))
            make = nvrtc.getCUBIN if target.startswith("sm_") else nvrtc.getPTX
            image = make(program)
            return image if isinstance(image, bytes) else image.encode()
        except nvrtc.NVRTCError as error:
            log = nvrtc.getProgramLog(program)
            if "gpu-architecture" not in log:
                raise KernelError(f"{name} does not compile for {target}:\n{log}") from error
        finally:
            nvrtc.destroyProgram(program)
    raise KernelError(f"NVRTC supports no architecture up to {arch}")
