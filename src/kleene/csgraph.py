"""A drop-in for ``scipy.sparse.csgraph``: the same functions, on all cores and on GPUs.

``from kleene import csgraph`` stands for ``from scipy.sparse import csgraph``. What has to do with
shortest paths, breadth-first search and components is Kleene's, with SciPy's conventions; all other
names that the installed SciPy has are SciPy's own.

>>> from kleene import csgraph
>>> graph = [[0, 2, 9], [0, 0, 3], [0, 0, 0]]
>>> csgraph.dijkstra(graph, indices=0).tolist()
[0.0, 2.0, 5.0]
>>> csgraph.connected_components(csgraph.csgraph_from_dense(graph))[0]
1
"""

from typing import Any

import scipy.sparse.csgraph as _scipy

from kleene.interop import csgraph as _ours
from kleene.interop.csgraph import *  # noqa: F403

__all__ = [*dict.fromkeys([*_scipy.__all__, *_ours.__all__])]


def __getattr__(name: str) -> Any:
    """Find what Kleene does not have in SciPy."""
    if name.startswith("__"):
        raise AttributeError(f"module 'kleene.csgraph' has no attribute {name!r}")
    found = globals()[name] = getattr(_scipy, name)  # the next time without this function
    return found


def __dir__() -> list[str]:
    return __all__
