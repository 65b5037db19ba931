"""Facts about devices for programs that measure: name, memory, kernels, times of kernels alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.graph import Graph

__all__ = [
    "DeviceMemory",
    "device_facts",
    "device_memory",
    "kernel_digest",
    "reset_device_peak",
    "spmv_kernel_timer",
]


class DeviceMemory(NamedTuple):
    """Bytes of a device's memory."""

    free: int  # within KLEENE_DEVICE_MEMORY, if that is set
    used: int  # by Kleene
    peak: int  # the most that Kleene used since `reset_device_peak`


def device_facts(device: str) -> dict[str, Any]:
    """Return name, kind, compute capability and multiprocessors of a GPU or of the emulator."""
    from kleene.backends.cuda.runtime.device import open_device
    from kleene.system import nvidia

    opened = open_device(device)
    facts: dict[str, Any] = {
        "name": opened.name,
        "kind": opened.kind,
        "capability": ".".join(map(str, opened.capability)),
        "multiprocessors": opened.multiprocessors,
    }
    if opened.kind == "cuda":
        facts["packages"] = nvidia.package_version()
        driver = nvidia.library()
        facts["cuda"] = None if driver is None else nvidia.driver_version(driver)
    return facts


def device_memory(device: str) -> DeviceMemory:
    """Return the memory of a device as it is now."""
    from kleene.backends.cuda.runtime.device import open_device

    opened = open_device(device)
    return DeviceMemory(opened.free_memory(), opened.allocated, opened.peak)


def reset_device_peak(device: str) -> None:
    """Wait for all work on a device, and let its peak be what is used now."""
    from kleene.backends.cuda.runtime.device import open_device

    opened = open_device(device)
    opened.synchronize()
    opened.peak = opened.allocated


def kernel_digest() -> str:
    """Return a digest of all CUDA sources."""
    from kleene.backends.cuda.runtime import loader

    return loader.digest()


def spmv_kernel_timer(
    graph: Graph, x: NDArray[Any], *, form: str, device: str, products: int = 20
) -> Callable[[], float]:
    """Return a function that times the kernels of ``spmv`` alone: seconds of one product.

    Python launches them more slowly than they run, so that several products are one CUDA graph.
    """
    from kleene.backends.cuda.device_graph import get_device_graph
    from kleene.backends.cuda.runtime.device import open_device
    from kleene.backends.cuda.spmv import multiplier

    opened = open_device(device)
    there, y = opened.upload(x, "x"), opened.empty(graph.n, np.dtype(x.dtype), "y")
    multiply = multiplier(get_device_graph(graph, opened), x.dtype, "plus_times", form)
    multiply(there, y)  # nothing may be prepared while work is captured
    opened.synchronize()
    with opened.main.capture() as captured:
        for _ in range(products):
            multiply(there, y)

    def seconds(used: tuple[Any, ...] = (there, y)) -> float:  # the arrays live as long as this
        begun = opened.main.record()
        captured.graph.launch(opened.main)
        return float(opened.main.record().milliseconds_since(begun)) / 1e3 / products

    return seconds
