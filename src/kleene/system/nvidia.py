"""NVIDIA's driver and what is needed beside it, found out without starting anything.

Starting CUDA takes a fifth of a second and must not happen before a fork, so what a plan needs to
know is read from files and from the driver's version.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

__all__ = ["PACKAGES", "driver_version", "library", "missing", "package", "package_version"]

#: The packages that bring CuPy, and the CUDA each is for; 0 is any.
PACKAGES = {"cupy-cuda13x": 13, "cupy-cuda12x": 12, "cupy-cuda11x": 11, "cupy": 0}

#: One folder for each GPU that the driver has; on Linux, and not in every container.
_GPUS = Path("/proc/driver/nvidia/gpus")


def library() -> ctypes.CDLL | None:
    """Return the driver's C library, or None."""
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def driver_version(driver: ctypes.CDLL) -> str | None:
    """Return the newest CUDA that the driver runs, such as "12.4"; it need not be started."""
    version = ctypes.c_int()
    if driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return None
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def package() -> str | None:
    """Return the distribution that CuPy was installed from, or None."""
    from importlib import metadata  # takes 7 ms, and only a machine with a GPU needs it

    for name in PACKAGES:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        return name
    return None


@cache
def package_version() -> str:
    """Return the distribution that CuPy was installed from and its version, such as "cupy 14.0"."""
    from importlib import metadata

    name = package()
    return "" if name is None else f"{name} {metadata.version(name)}"


@cache
def missing() -> str | None:
    """Say in one sentence what is missing for device "cuda", and what to do; None: nothing seen."""
    driver = library()
    if driver is None:
        return "no NVIDIA driver was found; install it from nvidia.com/drivers"
    version = driver_version(driver)
    if version is None:
        return "the NVIDIA driver does not report its version; reinstall it from nvidia.com/drivers"
    if _GPUS.is_dir() and not any(_GPUS.iterdir()):
        return "the NVIDIA driver sees no GPU"
    major = int(version.partition(".")[0])
    if major < 12:
        return f"the NVIDIA driver runs CUDA {version}, and 12 or newer is needed; update it"
    extra = "cuda13" if major >= 13 else "cuda12"
    installed = package()
    if installed is None:
        return f'CuPy is not installed; pip install "kleene[{extra}]"'
    if PACKAGES[installed] > major or PACKAGES[installed] == 11:
        return (
            f"{installed} is not for CUDA {version}, which the NVIDIA driver runs; "
            f'pip uninstall {installed}, then pip install "kleene[{extra}]"'
        )
    return None
