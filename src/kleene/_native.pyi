"""Kleene's C++ core. Arguments are trusted: the Python layers check them first."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]
_Progress = Callable[[int, int], object] | None

class BadArc(ValueError): ...
class MemoryNeeded(MemoryError): ...
class BadLine(ValueError): ...

class Method:
    """A native method: an entry in the table of its problem, ``native/core/*/methods.cpp``."""

    @property
    def problem(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def incoming(self) -> str | None:
        """Whether it uses incoming arcs: "required", "optional" or None."""
    @property
    def needs_tails(self) -> bool: ...
    @property
    def stops_early(self) -> bool: ...
    @property
    def any_semiring(self) -> bool: ...

class ClimbTree:
    """An elimination in the form that climbs read: ``native/core/prepared/pairs/climb.hpp``."""

    def __init__(
        self, parents: NDArray[np.int32], offsets: NDArray[np.int64], heads: NDArray[np.int32]
    ) -> None: ...

class PairQueries:
    """Answers for pairs of vertices: ``native/core/prepared/pairs/pairs.hpp``."""

    def __init__(
        self,
        tree: ClimbTree,
        order: NDArray[np.int32],
        ranks: NDArray[np.int32],
        up: _Array,
        down: _Array,
        semiring: str,
        negative: bool,
        wide: bool,
        level: int = -1,
    ) -> None: ...
    def distances(
        self,
        origins: NDArray[np.int32],
        destinations: NDArray[np.int32],
        answers: _Array,
        threads: int,
        progress: _Progress,
    ) -> None: ...
    def distance(self, origin: int, destination: int) -> Any: ...
    def set_middles(self, up: NDArray[np.int32], down: NDArray[np.int32]) -> None: ...
    def paths(
        self,
        origins: NDArray[np.int32],
        destinations: NDArray[np.int32],
        threads: int,
        progress: _Progress,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def path(self, origin: int, destination: int) -> NDArray[np.int32]: ...

def prepared_nearest(
    tree: ClimbTree,
    up: _Array,
    down: _Array,
    sources: NDArray[np.int32],
    facilities: NDArray[np.int32],
    limit: _Array,
    distances: _Array,
    which: NDArray[np.int32],
    threads: int,
    progress: _Progress,
) -> None: ...
def prepared_within(
    tree: ClimbTree,
    order: NDArray[np.int32],
    sizes: NDArray[np.int32],
    up: _Array,
    down: _Array,
    sources: NDArray[np.int32],
    limit: _Array,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: NDArray[np.int32] | None,
    lengths: _Array | None,
    available: int,
    threads: int,
    progress: _Progress,
) -> tuple[NDArray[np.int64], NDArray[np.int32], _Array, NDArray[np.int32] | None]: ...
def prepared_pair_flows(
    tree: ClimbTree,
    ranks: NDArray[np.int32],
    up_values: _Array,
    down_values: _Array,
    negative: bool,
    origins: NDArray[np.int32],
    destinations: NDArray[np.int32],
    volumes: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    assigned: NDArray[np.uint8],
    threads: int,
    progress: _Progress,
    level: int = -1,
) -> None: ...
def prepared_move_to_arcs(
    tree: ClimbTree,
    order: NDArray[np.int32],
    up_middles: NDArray[np.int32],
    down_middles: NDArray[np.int32],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    flows: NDArray[np.float64],
) -> None: ...
def loads(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    roots: _Array,
    trip_offsets: NDArray[np.int64],
    ends: _Array,
    volumes: NDArray[np.float64],
    limit: _Array,
    split: bool,
    flows: NDArray[np.float64],
    assigned: NDArray[np.uint8],
    threads: int,
    progress: _Progress,
) -> tuple[int, int] | None: ...
def methods() -> list[Method]: ...
def build_csr(
    n: int,
    tails: _Array,
    heads: _Array,
    weights: _Array | None,
    symmetric: bool,
    combine: str,
    available: int,
    threads: int,
    progress: _Progress = None,
) -> tuple[NDArray[np.int64], _Array, _Array | None]: ...
def copied(array: _Array, threads: int) -> _Array: ...
def is_canonical(
    offsets: NDArray[np.int64], neighbors: _Array, weights: _Array | None, threads: int
) -> bool: ...
def csr_transpose(
    offsets: NDArray[np.int64], neighbors: _Array, weights: _Array | None, threads: int
) -> tuple[NDArray[np.int64], _Array, _Array | None]: ...
def csr_is_symmetric(
    offsets: NDArray[np.int64], neighbors: _Array, weights: _Array | None, threads: int
) -> bool: ...
def csr_seems_symmetric(
    offsets: NDArray[np.int64], neighbors: _Array, weights: _Array | None, seed: int, threads: int
) -> bool: ...
def weak_components(
    offsets: NDArray[np.int64], neighbors: _Array, symmetric: bool, threads: int
) -> tuple[_Array, NDArray[np.int64]]: ...
def number_components_by_first(component: _Array, count: int) -> None: ...
def strong_components(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    threads: int,
) -> tuple[_Array, NDArray[np.int64]]: ...
def strong_components_in_search_order(
    offsets: NDArray[np.int64], neighbors: _Array
) -> tuple[_Array, NDArray[np.int64]]: ...
def hop_sums(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    sources: _Array,
    limit: int,
    reached: NDArray[np.int64],
    sums: NDArray[np.int64],
    inverses: NDArray[np.float64],
    threads: int,
    progress: _Progress,
) -> NDArray[np.int64]: ...
def farthest_hops(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    sources: _Array,
    farthest: _Array,
    threads: int,
    progress: _Progress,
) -> None: ...
def reduce_rows(
    values: _Array,
    no_path: float,
    edges: _Array | None,
    sums: _Array,
    maxima: _Array,
    reached: NDArray[np.int64],
    histogram: NDArray[np.int64] | None,
    threads: int,
) -> None: ...
def add_columns(
    values: _Array,
    no_path: float,
    sources: _Array,
    reached: NDArray[np.int64] | None,
    sums: _Array,
    inverses: NDArray[np.float64] | None,
    threads: int,
) -> None: ...
def bound_eccentricities(
    goal: str,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    incoming_lengths: _Array | None,
    longest: float,
    component: _Array | None,
    sizes: NDArray[np.int64] | None,
    lower: _Array,
    upper: _Array,
    known: NDArray[np.uint8],
    threads: int,
) -> tuple[float, float, int, int]: ...
def target_eccentricities(
    closed: bool,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    incoming_lengths: _Array | None,
    longest: float,
    component: _Array | None,
    sizes: NDArray[np.int64] | None,
    values: _Array,
    known: NDArray[np.uint8],
    threads: int,
) -> int: ...
def part_bfs_push(
    offsets: NDArray[np.int64], slots: _Array, frontier: _Array, visited: NDArray[np.uint8]
) -> tuple[_Array, _Array]: ...
def part_bfs_pull(
    offsets: NDArray[np.int64],
    slots: _Array,
    in_frontier: NDArray[np.uint8],
    visited: NDArray[np.uint8],
) -> tuple[_Array, _Array]: ...
def part_sssp_settle(
    offsets: NDArray[np.int64],
    slots: _Array,
    lengths: _Array | None,
    pending: _Array,
    bound: _Array,
    values: _Array,
    links: _Array,
    first: int,
    queued: NDArray[np.uint8],
) -> tuple[_Array, _Array]: ...
def sample_paths(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    weights: _Array | None,
    incoming_offsets: NDArray[np.int64],
    incoming_neighbors: _Array,
    incoming_weights: _Array | None,
    endpoints: bool,
    arcs: bool,
    undirected: bool,
    seed: int,
    first: int,
    ends: NDArray[np.int64],
    limits: NDArray[np.int64],
    class_of: NDArray[np.int64] | None,
    counts: NDArray[np.int64],
    threads: int,
    progress: _Progress,
) -> tuple[int, tuple[int, int] | None]: ...
def prepared_reduce(
    offsets: NDArray[np.int64], neighbors: NDArray[np.int32]
) -> tuple[int, NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]: ...
def prepared_sample(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    source: int,
    most_vertices: int,
    most_arcs: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]: ...
def prepared_count_pairs(
    offsets: NDArray[np.int64], neighbors: NDArray[np.int32], order: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...
def prepared_join_pairs(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    order: NDArray[np.int32],
    ranks: NDArray[np.int32],
    parents: NDArray[np.int32],
    pair_offsets: NDArray[np.int64],
) -> NDArray[np.int32]: ...
def prepared_depths(parents: NDArray[np.int32]) -> NDArray[np.int32]: ...
def prepared_subtree_sizes(parents: NDArray[np.int32]) -> NDArray[np.int32]: ...
def csr_union(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    weights: _Array | None,
    other_offsets: NDArray[np.int64],
    other_neighbors: _Array,
    other_weights: _Array | None,
    threads: int,
) -> tuple[NDArray[np.int64], _Array, _Array | None]: ...
def csr_from_matrix(
    matrix: NDArray[np.float64], loops: bool, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]: ...
def copy_bytes(to: _Array, source: _Array, threads: int) -> None: ...
def checked_rows(
    offsets: _Array, neighbors: _Array
) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None: ...
def bfs_order(
    offsets: _Array,
    neighbors: _Array,
    undirected: bool,
    source: int,
    none: int,
    order: NDArray[np.int32],
    predecessors: NDArray[np.int32],
) -> int: ...
def tree_rows(
    offsets: _Array,
    neighbors: _Array,
    lengths: NDArray[np.float64],
    predecessors: NDArray[np.int32],
    tree_offsets: NDArray[np.int32],
    tree_heads: NDArray[np.int32],
    tree_lengths: NDArray[np.float64],
) -> int: ...
def close_small_matrix(
    values: NDArray[np.float64],
    predecessors: NDArray[np.int32] | None,
    none: int,
    null: float,
    unit: bool,
    undirected: bool,
) -> int: ...
def close_stored_rows(
    offsets: _Array,
    neighbors: _Array,
    lengths: NDArray[np.float64],
    values: NDArray[np.float64],
    predecessors: NDArray[np.int32] | None,
    none: int,
    unit: bool,
    undirected: bool,
) -> int: ...
def search_stored_rows(
    offsets: _Array,
    neighbors: _Array,
    lengths: NDArray[np.float64],
    undirected: bool,
    sources: NDArray[np.int32],
    nearest: bool,
    unit: bool,
    limit: float,
    none: int,
    distances: NDArray[np.float64],
    predecessors: NDArray[np.int32] | None,
    origins: NDArray[np.int32] | None,
) -> int: ...
def k_shortest_paths(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    lengths: NDArray[np.float64],
    to_sink: NDArray[np.float64],
    sources: NDArray[np.int32],
    sinks: NDArray[np.int32],
    rows: NDArray[np.int32],
    count: int,
    threads: int,
    progress: _Progress = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]: ...
def bounded_search(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    sources: _Array,
    limits: _Array,
    most: int,
    predecessors: bool,
    available: int,
    threads: int,
    progress: _Progress,
) -> tuple[NDArray[np.int64], _Array, _Array, _Array | None]: ...
def k_nearest(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    facilities: _Array,
    limit: _Array,
    k: int,
    distances: _Array,
    which: _Array,
    threads: int,
    progress: _Progress,
) -> None: ...
def prepared_nearest_labels(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    sizes: NDArray[np.int32],
    lower_offsets: NDArray[np.int64],
    tails: NDArray[np.int32],
    places: NDArray[np.int32],
    up: _Array,
    down: _Array,
    facilities: NDArray[np.int32],
    limit: int,
    distances: _Array,
    which: NDArray[np.int32],
    threads: int,
    progress: _Progress,
) -> None: ...
def nearest_owners(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    facilities: _Array,
    distances: _Array,
    owners: _Array,
) -> None: ...
def betweenness_by_lanes(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    incoming_offsets: NDArray[np.int64],
    incoming_neighbors: _Array,
    sources: _Array,
    source_weights: NDArray[np.float64],
    target_weights: NDArray[np.float64],
    limit: int | None,
    endpoints: bool,
    through: NDArray[np.float64],
    along: NDArray[np.float64] | None,
    lanes: int,
    threads: int,
    level: int,
    progress: object,
) -> None: ...
def fold_trees(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    endpoints: bool,
    through: NDArray[np.float64],
    along: NDArray[np.float64] | None,
) -> tuple[_Array, NDArray[np.float64], NDArray[np.int64], _Array, NDArray[np.int64]]: ...
def bfs_eccentricity(
    offsets: NDArray[np.int64], neighbors: _Array, source: int
) -> tuple[int, int, int]: ...
def bfs(
    method: str,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    tails: _Array | None,
    sources: _Array,
    targets: _Array | None,
    limit: int,
    no_path: int,
    distances: _Array,
    predecessors: _Array | None,
    horizons: _Array,
    threads: int,
    progress: _Progress,
) -> None: ...
def encode_distances(
    vertices: NDArray[np.int64],
    arcs: NDArray[np.int64],
    tails: NDArray[np.int64],
    heads: NDArray[np.int64],
    lengths: NDArray[np.float64] | None,
    local: bool,
    symmetric: bool,
    side: int,
    values: _Array,
    farthest: float,
    unreachable: float,
    pad: float,
    paths: NDArray[np.int64] | None,
    steps: int,
    threads: int,
) -> int: ...
def dense_canonical(
    entries: _Array,
    null: Any,
    null_nan: bool,
    matrix: _Array,
    degrees: NDArray[np.int64],
    heaviest: _Array,
    threads: int,
) -> tuple[Any, Any, int]: ...
def dense_to_csr(
    matrix: _Array,
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    weights: _Array,
    threads: int,
) -> None: ...
def closure_peak_rate(
    semiring: str,
    dtype: str,
    paths: bool = False,
    threads: int = 1,
    seconds: float = 0.2,
    level: int = -1,
) -> float: ...
def closure_fill(
    semiring: str,
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    weights: _Array | None,
    used: NDArray[np.bool_] | None,
    no_path: Any,
    matrix: _Array,
    predecessors: NDArray[np.int32] | None,
    threads: int,
    first: int = 0,
    column: int = 0,
    columns: int | None = None,
) -> None: ...
def closure_multiply(
    semiring: str,
    left: _Array,
    right: _Array,
    right_predecessors: NDArray[np.int32] | None,
    values: _Array,
    predecessors: NDArray[np.int32] | None,
    depth: int,
    columns: int,
    threads: int,
    progress: _Progress = None,
) -> None: ...
def closure_ends(matrix: _Array, no_path: float, threads: int) -> tuple[Any, Any, bool]: ...
def closure_fill_from_matrix(
    semiring: str,
    weights: _Array,
    no_path: Any,
    matrix: _Array,
    predecessors: NDArray[np.int32] | None,
    threads: int,
    first: int = 0,
    column: int = 0,
    columns: int | None = None,
) -> None: ...
def closure(
    method: str,
    semiring: str,
    matrix: _Array,
    predecessors: NDArray[np.int32] | None,
    threads: int,
    block: int = 0,
    level: int = -1,
    progress: _Progress = None,
    zen: bool | None = None,
) -> bool: ...

closure_panel_step: int

class ClosedPanel:
    def relax(
        self, rows: _Array, predecessors: NDArray[np.int32] | None, first: int, threads: int
    ) -> None: ...

def closure_panel(
    semiring: str,
    rows: _Array,
    predecessors: NDArray[np.int32] | None,
    n: int,
    first: int,
    threads: int,
) -> ClosedPanel | None: ...
def closure_export(
    matrix: _Array,
    rows: NDArray[np.int32],
    lowest: Any,
    highest: Any,
    no_path: Any,
    values: _Array,
    threads: int,
) -> None: ...
def closure_find_detached(
    sources: NDArray[np.int32],
    values: _Array,
    predecessors: NDArray[np.int32],
    no_path: Any,
    threads: int,
) -> NDArray[np.bool_] | None: ...
def closure_reattach(
    semiring: str,
    sources: NDArray[np.int32],
    values: _Array,
    predecessors: NDArray[np.int32],
    no_path: Any,
    detached: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    weights: _Array | None,
    incoming_offsets: NDArray[np.int64],
    incoming_neighbors: NDArray[np.int32],
    incoming_weights: _Array | None,
    threads: int,
) -> None: ...
def prepared_sweep(
    tree: tuple[_Array, ...],
    height: int,
    semiring: str,
    negative: bool,
    up: _Array,
    down: _Array,
    up_last: NDArray[np.int32] | None,
    down_last: NDArray[np.int32] | None,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32] | None,
    values: _Array,
    predecessors: NDArray[np.int32] | None,
    workspace: NDArray[np.uint8],
    threads: int,
    progress: _Progress = None,
    level: int = -1,
) -> None: ...
def prepared_multiply_climbs(
    tree: tuple[_Array, ...],
    height: int,
    semiring: str,
    negative: bool,
    up: _Array,
    down: _Array,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    values: _Array,
    threads: int,
    progress: _Progress = None,
    level: int = -1,
) -> None: ...
def prepared_matrix_work(
    tree: tuple[_Array, ...], sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> tuple[int, int, float, float]: ...
def simd() -> str: ...
def simd_levels() -> list[str]: ...
def parse_arcs(
    text: NDArray[np.uint8],
    *,
    begin: int,
    line: int,
    grain: int,
    separator: str,
    comments: str,
    tag: str,
    source: int,
    target: int,
    weight: int,
    exact: bool,
    kind: str,
    low: int,
    high: int,
    base: int,
    names: bool,
    threads: int,
    progress: _Progress,
) -> tuple[_Array, _Array, _Array | None, NDArray[np.uint8], NDArray[np.int64]]: ...
def parse_rows(
    text: NDArray[np.uint8],
    *,
    begin: int,
    line: int,
    grain: int,
    n: int,
    skipped: int,
    weighted: bool,
    comments: str,
    threads: int,
    progress: _Progress,
) -> tuple[NDArray[np.int64], _Array, _Array | None]: ...
def skip_comments(
    text: NDArray[np.uint8], *, begin: int, line: int, comments: str
) -> tuple[int, int]: ...
def renumber(
    sources: _Array, targets: _Array, low: int, span: int, threads: int
) -> tuple[_Array, _Array, NDArray[np.int64]] | None: ...
def write_arcs(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    weights: _Array | None,
    *,
    begin: int,
    end: int,
    base: int,
    numbers: NDArray[np.int64] | None,
    characters: NDArray[np.uint8] | None,
    starts: NDArray[np.int64] | None,
    prefix: str,
    separator: str,
    constant: str,
    directions: str,
    threads: int,
) -> NDArray[np.uint8]: ...
def write_rows(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    weights: _Array | None,
    *,
    begin: int,
    end: int,
    threads: int,
) -> NDArray[np.uint8]: ...
def rmat_arcs(
    tables: NDArray[np.uint64],
    n: int,
    first: int,
    arcs: int,
    relabel: bool,
    seed: int,
    threads: int,
    progress: _Progress = None,
) -> tuple[_Array, _Array]: ...
def uniform_edges(
    n: int, edges: int, seed: int, threads: int, progress: _Progress = None
) -> tuple[_Array, _Array]: ...
def capped_rows(
    n: int,
    arcs: int,
    cap: int,
    connected: bool,
    seed: int,
    threads: int,
    progress: _Progress = None,
) -> tuple[NDArray[np.int64], _Array]: ...
def path_plus_arcs(
    n: int, extra: int, seed: int, threads: int, progress: _Progress = None
) -> tuple[_Array, _Array]: ...
def small_world_edges(
    n: int, reach: int, rewire: int, seed: int, threads: int, progress: _Progress = None
) -> tuple[_Array, _Array]: ...
def grid_rows(
    layers: int,
    rows: int,
    columns: int,
    diagonals: bool,
    directed: bool,
    drop: int,
    seed: int,
    threads: int,
    progress: _Progress = None,
) -> tuple[NDArray[np.int64], _Array]: ...
def arc_weights(
    n: int,
    first: int,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    symmetric: bool,
    dtype: str,
    low: int,
    count: int,
    seed: int,
    threads: int,
    progress: _Progress = None,
) -> _Array: ...
def dlpack_capsule(
    address: int,
    shape: tuple[int, int],
    ndim: int,
    code: int,
    bits: int,
    device_type: int,
    device_id: int,
    owner: object,
) -> Any: ...
def noise(count: int, seed: int) -> NDArray[np.float64]: ...
def spmv(
    semiring: str,
    form: str,
    offsets: NDArray[np.int64] | None,
    ids: _Array,
    tails: _Array | None,
    weights: _Array | None,
    no_arc: int | float,
    x: _Array,
    y: _Array,
    threads: int,
) -> None: ...
def sssp(
    method: str,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array,
    original_lengths: _Array | None,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: _Array | None,
    incoming_lengths: _Array | None,
    sources: _Array,
    targets: _Array | None,
    limit: float,
    distances: _Array,
    predecessors: _Array | None,
    horizons: _Array,
    threads: int,
    progress: _Progress,
    level: int = -1,
) -> list[int]: ...
def widen_distances(narrow: NDArray[np.int32], wide: NDArray[np.int64], threads: int) -> int: ...
def path_counts(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array | None,
    distances: _Array,
    no_path: int | float,
    source: int,
    most_words: int,
    available: int,
) -> NDArray[np.uint64] | tuple[int, int] | None: ...
def weighted_brandes(
    offsets: NDArray[np.int64],
    neighbors: _Array,
    lengths: _Array,
    sources: _Array,
    is_target: NDArray[np.uint8] | None,
    limit: int | float,
    endpoints: bool,
    vertex_sums: NDArray[np.float64],
    arc_sums: NDArray[np.float64] | None,
    threads: int,
    progress: _Progress,
    level: int = -1,
) -> tuple[int, int] | None: ...
def two_sided_path(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    lengths: _Array | None,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: NDArray[np.int32] | None,
    incoming_lengths: _Array | None,
    source: int,
    target: int,
    latest: bool,
) -> tuple[float, list[int]] | None: ...
def spur_paths(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    lengths: _Array | None,
    incoming_offsets: NDArray[np.int64] | None,
    incoming_neighbors: NDArray[np.int32] | None,
    incoming_lengths: _Array | None,
    path: NDArray[np.int32],
    tails: NDArray[np.int32],
    heads: NDArray[np.int32],
    ends: NDArray[np.int64],
) -> list[tuple[float, list[int]] | None]: ...
def edge_betweenness_in_order(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    edges: NDArray[np.int64],
    removed: NDArray[np.uint8],
    sources: NDArray[np.int32],
    values: NDArray[np.float64],
) -> None: ...
def settle_order(
    offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    weights: _Array | None,
    distances: _Array,
    no_path: int | float,
    sources: NDArray[np.int32],
    order: NDArray[np.int32],
    tree_arcs: NDArray[np.int64],
    counts: NDArray[np.int64],
    threads: int,
) -> None: ...
def divided_flow(
    offsets: NDArray[np.int64],
    tails: NDArray[np.int32],
    weights: _Array | None,
    distances: _Array,
    no_path: int | float,
    sources: NDArray[np.int32],
    is_target: NDArray[np.uint8],
    division: str,
    vertex_sums: NDArray[np.float64],
    arc_sums: NDArray[np.float64],
    threads: int,
) -> None: ...
def path_lists(
    names: list[Any], order: NDArray[np.int32], predecessors: NDArray[np.int32], reversed: bool
) -> list[list[Any]]: ...
def distance_dict(
    names: list[Any], order: NDArray[np.int32], distances: _Array, sources: int
) -> dict[Any, Any]: ...
def prepared_check_elimination(
    order: NDArray[np.int32],
    ranks: NDArray[np.int32],
    parents: NDArray[np.int32],
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    graph_offsets: NDArray[np.int64],
    neighbors: NDArray[np.int32],
    threads: int,
) -> tuple[str, int] | None: ...

class Supernodes:
    """Runs of vertices with the same upward neighbors.

    ``native/core/prepared/customization/supernodes.hpp``.
    """

    @property
    def count(self) -> int: ...

class PairArcs:
    """The arcs that pairs start from: ``native/core/prepared/customization/customize.hpp``."""

    @property
    def loop(self) -> int:
        """A vertex with an arc to itself, or -1."""
    @property
    def unknown(self) -> int:
        """An arc between vertices that are not a pair, or -1."""

def prepared_find_supernodes(
    offsets: NDArray[np.int64], heads: NDArray[np.int32], parents: NDArray[np.int32]
) -> Supernodes: ...
def prepared_find_arcs(
    arc_offsets: NDArray[np.int64],
    neighbors: _Array,
    order: NDArray[np.int32],
    ranks: NDArray[np.int32],
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    threads: int,
) -> PairArcs: ...
def prepared_are_symmetric(arcs: PairArcs, weights: _Array | None, threads: int) -> bool: ...
def prepared_customize(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    supernodes: Supernodes,
    arcs: PairArcs,
    weights: _Array | None,
    semiring: str,
    negative: bool,
    up: _Array,
    down: _Array,
    threads: int,
    progress: _Progress = None,
    level: int = -1,
) -> None: ...
def prepared_find_middles(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    supernodes: Supernodes,
    arcs: PairArcs | None,
    weights: _Array | None,
    semiring: str,
    negative: bool,
    up: _Array,
    down: _Array,
    up_middles: NDArray[np.int32],
    down_middles: NDArray[np.int32],
    threads: int,
    level: int = -1,
) -> None: ...
def prepared_find_last_vertices(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    supernodes: Supernodes,
    order: NDArray[np.int32],
    up_middles: NDArray[np.int32],
    down_middles: NDArray[np.int32],
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def prepared_first_negative(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    up: _Array,
    down: _Array,
) -> int: ...
def prepared_first_negative_beyond_rounding(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    arcs: PairArcs,
    weights: _Array,
    up_middles: NDArray[np.int32],
    down_middles: NDArray[np.int32],
) -> int: ...
def prepared_add_up(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    arcs: PairArcs,
    weights: _Array,
    up_middles: NDArray[np.int32],
    down_middles: NDArray[np.int32],
    up: _Array,
    down: _Array,
) -> None: ...
def prepared_reach_of_roots(
    offsets: NDArray[np.int64],
    heads: NDArray[np.int32],
    parents: NDArray[np.int32],
    supernodes: Supernodes,
    up: NDArray[np.int32],
    down: NDArray[np.int32],
    threads: int,
) -> tuple[int, int]: ...
