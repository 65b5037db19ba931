"""What a machine is, as far as measurements depend on it."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import kleene as kl
from kleene import _native
from kleene.backends.cuda.runtime.device import Device
from kleene.system import nvidia
from kleene.system.machine import available_memory, cores

__all__ = ["describe", "in_words"]

_PACKAGES = ("numpy", "scipy", "networkx", "igraph", "networkit", "python-graphblas")
_ASKED = "driver_version,clocks.max.sm,clocks.max.memory,clocks.sm,power.limit,memory.total"


def describe(device: Device | None = None) -> dict[str, Any]:
    """Describe processor, memory, GPU and versions."""
    results: dict[str, Any] = {
        "processor": _processor(),
        "cores": cores(),
        "simd": _native.simd(),
        "clock": _clock(),
        "memory": available_memory(),
        "load": round(os.getloadavg()[0], 2),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": {"kleene": kl.__version__, **_versions()},
    }
    if device is not None:
        results["gpu"] = _gpu(device)
    return {key: value for key, value in results.items() if value is not None}


def in_words(machine: dict[str, Any]) -> str:
    """Return a machine in one line.

    >>> in_words({"processor": "Xeon", "cores": 2, "simd": "avx2", "gpu": {"name": "H200"}})
    'Xeon, 2 cores, avx2; H200'
    """
    texts = f"{machine['processor']}, {machine['cores']} cores, {machine.get('simd', '')}"
    gpu = machine.get("gpu")
    return texts if not gpu else f"{texts}; {gpu['name']}"


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


def _gpu(device: Device) -> dict[str, Any]:
    texts: dict[str, Any] = {
        "name": device.name,
        "kind": device.kind,
        "capability": ".".join(map(str, device.capability)),
        "multiprocessors": device.multiprocessors,
    }
    if device.kind != "cuda":
        return texts
    texts["cupy"] = nvidia.package_version()
    runtime = getattr(device, "runtime", None)
    if runtime is not None:
        number = runtime.runtimeGetVersion()
        texts["cuda"] = f"{number // 1000}.{number % 1000 // 10}"
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        line = subprocess.run(
            ["nvidia-smi", f"--query-gpu={_ASKED}", "--format=csv,noheader"],
            capture_output=True, text=True, check=True, timeout=20,
        ).stdout.splitlines()[0]  # fmt: skip
        names = ("driver", "clock_most", "memory_clock", "clock", "power", "memory")
        texts |= dict(zip(names, map(str.strip, line.split(",")), strict=True))
    return texts
