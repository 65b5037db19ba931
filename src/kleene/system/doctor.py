"""What this installation can use: cores, memory, GPUs, optional packages; and how to get more.

Every probe answers or says why it cannot; none raises, since a broken driver is why it is run.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from dataclasses import asdict, dataclass
from importlib import metadata, util
from typing import Any

from kleene.errors import DeviceError
from kleene.system import devices as nvidia
from kleene.system import machine
from kleene.system.devices import count_from, device_name, names_in_words
from kleene.system.formatting import format_bytes

__all__ = ["Gpu", "Report", "examine"]

#: What each optional package is for.
_PACKAGES = {
    "pymetis": "orders of prepared graphs with shallow trees",
    "networkx": "graphs from and to NetworkX",
    "pandas": "graphs from and results as pandas tables",
    "polars": "graphs from and results as Polars tables",
    "pyarrow": "Parquet files and Arrow tables",
    "matplotlib": "pictures as PNG and PDF",
    "scikit-learn": "neighbours of points",
    "altair": "charts of the lab",
}
#: How to install those that Kleene has an extra for.
_EXTRAS = {
    "networkx": "kleene[networkx]",
    "matplotlib": "kleene[plot]",
    "scikit-learn": "kleene[sklearn]",
    "altair": "kleene[report]",
}


@dataclass(frozen=True)
class Gpu:
    """One NVIDIA GPU, as its driver describes it."""

    name: str
    memory: int  # bytes
    capability: str = ""  # such as "9.0"


@dataclass(frozen=True)
class Report:
    """What was found. Sizes are bytes; None is "not there" or "cannot be known"."""

    kleene: str
    python: str
    platform: str
    cores: int
    cores_present: int
    simd: str
    memory: int | None
    memory_limit: int | None
    devices: tuple[str, ...]
    cuda_driver: str | None  # the newest CUDA that the driver runs, such as "12.4"
    cuda_problem: str | None
    gpus: tuple[Gpu, ...]
    cuda_packages: str | None  # such as "cuda-core 1.2.2, cuda-bindings 13.5.0"
    cuda_packages_problem: str | None
    compiler: str | None  # of kernels, such as "nvidia-cuda-nvrtc 13.4.92"
    cuda_missing: str | None  # what keeps device "cuda" from being used
    emulator: str
    packages: dict[str, str | None]
    advice: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists."""
        return asdict(self)

    def in_words(self) -> dict[str, dict[str, str | None]]:
        """Return what was found in sections, for people."""
        limit = "" if self.memory_limit is None else f", limit {_size(self.memory_limit)}"
        driver = [f"CUDA {self.cuda_driver}"] if self.cuda_driver else []
        driver += [self.cuda_problem] if self.cuda_problem else []
        return {
            "Kleene": {
                "version": self.kleene,
                "python": self.python,
                "platform": self.platform,
                "native core": f"ok, {self.simd}",
                "devices": ", ".join(self.devices),
            },
            "Machine": {
                "cores": f"{self.cores} usable of {self.cores_present}",
                "memory": f"{_size(self.memory)} available{limit}",
            },
            "NVIDIA": {
                "driver": ", but ".join(driver),
                **_gpus_in_words(self.gpus),
                "packages": self.cuda_packages_problem or self.cuda_packages or "not installed",
                "compiler": self.compiler or "not found",
                "device cuda": self.cuda_missing or "ready",
                "emulator": self.emulator,
            },
            "Optional packages": {
                name: f"{version or 'not installed'} ({_PACKAGES[name]})"
                for name, version in self.packages.items()
            },
        }


def examine() -> Report:
    """Look at everything once."""
    from kleene import __version__  # of the package that imports this

    here = machine.this_machine()
    driver, problem, gpus = _nvidia()
    cuda_packages, cuda_packages_problem = _cuda_packages(driver is not None)
    compiler = _compiler()
    packages = {name: _version(name) for name in _PACKAGES}
    missing = _missing(problem, gpus, cuda_packages_problem, compiler)
    return Report(
        __version__,
        f"{platform.python_version()} ({sys.executable})",
        f"{platform.system()} {platform.release()}, {platform.machine()}",
        here.cores,
        os.cpu_count() or here.cores,
        here.simd,
        machine.available_memory(),
        machine.memory_limit(),
        tuple(device for device in here.devices if device != "cuda" or missing is None),
        driver,
        problem,
        gpus,
        cuda_packages,
        cuda_packages_problem,
        compiler,
        missing,
        _emulator(),
        packages,
        tuple(_advice(driver, gpus, missing, cuda_packages_problem, packages)),
    )


