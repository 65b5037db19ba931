"""Common code of the generators: shared options, and the steps from native arrays to a Graph."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.errors import Code, RequestError
from kleene.generate.weights import add_weights, as_rule, rule_bytes
from kleene.graph import CSR, Graph
from kleene.graph.checks import as_flag, id_dtype, is_masked, require_memory
from kleene.graph.core import Progress
from kleene.graph.forms import adopt
from kleene.system.machine import as_threads, threads_for

__all__ = [
    "GraphBuilder",
    "Progress",
    "as_count",
    "as_proportion",
    "as_seed",
    "as_threshold",
]

Array = NDArray[Any]

#: Progress is reported in thousandths: drawing arcs, building the CSR form, weights.
_DRAWN, _BUILT, _DONE = 500, 900, 1000


class GraphBuilder:
    """Builds the graph of one generator call.

    Takes the generator and its arguments (``locals()`` in its first line), and checks those that
    all generators have.
    """

    def __init__(self, generator: Callable[..., Graph], arguments: Mapping[str, Any]) -> None:
        self.name = _call_text(generator, arguments)
        for flag in ("diagonals", "directed", "relabel"):
            as_flag(arguments.get(flag, False), flag)
        self.seed = as_seed(arguments["seed"])
        self.rule = as_rule(arguments["weights"])
        self.threads = as_threads(arguments["threads"])
        self.progress: Progress | None = arguments["progress"]
        if self.progress is not None and not callable(self.progress):
            raise RequestError(Code("progress"), f" must be a function, not {self.progress!r}")
        self.work = 0

    def require_memory(self, n: int, arcs: int, drawn: int = 0) -> None:
        """Raise if the graph does not fit in memory; ``drawn`` counts arcs drawn before sorting.

        The peak is either while rows are sorted, by tails and a copy of the heads, or while weights
        are made.
        """
        ids = id_dtype(n).itemsize
        sorting = 4 + ids if drawn else 0
        per_arc = ids + max(sorting, rule_bytes(self.rule))
        require_memory(
            (8 if drawn else 16) * (n + 1) + 2 * ids * drawn + per_arc * arcs,
            f"{self.name} with {n:,} vertices and {arcs:,} arcs",
            "make a smaller graph",
        )
        self.work = n + arcs

    def draw_arcs(
        self, native: Callable[..., tuple[Array, Array]], *arguments: Any
    ) -> tuple[Array, Array]:
        """Return the arcs drawn by a native function."""
        return native(*arguments, self.seed, self._threads, self._stage(0, _DRAWN))

    def from_arcs(self, n: int, sources: Array, targets: Array, directed: bool = True) -> Graph:
        """Return the graph of arcs or edges, given in any order."""
        graph = Graph.from_edges(
            sources,
            targets,
            n=n,
            directed=directed,
            name=self.name,
            keep_rows=False,
            threads=self._threads,
            progress=self._stage(_DRAWN, _BUILT),
        )
        return self._weighted(graph)

    def from_rows(
        self,
        native: Callable[..., tuple[NDArray[np.int64], Array]],
        *arguments: Any,
        directed: bool = True,
    ) -> Graph:
        """Return the graph of a native function that makes CSR rows."""
        rows = native(*arguments, self.seed, self._threads, self._stage(0, _BUILT))
        offsets, neighbors = map(adopt, rows)
        return self._weighted(Graph(CSR(offsets, neighbors, None), directed, name=self.name))

    def _weighted(self, graph: Graph) -> Graph:
        stage = self._stage(_BUILT, _DONE)
        weighted_graph = add_weights(graph, self.rule, self.seed, self._threads, stage)
        if self.progress is not None:
            self.progress(_DONE, _DONE)
        return weighted_graph

    @property
    def _threads(self) -> int:
        return threads_for(self.work, self.threads)

    def _stage(self, start: int, end: int) -> Progress | None:
        """Return a progress function for one native call, a part of the whole."""
        if self.progress is None:
            return None
        report = self.progress
        return lambda done, total: report(start + (end - start) * done // max(total, 1), _DONE)


def _call_text(generator: Callable[..., Graph], arguments: Mapping[str, Any]) -> str:
    """Return the call as Python text, without defaults, threads and progress."""
    parts = []
    for name, parameter in inspect.signature(generator).parameters.items():
        value = arguments[name]
        if name in ("threads", "progress") or value is parameter.default:
            continue
        if isinstance(value, np.generic):
            value = value.item()
        if type(value) is type(parameter.default) and value == parameter.default:
            continue
        text = getattr(value, "__name__", None) or repr(value)
        parts.append(f"{name}={text}")
    return f"{generator.__name__}({', '.join(parts)})"


# ---- Argument checks of the generators ----------------------------------------------------------

#: More vertices than fit in any memory; keeps native arithmetic far from overflow.
MOST_VERTICES = 2**40

#: With more, the index of an ordered pair of vertices would not fit in 63 bits.
MOST_PAIRED_VERTICES = 2**31


def as_count(value: Any, name: str, least: int = 0, most: int = MOST_VERTICES) -> int:
    """Return an integer from ``least`` to ``most``."""
    try:
        count = operator.index(value)
    except TypeError:
        raise RequestError(Code(name), f" must be an integer, not {value!r}") from None
    if not least <= count <= most:
        raise RequestError(Code(name), f" must be from {least} to {most:,}, but is {count:,}")
    return count


def as_proportion(value: Any, name: str, most: float = 1.0) -> float:
    """Return a float from 0 to ``most``: a probability or a density."""
    try:
        if is_masked(value):
            raise TypeError
        proportion = float(value)
    except (TypeError, ValueError, OverflowError):
        raise RequestError(
            Code(name), f" must be a number from 0 to {most:g}, not {value!r}"
        ) from None
    if not 0 <= proportion <= most:  # also false for NaN
        percent = most == 1 and 1 < proportion <= 100
        advice = f"; for {proportion:g} % pass {proportion / 100:g}" if percent else ""
        raise RequestError(
            Code(name), f" must be from 0 to {most:g}, but is {proportion:g}{advice}"
        )
    return proportion


def as_threshold(probability: float) -> int:
    """Return t such that a random 64-bit integer is below t with this probability."""
    return min(math.floor(probability * 2**64), 2**64 - 1)


def as_seed(seed: Any) -> int:
    """Return a seed as an unsigned 64-bit integer."""
    return as_count(seed, "seed", most=2**64 - 1)
