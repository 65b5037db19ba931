"""The calls of CUDA's driver that ``cuda.core`` lacks, through ``cuda.bindings``.

The only file that imports ``cuda.bindings``. ``cuda.core`` 1.2 has no

- launch with a struct by value, nor with arguments that are packed already;
- device memory outside of a stream's order: its pool returns memory to CUDA when it likes, so that
  free memory is not known, and maps it again at the next allocation;
- copies and fills by address, and of rectangles, within a GPU and between two: it copies whole
  buffers;
- free memory as CUDA sees it, capability of GPUs that are not opened, names of the kernels in a
  module, limit of the dynamic shared memory
  of a kernel, range of stream priorities, version of NVRTC, wait for all streams without the CUDA
  runtime.

Streams and kernels are the handles of ``cuda.core``'s objects. Addresses are integers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cuda.bindings import driver, nvrtc

__all__ = [
    "DriverError",
    "allocate",
    "allocate_pinned",
    "allow_peer_copies",
    "capabilities",
    "compiler_version",
    "copy",
    "copy_peer_rows",
    "copy_rows",
    "fill",
    "fill_rows",
    "free",
    "free_pinned",
    "function",
    "highest_priority",
    "kernel_names",
    "launch",
    "memory",
    "raise_shared_memory",
    "synchronize",
]


class DriverError(RuntimeError):
    """A call that CUDA refused or could not do."""

    def __init__(self, status: Any) -> None:
        self.out_of_memory = status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        _, text = driver.cuGetErrorString(status)
        super().__init__(f"{status.name}: {(text or b'unknown error').decode(errors='replace')}")


def _checked(outcome: tuple[Any, ...]) -> Any:
    """Return what a call returned beside its status; raise DriverError if it failed."""
    if outcome[0]:
        raise DriverError(outcome[0])
    return outcome[1] if len(outcome) == 2 else outcome[1:]


# ---- memory -------------------------------------------------------------------------------------


def allocate(nbytes: int) -> int:
    """Return the address of new device memory."""
    return int(_checked(driver.cuMemAlloc(nbytes)))


def free(address: int) -> None:
    """Free device memory; waits for the device."""
    _checked(driver.cuMemFree(address))


def allocate_pinned(nbytes: int) -> int:
    """Return the address of new page-locked host memory."""
    return int(_checked(driver.cuMemHostAlloc(nbytes, 0)))


def free_pinned(address: int) -> None:
    """Free page-locked host memory."""
    _checked(driver.cuMemFreeHost(address))


def memory() -> tuple[int, int]:
    """Return the bytes that are free on the current device, and all that it has."""
    free, total = _checked(driver.cuMemGetInfo())
    return int(free), int(total)


# ---- copies -------------------------------------------------------------------------------------


def copy(to: Any, source: Any, nbytes: int, part: str, stream: Any) -> None:
    """Copy bytes; ``part`` is "copy_in" to the device, "copy_out" to the host, "" within.

    A contiguous host array may stand for its address.
    """
    _checked(_COPIES[part](to, source, nbytes, stream))


_COPIES = {
    "copy_in": driver.cuMemcpyHtoDAsync,
    "copy_out": driver.cuMemcpyDtoHAsync,
    "": driver.cuMemcpyDtoDAsync,
}


def copy_rows(
    to: int, to_pitch: int, source: int, source_pitch: int, width: int, rows: int, part: str,
    stream: Any,
) -> None:  # fmt: skip
    """Copy a rectangle of ``rows`` rows of ``width`` bytes; ``part`` is as for :func:`copy`."""
    host, device = driver.CUmemorytype.CU_MEMORYTYPE_HOST, driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    task = driver.CUDA_MEMCPY2D()
    if part == "copy_in":
        task.srcMemoryType, task.srcHost = host, source
    else:
        task.srcMemoryType, task.srcDevice = device, source
    if part == "copy_out":
        task.dstMemoryType, task.dstHost = host, to
    else:
        task.dstMemoryType, task.dstDevice = device, to
    task.srcPitch, task.dstPitch, task.WidthInBytes, task.Height = (
        source_pitch,
        to_pitch,
        width,
        rows,
    )
    _checked(driver.cuMemcpy2DAsync(task, stream))


def allow_peer_copies(device: int, other: int) -> None:
    """Let the current device, of this number, reach the memory of another, if it can at all."""
    if not _checked(driver.cuDeviceCanAccessPeer(device, other)):
        return
    (status,) = driver.cuCtxEnablePeerAccess(_context(other), 0)
    if status and status != driver.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
        raise DriverError(status)


def copy_peer_rows(
    to: int, to_pitch: int, source: int, source_pitch: int, width: int, rows: int, to_device: int,
    source_device: int, stream: Any,
) -> None:  # fmt: skip
    """Copy a rectangle between devices; the driver goes through the host where it must."""
    contexts = _context(to_device), _context(source_device)
    if rows == 1:  # of any size
        _checked(driver.cuMemcpyPeerAsync(to, contexts[0], source, contexts[1], width, stream))
        return
    kind = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    task = driver.CUDA_MEMCPY3D_PEER()
    task.srcMemoryType, task.srcDevice, task.srcPitch = kind, source, source_pitch
    task.dstMemoryType, task.dstDevice, task.dstPitch = kind, to, to_pitch
    task.dstContext, task.srcContext = contexts
    task.srcHeight = task.dstHeight = task.Height = rows
    task.WidthInBytes, task.Depth = width, 1
    _checked(driver.cuMemcpy3DPeerAsync(task, stream))


@cache
def _context(device: int) -> Any:
    """Return the context of a device that was opened."""
    return _checked(driver.cuDevicePrimaryCtxRetain(device))


def fill(address: int, byte: int, nbytes: int, stream: Any) -> None:
    """Set every byte of device memory."""
    _checked(driver.cuMemsetD8Async(address, byte, nbytes, stream))


def fill_rows(address: int, pitch: int, byte: int, width: int, rows: int, stream: Any) -> None:
    """Set every byte of a rectangle of device memory."""
    _checked(driver.cuMemsetD2D8Async(address, pitch, byte, width, rows, stream))


# ---- kernels ------------------------------------------------------------------------------------


def kernel_names(library: Any) -> list[str]:
    """Return the names of the kernels in a loaded ``ObjectCode``, by its handle."""
    count = _checked(driver.cuLibraryGetKernelCount(library))
    kernels = _checked(driver.cuLibraryEnumerateKernels(count, library)) if count else []
    return [_checked(driver.cuKernelGetName(kernel)).decode() for kernel in kernels]


def function(kernel: Any) -> Any:
    """Return what :func:`launch` takes for the handle of a ``Kernel``."""
    return driver.CUfunction(int(kernel))


def launch(
    function: Any, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int,
    stream: Any, pointers: int, cooperative: bool,
) -> None:  # fmt: skip
    """Launch a kernel; ``pointers`` is the address of an array of the addresses of arguments."""
    if cooperative:
        (status,) = driver.cuLaunchCooperativeKernel(
            function, gx, gy, gz, bx, by, bz, shared, stream, pointers
        )
    else:
        (status,) = driver.cuLaunchKernel(
            function, gx, gy, gz, bx, by, bz, shared, stream, pointers, 0
        )
    if status:
        raise DriverError(status)


def raise_shared_memory(kernel: Any, nbytes: int, device: int) -> None:
    """Allow a kernel more dynamic shared memory than the default, on a device."""
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    _checked(driver.cuKernelSetAttribute(attribute, nbytes, kernel, device))


# ---- the device ---------------------------------------------------------------------------------


def capabilities() -> list[tuple[int, int]]:
    """Return the compute capability of each device; starts the driver, and opens none."""
    _checked(driver.cuInit(0))
    names = driver.CUdevice_attribute
    major = names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    minor = names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
    return [
        (
            int(_checked(driver.cuDeviceGetAttribute(major, device))),
            int(_checked(driver.cuDeviceGetAttribute(minor, device))),
        )
        for device in map(int, range(_checked(driver.cuDeviceGetCount())))
    ]


def highest_priority() -> int:
    """Return the number of the highest priority of streams; lower numbers are higher."""
    return int(_checked(driver.cuCtxGetStreamPriorityRange())[1])


def synchronize() -> None:
    """Wait for all work of the current device."""
    _checked(driver.cuCtxSynchronize())


def compiler_version() -> str:
    """Return the version of NVRTC, which this loads; RuntimeError if it cannot."""
    status, major, minor = nvrtc.nvrtcVersion()
    if status:
        raise RuntimeError(f"NVRTC does not report its version: {status.name}")
    return f"{major}.{minor}"
