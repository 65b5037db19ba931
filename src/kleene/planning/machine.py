"""The machine that calls run on, as a plan sees it: facts that hold, and two that are looked up.

How much memory is free, and whether the GPU opens and how much is free there, change and cost time
to find out (opening a GPU takes a fifth of a second, and must not happen before a fork). A plan
asks for them only where the answer matters.
"""

from __future__ import annotations

from functools import cache

from kleene.errors import DeviceError
from kleene.system import devices as nvidia
from kleene.system.devices import count_from, device_name, split_name
from kleene.system.machine import Machine, allowed_memory, available_memory, this_machine

__all__ = ["LiveMachine", "live_machine"]


class LiveMachine(Machine):
    """The machine we run on, asked now."""

    @property
    def limited(self) -> bool:
        """Whether KLEENE_MEMORY says how much calls may take."""
        return allowed_memory() is not None

    def free_memory(self) -> int | None:
        """Return the bytes that this process may still take."""
        return available_memory()

    def free_gpu_memory(self, name: str = "cuda") -> int | None:
        """Return the bytes that a call can have on a GPU, or None if it does not open."""
        from kleene.backends.cuda.graph import idle_bytes
        from kleene.backends.cuda.runtime.device import open_device

        if not _gpu_opens(name):
            return None
        device = open_device(name)
        return device.free_memory() + idle_bytes(device)

    def visible(self, kind: str) -> tuple[str, ...]:
        """Return the names of the devices of a kind; the driver counts GPUs, if there are more."""
        from kleene.backends.cuda.runtime.device import visible_devices

        if kind == "cuda":  # they stay the same
            return _visible_gpus(count_from("KLEENE_DEVICES_PER_GPU"))
        return visible_devices(kind)

    def is_open(self, name: str) -> bool:
        """Return whether a GPU was opened before."""
        from kleene.backends.cuda.runtime.cuda_startup import is_open

        return is_open(split_name(name)[1])


@cache
def _visible_gpus(parts: int) -> tuple[str, ...]:
    from kleene.backends.cuda.runtime.device import visible_devices

    one = nvidia.one_gpu() and parts == 1  # CUDA need not be started to count
    return (device_name("cuda", 0),) if one else visible_devices("cuda")


@cache
def _gpu_opens(name: str) -> bool:
    from kleene.backends.cuda.runtime.device import open_device

    try:
        open_device(name)
    except DeviceError:
        return False
    return True


@cache
def live_machine() -> LiveMachine:
    """Return the machine we run on."""
    here = this_machine()
    return LiveMachine(here.cores, None, here.simd, here.devices, here.absent)
