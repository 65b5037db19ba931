"""What programs that measure Kleene ask for: this machine, its devices, and steps of calls alone.

The lab is such a program; nothing else of Kleene but its public names is imported there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError
from kleene.graph import Graph
from kleene.prepared.elimination import Fill, count_fill, eliminate
from kleene.prepared.order import elimination_order
from kleene.system import devices
from kleene.system.atomic_file import atomic_path
from kleene.system.machine import as_threads, available_memory, cores, this_machine
from kleene.system.suggestions import no_such

__all__ = [
    "DeviceMemory",
    "Fill",
    "atomic_path",
    "available_memory",
    "cores",
    "count_fill",
    "device_facts",
    "device_memory",
    "eliminate",
    "elimination_order",
    "kernel_digest",
    "relaxation_ceiling",
    "reset_device_peak",
    "spmv_kernel_timer",
    "this_machine",
]


class DeviceMemory(NamedTuple):
    """Bytes of a device's memory."""

    free: int  # within KLEENE_DEVICE_MEMORY, if that is set
    used: int  # by Kleene
    peak: int  # the most that Kleene used since `reset_device_peak`


def device_facts(device: str) -> dict[str, Any]:
    """Return name, kind, compute capability and multiprocessors of a GPU or of the emulator."""
    from kleene.backends.cuda.runtime.device import open_device

    opened = open_device(device)
    facts: dict[str, Any] = {
        "name": opened.name,
        "kind": opened.kind,
        "capability": ".".join(map(str, opened.capability)),
        "multiprocessors": opened.multiprocessors,
    }
    if opened.kind == "cuda":
        facts["packages"] = devices.package_version()
        driver = devices.library()
        facts["cuda"] = None if driver is None else devices.driver_version(driver)
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
    from kleene.backends.cuda.graph import get_device_graph
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


def relaxation_ceiling(
    semiring: str,
    dtype: Any,
    *,
    predecessors: bool = False,
    nonnegative: bool = True,
    device: str = "cpu",
    threads: int | None = None,
    seconds: float = 0.1,
) -> float:
    """Return relaxations per second of a dense method's inner loop, the ceiling of a device.

    Operands are in the nearest cache of a CPU, in registers of a GPU, so that nothing but
    arithmetic is measured. A method cannot be faster.

    Parameters
    ----------
    semiring : {"min_plus", "max_min", "max_times", "boolean"}
    dtype : dtype or str
        In which the method computes: float32, float64, int16, int32, int64; bool for bits.
    predecessors : bool
        Whether predecessors are kept; on a CPU only.
    nonnegative : bool
        Whether no weight is negative, which float32 on a GPU makes use of.
    device : {"cpu", "cuda", "emulated"}
    threads : int, optional
        Of the CPU; all cores unless given.
    seconds : float
        About how long to measure.

    Examples
    --------
    >>> from kleene.calls.programs import relaxation_ceiling
    >>> relaxation_ceiling("min_plus", "float32", threads=1, seconds=0.01) > 1e6
    True
    """
    kind = np.dtype(dtype)
    if device == "cpu":
        from kleene.backends.cpu.closure import measure_ceiling  # or that of a GPU

        count = as_threads(threads) or cores()
        return measure_ceiling(semiring, kind.name, predecessors, count, seconds)
    if device not in ("cuda", "emulated"):
        raise RequestError(no_such("device", device, ("cpu", "cuda", "emulated")), option="device")
    if predecessors:
        raise RequestError(
            Code("predecessors=True"), " has a ceiling on ", Code("device='cpu'"), " only"
        )
    from kleene.backends.cuda.closure.ceiling import measure_ceiling as on_gpu

    return on_gpu(device, semiring, kind, nonnegative, seconds)
