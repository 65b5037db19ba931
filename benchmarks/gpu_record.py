"""Records of what a GPU did: ``benchmarks/<gpu>.json``, and whether they are of the kernels here.

    python benchmarks/gpu_record.py     # fails when a record is of other kernels

A record tells the device, the versions of everything, a digest of all kernel sources, the checks
that passed and failed, what was skipped and why, and ``results``: rows of method, case, n, dtype,
value and unit.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from kleene.cuda import loader

FOLDER = Path(__file__).parent


def path_for(device: str) -> Path:
    """Return the file for a device of this name.

    >>> path_for("NVIDIA H200").name
    'nvidia-h200.json'
    """
    return FOLDER / (re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") + ".json")


def write(path: Path, record: dict[str, Any]) -> None:
    """Write a record with one line for each entry and for each row of results."""

    def lines(entries: list[Any], begin: str, end: str, indent: str) -> str:
        inner = ",\n".join(f"{indent} {entry}" for entry in entries)
        return f"{begin}\n{inner}\n{indent}{end}" if entries else begin + end

    entries = []
    for key, value in record.items():
        text = json.dumps(value)
        if isinstance(value, list):
            text = lines([json.dumps(row) for row in value], "[", "]", " ")
        entries.append(f"{json.dumps(key)}: {text}")
    path.write_text(lines(entries, "{", "}", "") + "\n")


def stale(folder: Path = FOLDER) -> list[str]:
    """Return a sentence for each record in a folder that is not of the kernels of this tree."""
    told = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        if record.get("digest") != loader.digest():
            told.append(
                f"{path.name} was made on {record['date']} with other kernels than those in "
                f"{loader.FOLDER.name}/; run `make gpu-check` on {record['device']} and commit "
                "the new record"
            )
        elif record["checks"]["failed"] or record["checks"]["sanitizer_errors"]:
            told.append(f"{path.name} tells of checks that failed; mend them and run them again")
    return told


if __name__ == "__main__":
    sentences = stale()
    print("\n".join(sentences) if sentences else "the records are of these kernels")
    sys.exit(bool(sentences))
