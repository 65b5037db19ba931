"""The environment of experiments: devices, sizes, and graphs that are made once."""

from __future__ import annotations

import os
import platform
import subprocess
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import kleene as kl
from kleene.calls.programs import available_memory, cores, device_facts, this_machine
from kleene.errors import RequestError

__all__ = ["Environment", "describe", "one_line"]

T = TypeVar("T")

#: Graphs are kept while they take this many bytes together; the last one always is.
_KEPT = 2**31


class Environment:
    """What an experiment needs to plan and to make its trials."""

    def __init__(
        self, device: str = "auto", quick: bool = False, data: str | Path | None = None
    ) -> None:
        if device not in ("auto", "cpu", "cuda", "emulated"):
            raise RequestError(f"no device {device!r}; use auto, cpu, cuda or emulated")
        self.quick = quick  # tiny sizes, to try the program
        self.cores = cores()
        self.data = None if data is None else Path(data)
        if device == "auto":
            device = "cuda" if "cuda" in this_machine().devices else "cpu"
        #: "cuda" or "emulated"; None where GPU experiments are skipped.
        self.gpu = None if device == "cpu" else device
        self._graphs: OrderedDict[Hashable, kl.Graph] = OrderedDict()
        self._placed: tuple[kl.Graph, kl.Graph] | None = None
        self._last: dict[str, tuple[Hashable, Any]] = {}
        self._kept: dict[Hashable, Any] = {}

    @property
    def threads(self) -> tuple[int, ...]:
        """The numbers of threads that get a series: one, and all cores."""
        return tuple(dict.fromkeys((1, self.cores)))

    def sizes(self, usual: tuple[T, ...], quick: tuple[T, ...]) -> tuple[T, ...]:
        """Return the sizes to measure."""
        return quick if self.quick else usual

    def graph(self, key: Hashable, make: Callable[[], kl.Graph]) -> kl.Graph:
        """Return a graph, made now or kept from before."""
        if key not in self._graphs:
            self._graphs[key] = make()
        self._graphs.move_to_end(key)
        while len(self._graphs) > 1 and sum(map(_size, self._graphs.values())) > _KEPT:
            self._graphs.popitem(last=False)
        return self._graphs[key]

    def placed(self, graph: kl.Graph) -> kl.Graph:
        """Return the graph on the GPU; the last one stays there."""
        assert self.gpu is not None
        if self._placed is None or self._placed[0] is not graph:
            self.unplace()  # frees memory first
            self._placed = (graph, graph.to(self.gpu))
        return self._placed[1]

    def unplace(self) -> None:
        """Free the GPU's memory."""
        self._placed = None

    def last(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return the last object of a kind if it has this key; otherwise make it."""
        if kind not in self._last or self._last[kind][0] != key:
            self._last.pop(kind, None)  # frees memory first
            self._last[kind] = (key, make())
        made: T = self._last[kind][1]
        return made

    def kept(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return the object of a kind and a key, made once."""
        if (kind, key) not in self._kept:
            self._kept[kind, key] = make()
        made: T = self._kept[kind, key]
        return made

    def file(self, name: str) -> Path | None:
        """Return a file of the data folder, if it is there."""
        path = None if self.data is None else self.data / name
        return path if path is not None and path.exists() else None

    @property
    def memory(self) -> int:
        """Bytes that are free on the host; 1 TiB where that is unknown."""
        return available_memory() or 2**40


def _size(graph: kl.Graph) -> int:
    return (
        graph.offsets.nbytes
        + graph.neighbors.nbytes
        + (0 if graph.weights is None else graph.weights.nbytes)
    )


# ---- the machine, as far as measurements depend on it -------------------------------------------


_PACKAGES = ("numpy", "scipy", "networkx", "igraph", "networkit", "python-graphblas")
_QUERY = "driver_version,clocks.max.sm,clocks.max.memory,clocks.sm,power.limit,memory.total"


def describe(device: str | None = None) -> dict[str, Any]:
    """Return processor, memory, versions, and a GPU (``"cuda"`` or ``"emulated"``)."""
    facts: dict[str, Any] = {
        "processor": _processor(),
        "cores": cores(),
        "simd": this_machine().simd,
        "clock": _clock(),
        "memory": available_memory(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {"kleene": kl.__version__, **_versions()},
    }
    if device is not None:
        facts["gpu"] = _gpu(device)
    return {key: value for key, value in facts.items() if value is not None}


def one_line(machine: dict[str, Any]) -> str:
    """Return a machine in one line.

    >>> one_line({"processor": "Xeon", "cores": 2, "simd": "avx2", "gpu": {"name": "H200"}})
    'Xeon, 2 cores, avx2; H200'
    """
    text = f"{machine['processor']}, {machine['cores']} cores, {machine.get('simd', '')}"
    gpu = machine.get("gpu")
    return text if not gpu else f"{text}; {gpu['name']}"


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _clock() -> float | None:
    """Return the processor's clock now, in MHz."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("cpu MHz"):
                return round(float(line.partition(":")[2]))
    return None


def _versions() -> dict[str, str]:
    results = {}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            results[name] = metadata.version(name)
    return results


def _gpu(device: str) -> dict[str, Any]:
    facts = device_facts(device)
    if device != "cuda":
        return facts
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        line = subprocess.run(
            ["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader"],
            capture_output=True, text=True, check=True, timeout=20,
        ).stdout.splitlines()[0]  # fmt: skip
        names = ("driver", "clock_most", "memory_clock", "clock", "power", "memory")
        facts |= dict(zip(names, map(str.strip, line.split(",")), strict=True))
    return facts
