"""Bytes that methods work in besides the graph and the answer: on the host, and on a GPU."""

from __future__ import annotations

from kleene.registry.method import Size

__all__ = [
    "arcs_by_vertex",
    "band_on_gpu",
    "batch_workspace",
    "bits_on_gpu",
    "bounded_workspace",
    "copied_between",
    "dense_pair_workspace",
    "dense_workspace",
    "device_arcs",
    "device_lattice",
    "device_near_far",
    "device_rounds",
    "device_sweeps",
    "eliminated_pairs",
    "elimination_labels_workspace",
    "elimination_on_gpu",
    "elimination_workspace",
    "labels_workspace",
    "lanes_on_gpu",
    "lanes_workspace",
    "lengths_workspace",
    "limited_workspace",
    "matrix_bytes",
    "matrix_workspace",
    "native_workspace",
    "no_workspace",
    "pull_workspace",
    "pulled_arcs",
    "quarter_more",
    "round_row",
    "rows_workspace",
    "scan_on_gpu",
    "search_on_gpu",
    "search_workspace",
    "searched_graph",
    "sent_rows",
    "staged_workspace",
    "tiled_closure_workspace",
    "tree_and_matrix",
    "two_batches",
    "two_matrices",
    "whole_matrix",
]


def search_workspace(size: Size) -> int:
    """Python lists of the arcs, and a dictionary entry or two per vertex."""
    return 100 * size.m + 400 * size.n


def native_workspace(size: Size) -> int:
    """A queue and some marks per vertex."""
    return 16 * size.n


def lengths_workspace(size: Size) -> int:
    """Arc lengths in the type of the values, and queues of some entries per vertex."""
    return size.item * size.m + 64 * size.n


def lanes_workspace(size: Size) -> int:
    """The same, and a vector for each vertex and thread: up to 16 sources go at once in each."""
    lane = 2 * size.item if size.predecessors else size.item
    sources = min(size.sources, 256) if size.sources >= 8 else 0
    return lengths_workspace(size) + lane * sources * size.n


def eliminated_pairs(size: Size) -> int:
    """Pairs and their values, of a graph that suits elimination; others are refused.

    Of the highways 4.3 pairs a vertex; an order takes twice the arcs both ways.
    """
    pair = 20 + 2 * size.item + (24 if size.predecessors else 0)
    return 5 * pair * size.n + 32 * size.m


def elimination_workspace(size: Size) -> int:
    """The same, and a vector for each vertex and thread, in which 16 rows are swept at once."""
    lane = 2 * size.item if size.predecessors else size.item
    return eliminated_pairs(size) + lane * 16 * size.threads * size.n


def elimination_labels_workspace(size: Size) -> int:
    """Pairs and their values, and k labels per vertex by rank."""
    return eliminated_pairs(size._replace(predecessors=False)) + 12 * size.sources * size.n


def limited_workspace(size: Size) -> int:
    """Some rows searched again near a limit, and the arcs by tail where the graph is a matrix."""
    rows = 16 * min(2**20, size.sources * size.n)
    return lanes_workspace(size) + (size.item + 4) * size.m + rows


def pull_workspace(size: Size) -> int:
    """The same, and the arcs by target."""
    return lengths_workspace(size) + (2 * size.item + 4) * size.m


def matrix_workspace(size: Size) -> int:
    """The matrix, its candidate, its mask and its predecessors, all pairs whatever was asked."""
    per_pair = 2 * size.item + 1 + (4 if size.predecessors else 0)
    return per_pair * size.n * size.n


def dense_workspace(size: Size) -> int:
    """Two blocks of rows, if the answer is the matrix; the matrix, if only some rows are wanted."""
    panel = 2 * 96 * size.n * (size.item + 4)
    return panel if size.sources >= size.n else panel + matrix_bytes(size, size.item)


def dense_pair_workspace(size: Size) -> int:
    """A second matrix, or one in another order, padded by 1/32 each way."""
    return dense_workspace(size) + matrix_bytes(size, size.item) * 17 // 16


def rows_workspace(size: Size) -> int:
    """The matrix, where only some of its rows are asked for."""
    return 0 if size.sources >= size.n else whole_matrix(size)


def whole_matrix(size: Size) -> int:
    """All pairs, whatever was asked."""
    return matrix_bytes(size, size.item)


def staged_workspace(size: Size) -> int:
    """The same, and a copy of everything in memory that the device can read."""
    return rows_workspace(size) + whole_matrix(size)


def quarter_more(size: Size) -> int:
    """All pairs, and a quadrant."""
    return whole_matrix(size) * 5 // 4


def two_matrices(size: Size) -> int:
    return 2 * whole_matrix(size)


def tree_and_matrix(size: Size) -> int:
    """All pairs in two orders, one padded, and a quadrant."""
    return whole_matrix(size) * 19 // 8


def tiled_closure_workspace(size: Size) -> int:
    """As for all pairs, but booleans are kept as bits, or as integers to tell their paths."""
    if size.item > 1:
        return dense_workspace(size)
    if size.predecessors:
        rows = 4 * size.n * size.n if size.sources < size.n else 0
        return 2 * 96 * 8 * size.n + 4 * size.n * size.n + rows
    return size.n * size.n // 8 + 40 * size.n


