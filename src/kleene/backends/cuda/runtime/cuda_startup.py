"""Opening of the GPU: what is missing, and the start of CUDA beside the import of ``cuda.core``."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kleene.errors import DeviceError
from kleene.system import nvidia

if TYPE_CHECKING:
    from kleene.backends.cuda.runtime.cuda_device import CudaDevice

__all__ = ["open_cuda"]

_opened: list[CudaDevice] = []  # at most one: the GPU that was current then
_opening = threading.Lock()


def open_cuda() -> CudaDevice:
    """Return the GPU that was current at the first call, or raise a DeviceError with the reason."""
    if not _opened:
        with _opening:
            if not _opened:
                _opened.append(_open())
    device = _opened[0]
    device.use()
    return device


def _open() -> CudaDevice:
    reason = nvidia.missing()
    if reason is not None:
        raise DeviceError(f"device 'cuda' is not available: {reason}")
    try:
        with _starting_driver():
            from kleene.backends.cuda.runtime.cuda_device import open_current
    except Exception as error:  # a broken installation fails in many ways
        raise DeviceError(
            f"cuda-core is installed but cannot be imported ({error}); reinstall "
            f'"kleene[{nvidia.extra()}]"'
        ) from error
    return open_current()


@contextmanager
def _starting_driver() -> Iterator[None]:
    """Start CUDA in a thread while the block imports: each takes 0.1 to 0.2 s.

    The driver is started, and the first GPU where no other is current. What fails here fails again,
    and is reported, when the device is opened.
    """
    library, device = nvidia.library(), ctypes.c_int(0)
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
