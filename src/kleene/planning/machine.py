"""The machine that calls run on, as a plan sees it: facts that hold, and two that are looked up.

How much memory is free, and whether the GPU opens and how much is free there, change and cost time
to find out (opening a GPU takes a fifth of a second, and must not happen before a fork). A plan
asks for them only where the answer matters.
"""

from __future__ import annotations

from functools import cache

from kleene.errors import DeviceError
from kleene.system.machine import Machine, available_memory, this_machine

__all__ = ["LiveMachine", "live_machine"]


class LiveMachine(Machine):
    """The machine we run on, asked now."""

    def free_memory(self) -> int | None:
        """Return the bytes that this process may still take."""
        return available_memory()

    def free_gpu_memory(self) -> int | None:
        """Return the bytes that a call can have on the GPU, or None if it does not open."""
        from kleene.backends.cuda.device_graph import idle_bytes
        from kleene.backends.cuda.runtime.device import open_device

        if not _gpu_opens():
            return None
        device = open_device("cuda")
        return device.free_memory() + idle_bytes(device)


@cache
def _gpu_opens() -> bool:
    from kleene.backends.cuda.runtime.device import open_device

    try:
        open_device("cuda")
    except DeviceError:
        return False
    return True


@cache
def live_machine() -> LiveMachine:
    """Return the machine we run on."""
    here = this_machine()
    return LiveMachine(here.cores, None, here.simd, here.devices, here.absent)
