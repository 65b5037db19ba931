"""Connected components as SciPy returns them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene import _native
from kleene.interop.csgraph.rows import checked_rows
from kleene.interop.csgraph.validation import as_csr
from kleene.system.machine import threads_for

__all__ = ["connected_components"]


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Find components as ``scipy.sparse.csgraph.connected_components`` does.

    Parameters
    ----------
    csgraph, directed, connection, return_labels
        As in SciPy. Weak components are numbered by their first vertices, strong ones in the order
        in which a depth-first search on one core leaves them: no arc leads to a larger number.

    Examples
    --------
    >>> from kleene import csgraph
    >>> count, labels = csgraph.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> count, labels.tolist()
    (2, [0, 0, 1])
    """
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    offsets, neighbors = checked_rows(as_csr(csgraph, bool(directed)))
    n = len(offsets) - 1
    if directed and connection.lower() == "strong":
        labels, sizes = _native.strong_components_in_search_order(offsets, neighbors)
    else:
        team = threads_for(len(neighbors) // 8)  # below a million arcs threads do not pay
        component, sizes = _native.weak_components(offsets, neighbors, False, team)
        first = np.empty(len(sizes), np.int64)
        first[component[::-1]] = np.arange(n)[::-1]  # the last one assigned stays
        number = np.empty(len(sizes), np.int32)
        number[np.argsort(first)] = np.arange(len(sizes))
        labels = number[component]
    return (len(sizes), labels) if return_labels else len(sizes)
