"""What this machine offers: cores, memory, vector instructions.

Memory is what this process may still take: the smallest of what the system has available, what the
control groups around the process allow, so that a container's limit is respected, what the limits
of the process (``ulimit -v``, ``ulimit -d``) leave, and what ``KLEENE_MEMORY`` allows a call.
"""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from functools import cache
from importlib import util
from pathlib import Path
from typing import Any

from kleene import _native
from kleene.errors import Code, KleeneError, RequestError
from kleene.system import devices as nvidia
from kleene.system.devices import device_name

resource: Any
try:
    import resource
except ImportError:  # not on Windows
    resource = None

__all__ = [
    "Machine",
    "allowed_memory",
    "as_threads",
    "available_memory",
    "cores",
    "memory_limit",
    "parse_bytes",
    "this_machine",
    "threads_for",
    "total_memory",
]

#: More than any machine has; a typing error should not start a million threads.
MOST_THREADS = 1024

_CGROUP_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Machine:
    """The facts about a machine that a plan depends on."""

    cores: int
    memory: int | None  # bytes this process may still take; None when not known
    simd: str
    devices: tuple[str, ...] = ("cpu", "reference")
    absent: tuple[tuple[str, str], ...] = ()  # other devices, and what is missing for each
    gpu_memory: int | None = 2**62  # bytes free on the GPU; None when it does not open
    gpus: int = 1

    @property
    def limited(self) -> bool:
        """Whether calls are to take less memory than there is, so that small ones count too."""
        return False

    def free_memory(self) -> int | None:
        """Return the bytes that a process may still take, None when not known."""
        return self.memory

    def free_gpu_memory(self, name: str = "cuda") -> int | None:
        """Return the bytes that are free on a GPU, None when it does not open."""
        return self.gpu_memory

    def visible(self, kind: str) -> tuple[str, ...]:
        """Return the names of the devices of a kind."""
        return tuple(device_name(kind, i) for i in range(self.gpus if kind == "cuda" else 1))

    def is_open(self, name: str) -> bool:
        """Return whether a GPU was opened before."""
        return True


@cache
def this_machine() -> Machine:
    """Return the facts about this machine that do not change while we run."""
    absent = {"cuda": nvidia.missing(), "emulated": _no_emulator()}
    return Machine(
        cores=cores(),
        memory=None,
        simd=_native.simd(),
        devices=tuple(
            device
            for device in ("cuda", "cpu", "emulated", "reference")
            if absent.get(device) is None
        ),
        absent=tuple((device, why) for device, why in absent.items() if why is not None),
    )


def _no_emulator() -> str | None:
    found = util.find_spec("kleene._emulator") is not None
    if found:
        return None
    return "this build of Kleene has no emulator; `make emulator` adds it to a source checkout"


def cores() -> int:
    """Cores this process may use: its affinity, capped by the control group's quota."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS or Windows
        count = os.cpu_count() or 1
    for folder in _cgroup_folders("cpu"):
        try:
            quota, period = (folder / "cpu.max").read_text().split()
            count = min(count, max(1, round(int(quota) / int(period))))
        except (OSError, ValueError):  # no such file, or no quota ("max")
            pass
    return count


def as_threads(threads: Any) -> int | None:
    """Check a ``threads=`` argument: a whole number from 1, or None for the machine's choice."""
    if threads is None:
        return None
    try:
        count = operator.index(threads)
    except TypeError:
        count = 0
    if not 1 <= count <= MOST_THREADS or isinstance(threads, bool):
        raise RequestError(
            Code("threads"), f" must be an integer from 1 to {MOST_THREADS}, not {threads!r}"
        )
    return count


def threads_for(work: int, threads: int | None = None) -> int:
    """How many threads to start for ``work`` items: one when there are too few to pay for more."""
    if threads is not None:
        return threads
    return cores() if work >= 1 << 17 else 1


def available_memory() -> int | None:
    """Bytes this process may still allocate, or None where the system does not say."""
    found = (_system_available(), _cgroup_available(), _limits_available(), allowed_memory())
    return min((m for m in found if m is not None), default=None)


def allowed_memory() -> int | None:
    """Bytes that KLEENE_MEMORY allows a call, None for all that is available."""
    return parse_bytes("KLEENE_MEMORY", RequestError)


def parse_bytes(variable: str, error: type[KleeneError]) -> int | None:
    """Return the bytes that an environment variable allows, as in 800M or 12G; None if unset."""
    text = os.environ.get(variable)
    if not text:
        return None
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    number, unit = (text[:-1], units[text[-1]]) if text[-1] in units else (text, 1)
    try:
        return int(float(number) * unit)
    except (OverflowError, ValueError):
        raise error(f"{variable} is {text!r}; it must be bytes, as in 800M or 12G") from None


def _system_available() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _limits_available() -> int | None:
    """Return what this process's limits on address space and data leave, None without limits."""
    if resource is None:
        return None
    left: list[int] = []
    for kind, field in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            left.append(max(0, limit - _statm(field)))
    return min(left, default=None)


def _statm(field: int) -> int:
    """Return a field of /proc/self/statm in bytes: 0 is the address space, 5 the data."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[field])
    except OSError:  # not on macOS
        return 0
    return pages * int(resource.getpagesize())


def _cgroup_available() -> int | None:
    """Return the tightest limit minus usage over this process's control groups."""
    return min((max(0, most - used) for most, used in _cgroup_memory()), default=None)


@cache
def total_memory() -> int:
    """Bytes of memory of this machine, or of the control groups around this process."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        physical = 2**33  # where the system does not say: a small machine
    limit = memory_limit()
    return physical if limit is None else min(physical, limit)


def memory_limit() -> int | None:
    """Bytes that the control groups around this process allow it in all, or None."""
    limits = (most for most, _ in _cgroup_memory())
    return min((most for most in limits if most < 2**60), default=None)  # v1 has no "none"


def _cgroup_memory() -> list[tuple[int, int]]:
    """Return (limit, usage) of each control group of this process that has a limit, v2 or v1.

    Usage is without the file cache that the kernel would drop first.
    """
    found: list[tuple[int, int]] = []
    for folder in _cgroup_folders("memory"):
        for limit, usage, cached in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            try:
                most = int((folder / limit).read_text())  # "max" means no limit: ValueError
                used = int((folder / usage).read_text())
            except (OSError, ValueError):
                continue
            found.append((most, max(0, used - _cgroup_statistic(folder, cached))))
    return found


def _cgroup_statistic(folder: Path, name: str) -> int:
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [name]), 0)


def _cgroup_folders(controller: str) -> list[Path]:
    """List the folders of this process's control groups, innermost first, up to the root."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    folders: list[Path] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base = _CGROUP_ROOT
        elif controller in controllers.split(","):
            base = _CGROUP_ROOT / controller
        else:
            continue
        group = base / path.lstrip("/")
        folders += [f for f in (group, *group.parents) if f == base or base in f.parents]
    return folders
