"""Rows for the shortest paths through each vertex and along each arc."""

from __future__ import annotations

from kleene.registry.memory import elimination_workspace, no_workspace
from kleene.registry.method import Method, Size

__all__ = [
    "BETWEENNESS",
    "COMPONENTS",
    "HOPS_ONLY",
    "LOADS",
]

#: Methods that count arcs, and cannot add weights.
HOPS_ONLY = ("lanes",)


def _answer(size: Size) -> int:
    """A float64 for each vertex, and for each arc."""
    return 8 * (size.n + size.m)


def _reference_workspace(size: Size) -> int:
    """Python objects for each vertex, and for each arc on a shortest path."""
    return 400 * (size.n + size.m)


def _lanes_workspace(size: Size) -> int:
    """Two rows of at least 8 numbers for each vertex, levels of about as much, and sums.

    Each thread has its own, of at least 16 MiB; one batch that all threads share has twice that.
    """
    rows = max(128 * size.n, 2**24)
    return size.threads * (2 * rows + 24 * size.n + (8 * size.m if size.predecessors else 0))


def _dijkstra_workspace(size: Size) -> int:
    """Sums and lanes a thread: lists of up to all arcs for 16 sources, unless there are many."""
    sums = 8 * (size.n + (size.m if size.predecessors else 0))
    listed = size.m if size.m <= 2**25 and size.sources >= 8 else 0
    lanes = 16 * (12 if size.predecessors else 4) * listed + (200 * size.n if listed else 0)
    return 8 * size.m + size.threads * (sums + lanes + 100 * size.n)


def _sampled_workspace(size: Size) -> int:
    """Two counts for each vertex and arc, and a search a thread."""
    counts = 16 * (size.n + (size.m if size.predecessors else 0))
    return counts + size.threads * 40 * size.n


