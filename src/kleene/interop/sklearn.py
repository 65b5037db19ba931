"""scikit-learn's Isomap with its shortest paths found by Kleene.

``sklearn.manifold.Isomap`` fits in four steps: nearest neighbours, shortest paths between all
pairs, centring, eigenvectors. The second takes most of the time, and is one call of SciPy's
``shortest_path`` by a name of the module ``sklearn.manifold._isomap``. Patching puts another
function behind that name; nothing else of scikit-learn changes.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.api.apsp import apsp
from kleene.errors import RequestError
from kleene.graph import Graph
from kleene.system.machine import as_threads

__all__ = ["patch_sklearn", "unpatch_sklearn"]


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    *,
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Do what Isomap asks of ``scipy.sparse.csgraph.shortest_path``: all distances, in float64.

    Isomap's ``path_method`` chooses between two ways to the same distances, and is not looked at.
    """
    arcs = csgraph.tocoo()
    g = Graph.from_edges(arcs.row, arcs.col, arcs.data, n=arcs.shape[0], directed=directed)
    found = apsp(g, predecessors=False, dtype=np.float64, device=device, threads=threads)
    distances: NDArray[np.float64] = found.distances
    return distances


def _isomap() -> ModuleType:
    try:
        from sklearn.manifold import _isomap
    except ImportError as error:
        raise RequestError(
            'there is no scikit-learn to patch: pip install "kleene[sklearn]"'
        ) from error
    if not hasattr(_isomap, "shortest_path"):
        import sklearn

        raise RequestError(
            f"scikit-learn {sklearn.__version__} has no sklearn.manifold._isomap.shortest_path to "
            "patch; another version of scikit-learn or of Kleene may help"
        )
    module: ModuleType = _isomap
    return module


class Patch:
    """What :func:`patch_sklearn` returns: leaving its ``with`` block takes the patch back."""

    def __init__(self, module: ModuleType, before: Any) -> None:
        self._module, self._before = module, before

    def __enter__(self) -> Patch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        vars(self._module)["shortest_path"] = self._before


def patch_sklearn(*, device: str = "auto", threads: int | None = None) -> Patch:
    """Make ``sklearn.manifold.Isomap`` find its shortest paths by Kleene, from now on.

    Embeddings are the same: distances are computed in float64, as SciPy does. The patch holds for
    the process, until :func:`unpatch_sklearn`, or, in a ``with`` statement, for its block. Worker
    processes (``joblib``) need a patch of their own. What follows the shortest paths, the
    eigenvectors above all, is scikit-learn's as before.

    Parameters
    ----------
    device : str
        Where to search; ``"auto"`` takes a GPU where that is faster.
    threads : int, optional
        How many threads may be used; all cores unless given.

    Examples
    --------
    >>> import kleene as kl, numpy as np
    >>> from sklearn.manifold import Isomap
    >>> angle = np.linspace(0, 6, 100)
    >>> spiral = np.c_[angle * np.cos(angle), angle * np.sin(angle)]
    >>> with kl.patch_sklearn():
    ...     embedding = Isomap(n_components=1).fit_transform(spiral)
    >>> embedding.shape
    (100, 1)
    """
    if not isinstance(device, str):
        raise RequestError(f"device must be a name, not {device!r}")
    module = _isomap()
    before = vars(module)["shortest_path"]
    found = partial(shortest_path, device=device, threads=as_threads(threads))
    vars(module)["shortest_path"] = found
    return Patch(module, before)


def unpatch_sklearn() -> None:
    """Give ``sklearn.manifold.Isomap`` SciPy's shortest paths again.

    Examples
    --------
    >>> import kleene as kl
    >>> patch = kl.patch_sklearn()
    >>> kl.unpatch_sklearn()
    """
    from scipy.sparse.csgraph import shortest_path as original

    vars(_isomap())["shortest_path"] = original
