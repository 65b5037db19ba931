"""The machine, as far as measurements depend on it."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import kleene as kl
from kleene.calls.programs import available_memory, cores, device_facts, this_machine

__all__ = ["describe", "one_line"]

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
