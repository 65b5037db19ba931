"""The planner's estimates beside what a record says: ``kleene.estimates`` and "crossovers".

    python benchmarks/gpu_estimates.py benchmarks/nvidia-h200.json

A line for each call that was measured: milliseconds, those that were estimated (without those for
opening the GPU, which no measurement has), and their ratio; then, for graphs on the GPU, calls that
the planner would run in the slower place, with what that costs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kleene.estimates import cpu_seconds, gpu_cost
from kleene.plan import Facts, Request

_CASE = re.compile(
    r"crossover, (?P<problem>bfs|sssp|apsp), (?P<name>.*?)(, (?P<where>cpu|cuda.*))?"
)

_CORES = 16  # of the machine, where a record does not say


class Comparison(NamedTuple):
    """One call, in seconds."""

    problem: str
    name: str
    where: str  # "cpu", "cuda", or "cuda, placed"
    method: str
    measured: float
    estimated: float

    def __str__(self) -> str:
        call = f"{self.problem:5} {self.name:34} {self.where:13} {self.method:21}"
        times = f"{self.measured * 1e3:10.3f} ms {self.estimated * 1e3:10.3f} estimated"
        return f"{call} {times} {self.estimated / self.measured:7.2f}"


def comparisons(record: dict[str, Any]) -> Iterator[Comparison]:
    """Yield the calls that were measured to find out from which size on a GPU is faster."""
    found = [(_CASE.fullmatch(row["case"]), row) for row in record["results"]]
    matched = [(match, row) for match, row in found if match is not None]
    arcs = {
        (match["problem"], match["name"]): int(row["value"])
        for match, row in matched
        if row["unit"] == "arcs"
    }
    for match, row in matched:
        if row["unit"] != "ms":
            continue
        problem, name, where = match["problem"], match["name"], match["where"]
        facts = _facts(problem, name, row, arcs[problem, name], where)
        every = problem == "apsp"
        request = Request(problem, sources=None if every else 1, predecessors=not every)
        if where == "cpu":
            seconds = cpu_seconds(facts, request, int(record.get("cores", _CORES)))
        else:
            cost = gpu_cost(facts, request, row["method"])
            seconds = cost.total - cost.start
        yield Comparison(problem, name, where, row["method"], row["value"] / 1e3, seconds)


def _facts(problem: str, name: str, row: dict[str, Any], m: int, where: str) -> Facts:
    """Return what a plan knows of these graphs; their incoming arcs are at hand."""
    hops = problem == "bfs" or name.endswith("unweighted")
    device = "cuda" if where == "cuda, placed" else "cpu"
    n = int(row["n"])
    weight, longest = (None, 1) if hops else (str(row["dtype"]), 255)
    return Facts(n, m, weight, 1, longest, longest * n, True, device)


def misplaced(every: list[Comparison]) -> list[str]:
    """Return a sentence for each graph on the GPU that the estimates keep in the slower place."""
    by_call: dict[tuple[str, str], dict[str, Comparison]] = {}
    for one in every:
        by_call.setdefault((one.problem, one.name), {})[one.where] = one
    told = []
    for (problem, name), places in by_call.items():
        if not {"cpu", "cuda, placed"} <= places.keys():
            continue
        cpu, gpu = places["cpu"], places["cuda, placed"]
        taken, other = (gpu, cpu) if gpu.estimated < cpu.estimated else (cpu, gpu)
        if taken.measured > other.measured:
            slower = taken.measured / other.measured
            told.append(f"{problem}, {name}: {taken.where} is taken and {slower:.2g} times slower")
    return told


def main(arguments: list[str]) -> int:
    for path in arguments:
        every = list(comparisons(json.loads(Path(path).read_text())))
        print("\n".join(map(str, every)) if every else f"{path} tells of no crossovers")
        print("\n".join(misplaced(every)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
