"""What the smallest calls do, counted: functions of Kleene, builtins that these call, modules.

    python tests/house/counted_calls.py     # writes data/small_calls.json

Modules are those of Kleene that a program has imported after its first call. ``test_small_calls``
compares; ``benchmarks/small_calls.py`` has the calls, and measures them. A count does not depend on
the machine. That of functions and builtins does on Python: those of the file are of one version.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import kleene

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import small_calls

FILE = Path(__file__).parents[1] / "data" / "small_calls.json"
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


_GRAPH = "import kleene as kl; g = kl.Graph.from_edges([0, 1], [1, 2], [4, 9])"

#: The first thing that a program does.
FIRST = {
    "import": "import kleene",
    "graph": _GRAPH,
    "bfs": _GRAPH + "; kl.bfs(g, 0)",
    "sssp": _GRAPH + "; kl.sssp(g, 0)",
    "apsp": _GRAPH + "; kl.apsp(g)",
    "csgraph.dijkstra": "import kleene as kl, numpy as np; kl.csgraph.dijkstra(np.eye(3))",
}


def imported(code: str) -> int:
    """Return how many modules of Kleene a program has imported at its end."""
    code += "; import sys; print(sum(name.partition('.')[0] == 'kleene' for name in sys.modules))"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(made.stdout)


def document() -> dict[str, Any]:
    """Return what the file holds."""
    calls = {name: counted(call) for name, call in small_calls.calls().items()}
    modules = {name: imported(code) for name, code in FIRST.items()}
    return {"python": "{}.{}".format(*sys.version_info), "calls": calls, "modules": modules}


if __name__ == "__main__":
    found = document()
    FILE.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{FILE}: {len(found['calls'])} calls")
