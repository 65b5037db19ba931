"""Rows for shortest paths from a source."""

from __future__ import annotations

from collections.abc import Callable

from kleene.registry.memory import (
    device_lattice,
    device_near_far,
    device_rounds,
    device_sweeps,
    eliminated_pairs,
    elimination_on_gpu,
    elimination_workspace,
    lanes_on_gpu,
    lanes_workspace,
    lengths_workspace,
    pull_workspace,
    search_workspace,
    sent_rows,
)
from kleene.registry.method import Method, Size

__all__ = ["ROWS"]


def _cuda_sssp(
    name: str,
    summary: str,
    origin: str,
    module: str,
    device_memory: Callable[[Size], int],
    workspace: Callable[[Size], int] = lengths_workspace,
    negative: bool = True,
    streams: bool = False,
) -> Method:
    return Method(
        "sssp",
        name,
        "cuda",
        summary,
        origin,
        f"kleene.backends.cuda.{module}:{name}",
        workspace,
        negative=negative,
        device_memory=device_memory,
        streams=streams,
        splits="sources",
    )


ROWS = (
    Method(
        "sssp",
        "dijkstra",
        "cpu",
        "settles vertices in order of distance; one core a source",
        "Dijkstra 1959, Ahuja et al. 1990",
        "kleene.backends.cpu.sssp:dijkstra",
        lengths_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "delta_stepping",
        "cpu",
        "settles buckets of near distances on all cores; many sources a vector lane each",
        "Meyer and Sanders 2003, Zhang et al. 2020",
        "kleene.backends.cpu.sssp:delta_stepping",
        lanes_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "bellman_ford",
        "cpu",
        "relaxes what changed, round after round, on all cores; finds negative cycles",
        "Bellman 1958, Cherkassky and Goldberg 1999",
        "kleene.backends.cpu.sssp:bellman_ford",
        lengths_workspace,
    ),
    Method(
        "sssp",
        "llp",
        "cpu",
        "raises lower bounds until they meet the paths found, on all cores",
        "Garg 2020",
        "kleene.backends.cpu.sssp:llp",
        pull_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "prepared",
        "cpu",
        "eliminates all vertices once, then climbs and sweeps for many rows at a time",
        "Dibbelt et al. 2016, Delling et al. 2013",
        "kleene.backends.cpu.prepared:sssp",
        elimination_workspace,
    ),
    _cuda_sssp(
        "near_far",
        "settles near vertices before far ones, the whole search in one launch",
        "Davidson et al. 2014, Meyer and Sanders 2003",
        "sssp_near_far",
        device_near_far,
        negative=False,
    ),
    _cuda_sssp(
        "batched",
        "searches from many sources at once, 128 to a warp; without weights a bit each",
        "ours; Then et al. 2014, Davidson et al. 2014",
        "sssp_batched",
        lanes_on_gpu,
        sent_rows,
        negative=False,
        streams=True,
    ),
    _cuda_sssp(
        "bellman_ford",
        "relaxes what changed, many rounds in a launch; finds negative cycles",
        "Bellman 1958, Davidson et al. 2014",
        "sssp_bellman_ford",
        device_rounds,
    ),
    _cuda_sssp(
        "bellman_ford_plain",
        "relaxes every arc in every round; finds negative cycles",
        "Periasubbramaniam and Denlinger 2023",
        "sssp_bellman_ford",
        device_sweeps,
        lambda size: lengths_workspace(size) + 4 * size.m,
    ),
    _cuda_sssp(
        "llp",
        "raises lower bounds until they meet the paths found, with minima over blocks",
        "Garg 2020",
        "sssp_llp",
        device_lattice,
        pull_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "prepared",
        "cuda",
        "eliminates all vertices on the host once, then climbs and sweeps for 1024 rows at a time",
        "Dibbelt et al. 2016, Delling et al. 2013",
        "kleene.backends.cuda.prepared_rows:sssp",
        eliminated_pairs,
        device_memory=elimination_on_gpu,
        streams=True,
        splits="sources",
    ),
    Method(
        "sssp",
        "dijkstra",
        "reference",
        "settles vertices in order of distance, from a binary heap",
        "Dijkstra 1959",
        "kleene.backends.reference.sssp:dijkstra",
        search_workspace,
        negative=False,
    ),
    Method(
        "sssp",
        "bellman_ford",
        "reference",
        "improves all distances at once until nothing improves; finds negative cycles",
        "Bellman 1958",
        "kleene.backends.reference.sssp:bellman_ford",
        lambda size: 40 * size.m + 40 * size.n,
    ),
)
