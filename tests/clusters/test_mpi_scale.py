"""What docs/scale.md says of memory, rounds and devices is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from kleene.backends.common.bands import RoundSplit
from kleene.backends.cuda.closure.kernels import TileLayout
from kleene.backends.cuda.closure.streamed import BandSplit
from kleene.clusters.mpi.collective import _ARC_BYTES, _VERTEX_BYTES
from kleene.graph.checks import id_dtype
from kleene.registry import Size
from kleene.registry.memory import band_on_gpu

PAGE = " ".join((Path(__file__).parents[2] / "docs/scale.md").read_text(encoding="utf-8").split())
H200 = 139 * 2**30
N = 1_000_000


def said(pattern: str) -> tuple[int, ...]:
    """Return the numbers that the page has in a phrase."""
    found = re.search(pattern, PAGE)
    assert found is not None, pattern
    return tuple(int(number.replace(",", "")) for number in found.groups())


def test_memory_of_a_graph_in_parts() -> None:
    vertices, arcs = 2**32, 23 * 2**32
    an_arc = _ARC_BYTES[id_dtype(vertices).itemsize]
    node = (an_arc * arcs + _VERTEX_BYTES * vertices) / 64
    phrase = r"requires (\d+) bytes an arc and (\d+) a vertex, (\d+) GB a node"
    assert said(phrase) == (an_arc, _VERTEX_BYTES, round(node / 1e9))
    assert said(r"Below 2\^31 vertices it requires (\d+)") == (_ARC_BYTES[4],)


def test_rounds_of_a_closure_through_files() -> None:
    memory, row = 10**12, 4 * N
    split = RoundSplit.fit(N, row, memory)
    assert said(r"With 1 TB of memory there are (\d+) rounds") == (-(-N // split.vertices),)
    for words, bytes_of_row in (("of float32 distances", row), ("with predecessors", 2 * row)):
        rows = RoundSplit.fit(N, bytes_of_row, memory).most
        (divisor,) = said(rf"b / (\d+) n (?:rows )?{words}")
        assert divisor == round(memory / (rows * N))
    floats, words = np.dtype(np.float32), np.dtype(np.int32)
    cut = BandSplit.fit(TileLayout("KL_MIN_PLUS_LENGTH", floats, words, 1, N, False, False), H200)
    assert cut is not None
    assert said(r"139 GiB needs (\d+) rounds") == (-(-cut.bands // cut.panel),)


def test_several_gpus_hold_a_matrix_without_files() -> None:
    (vertices,) = said(r"on 8 H200 about ([\d,]+) vertices")
    size = Size(vertices, 0, vertices, 4, False, 1)
    assert band_on_gpu(size, 8) < H200
    assert band_on_gpu(size._replace(n=N), 8) > H200
    assert "not supported: files use one GPU" in PAGE
