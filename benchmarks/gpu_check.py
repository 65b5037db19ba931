"""Checks and measures a GPU, and writes ``benchmarks/<gpu>.jsonl``.

    make gpu-check                                        # on a machine with an NVIDIA GPU
    make gpu-check ARGS="--checks-only"                   # a slot of its own: some ten minutes
    make gpu-check ARGS="--checks-only --check sanitizer" # those whose names contain that
    make gpu-check ARGS="--no-checks --budget 540"        # the lab's suite "gpu", as much as fits
    make gpu-check ARGS="--no-checks bfs-by-scale"        # these experiments
    python benchmarks/gpu_check.py --device emulated --quick    # tries this program, not a GPU

The checks are the tests for GPUs, and compute-sanitizer over every method. The measurements are
those of ``gpu_prepared.py``, and the lab's, as by ``kleene lab run``. All go to one record, which
several runs may fill.
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
import gpu_prepared
import gpu_record

import kleene as kl
from kleene.backends.cuda.runtime.device import open_device
from kleene.backends.cuda.variants import VARIANTS
from kleene.calls.programs import device_facts
from kleene.cli.commands.lab import chosen
from kleene.cli.commands.lab_progress import RunProgress
from kleene_lab.harness.environment import Environment, one_line
from kleene_lab.harness.runner import Runner

DATA = Path(__file__).parent / "data"


def compile_all(kind: str, quick: bool) -> float:
    """Load every kernel, compiling those not cached, on all cores; return the seconds."""

    def load(job: tuple[str, dict[str, Any]]) -> None:
        open_device(kind).kernels(job[0], **job[1])  # current in this thread

    jobs = [(file, row) for file, variants in VARIANTS.items() for row in variants]
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(load, jobs[:1] if quick else jobs))
    return time.perf_counter() - began


def check(runner: Runner, device: str, quick: bool, seconds: float, which: list[str]) -> None:
    """Run the tests and the sanitizer, or some of them, and record the results."""
    for name, outcome in gpu_checks.run_all(device, quick, seconds, which):
        runner.check(name, outcome.passed, outcome.failed, outcome.details)
        details = "".join(f"\n    {line}" for line in outcome.details)
        print(f"  {name}: {outcome.passed} passed, {outcome.failed} failed{details}", flush=True)


def measure_prepared(runner: Runner, device: str, quick: bool) -> None:
    """Check and measure prepared graphs, and record the figures."""
    figures = []
    for figure in gpu_prepared.measure(device, quick):
        print(f"  {figure}", flush=True)
        figures.append(figure)
    runner.check("prepared graphs", len(figures), 0, tuple(figures))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", metavar="ID", help="see `kleene lab list`")
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to try the program")
    parser.add_argument("--budget", type=float, default=540, help="seconds for the measurements")
    parser.add_argument("--checks-budget", type=float, default=540, help="and for the checks")
    parser.add_argument(
        "--check", action="append", default=[], metavar="NAME", help="only checks of such names"
    )
    parser.add_argument("--record", type=Path, help="where to write; by default by the device")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of graphs that are files")
    parser.add_argument(
        "--again", action="store_true", help="measure points again that the record has"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--checks-only", action="store_true", help="measure nothing")
    which.add_argument("--no-checks", action="store_true", help="measure only")
    options = parser.parse_args()
    try:
        name = device_facts(options.device)["name"]
    except kl.DeviceError as error:
        print(f"gpu-check needs an NVIDIA GPU: {error}", file=sys.stderr)
        return 2
    wanted = chosen(options.experiments, "gpu")
    environment = Environment(options.device, options.quick, options.data)
    listener = RunProgress(silent=False)
    requested = {"experiments": [one.id for one in wanted], "budget": options.budget}
    path = options.record or gpu_record.path_for(name)
    runner = Runner(environment, path, options.budget, options.again, listener, requested)
    print(one_line(runner.run.machine))
    print(f"all kernels loaded in {compile_all(options.device, options.quick):.1f} s", flush=True)
    if not options.no_checks:
        check(runner, options.device, options.quick, options.checks_budget, options.check)
    if not options.checks_only:
        measure_prepared(runner, options.device, options.quick)
        with listener:
            runner.measure(wanted)
    done = runner.summary
    print(f"{done.measured} measured, {done.skipped} skipped, {done.failed} failed: {path}")
    return int(done.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
