"""The calls that users make: arguments are checked here, once, then planned and run.

A call's module has its name. What else the lab and other tools ask for is imported at first use, so
that a program waits for the calls that it makes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.api.arguments import Out, Progress, Vertices
    from kleene.api.ceiling import relaxation_ceiling
    from kleene.api.devices import (
        DeviceMemory,
        device_facts,
        device_memory,
        kernel_digest,
        reset_device_peak,
        spmv_kernel_timer,
    )

_MODULES = {
    **dict.fromkeys(("Out", "Progress", "Vertices"), "arguments"),
    **dict.fromkeys(
        (
            "DeviceMemory", "device_facts", "device_memory", "kernel_digest", "reset_device_peak",
            "spmv_kernel_timer",
        ),
        "devices",
    ),
    "relaxation_ceiling": "ceiling",
}  # fmt: skip

__all__ = [
    "DeviceMemory",
    "Out",
    "Progress",
    "Vertices",
    "device_facts",
    "device_memory",
    "kernel_digest",
    "relaxation_ceiling",
    "reset_device_peak",
    "spmv_kernel_timer",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'kleene.api' has no attribute {name!r}")
    return getattr(import_module(f"kleene.api.{_MODULES[name]}"), name)
