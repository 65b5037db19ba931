"""The claim that ``verify`` proves, and the rules that it must meet before there is a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import Semiring
from kleene.errors import GraphError, RequestError, VerificationError
from kleene.graph import Graph
from kleene.planning.ask import Ask
from kleene.planning.dtype_choice import choose_dtype
from kleene.planning.facts import searched_facts

__all__ = [
    "Fail",
    "PathValues",
    "check_claim",
    "check_ids",
    "require_edges",
    "require_numbers",
]

Array = NDArray[Any]
Fail = Callable[[str], NoReturn]

_IDS = (np.dtype(np.int32), np.dtype(np.int64))
_VALUES = (np.dtype(bool), *_IDS, np.dtype(np.float32), np.dtype(np.float64))


@dataclass(frozen=True)
class PathValues:
    """The claim to prove: path values from some sources, over a semiring."""

    graph: Graph
    semiring: Semiring
    sources: Array
    values: Array  # (sources, n)
    predecessors: Array | None
    horizons: Array | None
    hops: bool  # every arc counts one, and -1 says "no path"
    targets: Array | None = None
    limit: int | float | None = None
    reverse: bool = False  # the arcs of ``graph`` are those of the user's graph, reversed

    @property
    def negative(self) -> bool:
        """Whether any arc counts less than zero."""
        return not self.hops and self.graph.stats.negative


def check_claim(claim: PathValues, fail: Fail) -> None:
    """Call ``fail`` with the first field that no result on this graph can have.

    Fields of the size of the answer are not looked into: ``verify`` does so, row by row.
    """
    n = claim.graph.n
    check_ids(claim.sources, "sources", n, fail)
    rows = len(claim.sources)
    if claim.targets is not None:
        check_ids(claim.targets, "targets", n, fail)
    if claim.values.shape != (rows, n):
        fail(f"values have shape {claim.values.shape}, expected {(rows, n)}")
    _check_dtype(claim, fail)
    if claim.predecessors is not None:
        if claim.predecessors.shape != (rows, n):
            fail(f"predecessors have shape {claim.predecessors.shape}, expected {(rows, n)}")
        if claim.predecessors.dtype not in _IDS:
            fail(f"predecessors are {claim.predecessors.dtype}, expected int32 or int64")
    if claim.limit is not None:
        _check_limit(claim, claim.limit, fail)
    if claim.horizons is not None:
        _check_horizons(claim, claim.horizons, fail)


def check_ids(ids: Array, name: str, n: int, fail: Fail) -> None:
    """Call ``fail`` unless these are positions of vertices."""
    if ids.ndim != 1 or ids.dtype not in _IDS:
        fail(f"{name} are {ids.dtype} of shape {ids.shape}, expected a list of vertex ids")
    outside = (ids < 0) | (ids >= n)
    if outside.any():
        fail(f"{name} hold {ids[outside][0]}, which is not a vertex")


def require_numbers(held: Array, name: str, shape: tuple[int, ...], kinds: str = "ifO") -> None:
    """Raise VerificationError unless these are so many numbers; counts are of kind ``"i"``."""
    if held.shape != shape or held.dtype.kind not in kinds:
        raise VerificationError(
            f"{name} are {held.dtype} of shape {held.shape}, and should be "
            f"{'integers' if kinds == 'i' else 'numbers'} of shape {shape}"
        )


def require_edges(edges: Array) -> None:
    """Raise VerificationError unless these are the edges of bins: numbers that ascend."""
    require_numbers(edges, "edges", (edges.size,))
    if not (edges[:-1] < edges[1:]).all():  # NaN neither
        raise VerificationError("edges of the bins do not ascend")


def _check_dtype(claim: PathValues, fail: Fail) -> None:
    """The values must have a type in which a call could have computed them on this graph."""
    dtype, name = claim.values.dtype, claim.semiring.name
    if dtype not in _VALUES:
        fail(f"values are {dtype}, expected int32, int64, float32, float64 or bool")
    if claim.hops and name != "min_plus":
        fail(f"semiring is {name}, but hop counts require min_plus")
    facts = searched_facts(claim.graph, dtype, claim.hops)
    if name == "max_times" and claim.graph.m and (facts.min_weight < 0 or facts.max_weight > 1):
        fail("semiring is max_times, but the graph's weights are not probabilities")
    problem = "bfs" if claim.hops else "closure"
    asked = None if name == "boolean" else str(dtype)
    try:
        right = choose_dtype(facts, Ask.of(problem, semiring=name, dtype=asked))[0]
    except (GraphError, RequestError) as error:
        fail(f"values are {dtype}: {error}")
    if dtype != right:
        fail(f"values are {dtype}, expected {right}")


def _check_limit(claim: PathValues, limit: Any, fail: Fail) -> None:
    _check_may_stop(claim, "limit", fail)
    dtype = claim.values.dtype
    number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
    most = float(np.finfo(dtype).max) if dtype.kind == "f" else int(np.iinfo(dtype).max)
    if not number or not 0 <= limit <= most:  # NaN neither
        fail(f"limit is {limit!r}, expected a non-negative number")
    if dtype.kind == "i" and not isinstance(limit, int):
        fail(f"limit is {limit!r}, expected an integer like the values")


def _check_horizons(claim: PathValues, horizons: Array, fail: Fail) -> None:
    dtype, limit = claim.values.dtype, claim.limit
    if horizons.shape != claim.sources.shape or horizons.dtype != dtype:
        fail(
            f"horizons are {horizons.dtype} of shape {horizons.shape}, expected {dtype}, one for "
            "each source"
        )
    if not (horizons >= 0).all():  # NaN neither
        fail(f"horizons hold {horizons[~(horizons >= 0)][0]}, expected non-negative numbers")
    stopped = horizons[horizons != claim.semiring.zero(dtype)]
    if not len(stopped):
        return
    _check_may_stop(claim, "horizons", fail)
    if limit is not None and (stopped > limit).any():
        fail(f"horizons hold {stopped[stopped > limit][0]}, beyond the limit {limit}")
    if limit is None and claim.targets is None:
        fail(f"horizons hold {stopped[0]}, but there is no limit and no targets to stop at")


def _check_may_stop(claim: PathValues, field: str, fail: Fail) -> None:
    """A search may stop early only where no path comes back from beyond."""
    if claim.semiring.name != "min_plus" or claim.negative:
        fail(f"{field} cannot be given unless values are non-negative lengths")
