"""Records of what a GPU did: ``benchmarks/<gpu>.json``, and whether they are of the kernels here.

    python benchmarks/gpu_record.py     # fails when a record is of other kernels
    python benchmarks/gpu_record.py benchmarks/nvidia-h200.json traversal    # shows what it says

A record tells the device, the versions of everything, a digest of all kernel sources, the parts
with their dates, the checks that passed and failed, what was skipped and why, and ``results``: rows
of part, method, case, n, dtype, value and unit.
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
    """Write a record with one line for each entry and for each row of results, which come last."""

    def lines(entries: list[Any], begin: str, end: str, indent: str) -> str:
        inner = ",\n".join(f"{indent} {entry}" for entry in entries)
        return f"{begin}\n{inner}\n{indent}{end}" if entries else begin + end

    entries = []
    for key, value in sorted(record.items(), key=lambda entry: isinstance(entry[1], list)):
        text = json.dumps(value)
        if isinstance(value, list):
            text = lines([json.dumps(row) for row in value], "[", "]", " ")
        entries.append(f"{json.dumps(key)}: {text}")
    path.write_text(lines(entries, "{", "}", "") + "\n")


#: What must be the same for measurements to stand in one record.
_SAME = ("device", "capability", "driver", "versions", "digest")


def merged(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the parts besides its own of the one that is there, if they belong."""
    old = json.loads(path.read_text()) if path.exists() else {}
    if any(old.get(key) != record[key] for key in _SAME) or "parts" not in old:
        return record
    kept = {name: part for name, part in old["parts"].items() if name not in record["parts"]}
    skipped = [line for line in old["skipped"] if line.partition(":")[0] in kept]
    results = [row for row in old["results"] if row["part"] in kept]
    both = {**record, "parts": {**kept, **record["parts"]}}
    if "checks" in kept:
        both["checks"] = old["checks"]
    both["skipped"], both["results"] = skipped + record["skipped"], results + record["results"]
    return both


def failures(record: dict[str, Any]) -> int:
    """Return how many checks failed, and how many measurements."""
    checks = record.get("checks", {"failed": 0, "sanitizer_errors": 0})
    parts = record.get("parts", {}).values()
    return int(checks["failed"] + checks["sanitizer_errors"] + sum(p["failed"] for p in parts))


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
        elif "checks" not in record:
            told.append(f"{path.name} tells of no checks; run them with `--parts checks`")
        elif failures(record):
            told.append(f"{path.name} tells of checks that failed; mend them and run them again")
    return told


def table(record: dict[str, Any], words: list[str]) -> str:
    """Return the results in whose part, method or case all of these words are, a line for each."""
    lines = []
    for row in record["results"]:
        if all(word in f"{row['part']} {row['method']} {row['case']}" for word in words):
            what = f"{row['method']:22}{row['case']:52}{row['n']:>10}  {row['dtype']:8}"
            lines.append(f"{what}{row['value']:>12g} {row['unit']}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    if arguments:
        print(table(json.loads(Path(arguments[0]).read_text()), arguments[1:]))
        return 0
    sentences = stale()
    print("\n".join(sentences) if sentences else "the records are of these kernels")
    return int(bool(sentences))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