def _advice(
    driver: str | None,
    gpus: tuple[Gpu, ...],
    missing: str | None,
    cuda_packages_problem: str | None,
    packages: dict[str, str | None],
) -> list[str]:
    lines = []
    if driver is None:
        lines.append("NVIDIA GPU: install its driver (nvidia.com/drivers), if this machine has one")
    elif cuda_packages_problem is not None:
        lines.append(f"cuda-core: it is installed but does not work: {cuda_packages_problem}")
    elif gpus and missing is not None:
        lines.append(f'{gpus[0].name}: pip install "kleene[{nvidia.extra()}]"')
    for name, version in packages.items():
        if version is None:
            lines.append(f'{_PACKAGES[name]}: pip install "{_EXTRAS.get(name, name)}"')
    return lines


# ---- probes -------------------------------------------------------------------------------------


def _nvidia() -> tuple[str | None, str | None, tuple[Gpu, ...]]:
    """Ask NVIDIA's driver, through its C library: (CUDA version, what is wrong, GPUs)."""
    library = nvidia.library()
    if library is None:
        return None, "not installed", ()
    driver = nvidia.driver_version(library)
    if driver is None:
        return None, "installed, but does not report its version", ()
    status = library.cuInit(0)
    count = ctypes.c_int()
    if status != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return driver, f"it does not start (error {status})", ()
    return driver, None, tuple(_gpu(library, index) for index in range(count.value))


def _gpu(library: ctypes.CDLL, index: int) -> Gpu:
    device, name, memory = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
    library.cuDeviceGet(ctypes.byref(device), index)
    library.cuDeviceGetName(name, len(name), device)
    library.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    numbers = (ctypes.c_int(), ctypes.c_int())
    for number, attribute in zip(numbers, (75, 76), strict=True):  # compute capability
        library.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
    capability = f"{numbers[0].value}.{numbers[1].value}"
    return Gpu(name.value.decode(errors="replace"), memory.value, capability)


def _gpus_in_words(gpus: tuple[Gpu, ...]) -> dict[str, str]:
    """Return a line for each GPU, by the name that calls know it by if there are several."""
    lines = [f"{g.name} ({_size(g.memory)}, compute capability {g.capability})" for g in gpus]
    parts = _count("KLEENE_DEVICES_PER_GPU")
    if len(lines) * parts < 2:
        return {"gpu": lines[0] if lines else "none"}
    names = [
        [device_name("cuda", gpu * parts + i) for i in range(parts)] for gpu in range(len(gpus))
    ]
    return {names_in_words(each): line for each, line in zip(names, lines, strict=True)}


def _count(variable: str) -> int:
    """Return a number of devices that the environment sets; 1 where it makes no sense."""
    try:
        return count_from(variable)
    except DeviceError:
        return 1


def _missing(
    problem: str | None, gpus: tuple[Gpu, ...], packages_problem: str | None, compiler: str | None
) -> str | None:
    """Return what keeps device "cuda" from being used, or None."""
    absent = dict(machine.this_machine().absent)
    if "cuda" in absent:  # seen without starting CUDA
        return absent["cuda"]
    if problem is not None:
        return f"the NVIDIA driver: {problem}"
    if not gpus:
        return "the NVIDIA driver sees no GPU"
    if packages_problem is not None:
        return f"cuda-core does not work: {packages_problem}"
    return None if compiler is not None else "NVRTC, which compiles kernels, was not found"


def _emulator() -> str:
    """Can the CUDA kernels run on the CPU?"""
    if util.find_spec("kleene._emulator") is None:
        return "not built"
    checked = util.find_spec("kleene._emulator_checked") is not None
    count = _count("KLEENE_EMULATOR_DEVICES")
    several = f", {count} devices" if count > 1 else ""
    return ("ok, and the checked build of it" if checked else "ok") + several


def _cuda_packages(driver: bool) -> tuple[str | None, str | None]:
    """Return (distributions and versions, what is wrong with them); tried where a driver is."""
    installed = nvidia.package_version() or None
    if installed is None or not driver:
        return installed, None
    try:
        from cuda.core import Device

        Device()
    except Exception as error:
        return installed, f"{type(error).__name__}: {error}".splitlines()[0]
    return installed, None


def _compiler() -> str | None:
    """Return where NVRTC, the compiler of kernels, comes from; None if it does not load."""
    try:
        from cuda.core import Program, ProgramOptions

        Program("", "c++", ProgramOptions(arch="sm_90")).close()
    except Exception:  # no package, no library, or one that does not load
        return None
    return nvidia.compiler_package() or "NVRTC of a CUDA toolkit"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown version" if util.find_spec(package.replace("-", "_")) else None


def _size(count: int | None) -> str:
    return "unknown" if count is None else format_bytes(count)
