"""Trees and matrices on an eliminated graph: a climb from each source, then a sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from kleene import _native
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.machine import cores

__all__ = ["matrix", "trees"]

Array = NDArray[Any]
Report = Callable[[int, int], object]


def trees(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    values: Array,
    predecessors: Array | None = None,
    *,
    reverse: bool = False,
    threads: int | None = None,
    progress: Report | None = None,
) -> None:
    """Fill a row of values (and predecessors) for each source, in the order of the vertices."""
    _sweep(
        elimination,
        customization,
        sources,
        elimination.ranks,
        values,
        False,
        reverse,
        threads,
        progress,
    )


def matrix(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    targets: Array,
    values: Array,
    *,
    reverse: bool = False,
    threads: int | None = None,
    progress: Report | None = None,
) -> None:
    """Fill the values from each source (row) to each target (column)."""
    ranks = elimination.ranks[targets]
    _sweep(elimination, customization, sources, ranks, values, True, reverse, threads, progress)


def _sweep(
    elimination: Elimination,
    customization: Customization,
    sources: Array,
    targets: Array,
    values: Array,
    restricted: bool,
    reverse: bool,
    threads: int | None,
    progress: Report | None,
) -> None:
    up, down = customization.up, customization.down
    depths, height = elimination.head_depths
    _native.prepared_sweep(
        customization.semiring,
        customization.negative,
        elimination.offsets,
        elimination.heads,
        elimination.parents,
        depths,
        height,
        down if reverse else up,
        up if reverse else down,
        elimination.ranks[sources],
        targets,
        restricted,
        values,
        threads or cores(),
        progress,
    )
