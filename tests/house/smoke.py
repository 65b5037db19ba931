"""A few calls of each kind, for an installed package: ``python -I tests/house/smoke.py``.

Needs nothing but Kleene and what it depends on; run by ``make release-check`` and by cibuildwheel
where nothing else is installed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import kleene as kl


def main() -> None:
    if Path(__file__).parents[2] / "src" in Path(kl.__file__).parents:
        raise SystemExit(f"{kl.__file__} is not an installed copy")
    g = kl.datasets.rome()
    for result in (kl.bfs(g, 1), kl.sssp(g, 1), kl.apsp(g, sources=range(1, 65)), kl.apsp(g)):
        print(result, result.verify(sample=16))
    dense = kl.Graph.from_dense(np.random.default_rng(0).random((300, 300)))
    for semiring in ("boolean", "min_plus", "max_min", "max_times"):
        print(kl.closure(dense, semiring, predecessors=True).verify(sample=16))
    kleene = Path(sys.executable).with_name("kleene")
    for command in (["--help"], ["demo"], ["doctor"], ["lab", "list"]):
        subprocess.run([kleene, *command], check=True, stdout=subprocess.DEVNULL)
    print(f"ok: kleene {kl.__version__}, Python {sys.version.split()[0]}, {kl.__file__}")


if __name__ == "__main__":
    main()
