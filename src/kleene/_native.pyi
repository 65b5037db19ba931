"""Kleene's C++ core. Arguments are trusted: the Python layers check them first."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]
_Progress = Callable[[int, int], object] | None

class BadArc(ValueError): ...

def build_csr(
    n: int,
    sources: _Array,
    targets: _Array,
    weights: _Array | None,
    symmetric: bool,
    combine: str,
    threads: int,
    progress: _Progress = None,
) -> tuple[NDArray[np.int64], _Array, _Array | None]: ...
def is_canonical(
    offsets: NDArray[np.int64], neighbors: _Array, weights: _Array | None, threads: int
) -> bool: ...
def bfs_sweep(
    offsets: NDArray[np.int64], neighbors: _Array, source: int
) -> tuple[int, int, int]: ...
def bfs(
    method: str,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    in_offsets: NDArray[np.int64] | None,
    in_neighbors: _Array | None,
    sources: _Array,
    targets: _Array | None,
    limit: int,
    values: _Array,
    parents: _Array | None,
    horizons: _Array,
    threads: int,
    progress: _Progress,
) -> None: ...
def dense_levels() -> list[str]: ...
def dense_ceiling(
    semiring: str,
    dtype: str,
    paths: bool = False,
    threads: int = 1,
    seconds: float = 0.2,
    level: int = -1,
) -> float: ...
def dense_fill(
    semiring: str,
    offsets: NDArray[np.int64],
    neighbors: _Array,
    weights: _Array | None,
    used: NDArray[np.bool_] | None,
    no_path: Any,
    matrix: _Array,
    last: NDArray[np.int32] | None,
    threads: int,
) -> None: ...
def dense_close(
    method: str,
    semiring: str,
    matrix: _Array,
    last: NDArray[np.int32] | None,
    threads: int,
    block: int = 0,
    level: int = -1,
    tolerant: bool = False,
    progress: _Progress = None,
) -> bool: ...
def dense_export(
    matrix: _Array,
    rows: _Array,
    lowest: Any,
    highest: Any,
    no_path: Any,
    values: _Array,
    threads: int,
) -> None: ...
def dense_loose(
    sources: _Array, values: _Array, predecessors: _Array, no_path: Any, threads: int
) -> NDArray[np.bool_] | None: ...
def dense_hang(
    semiring: str,
    sources: _Array,
    values: _Array,
    predecessors: _Array,
    no_path: Any,
    loose: NDArray[np.bool_],
    offsets: NDArray[np.int64],
    neighbors: _Array,
    weights: _Array | None,
    in_offsets: NDArray[np.int64],
    in_neighbors: _Array,
    in_weights: _Array | None,
    threads: int,
) -> None: ...
def simd() -> str: ...
