"""What the smallest calls do, counted: functions of Kleene that run, and builtins that they call.

    python tests/counted_calls.py     # writes data/small_calls.json

``test_small_calls`` compares; ``benchmarks/small_calls.py`` has the calls, and measures them. A
count does not depend on the machine. It does on Python: those of the file are of one version.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import kleene

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import small_calls

FILE = Path(__file__).parent / "data" / "small_calls.json"
ROOT = str(Path(kleene.__file__).parent)


def counted(call: Callable[[], object]) -> dict[str, int]:
    """Return how many functions of Kleene a call runs, and how many builtins these call."""
    for _ in range(3):
        call()  # plans, imports
    counts = {"functions": 0, "builtins": 0}

    def count(frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_code.co_filename.startswith(ROOT):
            if event == "call" and not frame.f_code.co_name.startswith("<"):
                counts["functions"] += 1
            elif event == "c_call":
                counts["builtins"] += 1

    gc.collect()
    gc.disable()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
        gc.enable()
    return counts


def document() -> dict[str, Any]:
    """Return what the file holds."""
    calls = {name: counted(call) for name, call in small_calls.calls().items()}
    return {"python": "{}.{}".format(*sys.version_info), "calls": calls}


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1) + "\n")
    print(f"{FILE}: {len(document()['calls'])} calls")
