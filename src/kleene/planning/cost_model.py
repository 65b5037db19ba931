"""The estimated seconds of a call on a GPU and on the CPU, from facts alone.

All numbers are of one GPU and one CPU, and rough. ``benchmarks/cost_model.py`` compares them with
measurements.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

from kleene.planning.ask import Ask
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import Facts

__all__ = [
    "GPU_START",
    "Cost",
    "batches_pay",
    "count_sources",
    "gpu_cost",
    "gpu_methods",
    "has_gpu_cost",
    "is_road_like",
    "lanes_pay",
    "many_sources",
    "searched_seconds",
    "searches_share",
]


# ---- what is known of devices -------------------------------------------------------------------
# The GPU is an H200 (CUDA 13, PCIe 5); the CPU, where nothing else is said, two cores of a Xeon
# with AVX-512. R-MAT graphs of scale 20, 22 and 24 have 31, 128 and 521 M arcs; highways are a road
# network of 0.56 M vertices and 1.64 M arcs.

#: Opening a GPU in a process, loading kernels: once. A plan cannot know whether that was done
#: before, unless a graph is there already.
GPU_START = 0.35

#: One call: memory, launches, waiting. All pairs of 500 vertices take 0.7 ms on the GPU, one search
#: on 1,000 vertices 0.3 to 0.8 ms; on the CPU, 10 vertices, and what each core more than two costs
#: where a graph is large enough to be shared (16 cores: searches of 4,096 and 16,384 vertices take
#: 0.7 ms, matrices of 256 and 512 1.7 and 2.3 ms).
_GPU_CALL, _GPU_SEARCH_CALL, _CPU_CALL, _CPU_TEAM = 7e-4, 6e-4, 15e-6, 5e-5

#: One search of a graph on the GPU, whose buffers wait there: 0.1 ms and a little around a
#: breadth-first search of R-MAT 20 or 22. Its answer goes to page-locked memory that is used again,
#: 52 to 55 GB/s, unless an array has more bytes than that (see ``kleene.backends.cuda.tuning``).
_GPU_PLACED_CALL, _COPY_PINNED, _PINNED = 1.2e-4, 50e9, 2**27

#: Vertices and arcs from which on a search is shared among cores.
_SHARED_FROM = 2**16

#: Bytes a second between a GPU and memory that is not page-locked: to the GPU (matrices of 4096 and
#: more: 6.5 to 7.9 GB/s), back to memory that is used already (answers on R-MAT 22: 8 GB/s), and
#: back to memory that is not yet mapped (R-MAT 23, 24: 2.4, 1.9 GB/s; matrices: 2.5 to 3.3
#: GB/s), as arrays above so many bytes are. Searches prefault it while the GPU is busy
#: (67 MB in 10 to 13 ms).
_COPY_IN, _COPY_OUT, _COPY_NEW, _NEW = 7e9, 8e9, 2.5e9, 2**25
_COPY_PREFAULTED = 6e9

#: Many rows are copied through page-locked memory while the next are computed, from so many bytes
#: on (see ``kleene.backends.cuda.rows``); seconds to allocate that memory, and bytes a
#: second (44,000 rows: 0.29 s).
_ROWS_WORTH, _ROWS_START, _COPY_ROWS = 2**28, 0.03, 30e9

#: Levels of a search, which are not known: graphs of a lower mean degree count as road-like, and as
#: squares (right for grids, twice too many for highways), others as small worlds.
_ROAD_DEGREE, _FEW_LEVELS = 6, 12

#: A level with few vertices: grid of 4096 x 4096, 22 ms; highways, 2.0 ms. A level that the whole
#: GPU works on, and a round of many searches at once.
_GPU_NARROW_LEVEL, _GPU_LEVEL = 2.7e-6, 7e-6

#: A vertex or arc of a breadth-first search: R-MAT 20, 22, 24 take 0.16, 0.43, 1.36 ms. Without
#: incoming arcs all arcs are read: assumed, a little less than a weighted search.
_GPU_HOP, _GPU_PUSHED_HOP = 2.5e-12, 2.5e-11

#: Many searches at once: bytes a second, mostly of the second cache; how many searches go in a
#: batch; how often the bits at the end of an arc are read, by at least a sector of 32 bytes.
_GPU_BYTES, _BATCH, _READ, _SECTOR = 3e12, 1024, 3, 32

#: From this many sources, searches share arcs where they overlap: on the CPU R-MAT of scale 14
#: and 17.
_MANY_SOURCES = 8

#: Weighted search: a "level" of a road-like graph (a grid of 4096 x 4096 takes 24 ms, highways from
#: the middle of a continent 6.5 ms), rounds of others, and an arc (R-MAT 22, 4.8 ms).
_GPU_HOPS_OF_LENGTHS, _GPU_ROUNDS, _GPU_LENGTH = 2.9e-6, 40, 3.2e-11

#: Finding predecessors from distances: R-MAT 22, 1.3 ms.
_GPU_TREE = 1e-11

#: Rounds of relaxation instead of a search, for negative weights: assumed, on both devices alike.
_NEGATIVE = 3.0

#: Arcs and sources a second of weighted searches from many sources (R-MAT 16, 512 sources: 6.5 ms);
#: with predecessors a third less. A round, bytes of distances that go at once, and bytes of the
#: distances of a vertex from the sources of a group.
_GPU_BATCHED, _GPU_ROUND, _GPU_AT_ONCE, _GPU_ROW = 1.7e11, 40e-6, 2**26, 512

#: Relaxations a second of the tiled engine, float32: 5 ms for 4096 vertices on the GPU, 13 T/s from
#: 8192 on; 35 G/s for each core. Bits are some 15 times as fast, 8-byte words half as fast, paths
#: cost half, on both about alike.
_GPU_TILED, _CPU_TILED, _BITS = 12e12, 35e9, 15.0

#: Its phases, a vertex and GPU (one thread launches for all), and bytes a second of a matrix made
#: in new memory, sent there and back: whole calls of 512, 1024, 2048, 4096 and 8192 vertices take
#: 1.8, 3.9, 9.4, 33 and 123 ms.
_GPU_PHASES, _COPY_MATRIX = 1e-6, 3e9

#: Bytes a second from one GPU to all others. Not measured on several GPUs: half of what an H200
#: copies to page-locked memory, since a copy through the host takes the bus twice.
_COPY_BETWEEN = 25e9

#: Making the incoming arcs of a directed graph, an arc, on two cores that had other work too.
_INCOMING = 2e-8

#: A vertex or arc of a search on two cores. Breadth-first: R-MAT 20, 15 ms, and a uniform graph of
#: that size, 19 ms; road-like: a grid of 2048 x 2048, 61 ms, and highways, 7.6 ms; 1.7 times as
#: long without incoming arcs. Weighted: 137 and 292 ms; road-like: 221 and 21 ms.
_CPU_HOP, _CPU_ROAD_HOP, _CPU_PUSHING = 5e-10, 3e-9, 1.7
_CPU_LENGTH, _CPU_ROAD_LENGTH = 5e-9, 9.5e-9

#: One search on t cores is as fast as on two by t / 2 to this power: R-MAT 20 and 22, and for
#: road-like graphs grids of 1024 and 2048, on 16 cores; there one level has little to share.
_SHARED, _ROAD_SHARED, _ROAD_SHARED_HOPS = 0.7, 0.2, 0.0

#: A vertex or arc, source and core, where sources are shared among cores: with weights (16 cores:
#: Rome 12.7 ms, uniform graphs of 8,000 and 16,000 vertices and degree 8 200 and 880 ms); without,
#: many at once, and with predecessors (uniform graphs of degree 22).
_CPU_BATCHED, _CPU_BITS, _CPU_BITS_PATHS = 6e-9, 0.6e-9, 1.8e-9

#: A vertex or arc, label and core, of a search for the nearest facilities: highways, 1,000
#: facilities, 2, 5 and 10 labels take 0.13, 0.45 and 2.3 s on two Zen 3 cores.
_CPU_LABEL = 9e-8


#: A vertex or arc, root and core, of searches for loads, with volumes that flow back: highways 40
#: ms, a grid of 300 x 300 5.7 ms; hops. Two Zen 3 cores that had other work too.
_CPU_LOADS, _CPU_LOADS_HOPS = 1.5e-8, 8e-9

#: Betweenness on the GPU: one call; a level, there and back; vertices of a batch, of 32 sources or
#: more; sources and arcs a second. By hops: R-MAT 14, 1,024 sources 6.5 ms, R-MAT 20, 256 sources
#: 80 ms, grid 512 x 512, 16 sources 17.5 ms. By lengths: Rome, all sources 21 ms, R-MAT 14, 1,024
#: sources 20 ms, R-MAT 18, 64 sources 21 ms.
_GPU_COUNTS_CALL, _GPU_COUNTS_BATCH, _GPU_COUNTS_GROUP = 1.2e-3, 2**17, 32
_GPU_COUNTS_HOPS, _GPU_COUNTS_HOPS_LEVEL = 1e11, 1.7e-5
_GPU_COUNTS_LENGTHS, _GPU_COUNTS_LENGTHS_LEVEL = 2.5e10, 6e-5

#: Betweenness on the CPU, a source, arc and core: by hops 0.14 to 0.6 ns (the calls above on one
#: core of a Xeon, and all of Facebook and of R-MAT 14 on two Zen 5), on a grid 40, which cores do
#: not share; by lengths 1.2 to 2.3 ns, on Rome 7 to 15. On graphs of more vertices, whose rows no
#: cache holds, 2.2 and 4.2 ns (R-MAT 17, 20; 18). Cores share it to this power.
_CPU_COUNTS_HOPS, _CPU_COUNTS_ROAD_HOPS, _CPU_COUNTS_FAR_HOPS = 4e-10, 4e-8, 2.2e-9
_CPU_COUNTS_LENGTHS, _CPU_COUNTS_ROAD_LENGTHS, _CPU_COUNTS_FAR_LENGTHS = 2e-9, 1.2e-8, 4.2e-9
_CPU_COUNTS_FAR, _CPU_COUNTS_SHARED = 2**16, 0.8


class Cost(NamedTuple):
    """Where the seconds of a call on a GPU go."""

    start: float  # opening it, once in a process
    call: float  # the same for every size
    copies: float
    work: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.start + self.call + self.copies + self.work


# ---- facts --------------------------------------------------------------------------------------


def is_road_like(facts: Facts) -> bool:
    """Return whether arcs are few, as in roads and grids: searches have many small levels."""
    return facts.m < _ROAD_DEGREE * facts.n


def many_sources(facts: Facts, ask: Ask) -> bool:
    """Return whether there are enough sources for searches to share arcs."""
    return count_sources(facts, ask) >= _MANY_SOURCES


def count_sources(facts: Facts, ask: Ask) -> int:
    """Return how many rows are asked for."""
    return facts.n if ask.what.sources is None else ask.what.sources


def _levels(facts: Facts) -> float:
    return 2 * sqrt(facts.n) if is_road_like(facts) else _FEW_LEVELS


def _item(facts: Facts, ask: Ask) -> int:
    """Bytes of a value; booleans with paths are as wide as the paths."""
    return 4 if ask.what.semiring == "boolean" else choose_dtype(facts, ask)[0].itemsize


# ---- on the GPU ---------------------------------------------------------------------------------


#: Methods that the model knows: those that the rules choose.
_MODELLED = {
    "bfs": ("multi_source", "direction_optimizing"),
    "sssp": ("batched", "bellman_ford", "near_far", "prepared"),
    "apsp": ("batched", "tiled", "prepared"),
    "closure": ("tiled", "prepared"),
    "product": ("tiled",),
    "betweenness": ("lanes", "batched"),
}


def gpu_methods(problem: str) -> tuple[str, ...]:
    """Return the methods of a problem that the model knows on a GPU."""
    return _MODELLED.get(problem, ())


def has_gpu_cost(problem: str, method: str = "") -> bool:
    """Return whether the model knows a problem, or one of its methods, on a GPU."""
    return problem in _MODELLED and (not method or method in _MODELLED[problem])


def searches_share(facts: Facts, ask: Ask) -> bool:
    """Return whether searches without weights are faster together, on a GPU.

    They are where they soon overlap. On a road-like graph each level of a batch passes over all
    vertices, which a single search does not: there the number of sources decides.
    """
    if not (many_sources(facts, ask) and is_road_like(facts)):
        return many_sources(facts, ask)
    together = gpu_cost(facts, ask, "multi_source").total
    return together < gpu_cost(facts, ask, "direction_optimizing").total


def lanes_pay(facts: Facts, ask: Ask) -> bool:
    """Return whether weighted searches are faster together than one after the other, on a GPU."""
    if not many_sources(facts, ask):
        return False
    together = gpu_cost(facts, ask, "batched").total
    return together < gpu_cost(facts, ask, "near_far").total


def batches_pay(facts: Facts, ask: Ask) -> bool:
    """Return whether searches from each source are faster than a matrix, on a GPU."""
    if facts.weight_dtype is None:
        return True  # bits: no matrix is that small
    if facts.min_weight < 0:
        return False  # searches take no negative weights
    return gpu_cost(facts, ask, "batched").total < gpu_cost(facts, ask, "tiled").total


def gpu_cost(facts: Facts, ask: Ask, method: str, gpus: int = 1) -> Cost:
    """Estimate one of the methods that the planner takes on a GPU; several may share a matrix."""
    start = 0.0 if facts.device == "cuda" else GPU_START
    if method == "tiled":
        return Cost(start, _GPU_CALL, *_tiled(facts, ask, gpus))
    if ask.what.problem == "betweenness":
        return Cost(start, _GPU_COUNTS_CALL, *_counts(facts, ask, method))
    n, m, sources = facts.n, facts.m, count_sources(facts, ask)
    hops = ask.what.problem == "bfs" or facts.weight_dtype is None
    many = method in ("multi_source", "batched")
    item = _item(facts, ask)
    copies = 0.0
    if ask.output.keep == "host":
        copies = _rows_out(n * sources * _pair(ask, item), many, facts, ask)
    if facts.device != "cuda":
        copies += (8 * n + (4 if hops else 4 + item) * m) / _COPY_IN
    work = m * _INCOMING if many and not facts.csc else 0.0
    if many:
        work += (_hop_batches if hops else _length_batches)(facts, ask, sources)
    elif ask.what.problem == "bfs":
        work += sources * _hop_search(facts)
    else:
        work += sources * _length_search(facts, ask)
    call = _GPU_PLACED_CALL if facts.device == "cuda" else _GPU_SEARCH_CALL
    return Cost(start, _GPU_CALL if many else sources * call, copies, work)


def _counts(facts: Facts, ask: Ask, method: str) -> tuple[float, float]:
    """Estimate copies and work of betweenness: levels of batches, and arcs of all sources."""
    n, m, sources = facts.n, facts.m, count_sources(facts, ask)
    copies = 8 * (n + (m if ask.what.predecessors else 0)) / _COPY_OUT
    work = 0.0 if facts.csc else m * _INCOMING
    hops = method == "lanes"
    if facts.device != "cuda":
        copies += (16 * n + (8 if hops else 8 + 2 * _item(facts, ask)) * m) / _COPY_IN
    groups = ceil(sources / _GPU_COUNTS_GROUP)
    batches = ceil(groups / max(1, _GPU_COUNTS_BATCH // max(1, n)))
    level = _GPU_COUNTS_HOPS_LEVEL if hops else _GPU_COUNTS_LENGTHS_LEVEL
    rate = _GPU_COUNTS_HOPS if hops else _GPU_COUNTS_LENGTHS
    return copies, work + batches * _levels(facts) * level + float(sources) * m / rate


def _pair(ask: Ask, item: int) -> int:
    return item + (4 if ask.what.predecessors else 0)


def _rows_out(nbytes: float, many: bool, facts: Facts, ask: Ask) -> float:
    if many and nbytes >= _ROWS_WORTH:
        return _ROWS_START + nbytes / _COPY_ROWS
    arrays = 2 if ask.what.predecessors else 1
    if facts.device == "cuda" and not ask.output.given and nbytes <= arrays * _PINNED:
        return nbytes / _COPY_PINNED
    new = _COPY_NEW if many else _COPY_PREFAULTED
    return nbytes / (_COPY_OUT if ask.output.given or nbytes <= arrays * _NEW else new)


def _hop_search(facts: Facts) -> float:
    arc = _GPU_HOP if facts.csc else _GPU_PUSHED_HOP
    level = _GPU_NARROW_LEVEL if is_road_like(facts) else _GPU_LEVEL
    return _levels(facts) * level + (facts.n + facts.m) * arc


def _hop_batches(facts: Facts, ask: Ask, sources: int) -> float:
    batches, width = ceil(sources / _BATCH), min(sources, _BATCH)
    level = _GPU_LEVEL
    if is_road_like(facts):
        level += (8 * facts.n + 4 * facts.m) / _GPU_BYTES
    arc = _READ * max(_SECTOR, width / 8) / _GPU_BYTES
    return batches * (_levels(facts) * level + facts.m * arc)


def _length_search(facts: Facts, ask: Ask) -> float:
    size = facts.n + facts.m
    road_like = is_road_like(facts)
    seconds = _levels(facts) * _GPU_HOPS_OF_LENGTHS if road_like else _GPU_ROUNDS * _GPU_LEVEL
    seconds += size * _GPU_LENGTH
    if facts.min_weight < 0:
        seconds *= _NEGATIVE
    return seconds + (size * _GPU_TREE if ask.what.predecessors else 0.0)


def _length_batches(facts: Facts, ask: Ask, sources: int) -> float:
    item = _item(facts, ask)
    group = _GPU_ROW // item
    groups = ceil(max(1, sources) / group)
    at_once = min(groups, max(1, _GPU_AT_ONCE // (_GPU_ROW * max(1, facts.n))))
    rate = _GPU_BATCHED * 4 / item / (1.5 if ask.what.predecessors else 1.0)
    level = _GPU_ROUND + at_once * (8 * facts.n + 4 * facts.m) / _GPU_BYTES
    return ceil(groups / at_once) * _levels(facts) * level + groups * group * facts.m / rate


def _tiled(facts: Facts, ask: Ask, gpus: int) -> tuple[float, float]:
    """Estimate copies and work: the matrix goes there and back, wherever the graph is.

    Between GPUs every row is copied once to each but its own, while others are relaxed.
    """
    n, item = float(facts.n), _item(facts, ask)
    relaxed = _relaxations(facts, ask) / (_GPU_TILED * _tiled_relative(facts, ask)) / gpus
    if ask.what.problem == "product":
        sent = item * facts.m + _pair(ask, item) * count_sources(facts, ask) * n
        return sent / _COPY_MATRIX, relaxed
    matrix = n**2 * _pair(ask, item)
    between = (gpus - 1) * matrix / _COPY_BETWEEN
    return matrix / _COPY_MATRIX, n * gpus * _GPU_PHASES + max(relaxed, between)


def _relaxations(facts: Facts, ask: Ask) -> float:
    """Count relaxations: of a closure, or of a product, whose ``m`` are entries of both factors."""
    if ask.what.problem != "product":
        return float(facts.n) ** 3
    rows = count_sources(facts, ask)
    depth = facts.m / max(1, rows + facts.n)
    return float(rows) * facts.n * depth


def _tiled_relative(facts: Facts, ask: Ask) -> float:
    bits = ask.what.semiring == "boolean" and not ask.what.predecessors
    relative = _BITS if bits else 4 / _item(facts, ask)
    return relative * (0.5 if ask.what.predecessors else 1.0)


# ---- on the CPU ---------------------------------------------------------------------------------


def searched_seconds(facts: Facts, ask: Ask, threads: int) -> float:
    """Estimate the fastest method of the CPU that does not prepare the graph."""
    if ask.what.problem == "nearest":
        return count_sources(facts, ask) * (facts.n + facts.m) * _CPU_LABEL / threads
    sources = count_sources(facts, ask)
    work = float(sources) * (facts.n + facts.m)
    hops = ask.what.problem == "bfs" or facts.weight_dtype is None
    if ask.what.problem in ("bfs", "sssp"):
        seconds = sources * _cpu_search(facts, ask, threads)
        if ask.what.problem == "bfs" and many_sources(facts, ask) and not is_road_like(facts):
            seconds = min(seconds, work * _cpu_bits(ask) / threads)
        if ask.what.problem == "sssp" and facts.min_weight >= 0 and many_sources(facts, ask):
            seconds = min(seconds, work * _CPU_BATCHED / min(threads, sources))
        return _CPU_CALL + _cpu_team(facts, threads) + seconds
    if ask.what.problem == "loads":
        return _CPU_CALL + work * (_CPU_LOADS_HOPS if hops else _CPU_LOADS) / max(
            1, min(threads, sources)
        )
    if ask.what.problem == "betweenness":
        return _CPU_CALL + work * _cpu_counts(facts, hops, threads)
    matrix = _cpu_team(facts, threads) + _relaxations(facts, ask) / (
        _CPU_TILED * _tiled_relative(facts, ask) * threads
    )
    if ask.what.problem in ("closure", "product") or ask.where.method == "tiled":
        return _CPU_CALL + matrix
    arc = _cpu_bits(ask) if hops else _CPU_BATCHED
    searches = work * arc / min(threads, max(1, sources))
    return _CPU_CALL + (searches if ask.where.method == "batched" else min(searches, matrix))


def _cpu_team(facts: Facts, threads: int) -> float:
    """Estimate the cost of many cores that must synchronise often."""
    return _CPU_TEAM * max(0, threads - 2) if facts.n + facts.m >= _SHARED_FROM else 0.0


def _cpu_counts(facts: Facts, hops: bool, threads: int) -> float:
    """Estimate a source and arc of betweenness on all cores."""
    near, road, far = _CPU_COUNTS_LENGTHS, _CPU_COUNTS_ROAD_LENGTHS, _CPU_COUNTS_FAR_LENGTHS
    if hops:
        near, road, far = _CPU_COUNTS_HOPS, _CPU_COUNTS_ROAD_HOPS, _CPU_COUNTS_FAR_HOPS
    if is_road_like(facts):
        return road if hops else float(road / threads**_CPU_COUNTS_SHARED)
    return float((near if facts.n < _CPU_COUNTS_FAR else far) / threads**_CPU_COUNTS_SHARED)


def _cpu_bits(ask: Ask) -> float:
    return _CPU_BITS_PATHS if ask.what.predecessors else _CPU_BITS


def _cpu_search(facts: Facts, ask: Ask, threads: int) -> float:
    road_like = is_road_like(facts)
    if ask.what.problem == "bfs":
        arc = _CPU_ROAD_HOP if road_like else _CPU_HOP * (1.0 if facts.csc else _CPU_PUSHING)
    else:
        arc = _CPU_ROAD_LENGTH if road_like else _CPU_LENGTH
        arc *= _NEGATIVE if facts.min_weight < 0 else 1.0
    shared = _SHARED
    if road_like:
        shared = _ROAD_SHARED_HOPS if ask.what.problem == "bfs" else _ROAD_SHARED
    cores = float((threads / 2) ** shared)
    return (facts.n + facts.m) * arc / cores
