"""Proofs of measures that are one number, or a list of vertices.

They follow from another measure, of each vertex: that one is computed and verified, and what
follows from it is compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kleene.proofs.paths import Proof

__all__ = ["prove"]

_TOLERANCE = 1e-9  # of sums of floats, added up in another order


def prove(name: str, found: Any, by_vertex: Any) -> Proof:
    """Verify the measure that a number or a list follows from, and compare.

    Parameters
    ----------
    name : str
        What was measured, as in ``kleene measure``.
    found : number or array
        The answer.
    by_vertex : Measure
        What it follows from.
    """
    import numpy as np

    from kleene.errors import VerificationError

    proof: Proof = by_vertex.verify()
    right = _FOLLOWS[name](by_vertex)
    if isinstance(right, float):
        same = math.isclose(found, right, rel_tol=_TOLERANCE)
    else:
        same = np.array_equal(found, right)
    if not same:
        raise VerificationError(
            f"{name} is {_short(found)}, and should be {_short(right)}, which follows from the "
            f"{by_vertex.name} of each vertex"
        )
    return proof


def _short(found: Any) -> str:
    """Return a number, or the first of some vertices."""
    if not hasattr(found, "__len__"):
        return str(found)
    some = ", ".join(map(str, found[:3]))
    return f"{some} and {len(found) - 3:,} more" if len(found) > 3 else some or "nothing"


def _efficiency(harmonic: Any) -> float:
    n = harmonic.graph.n
    return math.fsum(harmonic.values) / (n * (n - 1)) if n > 1 else 0.0


def _wiener(closeness: Any) -> Any:
    if (closeness.reached != len(closeness) - 1).any():
        return math.inf
    totals = closeness.totals.tolist()
    if closeness.totals.dtype.kind == "f":
        return math.fsum(totals) / (1 if closeness.graph.directed else 2)
    return sum(totals) // (1 if closeness.graph.directed else 2)


_FOLLOWS: dict[str, Callable[[Any], Any]] = {
    "diameter": lambda eccentricity: eccentricity.diameter,
    "radius": lambda eccentricity: eccentricity.radius,
    "center": lambda eccentricity: eccentricity.center,
    "periphery": lambda eccentricity: eccentricity.periphery,
    "efficiency": _efficiency,
    "wiener": _wiener,
}
