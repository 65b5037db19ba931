"""Is everything right on this GPU, and how fast is it? Writes the record ``benchmarks/<gpu>.json``.

    make gpu-check                                        # on a machine with an NVIDIA GPU
    python benchmarks/gpu_check.py --budget 120           # what does not fit is skipped, and listed
    python benchmarks/gpu_check.py --parts forms calls    # these alone; the record keeps the others
    python benchmarks/gpu_check.py --device emulated --quick    # tries this program, not a GPU

First the checks: the tests that mean something on a GPU, and compute-sanitizer over every method.
Then the times, on a GPU that has nothing else to do: medians after a warm-up, each of an answer
that was checked. Parts can be measured in several runs with the same kernels, driver and versions;
the record tells the date of each.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gpu_checks
import gpu_dense
import gpu_many
import gpu_record
import gpu_tables
import gpu_traversal
import numpy as np
from gpu_session import Session

import kleene as kl
from kleene import nvidia
from kleene.cuda import loader
from kleene.cuda.runtime import Device, open_device
from kleene.cuda.variants import VARIANTS
from kleene.machine import cores

# ---- parts --------------------------------------------------------------------------------------


def compile_all(session: Session) -> None:
    """Load every kernel, which compiles it where it was not kept: on all cores."""

    def load(job: tuple[str, dict[str, Any]]) -> None:
        device = open_device(session.device.kind)  # current in this thread
        device.kernels(job[0], **job[1])

    jobs = [(file, row) for file, variants in VARIANTS.items() for row in variants]
    jobs = jobs[:1] if session.quick else jobs
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(load, jobs))
    session.add("kernels", "compiled", len(jobs), "", time.perf_counter() - began, "s")


_FIRST = """
import time; began = time.perf_counter()
import kleene as kl
kl.apsp(kl.generate.grid(8, 8), method="tiled", device={device!r}, predecessors=False)
print(time.perf_counter() - began)
"""


def first_use(session: Session) -> None:
    """From ``import kleene`` to the first answer, in a new process."""

    def seconds(environment: dict[str, str]) -> float:
        done = subprocess.run(
            [sys.executable, "-c", _FIRST.format(device=session.device.kind)],
            capture_output=True, text=True, check=True, env={**os.environ, **environment},
        )  # fmt: skip
        return float(done.stdout)

    seconds({})  # warms the kernels' cache and the disk's
    warm = statistics.median(seconds({}) for _ in range(1 if session.quick else 3))
    session.add("first use", "kernels kept from before", 64, "int32", warm, "s")
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds({"KLEENE_CACHE_DIR": empty, "CUDA_CACHE_DISABLE": "1"})
    session.add("first use", "kernels to be compiled", 64, "int32", cold, "s")
    print(f"  first answer in a new process: {warm:.2f} s, with nothing compiled {cold:.2f} s")


# ---- the whole ----------------------------------------------------------------------------------


def about(device: Device) -> dict[str, Any]:
    """Say what this was measured on and with."""
    versions = {
        "kleene": kl.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cupy": nvidia.package_version(),
    }
    driver = ""
    runtime = getattr(device, "runtime", None)
    if runtime is not None:
        number = runtime.runtimeGetVersion()
        versions["cuda runtime"] = f"{number // 1000}.{number % 1000 // 10}"
        driver = _driver()
    return {
        "device": device.name,
        "capability": ".".join(map(str, device.capability)),
        "driver": driver,
        "versions": versions,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": cores(),
        "digest": loader.digest(),
    }


def _driver() -> str:
    library = nvidia.library()
    cuda = None if library is None else nvidia.driver_version(library)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        return f"{said.splitlines()[0].strip()} (CUDA {cuda})"
    except (OSError, subprocess.CalledProcessError, IndexError):
        return f"CUDA {cuda}"


def check(session: Session, seconds: float) -> dict[str, Any]:
    """Run the tests and the sanitizer; return the record's entry."""
    found, unchecked = gpu_checks.run_all(session.device.kind, session.quick, max(10.0, seconds))
    for what, why in unchecked:
        session.skip(what, why)
    print(f"  {found}")
    return found


#: In this order; kernels are always loaded first.
PARTS: dict[str, Callable[[Session], None]] = {
    "traversal": gpu_traversal.traversal,
    "many sources": gpu_many.many_sources,
    "crossovers": gpu_many.crossovers,
    "forms": gpu_tables.forms,
    "seed tables": gpu_tables.seed_tables,
    "rates": gpu_dense.tiled_rates,
    "first use": first_use,
    "calls": gpu_dense.calls,
    "other methods": gpu_dense.seed_methods,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try the program")
    parser.add_argument("--budget", type=float, default=570, help="seconds for everything")
    parser.add_argument("--record", type=Path, help="where to write; by default by the device")
    parser.add_argument(
        "--parts", nargs="+", choices=["checks", *PARTS], default=["checks", *PARTS],
        help="what to run; the rest of a record of the same kernels is kept",
    )  # fmt: skip
    options = parser.parse_args()
    try:
        device = open_device(options.device)
    except kl.DeviceError as error:
        print(f"gpu-check needs an NVIDIA GPU: {error}", file=sys.stderr)
        return 2
    path = options.record
    if path is None and device.kind == "cuda" and not options.quick:
        path = gpu_record.path_for(device.name)
    session = Session(device, options.budget, options.quick)
    record = about(device)
    print(f"{record['device']}, driver {record['driver'] or 'none'}, {record['versions']}")
    record |= {"parts": session.parts, "skipped": session.skipped, "results": session.results}
    with tempfile.TemporaryDirectory() as kernels:
        os.environ["KLEENE_CACHE_DIR"] = kernels
        with session.part("kernels"):
            compile_all(session)
        for name in options.parts:
            with session.part(name):
                if name == "checks":
                    share = session.left * (0.4 if len(options.parts) > 1 else 1)
                    record["checks"] = check(session, share)
                else:
                    PARTS[name](session)
            if path is not None:  # after each part: what comes next may not come to its end
                gpu_record.write(path, gpu_record.merged(path, record))
    for line in session.skipped:
        print(f"  skipped: {line}")
    if path is not None:
        print(f"written to {path}")
    return int(gpu_record.failures(record) > 0)


if __name__ == "__main__":
    sys.exit(main())
