"""Is everything right on this GPU, and how fast is it? Writes ``benchmarks/<gpu>.jsonl``.

    make gpu-check                                        # on a machine with an NVIDIA GPU
    make gpu-check ARGS="--checks-only"                   # a slot of its own: some ten minutes
    make gpu-check ARGS="--no-checks --budget 540"        # the lab's suite "gpu", as much as fits
    make gpu-check ARGS="--no-checks bfs-by-scale"        # these experiments
    python benchmarks/gpu_check.py --device emulated --quick    # tries this program, not a GPU

The checks are the tests that mean something on a GPU, and compute-sanitizer over every method.
Times are the lab's: ``kleene lab run`` does the same without the checks. Both go to one record, and
can be made in several runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gpu_checks
import gpu_record

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.variants import VARIANTS
from kleene.cli.lab_progress import RunProgress
from kleene.cli.lab_run import chosen
from kleene.lab.environment import Environment
from kleene.lab.machine import in_words
from kleene.lab.runner import Runner

DATA = Path(__file__).parent / "data"


def compile_all(kind: str, quick: bool) -> float:
    """Load every kernel, which compiles it where it was not kept, on all cores; return seconds."""

    def load(job: tuple[str, dict[str, Any]]) -> None:
        open_device(kind).kernels(job[0], **job[1])  # current in this thread

    jobs = [(file, row) for file, variants in VARIANTS.items() for row in variants]
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(load, jobs[:1] if quick else jobs))
    return time.perf_counter() - began


def check(runner: Runner, device: str, quick: bool, seconds: float) -> None:
    """Run the tests and the sanitizer, and note what became of them."""
    for name, results in gpu_checks.run_all(device, quick, seconds):
        runner.check(name, results.passed, results.failed, results.details)
        texts = "".join(f"\n    {line}" for line in results.details)
        print(f"  {name}: {results.passed} passed, {results.failed} failed{texts}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", metavar="ID", help="see `kleene lab list`")
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try the program")
    parser.add_argument("--budget", type=float, default=540, help="seconds for the measurements")
    parser.add_argument("--checks-budget", type=float, default=540, help="and for the checks")
    parser.add_argument("--record", type=Path, help="where to write; by default by the device")
    parser.add_argument("--data", type=Path, default=DATA, help="where graphs that are files lie")
    parser.add_argument("--again", action="store_true", help="measure what the record has, too")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--checks-only", action="store_true", help="measure nothing")
    which.add_argument("--no-checks", action="store_true", help="measure only")
    options = parser.parse_args()
    try:
        device = open_device(options.device)
    except kl.DeviceError as error:
        print(f"gpu-check needs an NVIDIA GPU: {error}", file=sys.stderr)
        return 2
    wanted = chosen(options.experiments, "gpu")
    environment = Environment(options.device, options.quick, options.data)
    listener = RunProgress(silent=False)
    asked = {"experiments": [one.id for one in wanted], "budget": options.budget}
    path = options.record or gpu_record.path_for(device.name)
    runner = Runner(environment, path, options.budget, options.again, listener, asked)
    print(in_words(runner.run.machine))
    print(f"all kernels loaded in {compile_all(options.device, options.quick):.1f} s", flush=True)
    if not options.no_checks:
        check(runner, options.device, options.quick, options.checks_budget)
    if not options.checks_only:
        with listener:
            runner.measure(wanted)
    results = runner.summary
    print(
        f"{results.measured} measured, {results.skipped} skipped, {results.failed} failed: {path}"
    )
    return int(results.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
