"""Names of devices: a kind, and the index of one of several, as in ``"cuda:1"``."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kleene.errors import DeviceError, RequestError

__all__ = [
    "INDEXED",
    "PACKAGES",
    "compiler_package",
    "count_from",
    "device_name",
    "driver_version",
    "extra",
    "library",
    "missing",
    "names_in_words",
    "one_gpu",
    "package_version",
    "short_name",
    "split_name",
    "version",
]

#: Kinds of devices of which there may be several.
INDEXED = ("cuda", "emulated")

#: More than any machine has.
_MOST = 64


def split_name(name: str) -> tuple[str, int | None]:
    """Return the kind and the index of a device; None for a name without an index.

    >>> split_name("cuda:1"), split_name("cpu")
    (('cuda', 1), ('cpu', None))
    """
    kind, colon, number = name.partition(":")
    if not colon:
        return name, None
    if kind not in INDEXED or not (number.isascii() and number.isdecimal()):
        raise RequestError(
            f"no device {name!r}: a device has a name such as 'cpu' or 'cuda', or 'cuda:1' for one "
            "of several GPUs",
            option="device",
        )
    return kind, int(number)


def device_name(kind: str, index: int) -> str:
    """Return the name of one of several devices."""
    return f"{kind}:{index}"


def short_name(device: Any) -> str:
    """Return the name of an opened device; the first of its kind needs no index."""
    return device_name(device.kind, device.index) if device.index else str(device.kind)


def names_in_words(names: Sequence[str]) -> str:
    """Return the names of some devices, or how many they are.

    >>> names_in_words(["cuda:0", "cuda:2"])
    'cuda:0 and cuda:2'
    >>> names_in_words(["cuda:0", "cuda:1", "cuda:2", "cuda:3"])
    '4 devices, cuda:0 to cuda:3'
    """
    if len(names) > 3:
        return f"{len(names)} devices, {names[0]} to {names[-1]}"
    return " and ".join([", ".join(names[:-1]), *names[-1:]] if len(names) > 1 else names)


def count_from(variable: str) -> int:
    """Return a number of devices that the environment sets; 1 by default."""
    text = os.environ.get(variable) or "1"
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST):
        raise DeviceError(f"{variable} must be an integer from 1 to {_MOST}, not {text!r}")
    return int(text)


# ---- NVIDIA's driver and what is needed beside it, found out without starting anything ----------
# Starting CUDA takes a fifth of a second and must not happen before a fork, so what a plan needs to
# know is read from files and from the driver's version.

#: The packages that device "cuda" imports.
PACKAGES = ("cuda-core", "cuda-bindings")
#: The packages with the compiler of kernels, by the CUDA they belong to. Without one, NVRTC may
#: still be found in an installed CUDA toolkit.
_COMPILERS = {13: "nvidia-cuda-nvrtc", 12: "nvidia-cuda-nvrtc-cu12"}
#: The oldest driver that reports the sizes of the parameters of a kernel.
_OLDEST = (12, 4)

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


def version(package: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    from importlib import metadata  # takes 7 ms, and only a machine with a GPU needs it

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _major(package: str) -> int:
    """Return the first number of the version of an installed distribution; 0: not installed."""
    return int((version(package) or "0").partition(".")[0])


@cache
def package_version() -> str:
    """Return the versions of the packages that device "cuda" imports."""
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES if version(name) is not None)


@cache
def compiler_package() -> str | None:
    """Return the distribution of NVRTC that ``cuda.bindings`` loads and its version, or None."""
    name = _COMPILERS.get(_major("cuda-bindings"), "")
    found = version(name) if name else None
    return None if found is None else f"{name} {found}"


def extra() -> str:
    """Return the extra of Kleene that brings what the driver here can use."""
    driver = library()
    number = None if driver is None else driver_version(driver)
    return "cuda12" if number is not None and number.startswith("12.") else "cuda13"


def one_gpu() -> bool:
    """Return whether the driver has one GPU, by its files; False where they do not say."""
    return _GPUS.is_dir() and len(list(_GPUS.iterdir())) == 1


@cache
def missing() -> str | None:
    """Say in one sentence what is missing for device "cuda", and what to do; None: nothing seen."""
    driver = library()
    if driver is None:
        return "no NVIDIA driver was found; install it from nvidia.com/drivers"
    runs = driver_version(driver)
    if runs is None:
        return "the NVIDIA driver does not report its version; reinstall it from nvidia.com/drivers"
    if _GPUS.is_dir() and not any(_GPUS.iterdir()):
        return "the NVIDIA driver sees no GPU"
    major, minor = map(int, runs.split("."))
    if (major, minor) < _OLDEST:
        return f"the NVIDIA driver runs CUDA {runs}, and 12.4 or newer is needed; update it"
    for package in PACKAGES:
        if version(package) is None:
            return f'{package} is not installed; pip install "kleene[{extra()}]"'
    if _major("cuda-core") < 1:
        return f'cuda-core {version("cuda-core")} is too old; pip install "kleene[{extra()}]"'
    if _major("cuda-bindings") > major:
        return (
            f"cuda-bindings {version('cuda-bindings')} is not for CUDA {runs}, which the NVIDIA "
            f'driver runs; pip install "kleene[{extra()}]"'
        )
    return None
