"""What a file keeps to recognize the graph that it belongs to."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kleene.graph.core import Graph

__all__ = ["fingerprint"]


def fingerprint(graph: Graph) -> list[int]:
    """Return the numbers of vertices and arcs, and a checksum of arcs and weights."""
    check = 0
    for array in graph.csr:
        if array is not None:
            check = zlib.crc32(np.ascontiguousarray(array).data, check)
    return [graph.n, graph.m, check]
