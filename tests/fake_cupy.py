"""Stands in for CuPy's bindings of CUDA where there is no GPU: the emulator runs the kernels.

It takes what the real one takes, by the same names and in the same order (CuPy 13 and 14), so that
the device that is written against CuPy runs, down to the last call, in every test.
"""

from __future__ import annotations

import ctypes
import sys
import types
from typing import Any

import pytest

from kleene import _emulator
from kleene.system import nvidia


class CUDARuntimeError(RuntimeError):
    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"cudaError {status}")


class CUDADriverError(RuntimeError):
    pass


class FakeCuda:
    """One GPU. Work runs at once; what is captured runs when the graph is launched."""

    def __init__(self, memory: int = 2**28, capability: tuple[int, int] = (9, 0)) -> None:
        self.memory, self.capability = memory, capability
        self.rooms: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self.live: set[tuple[str, int]] = set()
        self.next = 0
        self.captured: list[Any] | None = None
        self.graphs: dict[int, list[Any]] = {}
        self.images: dict[int, bytes] = {}
        self.compiled: list[str] = []
        self.most_shared: dict[int, int] = {}

    def handle(self, kind: str) -> int:
        self.next += 1
        self.live.add((kind, self.next))
        return self.next

    def do(self, work: Any) -> None:
        if self.captured is None:
            work()
        else:
            self.captured.append(work)

    def take(self, size: int) -> int:
        if size > self.free():
            raise CUDARuntimeError(2)
        room = ctypes.create_string_buffer(size)
        self.rooms[ctypes.addressof(room)] = room
        return ctypes.addressof(room)

    def give(self, address: int) -> None:
        if address:
            del self.rooms[address]

    def free(self) -> int:
        return self.memory - sum(map(len, self.rooms.values()))

    # ---- the modules ----------------------------------------------------------------------------

    def runtime(self) -> types.ModuleType:
        m: Any = types.ModuleType("runtime")
        m.CUDARuntimeError = CUDARuntimeError
        m.cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
        m.getDeviceCount = lambda: 1
        m.getDevice = lambda: 0
        m.setDevice = lambda device: None
        m.getDeviceProperties = lambda device: {
            "name": b"Fake GPU",
            "major": self.capability[0],
            "minor": self.capability[1],
            "multiProcessorCount": 4,
        }
        m.deviceGetAttribute = lambda attrib, device: 100 * 1024
        m.memGetInfo = lambda: (self.free(), self.memory)
        m.malloc, m.free = self.take, self.give
        m.hostAlloc, m.freeHost = lambda size, flags: self.take(size), self.give
        m.memsetAsync = lambda ptr, value, size, stream: self.do(
            lambda: ctypes.memset(ptr, value, size)
        )
        m.memcpyAsync = lambda dst, src, size, kind, stream: self.do(
            lambda: ctypes.memmove(dst, src, size)
        )
        m.memcpy2DAsync = self.copy_rows
        m.streamCreateWithPriority = lambda flags, priority: self.handle("stream")
        m.streamDestroy = lambda stream: self.live.remove(("stream", stream))
        m.streamSynchronize = m.deviceSynchronize = lambda *stream: None
        m.streamWaitEvent = lambda stream, event, flags=0: None
        m.eventCreateWithFlags = lambda flags: self.handle("event")
        m.eventDestroy = lambda event: self.live.remove(("event", event))
        m.eventRecord = lambda event, stream: None
        m.eventSynchronize = lambda event: None
        m.eventElapsedTime = lambda start, end: 1.5
        m.streamBeginCapture = lambda stream, mode=2: setattr(self, "captured", [])
        m.streamEndCapture = self.end_capture
        m.graphInstantiate = lambda graph: graph
        m.graphDestroy = m.graphExecDestroy = lambda graph: None
        m.graphUpload = lambda graph, stream: None
        m.graphLaunch = lambda graph, stream: [work() for work in self.graphs[graph]]
        return m  # type: ignore[no-any-return]

    def copy_rows(
        self, dst: int, dpitch: int, src: int, spitch: int, width: int, height: int, kind: int,
        stream: int,
    ) -> None:  # fmt: skip
        assert width <= dpitch
        assert width <= spitch

        def run() -> None:
            for row in range(height):
                ctypes.memmove(dst + row * dpitch, src + row * spitch, width)

        self.do(run)

    def end_capture(self, stream: int) -> int:
        graph = self.handle("graph")
        assert self.captured is not None
        self.graphs[graph], self.captured = self.captured, None
        return graph

    def driver(self) -> types.ModuleType:
        m: Any = types.ModuleType("driver")
        m.CUDADriverError = CUDADriverError
        m.CU_FUNC_ATTRIBUTE_NUM_REGS = 4
        m.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3
        m.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
        m.moduleLoadData = self.load
        m.moduleGetFunction = self.function
        m.funcSetAttribute = lambda f, attribute, value: self.most_shared.update({f: value})
        m.funcGetAttribute = lambda attribute, f: 32
        m.occupancyMaxActiveBlocksPerMultiprocessor = lambda func, blockSize, dynamicSMemSize: 2
        m.launchKernel = lambda *a: self.launch(*a[:10], cooperative=False)
        m.launchCooperativeKernel = lambda *a: self.launch(*a, cooperative=True)
        return m  # type: ignore[no-any-return]

    def load(self, image: bytes) -> int:
        if not image.startswith(b"cubin "):
            raise CUDADriverError("CUDA_ERROR_INVALID_IMAGE")
        self.images[module := self.handle("module")] = image
        return module

    def function(self, module: int, name: str) -> int:
        _, file, variant = self.images[module].decode().split(" ", 2)
        for number, of, kind, kernel, _, _ in _emulator.kernels():
            if (of, kind, kernel) == (file, variant, name):
                return number + 1
        raise CUDADriverError("CUDA_ERROR_NOT_FOUND")

    def launch(
        self, f: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int,
        stream: int, params: int, *, cooperative: bool,
    ) -> None:  # fmt: skip
        if bx * by * bz > 1024 or shared > self.most_shared.get(f, 48 * 1024):
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE")
        codes = _emulator.kernels()[f - 1][4]
        pointers = (ctypes.c_void_p * len(codes)).from_address(params)
        words = b"".join(ctypes.string_at(pointers[i] or 0, 8) for i in range(len(codes)))
        self.do(
            lambda: _emulator.launch(
                f - 1, (gx, gy, gz), (bx, by, bz), words, shared, cooperative, 0, 1000, 1
            )
        )

    def nvrtc(self) -> types.ModuleType:
        """A compiler whose output names what it was given; it knows GPUs up to 9.0."""
        m: Any = types.ModuleType("nvrtc")
        programs: dict[int, tuple[str, str]] = {}

        class NVRTCError(RuntimeError):
            pass

        def create(src: str, name: str, headers: Any, include_names: Any) -> int:
            programs[program := self.handle("program")] = (src, name)
            return program

        def build(program: int, options: tuple[str, ...]) -> None:
            target = next(o for o in options if o.startswith("-arch=")).partition("=")[2]
            self.compiled.append(target)
            if int(target.partition("_")[2]) > 90:
                programs[program] = ("", "invalid value for --gpu-architecture")
                raise NVRTCError(5)
            if "-DKL_BROKEN=1" in options:
                programs[program] = ("", "error: this is not C++")
                raise NVRTCError(6)
            file = programs[program][1].removesuffix(".cu")
            defines = sorted(o[2:] for o in options if o.startswith("-D"))
            programs[program] = (f"cubin {file} {','.join(defines)}", "")

        m.NVRTCError = NVRTCError
        m.createProgram, m.compileProgram = create, build
        m.getCUBIN = m.getPTX = lambda program: programs[program][0].encode()
        m.getProgramLog = lambda program: programs[program][1]
        m.destroyProgram = lambda program: programs.pop(program)
        return m  # type: ignore[no-any-return]

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Let ``import cupy`` and ``import cupy_backends`` find this."""
        driver, runtime, nvrtc = self.driver(), self.runtime(), self.nvrtc()
        modules: dict[str, Any] = {
            name: types.ModuleType(name)
            for name in (
                "cupy",
                "cupy_backends",
                "cupy_backends.cuda",
                "cupy_backends.cuda.api",
                "cupy_backends.cuda.libs",
            )
        }
        modules["cupy_backends.cuda.api"].driver = driver
        modules["cupy_backends.cuda.api"].runtime = runtime
        modules["cupy_backends.cuda.libs"].nvrtc = nvrtc
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        patch.setattr(nvidia, "missing", lambda: None)
        patch.setattr(nvidia, "package_version", lambda: "cupy-fake 1")
