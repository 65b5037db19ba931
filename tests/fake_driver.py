"""Stands in for NVIDIA's driver where there is none: the emulator runs the kernels.

``cuda.core`` and ``cuda.bindings`` are the real ones. They find the functions of this file instead
of a driver's, so that the device runs, down to the last call, in every test. Work runs at once;
what is captured runs when the graph is launched. A call that is not here fails.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import shutil
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kleene import _emulator
from kleene.backends.cuda.runtime import cuda_startup
from kleene.system import nvidia

HANDLE = c_size_t  # of streams, events, kernels and so on; device addresses too
OUT = POINTER(c_size_t)
INVALID, OUT_OF_MEMORY, NOT_FOUND, UNKNOWN = 1, 2, 500, 999
NAMES = {1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY", 100: "CUDA_ERROR_NO_DEVICE"}
NAMES |= {200: "CUDA_ERROR_INVALID_IMAGE", 500: "CUDA_ERROR_NOT_FOUND"}
NAMES |= {700: "CUDA_ERROR_ILLEGAL_ADDRESS"}

_handles = count(4096, 8)
_calls: dict[str, Any] = {}
_kept: dict[str, Any] = {}  # callbacks that C has the address of


class DriverFailure(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


def call(*types_: Any) -> Callable[[Any], Any]:
    """Register a method as a function of the driver; what it raises is its status."""

    def register(method: Any) -> Any:
        def function(*args: Any) -> int:
            try:
                method(gpu(), *args)
                return gpu().failing.get(method.__name__, 0)
            except DriverFailure as error:
                return error.status
            except Exception as error:  # a fault of this file
                print(f"{method.__name__}: {error!r}", file=sys.stderr)
                return UNKNOWN

        _calls[method.__name__] = ctypes.CFUNCTYPE(c_int, *types_)(function)
        return method

    return register


class CopyRows(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = [
        ("src_x", c_size_t), ("src_y", c_size_t), ("src_type", c_int), ("src_host", c_size_t),
        ("src_device", c_size_t), ("src_array", c_size_t), ("src_pitch", c_size_t),
        ("dst_x", c_size_t), ("dst_y", c_size_t), ("dst_type", c_int), ("dst_host", c_size_t),
        ("dst_device", c_size_t), ("dst_array", c_size_t), ("dst_pitch", c_size_t),
        ("width", c_size_t), ("height", c_size_t),
    ]  # fmt: skip


#: The GPUs, by their compute capability; the first is current unless a test chooses another.
CAPABILITIES = ((9, 0), (6, 1))
CONTEXT = 64  # of the first GPU; those of the others follow


class FakeGpu:
    """A GPU, and what else a driver has. Methods are the functions of the driver."""

    def __init__(self, memory: int = 2**28) -> None:
        self.memory = memory
        self.rooms: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self.live: set[tuple[str, int]] = set()
        self.captured: list[Any] | None = None
        self.graphs: dict[int, list[Any]] = {}
        self.images: dict[int, bytes] = {}
        self.compiled: list[str] = []
        self.nvrtc: Any = None  # the real function that `compile_image` stands in for
        self.most_shared: dict[int, int] = {}
        self.waits = 0
        self.current = threading.local()
        self.failing: dict[str, int] = {}  # calls that fail, with their status

    # ---- for tests ------------------------------------------------------------------------------

    def choose(self, device: int) -> None:
        """Make a GPU current in the calling thread, as another library would."""
        self.current.context = CONTEXT + device

    # ---- helpers --------------------------------------------------------------------------------

    def handle(self, kind: str) -> int:
        handle = next(_handles)
        self.live.add((kind, handle))
        return handle

    def destroy(self, kind: str, handle: int) -> None:
        self.live.discard((kind, handle))  # it may be of another test's GPU

    def do(self, work: Any) -> None:
        if self.captured is None:
            work()
        else:
            self.captured.append(work)

    def take(self, size: int) -> int:
        if size > self.free():
            raise DriverFailure(OUT_OF_MEMORY)
        room = ctypes.create_string_buffer(size)
        self.rooms[ctypes.addressof(room)] = room
        return ctypes.addressof(room)

    def free(self) -> int:
        return self.memory - sum(map(len, self.rooms.values()))

    def compile_image(self, source: str, name: str, defines: Any, arch: int) -> bytes:
        """Stands in for NVRTC: the image names what was compiled."""
        self.compiled.append(f"sm_{arch}")
        variant = ",".join(f"{key}={defines[key]}" for key in sorted(defines))
        return f"\x7fELF {name.removesuffix('.cu')} {variant}".encode()

    # ---- errors, devices, contexts --------------------------------------------------------------

    @call(c_int, OUT)
    def cuGetErrorName(self, error: int, name: Any) -> None:  # noqa: N802
        name[0] = _text(NAMES.get(error, f"CUDA_ERROR_{error}"))

    @call(c_int, OUT)
    def cuGetErrorString(self, error: int, text: Any) -> None:  # noqa: N802
        text[0] = _text("a fake error")

    @call(c_uint)
    def cuInit(self, flags: int) -> None:  # noqa: N802
        pass

    @call(POINTER(c_int))
    def cuDriverGetVersion(self, version: Any) -> None:  # noqa: N802
        version[0] = 13990

    @call(POINTER(c_int))
    def cuDeviceGetCount(self, count: Any) -> None:  # noqa: N802
        count[0] = len(CAPABILITIES)

    @call(POINTER(c_int), c_int)
    def cuDeviceGet(self, device: Any, ordinal: int) -> None:  # noqa: N802
        device[0] = ordinal

    @call(c_void_p, c_int, c_int)
    def cuDeviceGetName(self, name: int, length: int, device: int) -> None:  # noqa: N802
        ctypes.memmove(name, b"Fake GPU\0", 9)

    @call(POINTER(c_int), c_int, c_int)
    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: int) -> None:  # noqa: N802
        major, minor = CAPABILITIES[device]
        values = {75: major, 76: minor, 16: 4, 97: 100 * 1024}
        value[0] = values.get(attribute, 0)

    @call(OUT, c_int)
    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> None:  # noqa: N802
        context[0] = CONTEXT + device

    @call(c_int)
    def cuDevicePrimaryCtxRelease(self, device: int) -> None:  # noqa: N802
        pass

    @call(HANDLE)
    def cuCtxSetCurrent(self, context: int) -> None:  # noqa: N802
        self.current.context = context

    @call(OUT)
    def cuCtxGetCurrent(self, context: Any) -> None:  # noqa: N802
        context[0] = getattr(self.current, "context", 0)

    @call(POINTER(c_int))
    def cuCtxGetDevice(self, device: Any) -> None:  # noqa: N802
        if not getattr(self.current, "context", 0):
            raise DriverFailure(201)
        device[0] = self.current.context - CONTEXT

    @call()
    def cuCtxSynchronize(self) -> None:  # noqa: N802
        self.waits += 1

    @call(POINTER(c_int), POINTER(c_int))
    def cuCtxGetStreamPriorityRange(self, least: Any, greatest: Any) -> None:  # noqa: N802
        least[0], greatest[0] = 0, -5

    # ---- memory ---------------------------------------------------------------------------------

    @call(OUT, OUT)
    def cuMemGetInfo(self, free: Any, total: Any) -> None:  # noqa: N802
        free[0], total[0] = self.free(), self.memory

    @call(OUT, c_size_t)
    def cuMemAlloc(self, address: Any, size: int) -> None:  # noqa: N802
        address[0] = self.take(size)

    @call(HANDLE)
    def cuMemFree(self, address: int) -> None:  # noqa: N802
        del self.rooms[address]

    @call(OUT, c_size_t, c_uint)
    def cuMemHostAlloc(self, address: Any, size: int, flags: int) -> None:  # noqa: N802
        address[0] = self.take(size)

    @call(HANDLE)
    def cuMemFreeHost(self, address: int) -> None:  # noqa: N802
        del self.rooms[address]

    @call(HANDLE, HANDLE, c_size_t, HANDLE)
    def cuMemcpyHtoDAsync(self, to: int, source: int, size: int, stream: int) -> None:  # noqa: N802
        self.do(lambda: ctypes.memmove(to, source, size))

    @call(HANDLE, HANDLE, c_size_t, HANDLE)
    def cuMemcpyDtoHAsync(self, to: int, source: int, size: int, stream: int) -> None:  # noqa: N802
        self.do(lambda: ctypes.memmove(to, source, size))

    @call(HANDLE, HANDLE, c_size_t, HANDLE)
    def cuMemcpyDtoDAsync(self, to: int, source: int, size: int, stream: int) -> None:  # noqa: N802
        self.do(lambda: ctypes.memmove(to, source, size))

    @call(POINTER(CopyRows), HANDLE)
    def cuMemcpy2DAsync(self, given: Any, stream: int) -> None:  # noqa: N802
        task = CopyRows.from_buffer_copy(given[0])
        to = task.dst_host if task.dst_type == 1 else task.dst_device
        source = task.src_host if task.src_type == 1 else task.src_device
        if task.width > min(task.dst_pitch, task.src_pitch):
            raise DriverFailure(INVALID)

        def run() -> None:
            for row in range(task.height):
                ctypes.memmove(to + row * task.dst_pitch, source + row * task.src_pitch, task.width)

        self.do(run)

    @call(HANDLE, ctypes.c_ubyte, c_size_t, HANDLE)
    def cuMemsetD8Async(self, to: int, byte: int, size: int, stream: int) -> None:  # noqa: N802
        self.do(lambda: ctypes.memset(to, byte, size))

    @call(HANDLE, c_size_t, ctypes.c_ubyte, c_size_t, c_size_t, HANDLE)
    def cuMemsetD2D8Async(  # noqa: N802
        self, to: int, pitch: int, byte: int, width: int, height: int, stream: int
    ) -> None:
        self.do(lambda: [ctypes.memset(to + row * pitch, byte, width) for row in range(height)])

    # ---- streams, events, graphs ----------------------------------------------------------------

    @call(OUT, c_uint, c_int)
    def cuStreamCreateWithPriority(self, stream: Any, flags: int, priority: int) -> None:  # noqa: N802
        stream[0] = self.handle("stream")

    @call(HANDLE)
    def cuStreamDestroy(self, stream: int) -> None:  # noqa: N802
        self.destroy("stream", stream)

    @call(HANDLE)
    def cuStreamSynchronize(self, stream: int) -> None:  # noqa: N802
        pass

    @call(HANDLE, HANDLE, c_uint)
    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> None:  # noqa: N802
        assert ("event", event) in self.live

    @call(HANDLE, c_int)
    def cuStreamBeginCapture(self, stream: int, mode: int) -> None:  # noqa: N802
        self.captured = []
        self.graphs[graph := self.handle("graph")] = self.captured
        self.current.graph = graph

    @call(HANDLE, POINTER(c_int), c_void_p, OUT, c_void_p, c_void_p, c_void_p)
    def cuStreamGetCaptureInfo(  # noqa: N802
        self, stream: int, status: Any, identity: Any, graph: Any, *others: Any
    ) -> None:
        status[0] = int(self.captured is not None)
        if graph:
            graph[0] = self.current.graph

    @call(HANDLE, OUT)
    def cuStreamEndCapture(self, stream: int, graph: Any) -> None:  # noqa: N802
        graph[0], self.captured = self.current.graph, None

    @call(OUT, HANDLE, c_void_p)
    def cuGraphInstantiateWithParams(self, executable: Any, graph: int, given: int) -> None:  # noqa: N802
        executable[0] = self.handle("executable")
        self.graphs[executable[0]] = self.graphs[graph]

    @call(HANDLE)
    def cuGraphDestroy(self, graph: int) -> None:  # noqa: N802
        self.destroy("graph", graph)

    @call(HANDLE)
    def cuGraphExecDestroy(self, executable: int) -> None:  # noqa: N802
        self.destroy("executable", executable)
        self.graphs.pop(executable, None)

    @call(HANDLE, HANDLE)
    def cuGraphUpload(self, executable: int, stream: int) -> None:  # noqa: N802
        assert executable in self.graphs

    @call(HANDLE, HANDLE)
    def cuGraphLaunch(self, executable: int, stream: int) -> None:  # noqa: N802
        for work in self.graphs[executable]:
            work()

    @call(OUT, c_void_p, c_void_p, c_uint, c_uint)
    def cuUserObjectCreate(self, made: Any, *given: Any) -> None:  # noqa: N802
        made[0] = 8  # what cuda.core wants to be told at the end of a graph

    @call(HANDLE, c_uint)
    def cuUserObjectRelease(self, which: int, count: int) -> None:  # noqa: N802
        pass

    @call(HANDLE, HANDLE, c_uint, c_uint)
    def cuGraphRetainUserObject(self, *given: int) -> None:  # noqa: N802
        pass

    @call(HANDLE, HANDLE, c_uint)
    def cuGraphReleaseUserObject(self, *given: int) -> None:  # noqa: N802
        pass

    @call(OUT, c_uint)
    def cuEventCreate(self, event: Any, flags: int) -> None:  # noqa: N802
        event[0] = self.handle("event")

    @call(HANDLE)
    def cuEventDestroy(self, event: int) -> None:  # noqa: N802
        self.destroy("event", event)

    @call(HANDLE, HANDLE)
    def cuEventRecord(self, event: int, stream: int) -> None:  # noqa: N802
        pass

    @call(HANDLE)
    def cuEventSynchronize(self, event: int) -> None:  # noqa: N802
        pass

    @call(POINTER(c_float), HANDLE, HANDLE)
    def cuEventElapsedTime(self, milliseconds: Any, begun: int, ended: int) -> None:  # noqa: N802
        milliseconds[0] = 1.5

    # ---- kernels --------------------------------------------------------------------------------

    @call(OUT, c_void_p, c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_uint)
    def cuLibraryLoadData(self, library: Any, image: int, *options: Any) -> None:  # noqa: N802
        data = ctypes.string_at(image)
        if not data.startswith(b"\x7fELF "):
            raise DriverFailure(200)
        self.images[handle := self.handle("library")] = data
        library[0] = handle

    @call(HANDLE)
    def cuLibraryUnload(self, library: int) -> None:  # noqa: N802
        self.destroy("library", library)

    def kernels_of(self, library: int) -> list[int]:
        _, file, variant = self.images[library].decode().split(" ", 2)
        return [k[0] + 1 for k in _emulator.kernels() if (k[1], k[2]) == (file, variant)]

    @call(POINTER(c_uint), HANDLE)
    def cuLibraryGetKernelCount(self, count: Any, library: int) -> None:  # noqa: N802
        count[0] = len(self.kernels_of(library))

    @call(OUT, c_uint, HANDLE)
    def cuLibraryEnumerateKernels(self, kernels: Any, count: int, library: int) -> None:  # noqa: N802
        for i, kernel in enumerate(self.kernels_of(library)[:count]):
            kernels[i] = kernel

    @call(OUT, HANDLE, c_char_p)
    def cuLibraryGetKernel(self, kernel: Any, library: int, name: bytes) -> None:  # noqa: N802
        found = [k for k in self.kernels_of(library) if description(k)[3] == name.decode()]
        if not found:
            raise DriverFailure(NOT_FOUND)
        kernel[0] = found[0]

    @call(OUT, HANDLE)
    def cuKernelGetName(self, name: Any, kernel: int) -> None:  # noqa: N802
        name[0] = _text(description(kernel)[3])

    @call(HANDLE, c_size_t, OUT, OUT)
    def cuKernelGetParamInfo(self, kernel: int, index: int, offset: Any, size: Any) -> None:  # noqa: N802
        sizes = parameter_sizes(kernel)
        if index >= len(sizes):
            raise DriverFailure(INVALID)
        at = 0
        for i, each in enumerate(sizes[: index + 1]):
            align = min(each, 8) if each in (1, 2, 4) else 8
            at = -(-at // align) * align + (each if i < index else 0)
        offset[0], size[0] = at, sizes[index]

    @call(POINTER(c_int), c_int, HANDLE, c_int)
    def cuKernelGetAttribute(self, value: Any, attribute: int, kernel: int, device: int) -> None:  # noqa: N802
        value[0] = {4: 32}.get(attribute, 0)  # registers

    @call(c_int, c_int, HANDLE, c_int)
    def cuKernelSetAttribute(self, attribute: int, value: int, kernel: int, device: int) -> None:  # noqa: N802
        assert attribute == 8  # dynamic shared memory
        self.most_shared[kernel] = value

    @call(POINTER(c_int), HANDLE, c_int, c_size_t)
    def cuOccupancyMaxActiveBlocksPerMultiprocessor(  # noqa: N802
        self, blocks: Any, kernel: int, threads: int, shared: int
    ) -> None:
        blocks[0] = 2

    @call(HANDLE, *[c_uint] * 7, HANDLE, POINTER(c_void_p), c_void_p)
    def cuLaunchKernel(self, *given: Any) -> None:  # noqa: N802
        self.launch(*given[:10], cooperative=False)

    @call(HANDLE, *[c_uint] * 7, HANDLE, POINTER(c_void_p))
    def cuLaunchCooperativeKernel(self, *given: Any) -> None:  # noqa: N802
        self.launch(*given, cooperative=True)

    def launch(
        self, kernel: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int,
        stream: int, pointers: Any, *, cooperative: bool,
    ) -> None:  # fmt: skip
        if bx * by * bz > 1024 or shared > self.most_shared.get(kernel, 48 * 1024):
            raise DriverFailure(INVALID)
        packed = b"".join(
            ctypes.string_at(pointers[i] or 0, size) + bytes(-size % 8)
            for i, size in enumerate(parameter_sizes(kernel))
        )
        self.do(
            lambda: _emulator.launch(
                kernel - 1, (gx, gy, gz), (bx, by, bz), packed, shared, cooperative, 0, 1000, 1
            )
        )


def description(kernel: int) -> Any:
    return _emulator.kernels()[kernel - 1]


def parameter_sizes(kernel: int) -> list[int]:
    return [8 if code.startswith("*") else int(code[1:]) for code in description(kernel)[4]]


def _text(text: str) -> int:
    """Return the address of a string of C, which lives as long as the process."""
    return ctypes.addressof(_kept.setdefault(text, ctypes.create_string_buffer(text.encode())))


# ---- installation -------------------------------------------------------------------------------

_gpus: list[FakeGpu] = [FakeGpu()]


def gpu() -> FakeGpu:
    """Return the GPU that the driver has now."""
    return _gpus[-1]


@contextmanager
def fake_gpu(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[FakeGpu]:
    """Yield a GPU that device "cuda" opens, with the folder of its compiled kernels."""
    _load()
    from kleene.backends.cuda.runtime import cuda_kernel

    _gpus.append(fake := FakeGpu())
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(cache))
    monkeypatch.setattr(nvidia, "missing", lambda: None)
    monkeypatch.setattr(nvidia, "library", lambda: None)
    fake.nvrtc = cuda_kernel.compile_image
    monkeypatch.setattr(cuda_kernel, "compile_image", fake.compile_image)
    monkeypatch.setattr(cuda_startup, "_opened", [])
    yield fake
    gc.collect()


@cache
def _load() -> None:
    """Let ``cuda.bindings`` call this file, for the rest of the process."""
    driver = pytest.importorskip("cuda.bindings._internal.driver")
    compiler = shutil.which("cc")
    if nvidia.library() is not None or compiler is None:
        pytest.skip("there is a real driver, or no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "libcuda.so"
        source = Path(__file__).parent / "fake_libcuda.c"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", target, source], check=True)
        library = ctypes.CDLL(str(target))
    _kept["resolver"] = resolve = ctypes.CFUNCTYPE(c_size_t, c_char_p)(_address)
    library.set_resolver(resolve)
    atexit.register(library.end)
    found = types.SimpleNamespace(_handle_uint=library._handle)
    driver.load_nvidia_dynamic_lib = lambda name: found


def _address(name: bytes) -> int:
    function = _calls.get(name.decode())
    return 0 if function is None else ctypes.cast(function, c_void_p).value or 0