def round_row(size: Size) -> int:
    """A row of the matrix that goes through files in rounds; booleans as in memory."""
    if size.item > 1:
        return matrix_bytes(size, size.item) // max(1, size.n)
    return 8 * size.n if size.predecessors else 8 * -(-size.n // 64)


def matrix_bytes(size: Size, item: int) -> int:
    return (item + (4 if size.predecessors else 0)) * size.n * size.n


def band_on_gpu(size: Size, devices: int) -> int:
    """Rows of the tiled closure, two panels of rows of other GPUs, two copies of their columns."""
    rows, panel = -(-size.n // devices), min(size.n, 1024)
    item = 4 if size.item == 1 else size.item
    return _closure_rows(size, rows + 2 * panel) + 2 * panel * rows * item


def copied_between(size: Size, devices: int) -> int:
    """Every row of the tiled closure, once to each GPU but its own."""
    return (devices - 1) * _closure_rows(size, size.n)


def _closure_rows(size: Size, rows: int) -> int:
    """So many rows of whole tiles: booleans are bits, or integers to tell their paths."""
    item: float = size.item
    if size.item == 1:
        item = 4 if size.predecessors else 1 / 8
    tile = int(512 / item)
    return int(rows * -(-size.n // tile) * tile * (item + (4 if size.predecessors else 0)))


def no_workspace(size: Size) -> int:
    return 0


def searched_graph(size: Size) -> int:
    """Arcs in both directions, distances, predecessors and bits; three queues of some blocks."""
    lists = min(2**9, 1 + (size.n + size.m) // 2**10)
    entries = lists * min(2**12, 1 + size.n + size.m // 2**7)
    return 2 * (4 * size.m + 8 * size.n) + 9 * size.n + 48 * entries


def batch_workspace(size: Size) -> int:
    """Three sets of up to 512 searches per vertex, and two queues, for each of some threads."""
    searches = min(512, 64 * (1 + size.sources // 64))
    return 4 * (3 * searches // 8 + 16) * size.n


def bounded_workspace(size: Size) -> int:
    """Arc lengths, and a distance, a predecessor and two lists for each thread."""
    return size.item * size.m + (size.item + 12) * size.n * min(size.threads, size.sources)


def labels_workspace(size: Size) -> int:
    """Arc lengths, a lock per vertex, and labels that wait in buckets; ``sources`` counts them."""
    return size.item * size.m + size.n + (size.item + 8) * size.sources * size.n


def arcs_by_vertex(size: Size) -> int:
    """Offsets of 8 bytes, vertices of 4."""
    return 8 * (size.n + 1) + 4 * size.m


def search_on_gpu(size: Size) -> int:
    """The arcs by one end, depths and predecessors."""
    return arcs_by_vertex(size) + (8 if size.predecessors else 4) * size.n


def scan_on_gpu(size: Size) -> int:
    """A queue, sums, marks, and all neighbours of a level."""
    return 17 * size.n + 4 * size.m


def pulled_arcs(size: Size) -> int:
    """Incoming arcs with their lengths."""
    return (4 + size.item) * size.m + 8 * size.n


def sent_rows(size: Size) -> int:
    """On the host: incoming arcs, and memory through which rows come from the GPU."""
    return pulled_arcs(size) + 3 * min(2**25, size.sources * size.n * size.item)


def two_batches(size: Size, width: int) -> int:
    """Rows of the answer for two batches of sources: one is copied while one is worked on."""
    row = (size.item + (4 if size.predecessors else 0)) * size.n
    return min(2 * width, size.sources) * row


def bits_on_gpu(size: Size) -> int:
    """Incoming arcs, three sets of up to 1024 searches per vertex, and rows of two batches."""
    width = min(1024, size.sources)
    return pulled_arcs(size) + (3 * max(width, 32) // 8 + 1) * size.n + two_batches(size, width)


def lanes_on_gpu(size: Size) -> int:
    """Incoming arcs; distances and predecessors of a batch and of hub segments; its rows, twice."""
    group = 512 // size.item
    groups = max(1, 2**26 // (512 * max(1, size.n)))
    groups = min(groups, (size.sources + group - 1) // group)
    lane = size.item + (4 if size.predecessors else 0)
    lanes = groups * group * lane * (size.n + size.m // 64)
    return pulled_arcs(size) + lanes + 32 * size.n + two_batches(size, groups * group)


def elimination_on_gpu(size: Size) -> int:
    """Pairs and tree as on highways; values of a batch by rank; its rows, twice."""
    pairs = 5 * size.n * (4 + 2 * size.item + (8 if size.predecessors else 0))
    width = min(1024, size.sources)
    lane = size.item + (4 if size.predecessors else 0)
    lanes = -(-width // 128) * 128 * lane * size.n
    return pairs + 64 * size.n + device_arcs(size) + lanes + two_batches(size, width)


def device_arcs(size: Size) -> int:
    """The outgoing arcs and their lengths, a distance per vertex, and a predecessor."""
    return 8 * size.n + (4 + size.item) * (size.m + size.n)


def device_rounds(size: Size) -> int:
    """The same, two queues of parts of up to 256 arcs, stamps, notes, chains of them, and sums."""
    return device_arcs(size) + 16 * (size.n + size.m // 256) + (16 + size.item) * size.n


def device_sweeps(size: Size) -> int:
    """The same without stamps, and the source of every arc."""
    return device_rounds(size) + 4 * size.m


def device_lattice(size: Size) -> int:
    """Arcs in both directions, bounds and states, two lists and a queue."""
    arcs = device_arcs(size) + (4 + size.item) * size.m
    return arcs + (size.item + 20) * size.n + 8 * (size.n + size.m // 256)


def device_near_far(size: Size) -> int:
    """Arcs, also with short lengths; distances in words, a bit per vertex, and bounded lists."""
    arcs = device_arcs(size) + 4 * size.m + (size.item + 1) * size.n
    if size.m <= 6 * size.n:  # roads and grids
        near, far = min(size.n + size.m, 2**21), min(4 * size.n, 2**23)
    else:
        near, far = min(size.n + size.m // 128, 2**22), min(4 * size.n, 2**24)
    return arcs + 32 * near + (4 + size.item) * far + 2**25
