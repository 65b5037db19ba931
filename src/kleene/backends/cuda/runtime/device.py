"""Devices by name: GPUs and emulated ones, which ``interface`` describes.

device = open_device("emulated")
d = device.upload(matrix, name="d")
step = device.kernels("apsp_naive", KL_TYPE="float", KL_PATHS=0)["apsp_naive_step"]
step.launch((8, 32), (32, 8), (d, None, 256, k, flag))
device.download(d)
"""

from __future__ import annotations

from collections.abc import Sequence

from kleene.backends.cuda.runtime.interface import Device
from kleene.system.devices import count_from, device_name, split_name

__all__ = ["open_device", "visible_devices"]


def open_device(name: str) -> Device:
    """Return the device of this name, or raise a DeviceError with the reason.

    "cuda:1" and "emulated:1" are one of several. "emulated" is the first, and "cuda" the GPU that
    is current in the thread that opens it, which is the first unless another library chose one.
    """
    kind, index = split_name(name)
    if kind == "emulated":
        from kleene.backends.cuda.runtime.emulated_device import open_emulated

        return open_emulated(index or 0)
    from kleene.backends.cuda.runtime.cuda_startup import open_cuda

    return open_cuda(index)


def visible_devices(kind: str) -> tuple[str, ...]:
    """Return the names of all devices of a kind that can be used; GPUs are not opened.

    KLEENE_EMULATOR_DEVICES emulates several. KLEENE_DEVICES_PER_GPU makes several devices of each
    GPU, each with streams and a share of the memory of its own.
    """
    if kind == "emulated":
        indices: Sequence[int] = range(count_from("KLEENE_EMULATOR_DEVICES"))
    else:
        from kleene.backends.cuda.runtime.cuda_startup import visible_indices

        indices = visible_indices()
    return tuple(device_name(kind, index) for index in indices)