def _gpu_groups(size: Size) -> int:
    """Groups of 32 sources of a batch: several only where they have some 2^17 rows in all."""
    wanted = -(-size.sources // 32)
    return max(1, min(wanted, 2**17 // max(1, size.n)))


def _gpu_counts(size: Size) -> int:
    """Arcs of both directions; for each group counts and entries, sums, and segments of hubs."""
    sums = 8 * size.m if size.predecessors else 0
    return 16 * size.n + 8 * size.m + _gpu_groups(size) * (1060 * size.n + 6 * size.m + sums)


def _gpu_distances(size: Size) -> int:
    """The same, with lengths, distances from 64 or 128 sources at least, and tight arcs."""
    groups = max(4, _gpu_groups(size))
    of_group = 1280 * size.n + (22 if size.predecessors else 14) * size.m
    return 16 * size.n + 32 * size.m + groups * of_group


BETWEENNESS = (
    Method(
        "betweenness",
        "lanes",
        "cpu",
        "hops: up to 64 sources share a search, a vector lane each; forward and backward by level",
        "ours; Brandes 2001, Then 2014",
        "kleene.backends.cpu.betweenness:lanes",
        _lanes_workspace,
        answer=_answer,
        makes=("sums",),
    ),
    Method(
        "betweenness",
        "dijkstra",
        "cpu",
        "distances from near sources at once, a vector lane each, then a pass backward for each",
        "Brandes 2001; Dijkstra 1959",
        "kleene.backends.cpu.betweenness:dijkstra",
        _dijkstra_workspace,
        negative=False,
        answer=_answer,
        makes=("sums",),
    ),
    Method(
        "betweenness",
        "sampled",
        "cpu",
        "random shortest paths between random pairs until all numbers are within an error",
        "ours; Borassi and Natale 2016",
        "kleene.backends.cpu.betweenness:sampled",
        _sampled_workspace,
        negative=False,
        answer=_answer,
        makes=("value",),
        cuts="never",
    ),
    Method(
        "betweenness",
        "lanes",
        "cuda",
        "hops: 32 sources share each row of a vertex, a lane of a warp each, level by level",
        "ours; Brandes 2001, Then 2014",
        "kleene.backends.cuda.betweenness.hops:lanes",
        no_workspace,
        answer=_answer,
        device_memory=_gpu_counts,
        makes=("sums",),
    ),
    Method(
        "betweenness",
        "batched",
        "cuda",
        "distances from batches of sources, then paths along tight arcs, 32 sources to a warp",
        "ours; Brandes 2001, Davidson et al. 2014",
        "kleene.backends.cuda.betweenness.weighted:batched",
        no_workspace,
        negative=False,
        answer=_answer,
        device_memory=_gpu_distances,
        makes=("sums",),
    ),
    Method(
        "betweenness",
        "brandes",
        "reference",
        "a search from each source, then a pass backward; counts are Python integers",
        "Brandes 2001",
        "kleene.backends.reference.betweenness:brandes",
        _reference_workspace,
        negative=False,
        answer=_answer,
        makes=("sums",),
    ),
)


# ---- Rows for trips on their shortest paths -----------------------------------------------------


def _flows(size: Size) -> int:
    """A float64 for each arc."""
    return 8 * size.m


def _search_workspace(size: Size) -> int:
    """Lengths, a transposed graph, and for each thread a search and sums of arcs."""
    threads = min(size.threads, size.sources)
    return (8 + 3 * size.item) * size.m + threads * (72 * size.n + 8 * size.m)


def _pair_workspace(size: Size) -> int:
    """Pairs and their values, their middles, and for each thread their flows both ways."""
    pairs = 5 * size.n
    return elimination_workspace(size._replace(predecessors=True)) + 16 * (1 + size.threads) * pairs


def _reference_loads(size: Size) -> int:
    """Python objects for each vertex and arc."""
    return 400 * (size.n + size.m)


LOADS = (
    Method(
        "loads",
        "searches",
        "cpu",
        "a search for each origin, or each destination; volumes flow back along the tree",
        "Dijkstra 1959, Brandes 2001",
        "kleene.backends.cpu.loads:searches",
        _search_workspace,
        negative=False,
        answer=_flows,
        makes=("sums",),
    ),
    Method(
        "loads",
        "prepared",
        "cpu",
        "eliminates all vertices once, then ends climb; one pass moves flows of pairs to arcs",
        "Buchhold et al. 2019",
        "kleene.backends.cpu.loads:prepared",
        _pair_workspace,
        answer=_flows,
        makes=("sums",),
    ),
    Method(
        "loads",
        "plain",
        "reference",
        "a search from each origin, then every path is walked; shares are ratios of integers",
        "Dijkstra 1959",
        "kleene.backends.reference.loads:plain",
        _reference_loads,
        answer=_flows,
        makes=("sums",),
    ),
)


# ---- Rows for the weak and strong components of a graph -----------------------------------------


def _numbers(size: Size) -> int:
    """A number for each vertex, and a size for each component."""
    return 16 * size.n


def _weak_workspace(size: Size) -> int:
    """Numbers in two orders."""
    return 24 * size.n


def _strong_workspace(size: Size) -> int:
    """The same, two searches, the stacks of a depth-first search, and the incoming arcs."""
    return 80 * size.n + 16 * size.m


COMPONENTS = (
    Method(
        "weak_components",
        "afforest",
        "cpu",
        "union-find on all cores; the largest component skips most of its arcs",
        "Sutton 2018",
        "kleene.backends.cpu.components:afforest",
        _weak_workspace,
        answer=_numbers,
        makes=("value",),
        cuts="never",
    ),
    Method(
        "strong_components",
        "forward_backward",
        "cpu",
        "searches both ways from a vertex of many arcs, then depth first; all cores, then one",
        "Fleischer 2000, Tarjan 1972",
        "kleene.backends.cpu.components:forward_backward",
        _strong_workspace,
        answer=_numbers,
        makes=("value",),
        cuts="never",
    ),
)
