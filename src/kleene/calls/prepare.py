"""Graphs prepared for many queries, and read from files."""

from __future__ import annotations

from os import PathLike
from typing import Any

from kleene.backends.semiring import semiring as find_semiring
from kleene.calls.arguments import Progress, Vertices, require_graph
from kleene.calls.prepared_graph import PreparedGraph
from kleene.calls.prepared_steps import (
    Report,
    Steps,
    customize_graph,
    eliminate_graph,
    foresee,
    value_dtype,
)
from kleene.engine.planned import EXPLAINING, show
from kleene.engine.value import timed
from kleene.graph import Graph
from kleene.graph.weight_names import warn_of_numbers_left
from kleene.prepared import files
from kleene.prepared.cache import Preparation
from kleene.system.machine import as_threads

__all__ = ["load_prepared", "prepare"]


def prepare(
    graph: Graph,
    *,
    order: Vertices | None = None,
    semiring: str = "min_plus",
    dtype: Any = None,
    threads: int | None = None,
    progress: Progress = None,
) -> PreparedGraph:
    """Return the graph with its vertices eliminated, ready for many queries.

    Roads, pipes, power lines and meshes have small separators: removing a few vertices splits
    them. On such graphs elimination takes seconds, once; then a distance takes microseconds, and
    a row of distances to all vertices a fraction of what a search takes. New weights take
    milliseconds. Graphs without small separators, such as social networks, are refused with the
    numbers; ``explain(graph, "prepare")`` says so in advance.

    Parameters
    ----------
    graph : Graph
        The graph; weights may be negative.
    order : sequence of vertices, optional
        All vertices, the first to be eliminated first. By default those of low degree, then the
        rest by nested dissection, which needs no coordinates. Later calls on the graph itself do
        not use an order that is given here.
    semiring : {"min_plus", "max_min", "max_times", "boolean"}
        Which path is best: the shortest, the widest (its narrowest arc is as wide as possible),
        the most reliable (the product of its weights, probabilities from 0 to 1, is largest), or
        any (is there one?).
    dtype : optional
        The type of the path values: int32, int64, float32 or float64. By default that of the
        weights (int32 without weights), or a wider one where path lengths may exceed it.
    threads : int, optional
        How many threads may be used; all cores unless given.
    progress : bool or function, optional
        True shows a progress bar; a function is called with (done, total).

    Returns
    -------
    PreparedGraph

    Raises
    ------
    MemoryBudgetError, RequestError
        Elimination would join too many pairs; they are counted before they are stored.
    NegativeCycleError
        The graph has a cycle of negative length; the error's ``cycle`` lists it.

    See Also
    --------
    explain : ``explain(graph, "prepare")`` estimates pairs, memory and seconds.

    Examples
    --------
    >>> import kleene as kl
    >>> p = kl.prepare(kl.datasets.rome())
    >>> p.distance(1, 3353), p.matrix([1, 2], [10, 20, 30]).distances.tolist()
    (30305, [[8935, 3581, 28889], [8950, 3596, 28904]])
    """
    require_graph(graph)
    name = find_semiring(semiring).name
    if name != "boolean":
        warn_of_numbers_left(graph)
    kind = value_dtype(graph, name, dtype)
    threads = as_threads(threads)
    if EXPLAINING.on:
        show(foresee(graph, name, dtype, threads))

    def make(report: Report | None) -> PreparedGraph:
        elimination, steps = eliminate_graph(graph, order, threads, report)
        made, steps = customize_graph(elimination, graph, name, kind, threads, steps)
        return PreparedGraph(graph, elimination, made, steps)

    return timed(make, progress, "preparing a graph")[0]


def load_prepared(path: str | PathLike[str], graph: Graph | None = None) -> PreparedGraph:
    """Return a prepared graph from a file that :meth:`PreparedGraph.save` wrote.

    The file may come from anywhere: all of it is checked, and FormatError names what is wrong. Its
    arrays are mapped into memory, so that loading takes little, and several processes share them.

    Parameters
    ----------
    path : str or Path
        The file.
    graph : Graph, optional
        The graph that the file must belong to: one with other arcs or weights is refused. Later
        calls on it use the elimination of the file, which is proved, and not its values. By
        default the file's own.

    Returns
    -------
    PreparedGraph

    Raises
    ------
    FormatError
        The file is not a prepared graph, is damaged, or belongs to another graph.

    Examples
    --------
    >>> import kleene as kl, tempfile
    >>> g = kl.Graph.from_edges([0, 1], [1, 2], [4, 3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kl.prepare(g).save(f"{folder}/city.kp")
    ...     kl.load_prepared(f"{folder}/city.kp").distance(0, 2)
    7
    """
    if graph is not None:
        require_graph(graph)
    loaded, elimination, customization = files.load(path, graph)
    kept = Preparation.of(loaded)
    if graph is None:
        kept.keep(loaded, elimination, customization)
    elif not kept.eliminated:  # values are not proved: they stay out of the user's graph
        kept.keep(loaded, elimination)
    return PreparedGraph(loaded, elimination, customization, Steps())
