"""The record of the last long run of each part: one JSON object, keyed by part."""

from __future__ import annotations

import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

from torture.campaign import Outcome, Part

__all__ = ["keep", "load"]


def load(path: Path) -> dict[str, Any]:
    """Return the record, empty if there is none yet."""
    return json.loads(path.read_text()) if path.exists() else {}


def keep(path: Path, part: Part, outcome: Outcome, seed: int, seconds: float) -> None:
    """Replace the row of one part."""
    rows = load(path)
    rows[part.name] = {
        "date": datetime.date.today().isoformat(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "seed": seed,
        "seconds": round(seconds, 1),
        "cases": outcome.cases,
        "failures": outcome.failures,
        "facts": outcome.facts,
    }
    path.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")
