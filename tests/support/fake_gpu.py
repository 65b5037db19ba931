"""A GPU of the driver that the tests provide: see fake_driver.py.

The methods of ``FakeGpu`` that begin with cu are functions of CUDA's driver, with its parameters.
Work runs at once; what is captured runs when the graph is launched.
"""
# ruff: noqa: N802

from __future__ import annotations

import ctypes
import re
import threading
from ctypes import POINTER, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p
from itertools import count
from typing import Any

from fake_driver import DriverFailure, c_string, call

from kleene import _emulator

HANDLE = c_size_t  # of streams, events, kernels and so on; device addresses too
OUT = POINTER(c_size_t)
INVALID, OUT_OF_MEMORY, NOT_FOUND = 1, 2, 500
NAMES = {
    1: "CUDA_ERROR_INVALID_VALUE",
    2: "CUDA_ERROR_OUT_OF_MEMORY",
    200: "CUDA_ERROR_INVALID_IMAGE",
    201: "CUDA_ERROR_INVALID_CONTEXT",
    400: "CUDA_ERROR_INVALID_HANDLE",
    500: "CUDA_ERROR_NOT_FOUND",
    700: "CUDA_ERROR_ILLEGAL_ADDRESS",
}
HANDLES = count(4096, 8)


class CopyRows(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = [
        ("src_x", c_size_t), ("src_y", c_size_t), ("src_type", c_int), ("src_host", c_size_t),
        ("src_device", c_size_t), ("src_array", c_size_t), ("src_pitch", c_size_t),
        ("dst_x", c_size_t), ("dst_y", c_size_t), ("dst_type", c_int), ("dst_host", c_size_t),
        ("dst_device", c_size_t), ("dst_array", c_size_t), ("dst_pitch", c_size_t),
        ("width", c_size_t), ("height", c_size_t),
    ]  # fmt: skip


class CopyPeers(ctypes.Structure):
    """CUDA_MEMCPY3D_PEER."""

    _fields_ = [
        ("src_x", c_size_t), ("src_y", c_size_t), ("src_z", c_size_t), ("src_lod", c_size_t),
        ("src_type", c_int), ("src_host", c_size_t), ("src_device", c_size_t),
        ("src_array", c_size_t), ("src_context", c_size_t), ("src_pitch", c_size_t),
        ("src_height", c_size_t), ("dst_x", c_size_t), ("dst_y", c_size_t), ("dst_z", c_size_t),
        ("dst_lod", c_size_t), ("dst_type", c_int), ("dst_host", c_size_t),
        ("dst_device", c_size_t), ("dst_array", c_size_t), ("dst_context", c_size_t),
        ("dst_pitch", c_size_t), ("dst_height", c_size_t), ("width", c_size_t),
        ("height", c_size_t), ("depth", c_size_t),
    ]  # fmt: skip


#: The GPUs, by their compute capability; the first is current unless a test chooses another.
CAPABILITIES = ((9, 0), (6, 1), (9, 0))
CONTEXT = 64  # of the first GPU; those of the others follow


class FakeGpu:
    """A GPU, and what else a driver has. Methods are the functions of the driver."""

    def __init__(self, memory: int = 2**28) -> None:
        self.memory = memory
        self.rooms: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self.context_of: dict[int, int] = {}  # of rooms and streams
        self.peers: set[tuple[int, int]] = set()  # contexts that reach another's memory
        self.live: set[tuple[str, int]] = set()
        self.captured: list[Any] | None = None
        self.graphs: dict[int, list[Any]] = {}
        self.images: dict[int, bytes] = {}
        self.compiled: list[str] = []
        self.nvrtc: Any = None  # the real function that `compile_image` stands in for
        self.most_shared: dict[int, int] = {}
        self.log: list[str] = []  # all calls
        self.current = threading.local()
        self.failing: dict[str, int] = {}  # calls that fail, with their status

    # ---- for tests ------------------------------------------------------------------------------

    def choose(self, device: int) -> None:
        """Make a GPU current in the calling thread, as another library would."""
        self.current.context = CONTEXT + device

    # ---- helpers --------------------------------------------------------------------------------

    def handle(self, kind: str) -> int:
        handle = next(HANDLES)
        self.live.add((kind, handle))
        return handle

    def destroy(self, kind: str, handle: int) -> None:
        self.live.discard((kind, handle))  # it may be of another test's GPU

    def require_context(self, name: str) -> None:
        """Refuse calls that act on the current GPU in a thread that has none."""
        needed = re.match("cu(Mem|Launch|Event|Stream|Graph|CtxSync|CtxGetStream)", name)
        if needed and "Destroy" not in name and not getattr(self.current, "context", 0):
            raise DriverFailure(201)

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
        self.context_of[ctypes.addressof(room)] = self.current.context
        return ctypes.addressof(room)

    def free(self) -> int:
        """Return the bytes that are free on the current GPU."""
        own = (a for a in list(self.rooms) if self.context_of[a] == self.current.context)
        return self.memory - sum(len(self.rooms[address]) for address in own)

    def require_stream(self, stream: int) -> None:
        """Refuse work in a stream of a GPU that is not current."""
        if self.context_of.get(stream) != self.current.context:
            raise DriverFailure(400)

    def require_memory(self, context: int, address: int) -> None:
        """Refuse memory of another GPU."""
        starts = (a for a, room in self.rooms.items() if a <= address < a + max(1, len(room)))
        if self.context_of[next(starts)] != context:
            raise DriverFailure(700)

    def compile_image(self, source: str, name: str, defines: Any, arch: int) -> bytes:
        """Stands in for NVRTC: the image names what was compiled."""
        self.compiled.append(f"sm_{arch}")
        variant = ",".join(f"{key}={defines[key]}" for key in sorted(defines))
        return f"\x7fELF {name.removesuffix('.cu')} {variant}".encode()

    # ---- errors, devices, contexts --------------------------------------------------------------

    @call(c_int, OUT)
    def cuGetErrorName(self, error: int, name: Any) -> None:
        name[0] = c_string(NAMES.get(error, f"CUDA_ERROR_{error}"))

    @call(c_int, OUT)
    def cuGetErrorString(self, error: int, text: Any) -> None:
        text[0] = c_string("a fake error")

    @call(POINTER(c_int))
    def cuDriverGetVersion(self, version: Any) -> None:
        version[0] = 13990

    @call(POINTER(c_int))
    def cuDeviceGetCount(self, count: Any) -> None:
        count[0] = len(CAPABILITIES)

    @call(POINTER(c_int), c_int)
    def cuDeviceGet(self, device: Any, ordinal: int) -> None:
        device[0] = ordinal

    @call(c_void_p, c_int, c_int)
    def cuDeviceGetName(self, name: int, length: int, device: int) -> None:
        ctypes.memmove(name, b"Fake GPU\0", 9)

    @call(POINTER(c_int), c_int, c_int)
    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: int) -> None:
        major, minor = CAPABILITIES[device]
        values = {75: major, 76: minor, 16: 4, 97: 100 * 1024}
        value[0] = values.get(attribute, 0)

    @call(OUT, c_int)
    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> None:
        context[0] = CONTEXT + device

    @call(HANDLE)
    def cuCtxSetCurrent(self, context: int) -> None:
        self.current.context = context

    @call(OUT)
    def cuCtxGetCurrent(self, context: Any) -> None:
        context[0] = getattr(self.current, "context", 0)

    @call(POINTER(c_int))
    def cuCtxGetDevice(self, device: Any) -> None:
        if not getattr(self.current, "context", 0):
            raise DriverFailure(201)
        device[0] = self.current.context - CONTEXT

    @call(POINTER(c_int), POINTER(c_int))
    def cuCtxGetStreamPriorityRange(self, least: Any, greatest: Any) -> None:
        least[0], greatest[0] = 0, -5

    # ---- memory ---------------------------------------------------------------------------------

    @call(OUT, OUT)
    def cuMemGetInfo(self, free: Any, total: Any) -> None:
        free[0], total[0] = self.free(), self.memory

    @call(OUT, c_size_t)
    def cuMemAlloc(self, address: Any, size: int) -> None:
        address[0] = self.take(size)

    @call(OUT, c_size_t, c_uint)
    def cuMemHostAlloc(self, address: Any, size: int, flags: int) -> None:
        address[0] = self.take(size)

    @call(HANDLE, also=["cuMemFreeHost"])
    def cuMemFree(self, address: int) -> None:
        del self.rooms[address]

    @call(HANDLE, HANDLE, c_size_t, HANDLE, also=["cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync"])
    def cuMemcpyHtoDAsync(self, to: int, source: int, size: int, stream: int) -> None:
        self.do(lambda: ctypes.memmove(to, source, size))

    @call(POINTER(CopyRows), HANDLE)
    def cuMemcpy2DAsync(self, given: Any, stream: int) -> None:
        task = CopyRows.from_buffer_copy(given[0])
        to = task.dst_host if task.dst_type == 1 else task.dst_device
        source = task.src_host if task.src_type == 1 else task.src_device
        if task.width > min(task.dst_pitch, task.src_pitch):
            raise DriverFailure(INVALID)

        def run() -> None:
            for row in range(task.height):
                ctypes.memmove(to + row * task.dst_pitch, source + row * task.src_pitch, task.width)

        self.do(run)

    @call(POINTER(c_int), c_int, c_int)
    def cuDeviceCanAccessPeer(self, can: Any, device: int, other: int) -> None:
        can[0] = 1

    @call(HANDLE, c_uint)
    def cuCtxEnablePeerAccess(self, context: int, flags: int) -> None:
        self.peers.add((self.current.context, context))

    @call(HANDLE, HANDLE, HANDLE, HANDLE, c_size_t, HANDLE)
    def cuMemcpyPeerAsync(
        self, to: int, to_context: int, source: int, context: int, size: int, stream: int
    ) -> None:
        self.require_stream(stream)
        self.require_memory(to_context, to)
        self.require_memory(context, source)
        ctypes.memmove(to, source, size)

    @call(POINTER(CopyPeers), HANDLE)
    def cuMemcpy3DPeerAsync(self, given: Any, stream: int) -> None:
        self.require_stream(stream)
        task = CopyPeers.from_buffer_copy(given[0])
        if task.width > min(task.dst_pitch, task.src_pitch) or task.depth != 1:
            raise DriverFailure(INVALID)
        self.require_memory(task.dst_context, task.dst_device)
        self.require_memory(task.src_context, task.src_device)
        for row in range(task.height):
            to, source = task.dst_device + row * task.dst_pitch, task.src_device
            ctypes.memmove(to, source + row * task.src_pitch, task.width)

    @call(HANDLE, ctypes.c_ubyte, c_size_t, HANDLE)
    def cuMemsetD8Async(self, to: int, byte: int, size: int, stream: int) -> None:
        self.do(lambda: ctypes.memset(to, byte, size))

    @call(HANDLE, c_size_t, ctypes.c_ubyte, c_size_t, c_size_t, HANDLE)
    def cuMemsetD2D8Async(
        self, to: int, pitch: int, byte: int, width: int, height: int, stream: int
    ) -> None:
        self.do(lambda: [ctypes.memset(to + row * pitch, byte, width) for row in range(height)])

    # ---- streams, events, graphs ----------------------------------------------------------------

    @call(OUT, c_uint, c_int)
    def cuStreamCreateWithPriority(self, stream: Any, flags: int, priority: int) -> None:
        stream[0] = self.handle("stream")
        self.context_of[stream[0]] = self.current.context

    @call(HANDLE)
    def cuStreamDestroy(self, stream: int) -> None:
        self.destroy("stream", stream)

    @call(HANDLE, HANDLE, c_uint)
    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> None:
        assert ("event", event) in self.live

    @call(HANDLE, c_int)
    def cuStreamBeginCapture(self, stream: int, mode: int) -> None:
        self.captured = []
        self.graphs[graph := self.handle("graph")] = self.captured
        self.current.graph = graph

    @call(HANDLE, POINTER(c_int), c_void_p, OUT, c_void_p, c_void_p, c_void_p)
    def cuStreamGetCaptureInfo(
        self, stream: int, status: Any, identity: Any, graph: Any, *others: Any
    ) -> None:
        status[0] = int(self.captured is not None)
        if graph:
            graph[0] = self.current.graph

    @call(HANDLE, OUT)
    def cuStreamEndCapture(self, stream: int, graph: Any) -> None:
        graph[0], self.captured = self.current.graph, None

    @call(OUT, HANDLE, c_void_p)
    def cuGraphInstantiateWithParams(self, executable: Any, graph: int, given: int) -> None:
        executable[0] = self.handle("executable")
        self.graphs[executable[0]] = self.graphs[graph]

    @call(HANDLE)
    def cuGraphDestroy(self, graph: int) -> None:
        self.destroy("graph", graph)

    @call(HANDLE)
    def cuGraphExecDestroy(self, executable: int) -> None:
        self.destroy("executable", executable)
        self.graphs.pop(executable, None)

    @call(HANDLE, HANDLE)
    def cuGraphUpload(self, executable: int, stream: int) -> None:
        assert executable in self.graphs

    @call(HANDLE, HANDLE)
    def cuGraphLaunch(self, executable: int, stream: int) -> None:
        for work in self.graphs[executable]:
            work()

    @call(OUT, c_void_p, c_void_p, c_uint, c_uint)
    def cuUserObjectCreate(self, made: Any, *given: Any) -> None:
        made[0] = 8  # cuda.core reads this at the end of a graph

    @call(OUT, c_uint)
    def cuEventCreate(self, event: Any, flags: int) -> None:
        event[0] = self.handle("event")

    @call(HANDLE)
    def cuEventDestroy(self, event: int) -> None:
        self.destroy("event", event)

    @call(POINTER(c_float), HANDLE, HANDLE)
    def cuEventElapsedTime(self, milliseconds: Any, begun: int, ended: int) -> None:
        milliseconds[0] = 1.5

    # ---- kernels --------------------------------------------------------------------------------

    @call(OUT, c_void_p, c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_uint)
    def cuLibraryLoadData(self, library: Any, image: int, *options: Any) -> None:
        data = ctypes.string_at(image)
        if not data.startswith(b"\x7fELF "):
            raise DriverFailure(200)
        self.images[handle := self.handle("library")] = data
        library[0] = handle

    @call(HANDLE)
    def cuLibraryUnload(self, library: int) -> None:
        self.destroy("library", library)

    def kernels_of(self, library: int) -> list[int]:
        _, file, variant = self.images[library].decode().split(" ", 2)
        return [k[0] + 1 for k in _emulator.kernels() if (k[1], k[2]) == (file, variant)]

    @call(POINTER(c_uint), HANDLE)
    def cuLibraryGetKernelCount(self, count: Any, library: int) -> None:
        count[0] = len(self.kernels_of(library))

    @call(OUT, c_uint, HANDLE)
    def cuLibraryEnumerateKernels(self, kernels: Any, count: int, library: int) -> None:
        for i, kernel in enumerate(self.kernels_of(library)[:count]):
            kernels[i] = kernel

    @call(OUT, HANDLE, c_char_p)
    def cuLibraryGetKernel(self, kernel: Any, library: int, name: bytes) -> None:
        found = [k for k in self.kernels_of(library) if description(k)[3] == name.decode()]
        if not found:
            raise DriverFailure(NOT_FOUND)
        kernel[0] = found[0]

    @call(OUT, HANDLE)
    def cuKernelGetName(self, name: Any, kernel: int) -> None:
        name[0] = c_string(description(kernel)[3])

    @call(HANDLE, c_size_t, OUT, OUT)
    def cuKernelGetParamInfo(self, kernel: int, index: int, offset: Any, size: Any) -> None:
        sizes = parameter_sizes(kernel)
        if index >= len(sizes):
            raise DriverFailure(INVALID)
        at = 0
        for i, each in enumerate(sizes[: index + 1]):
            align = min(each, 8) if each in (1, 2, 4) else 8
            at = -(-at // align) * align + (each if i < index else 0)
        offset[0], size[0] = at, sizes[index]

    @call(POINTER(c_int), c_int, HANDLE, c_int)
    def cuKernelGetAttribute(self, value: Any, attribute: int, kernel: int, device: int) -> None:
        value[0] = {4: 32}.get(attribute, 0)  # registers

    @call(c_int, c_int, HANDLE, c_int)
    def cuKernelSetAttribute(self, attribute: int, value: int, kernel: int, device: int) -> None:
        assert attribute == 8  # dynamic shared memory
        self.most_shared[kernel] = value

    @call(POINTER(c_int), HANDLE, c_int, c_size_t)
    def cuOccupancyMaxActiveBlocksPerMultiprocessor(
        self, blocks: Any, kernel: int, threads: int, shared: int
    ) -> None:
        blocks[0] = 2

    @call(HANDLE, *[c_uint] * 7, HANDLE, POINTER(c_void_p), c_void_p)
    def cuLaunchKernel(self, *given: Any) -> None:
        self.launch(*given[:10], cooperative=False)

    @call(HANDLE, *[c_uint] * 7, HANDLE, POINTER(c_void_p))
    def cuLaunchCooperativeKernel(self, *given: Any) -> None:
        self.launch(*given, cooperative=True)

    def launch(
        self, kernel: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int,
        stream: int, pointers: Any, *, cooperative: bool,
    ) -> None:  # fmt: skip
        self.require_stream(stream)
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


def nothing(gpu: FakeGpu, *given: Any) -> None:
    """Stand for a call that has nothing to do, since all work runs at once."""


call(c_uint, name="cuInit")(nothing)
call(c_int, name="cuDevicePrimaryCtxRelease")(nothing)
call(name="cuCtxSynchronize")(nothing)
call(HANDLE, name="cuStreamSynchronize", also=["cuEventSynchronize"])(nothing)
call(HANDLE, HANDLE, name="cuEventRecord")(nothing)
call(HANDLE, c_uint, name="cuUserObjectRelease")(nothing)
call(HANDLE, HANDLE, c_uint, c_uint, name="cuGraphRetainUserObject")(nothing)
call(HANDLE, HANDLE, c_uint, name="cuGraphReleaseUserObject")(nothing)
