"""The record of the last long run of each part: one JSON object, keyed by part.

``python -m torture --record torture/record.json`` keeps the numbers of what it runs. What runs by
other means is entered here: ``python -m torture.record sanitizers --cases 3127 --fact tool=TSan``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

from torture.campaign import Outcome, Part

__all__ = ["RECORD", "keep", "load"]

RECORD = Path(__file__).parent / "record.json"


def load(path: Path = RECORD) -> dict[str, Any]:
    """Return the record, empty if there is none yet."""
    return json.loads(path.read_text()) if path.exists() else {}


def keep(path: Path, part: Part, outcome: Outcome, seed: int | None, seconds: float) -> None:
    """Replace the row of one part."""
    rows = load(path)
    rows[part.name] = {
        "date": datetime.date.today().isoformat(),
        "cpus": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "seed": seed,
        "seconds": round(seconds, 1),
        "cases": outcome.cases,
        "failures": outcome.failures,
        "facts": outcome.facts,
    }
    path.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Enter the row of a part that runs by other means."""
    from torture.parts import BY_HAND

    parts = {part.name: part for part in BY_HAND}
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=0, help="how long it took")
    parser.add_argument("--failure", action="append", default=[], help="what failed; repeatable")
    parser.add_argument(
        "--fact", action="append", default=[], metavar="NAME=VALUE", help="repeatable"
    )
    parser.add_argument("--record", type=Path, default=RECORD, metavar="FILE")
    args = parser.parse_args()
    pairs = [fact.partition("=") for fact in args.fact]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        parser.error(f"facts are NAME=VALUE, not {', '.join(wrong)}")
    outcome = Outcome(args.cases, args.failure, {name: value for name, _, value in pairs})
    keep(args.record, parts[args.part], outcome, None, args.seconds)


if __name__ == "__main__":
    main()
