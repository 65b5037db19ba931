"""scikit-learn's Isomap with shortest paths by Kleene.

``sklearn.manifold.Isomap`` fits in four steps: nearest neighbours, shortest paths between all
pairs, centring, eigenvectors. The second takes most of the time. It is one call of SciPy's
``shortest_path`` through the module ``sklearn.manifold._isomap``. The patch replaces that name;
nothing else in scikit-learn changes.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.calls.apsp import apsp
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
    """Return all distances in float64, as Isomap expects from ``csgraph.shortest_path`` of SciPy.

    ``method``, Isomap's ``path_method``, is ignored: all methods give the same distances.
    """
    arcs = csgraph.tocoo()
    g = Graph.from_edges(
        arcs.row, arcs.col, arcs.data, n=arcs.shape[0], directed=directed, keep_rows=False
    )
    result = apsp(g, predecessors=False, dtype=np.float64, device=device, threads=threads)
    distances: NDArray[np.float64] = result.distances
    return distances


def _isomap() -> ModuleType:
    try:
        from sklearn.manifold import _isomap
    except ImportError as error:
        raise RequestError(
            'scikit-learn is not installed: pip install "kleene[sklearn]"'
        ) from error
    if not hasattr(_isomap, "shortest_path"):
        import sklearn

        raise RequestError(
            f"scikit-learn {sklearn.__version__} has no sklearn.manifold._isomap.shortest_path to "
            "patch",
            advice=["try another version of scikit-learn or Kleene"],
        )
    module: ModuleType = _isomap
    return module


class Patch:
    """The patch of :func:`patch_sklearn`; as a context manager, it is undone at the end."""

    def __init__(self, module: ModuleType, original: Any) -> None:
        self._module, self._original = module, original

    def __enter__(self) -> Patch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        vars(self._module)["shortest_path"] = self._original


def patch_sklearn(*, device: str = "auto", threads: int | None = None) -> Patch:
    """Make ``sklearn.manifold.Isomap`` compute its shortest paths by Kleene.

    Embeddings are the same: distances are computed in float64, as by SciPy. The patch holds for the
    process until :func:`unpatch_sklearn`, or, in a ``with`` statement, for the block. Worker
    processes (``joblib``) must be patched separately. All other steps, such as the eigenvectors,
    remain scikit-learn's.

    Parameters
    ----------
    device : str
        The device; ``"auto"`` uses a GPU where that is faster.
    threads : int, optional
        Threads to use; all cores by default.

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
    original = vars(module)["shortest_path"]
    patched = partial(shortest_path, device=device, threads=as_threads(threads))
    vars(module)["shortest_path"] = patched
    return Patch(module, original)


def unpatch_sklearn() -> None:
    """Undo :func:`patch_sklearn`: Isomap uses SciPy's shortest paths again.

    Examples
    --------
    >>> import kleene as kl
    >>> patch = kl.patch_sklearn()
    >>> kl.unpatch_sklearn()
    """
    from scipy.sparse.csgraph import shortest_path as original

    vars(_isomap())["shortest_path"] = original
