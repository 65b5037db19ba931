"""Opening of GPUs: what is missing, and the start of CUDA beside the import of ``cuda.core``."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kleene.errors import DeviceError
from kleene.system import devices
from kleene.system.devices import count_from

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.cuda_device import CudaDevice

__all__ = ["is_open", "open_cuda", "visible_indices"]

#: By the number of devices that each GPU is, and the index; None: the GPU that was current.
_opened: dict[tuple[int, int | None], CudaDevice] = {}
_opening = threading.Lock()


def open_cuda(index: int | None = None) -> CudaDevice:
    """Return a GPU, or raise a DeviceError with the reason.

    Without an index it is the one that was current at the first call.
    """
    parts = count_from("KLEENE_DEVICES_PER_GPU")
    device = _opened.get((parts, index))
    if device is None:
        with _opening:
            device = _opened.get((parts, index))
            if device is None:
                device = _opened[parts, index] = _open(parts, index)
    device.use()
    return device


def is_open(index: int | None) -> bool:
    """Return whether a GPU was opened before."""
    return (count_from("KLEENE_DEVICES_PER_GPU"), index) in _opened


def visible_indices() -> tuple[int, ...]:
    """Return the indices of all GPUs that are new enough; none where CUDA does not start."""
    if devices.missing() is not None:
        return ()
    try:
        from kleene.backends.cuda.runtime import cuda_device, cuda_driver

        found = cuda_driver.capabilities()
    except Exception:  # reported when a device is opened
        return ()
    parts = count_from("KLEENE_DEVICES_PER_GPU")
    usable = (gpu for gpu, capability in enumerate(found) if capability >= cuda_device.OLDEST)
    return tuple(gpu * parts + part for gpu in usable for part in range(parts))


def _open(parts: int, index: int | None) -> CudaDevice:
    reason = devices.missing()
    if reason is not None:
        raise DeviceError(f"device 'cuda' is not available: {reason}")
    try:
        with _starting_driver(0 if index is None else index // parts):
            from kleene.backends.cuda.runtime.cuda_device import CudaDevice, find_gpu
    except Exception as error:  # a broken installation fails in many ways
        raise DeviceError(
            f"cuda-core is installed but cannot be imported ({error}); reinstall "
            f'"kleene[{devices.extra()}]"'
        ) from error
    if index is None:
        index = find_gpu(None) * parts
        known = _opened.get((parts, index))
        if known is not None:
            return known
    else:
        _require(index, parts)
    device = CudaDevice(index // parts, index, parts)
    _opened[parts, index] = device
    return device


def _require(index: int, parts: int) -> None:
    """Raise a DeviceError for the index of a GPU that is not there."""
    from kleene.backends.cuda.runtime import cuda_driver
    from kleene.backends.cuda.runtime.cuda_device import find_gpu

    find_gpu(None)  # tells why CUDA does not start
    count = len(cuda_driver.capabilities()) * parts
    if index >= count:
        raise DeviceError(
            f"there is no device 'cuda:{index}': CUDA sees {count} device{'s' * (count != 1)}, "
            "counted from 0",
            advice=["see `kleene doctor`"],
        )


@contextmanager
def _starting_driver(ordinal: int) -> Iterator[None]:
    """Start CUDA in a thread while the block imports: each takes 0.1 to 0.2 s.

    The driver is started, and this GPU where no other is current. What fails here fails again,
    and is reported, when the device is opened.
    """
    library, device = devices.library(), ctypes.c_int(ordinal)
    if library is None:
        yield
        return
    library.cuCtxGetDevice(ctypes.byref(device))  # fails, and writes nothing, before the start

    def start() -> None:
        if library.cuInit(0) == 0:
            library.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), device)

    thread = threading.Thread(target=start, name="kleene-cuda-start", daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()
