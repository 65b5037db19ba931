"""Checks that GPU records in this folder are of the current kernels, and that their checks passed.

    python benchmarks/gpu_record.py     # fails when a record is of other kernels

A record is ``<gpu>.jsonl``, written by ``make gpu-check``; see ``kleene_lab.harness.record``. It is
of the current kernels if its digest is theirs, or if a line of it says that both digests are of the
same kernels: ``tests/cuda/kernel_digests.py --compare CHECKOUT --record FILE`` proves and writes
that.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from kleene.backends.cuda.variants import VARIANTS, is_unrecorded
from kleene.calls.programs import kernel_digest
from kleene_lab.harness import record as records

FOLDER = Path(__file__).parent


def path_for(device: str) -> Path:
    """Return the file for a device of this name.

    >>> path_for("NVIDIA H200").name
    'nvidia-h200.jsonl'
    """
    return FOLDER / (re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") + ".jsonl")


def stale(folder: Path = FOLDER) -> list[str]:
    """Return a sentence for each record in a folder that is stale or has failures."""
    sentences = [_of_lines(path) for path in sorted(folder.glob("*.jsonl"))]
    sentences += [_of_old(path) for path in sorted(folder.glob("*.json"))]
    return [sentence for sentence in sentences if sentence is not None]


def _of_lines(path: Path) -> str | None:
    record = records.read(path)
    runs = [run for run in record.runs.values() if run.machine.get("gpu", {}).get("kind") == "cuda"]
    if not runs:  # of a CPU: it has no kernels
        return None
    current = record.kernels_like(kernel_digest())
    here = {run.id for run in runs if run.kernels in current}
    if not here:
        last = max(runs, key=lambda run: run.began)
        return _other_kernels(path, last.began[:10], last.place)
    latest = record.latest()
    checks = [check for check in latest.checks if check.run in here]
    if not any(check.passed for check in checks):
        return f"{path.name} has no checks; run `make gpu-check ARGS=--checks-only`"
    failed = sum(check.failed for check in checks)
    failed += sum(skip.failed for skip in latest.skips if skip.run in here)
    if failed:
        return f"{path.name} has checks that failed; fix them and run them again"
    return None


def _of_old(path: Path) -> str | None:
    """Check a record in the format from before the lab, unless there is a new one."""
    if path.with_suffix(".jsonl").exists():
        return None
    record = json.loads(path.read_text())
    if record.get("digest") != kernel_digest():
        return _other_kernels(path, record["date"], record["device"])
    return None


def _other_kernels(path: Path, date: str, device: str) -> str:
    return (
        f"{path.name} was made on {date} with other kernels than the current ones; "
        f"run `make gpu-check` on {device} and commit the new record"
    )


def main() -> int:
    sentences = stale()
    print("\n".join(sentences) if sentences else "the records are of the current kernels")
    if waiting := [file for file in VARIANTS if is_unrecorded(file)]:
        print(f"not recorded yet, and offered for the emulator only: {', '.join(waiting)}")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main())
