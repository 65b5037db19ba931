"""What results of every shape share: values without traps, tables, files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.backends.semiring import SEMIRINGS
from kleene.engine.call import Timings
from kleene.graph import Graph
from kleene.graph.no_path import NO_HOPS
from kleene.planning.plan import Plan
from kleene.results import files
from kleene.results.tables import Block, arrow_table, pandas_table, polars_table

__all__ = ["ResultViews"]

Array = NDArray[Any]


class ResultViews:
    """The path values of a result, and how they are handed on."""

    graph: Graph
    plan: Plan
    stats: Timings
    problem: str

    @property
    def distances(self) -> Array:
        """Path values: hops, lengths, or values in the closure's semiring."""
        raise NotImplementedError

    def _blocks(self) -> Iterator[Block]:
        """Yield the long table in blocks, at least one."""
        raise NotImplementedError

    def _save_npz(self, path: str | Path) -> None:
        """Write everything, for ``load``."""
        raise NotImplementedError

    # ---- values ---------------------------------------------------------------------------

    @property
    def no_path(self) -> Any:
        """The value that stands for "no path": -1 for hops, infinity, or the largest integer."""
        if self.problem == "bfs":
            return NO_HOPS
        return SEMIRINGS[self.plan.semiring].zero(np.dtype(self.plan.dtype))

    @property
    def reached(self) -> Array:
        """Whether there is a path, for each entry of :attr:`distances`."""
        reached: Array = self.distances != self.no_path
        return reached

    @property
    def floats(self) -> Array:
        """The distances as float64; infinity where there is no path.

        In a closure, "no path" is what it is for floats: infinity for ``min_plus``, minus infinity
        for ``max_min``, 0 for ``max_times`` and ``boolean``. Not a copy if distances are float64.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0], [1], n=3), 0)
        >>> r.distances.tolist(), r.floats.tolist()
        ([0, 1, -1], [0.0, 1.0, inf])
        """
        values = self.distances
        semiring, wide = SEMIRINGS[self.plan.semiring], np.dtype(np.float64)
        if self.no_path == semiring.zero(wide):
            return values.astype(wide, copy=False)
        floats = values.astype(wide)
        floats[values == self.no_path] = semiring.zero(wide)
        if semiring.name == "max_min":
            floats[values == semiring.one(values.dtype)] = np.inf  # the width of the empty path
        return floats

    @property
    def masked(self) -> np.ma.MaskedArray[Any, Any]:
        """The distances as a NumPy masked array; pairs without a path are masked.

        Examples
        --------
        >>> import kleene as kl
        >>> r = kl.bfs(kl.Graph.from_edges([0, 1], [1, 2], n=4), 0)
        >>> float(r.distances.mean()), float(r.masked.mean())
        (0.5, 1.0)
        """
        values = self.distances
        missing = values == self.no_path
        return np.ma.MaskedArray(values, missing, fill_value=self.no_path)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the distances: ``np.asarray(result)``."""
        values = self.distances
        if dtype is None or np.dtype(dtype) == values.dtype:
            return values.copy() if copy else values
        if copy is False:
            raise ValueError(f"the distances are {values.dtype}: as {dtype} they must be copied")
        return values.astype(dtype)

    def to_numpy(self) -> Array:
        """Return the distances as a NumPy array in main memory.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_numpy()
        array([0, 1], dtype=int32)
        """
        return np.asarray(self.distances)

    # ---- tables ---------------------------------------------------------------------------

    @property
    def _value_name(self) -> str:
        """The name of the column of path values."""
        return "value" if self.problem == "closure" else "distance"

    def to_pandas(self) -> Any:
        """Return a long pandas DataFrame: source, target, distance, predecessor, a row per pair.

        Vertices appear by label where the graph has labels. Pairs without a path are left out, and
        the predecessor of a source is missing. The column of path values is named "value" for a
        closure. For a result of ``reverse=True``, paths run from "source" to "target" too, and
        "next_hop" takes the place of the predecessor.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_pandas()
           source  target  distance  predecessor
        0       0       0         0         <NA>
        1       0       1         1            0
        """
        return pandas_table(self._blocks())

    def to_polars(self) -> Any:
        """Return a long Polars DataFrame, with the columns of :meth:`to_pandas`.

        Labels that are neither numbers nor text become text.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_polars()["distance"].to_list()
        [0, 1]
        """
        return polars_table(self._blocks())

    def to_arrow(self) -> Any:
        """Return a long PyArrow table, with the columns of :meth:`to_pandas`.

        Labels that are neither numbers nor text become text.

        Examples
        --------
        >>> import kleene as kl
        >>> kl.bfs(kl.Graph.from_edges([0], [1]), 0).to_arrow().column_names
        ['source', 'target', 'distance', 'predecessor']
        """
        return arrow_table(self._blocks())

    def save(self, path: str | Path) -> None:
        """Write the result to a file, in the format of its suffix.

        The file is written beside the name and then takes it, so it is whole or not there.

        Parameters
        ----------
        path : str or Path
            ``.npz`` holds everything, and :meth:`load` brings it back (of a call with targets, it
            holds their distances, and paths are searched again when they are read); ``.npy`` holds
            :attr:`distances`; ``.csv``, ``.tsv``, ``.json`` (a list of objects) and ``.parquet``
            hold the table of :meth:`to_pandas`, written in blocks.

        Raises
        ------
        RequestError
            For any other suffix.

        Examples
        --------
        >>> import kleene as kl, tempfile
        >>> from pathlib import Path
        >>> g = kl.Graph.from_edges([0, 1], [1, 2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kl.bfs(g, 0).save(f"{folder}/hops.npz")
        ...     kl.bfs(g, 0).save(f"{folder}/hops.csv")
        ...     print(Path(folder, "hops.csv").read_text())
        ...     kl.Result.load(f"{folder}/hops.npz", g).distances.tolist()
        source,target,distance,predecessor
        0,0,0,
        0,1,1,0
        0,2,2,1
        <BLANKLINE>
        [0, 1, 2]
        """
        files.save(self, path)
