"""The one table of methods. A row names a method, its device, what it supports, where it is from.

Adding a method means adding its function in a backend and its row here, in the file of its theme;
the planner, the command line, ``kleene.methods`` and the tests find it by this table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from kleene.errors import RequestError
from kleene.registry import algebra, bfs, measures, near, paths, sssp
from kleene.registry.method import Method, Size
from kleene.system.html import card, columns
from kleene.system.suggestions import no_such

__all__ = [
    "DEVICES",
    "LENGTH_PROBLEMS",
    "PATH_PROBLEMS",
    "PROBLEMS",
    "Method",
    "Methods",
    "Size",
    "find",
    "methods",
]

#: Problems whose answer is one row of path values per source.
PATH_PROBLEMS = {
    "bfs": "fewest hops from a source",
    "sssp": "shortest paths from a source",
    "apsp": "shortest paths between all pairs",
    "closure": "best paths between all pairs over a semiring",
}
#: Problems whose values are path lengths.
LENGTH_PROBLEMS = {
    **PATH_PROBLEMS,
    "within": "what lies within a limit of some sources, or nearest to them",
    "nearest": "the nearest of some facilities, for every vertex",
    "loads": "how much traffic goes along each arc",
}
PROBLEMS = {
    **LENGTH_PROBLEMS,
    "product": "product of two matrices over a semiring",
    "spmv": "product of a vector and the graph's matrix over a semiring",
    "k_shortest": "the k shortest paths between two vertices",
    "distance_encodings": "distances in many small graphs, as one padded array",
    "weak_components": "vertices joined by arcs, whatever their direction",
    "strong_components": "vertices that reach each other along arcs",
    "betweenness": "how many shortest paths lead through each vertex and along each arc",
}

#: Where a method can run, the fastest kind of device first.
DEVICES = {
    "cuda": "an NVIDIA GPU",
    "cpu": "the native core, on all CPU cores",
    "emulated": "the CUDA kernels, executed on the CPU",
    "reference": "plain Python and NumPy, slow and obviously right",
}


def _emulated(row: Method) -> Method:
    """Return the emulator's row for a row of CUDA's: its device memory is the host's."""
    host, on_device = row.workspace, row.device_memory

    def workspace(size: Size) -> int:
        return host(size) + (0 if on_device is None else on_device(size))

    return replace(row, device="emulated", workspace=workspace, device_memory=None, streams=False)


def _everywhere(rows: tuple[Method, ...]) -> tuple[Method, ...]:
    """Add the emulator's rows: what runs by CUDA runs there too, or there first."""
    seen = (row for row in rows if not row.unrecorded)
    return (*seen, *(_emulated(row) for row in rows if row.device == "cuda"))


_ROWS = _everywhere(
    (
        *bfs.BFS, *sssp.SSSP, *paths.APSP, *paths.CLOSURE, *algebra.SPMV, *near.K_SHORTEST,
        *paths.DISTANCE_ENCODINGS, *near.WITHIN, *near.NEAREST, *measures.COMPONENTS,
        *measures.BETWEENNESS, *measures.LOADS, *algebra.PRODUCT,
    )
)  # fmt: skip
_ROW_OF = {(row.problem, row.name, row.device): row for row in _ROWS}


class Methods(tuple[Method, ...]):
    """Rows of the registry; prints as a table."""

    _COLUMNS = ("problem", "name", "device", "needs", "origin", "file", "summary")

    def _cells(self) -> list[list[str]]:
        return [[str(getattr(row, column)) for column in self._COLUMNS] for row in self]

    def __repr__(self) -> str:
        lines = [list(self._COLUMNS), *self._cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._COLUMNS))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        count = f"{len(self)} method{'s' * (len(self) != 1)}"
        return card("Methods", count, {}, columns(self._COLUMNS, self._cells()))


def methods(problem: str | None = None, device: str | None = None) -> Methods:
    """Return the methods for a problem, or all of them.

    Parameters
    ----------
    problem : str, optional
        The problem, such as ``"sssp"``; all by default.
    device : str, optional
        The device, such as ``"cpu"``; all by default.

    Returns
    -------
    tuple of Method
        Rows with ``name``, ``device``, ``summary``, ``origin`` and more, which print as a table.
        ``file`` is where the algorithm is: ``native/...`` in the repository, other files in the
        installed package.

    Examples
    --------
    >>> import kleene as kl
    >>> kl.methods("sssp", "reference")
    problem  name          device     needs                origin ...
    sssp     dijkstra      reference  no negative weights  Dijkstra 1959 ...
    sssp     bellman_ford  reference  any weights          Bellman 1958 ...
    >>> kl.methods("bfs")[0].name, kl.methods("bfs")[0].file
    ('queue', 'native/core/bfs/queue.cpp')
    """
    if problem is not None and problem not in PROBLEMS:
        raise RequestError(no_such("problem", problem, PROBLEMS), option="problem")
    if device is not None and device not in DEVICES:
        raise RequestError(no_such("device", device, DEVICES), option="device")
    return _offered(problem, device)


@cache
def _offered(problem: str | None, device: str | None) -> Methods:
    return Methods(
        row for row in _ROWS if problem in (None, row.problem) and device in (None, row.device)
    )


def find(problem: str, name: str, device: str) -> Method | None:
    """Return the row of this name on this device, or None."""
    return _ROW_OF.get((problem, name, device))
