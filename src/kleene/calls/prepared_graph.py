"""A graph whose vertices are eliminated: new weights in milliseconds, answers in microseconds."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from kleene.backends.semiring import semiring as find_semiring
from kleene.calls.prepared_pairs import PreparedPairs
from kleene.calls.prepared_searches import PreparedSearches
from kleene.calls.prepared_steps import Steps, customize_graph, explain_prepared, value_dtype
from kleene.calls.prepared_weights import reweighted
from kleene.graph import Graph
from kleene.planning.plan import Plan
from kleene.prepared import files
from kleene.prepared.cache import bytes_of
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.formatting import counted, format_bytes
from kleene.system.html import card
from kleene.system.machine import as_threads

__all__ = ["PreparedGraph"]


@dataclass(frozen=True, eq=False, repr=False)
class PreparedGraph(PreparedPairs, PreparedSearches):
    """A graph that answers by climbs and sweeps; :func:`prepare` makes one.

    It never changes: :meth:`customize` returns another one, which shares the elimination. Several
    threads may ask it at once, and it can be pickled for other processes.

    Attributes
    ----------
    graph : Graph
        The graph, with the weights that answers are for.

    Examples
    --------
    >>> import kleene as kl
    >>> p = kl.prepare(kl.generate.grid(30, 30, weights=(1, 9)))
    >>> p.distance(0, 899) == int(kl.sssp(p.graph, 0).distances[899])
    True
    """

    graph: Graph
    _elimination: Elimination
    _customization: Customization
    _steps: Steps

    @property
    def nbytes(self) -> int:
        """How many bytes it takes beside its graph."""
        return bytes_of(*self._parts)

    # ---- new weights ----------------------------------------------------------------------

    def customize(
        self,
        weights: Any = None,
        *,
        rows: Any = None,
        arcs: Any = None,
        semiring: str | None = None,
        dtype: Any = None,
        device: str = "cpu",
        threads: int | None = None,
    ) -> PreparedGraph:
        """Return the prepared graph with other weights: traffic, closed streets, another measure.

        The vertices stay eliminated, so this takes milliseconds where :func:`prepare` takes
        seconds.

        Parameters
        ----------
        weights : Graph, dict, array, number or function, optional
            A graph with the same vertices and the same arcs, or fewer. Arcs may also be reversed,
            or join vertices that the elimination joined. Or a dict of pairs, as
            :meth:`Graph.update` takes it. Or an array with one weight
            for each row of the table that the graph was made from, or for each arc, as their
            number tells, or if both have the same order; or what :meth:`Graph.reweight` takes. By
            default weights stay.
        rows : column or dict, optional
            Instead: one weight for each row of the table that the graph was made from, or a dict
            of those that change, ``{row: weight}``; infinity closes a row.
        arcs : array, optional
            Instead: one weight for each arc, in the order of :attr:`Graph.coo`. An infinite weight
            closes an arc, which :attr:`graph` then does not have.
        semiring : str, optional
            Another meaning of "best path", one of those of :func:`prepare`; by default the same.
        dtype : optional
            The type of the path values; by default that of the weights, or a wider one.
        device : {"cpu", "cuda", "emulated"}
            Where to compute. What a GPU computes stays there as well, for later calls.
        threads : int, optional
            How many threads may be used; all cores unless given.

        Returns
        -------
        PreparedGraph

        Raises
        ------
        GraphError
            An arc joins vertices that the elimination did not join, or there is not one weight for
            each arc.
        NegativeCycleError
            The weights make a cycle of negative length.
        DeviceError
            The device is not there.

        Examples
        --------
        >>> import kleene as kl
        >>> g = kl.Graph.from_table(
        ...     {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "weight": [2, 2, 9]}
        ... )
        >>> p = kl.prepare(g)
        >>> p.distance("a", "c"), p.customize(rows=[2, 8, 9]).distance("a", "c")
        (4, 9)
        >>> p.customize(rows={0: float("inf")}).path("a", "c")
        ['a', 'c']
        """
        graph = reweighted(self.graph, weights, rows, arcs)
        name = self.semiring if semiring is None else find_semiring(semiring).name
        kind = value_dtype(graph, name, dtype)
        made, steps = customize_graph(
            self._elimination, graph, name, kind, as_threads(threads), self._steps, device
        )
        return PreparedGraph(graph, self._elimination, made, steps)

    # ---- all of it --------------------------------------------------------------------------

    def explain(self) -> Plan:
        """Return what was prepared: pairs and triangles, memory, and the seconds of each step.

        Examples
        --------
        >>> import kleene as kl
        >>> print(kl.prepare(kl.generate.grid(3, 3)).explain())
        prepare by elimination on cpu, int32 values
          memory   ...
          because  18 pairs of vertices are joined, from 24 arcs; the tree is 4 deep
          because  new weights relax 14 triangles
          because  order ... s, elimination ... s, weights ... s
        """
        return explain_prepared(self.graph, *self._parts, self._steps)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the prepared graph to a file, for :func:`load_prepared` and the command line.

        The file is written beside the name and then takes it, so it is whole or not there. It holds
        the graph as well, so ``kleene.read`` reads it, too.

        Parameters
        ----------
        path : str or Path
            The file; the suffix is ``.kp`` by custom.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.prepare(kl.generate.grid(9, 9)).save(f"{folder}/grid.kp")
        ...     kl.load_prepared(f"{folder}/grid.kp").distance(0, 80)
        16
        """
        files.save(path, self.graph, self._elimination, self._customization)

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedGraph, (self.graph, self._elimination, self._customization, self._steps)

    def __repr__(self) -> str:
        return f"PreparedGraph({self._facts})"

    def _repr_html_(self) -> str:
        fill = self._elimination.fill
        facts = {
            "pairs": f"{fill.pairs:,}, in a tree {fill.depth:,} deep",
            "triangles": f"{fill.triangles:,}",
            "memory": format_bytes(self.nbytes),
            "took": str(self._steps) or "read from a file",
        }
        return card("PreparedGraph", repr(self.graph), facts)

    @property
    def _facts(self) -> str:
        took = f", {self._steps}" if any(self._steps) else ""
        return (
            f"{counted(self.graph.n, 'vertex', 'vertices')}, {counted(self.graph.m, 'arc')}, "
            f"{counted(self._elimination.arcs, 'pair')}, "
            f"{self.semiring} in {self.dtype}, {format_bytes(self.nbytes)}{took}"
        )
