"""The planner's cost model (``kleene.planning.cost_model``) beside measured crossovers.

    python benchmarks/cost_model.py benchmarks/nvidia-h200.jsonl

A line for each measured call: milliseconds measured, milliseconds estimated (without opening the
GPU, which no measurement includes), and their ratio; then, for graphs on the GPU, calls that the
planner would run on the slower device, with the cost of that.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from typing import NamedTuple

from kleene.planning.ask import Ask
from kleene.planning.cost_model import gpu_cost
from kleene.planning.facts import Facts
from kleene.planning.prepared_cost import cpu_seconds
from kleene_lab.experiments.crossovers import CPU, PLACED
from kleene_lab.harness.record import Point, Record, read

#: The largest weight in each experiment.
_LONGEST = {"crossover-searches": 255, "crossover-all-pairs": 255, "crossover-dense": 1}

_COUNTING = {"Kleene, all cores": CPU, "Kleene, GPU": PLACED}


class Comparison(NamedTuple):
    """One call, in seconds."""

    call: str
    where: str  # "CPU", "GPU", or "GPU, graph there"
    method: str
    measured: float
    estimated: float

    def __str__(self) -> str:
        times = f"{self.measured * 1e3:10.3f} ms {self.estimated * 1e3:10.3f} estimated"
        ratio = self.estimated / self.measured
        return f"{self.call:40} {self.where:17} {self.method:21} {times} {ratio:7.2f}"


def comparisons(record: Record) -> Iterator[Comparison]:
    """Yield the calls of the crossover experiments."""
    for point in record.latest().points:
        if point.experiment in _LONGEST and point.device in ("cpu", "cuda"):
            ask = _ask(point)
            if point.series == CPU:
                cores = int(record.runs[point.run].machine["cores"])
                seconds = cpu_seconds(_facts(point), ask, cores)
            else:
                cost = gpu_cost(_facts(point), ask, point.method)
                seconds = cost.total - cost.start
            call = f"{point.experiment.partition('-')[2]}, {point.panel}, n = {point.n:,}"
            measured = statistics.median(point.seconds)
            yield Comparison(call, point.series, point.method, measured, seconds)


def of_betweenness(record: Record) -> Iterator[Comparison]:
    """Yield the calls of the experiment on betweenness; one core is not compared."""
    for point in record.latest().points:
        if point.experiment != "betweenness-sources" or point.series not in _COUNTING:
            continue
        n, m, where = int(point.n or 0), int(point.m or 0), _COUNTING[point.series]
        sources = round(float(point.work or 0) / m)
        ask = Ask.of("betweenness", sources=sources, predecessors=False)
        lanes = point.method == "lanes"  # by hops
        device = "cuda" if where == PLACED else "cpu"
        facts = Facts(n, m, None if lanes else "int32", 1, 255, 255 * n, True, device)
        if where == CPU:
            seconds = cpu_seconds(facts, ask, int(record.runs[point.run].machine["cores"]))
        else:
            seconds = gpu_cost(facts, ask, point.method).total
        call = f"betweenness, {'hops' if lanes else 'lengths'}, n = {n:,}, {sources:,} sources"
        yield Comparison(call, where, point.method, statistics.median(point.seconds), seconds)


def _ask(point: Point) -> Ask:
    if point.experiment == "crossover-searches":
        return Ask.of(point.panel.partition(",")[0].lower(), sources=1)
    method = "tiled" if point.experiment == "crossover-dense" else "auto"
    return Ask.of("apsp", method=method, predecessors=point.panel == "paths")


def _facts(point: Point) -> Facts:
    """Return the facts that a plan has of these graphs; their incoming arcs are cached."""
    hops = point.panel == "without weights" or point.panel.startswith("BFS")
    weight, longest = (None, 1) if hops else (point.dtype, _LONGEST[point.experiment])
    n, m = int(point.n or 0), int(point.m or 0)
    device = "cuda" if point.series == PLACED else "cpu"
    return Facts(
        n, m, weight, 0 if longest == 1 and weight else 1, longest, longest * n, True, device
    )


def misplaced(every: list[Comparison]) -> list[str]:
    """Return a sentence for each graph on the GPU for which the model chooses the slower device."""
    by_call: dict[str, dict[str, Comparison]] = {}
    for one in every:
        by_call.setdefault(one.call, {})[one.where] = one
    sentences = []
    for call, places in by_call.items():
        if not {CPU, PLACED} <= places.keys():
            continue
        cpu, gpu = places[CPU], places[PLACED]
        taken, other = (gpu, cpu) if gpu.estimated < cpu.estimated else (cpu, gpu)
        if taken.measured > other.measured:
            slower = taken.measured / other.measured
            sentences.append(f"{call}: {taken.where} is chosen and {slower:.2g} times slower")
    return sentences


def main(arguments: list[str]) -> int:
    for path in arguments:
        record = read(path)
        every = [*comparisons(record), *of_betweenness(record)]
        print("\n".join(map(str, every)) if every else f"{path} has no crossovers")
        print("\n".join(misplaced(every)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
