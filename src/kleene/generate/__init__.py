"""Graph generators: reproducible by seed, on any number of threads.

Every generator takes ``seed=0``, ``weights=None`` (see :mod:`kleene.generate.weights`),
``threads=None`` and ``progress=None``, and returns a :class:`kleene.Graph` whose ``name`` is the
call that reproduces it.
"""

from kleene.generate.classic import complete, cycle, grid, path, star, tree
from kleene.generate.connected import capped, path_plus
from kleene.generate.kronecker import rmat
from kleene.generate.random import dense, small_world, uniform
from kleene.generate.weights import WeightRule

__all__ = [
    "WeightRule",
    "capped",
    "complete",
    "cycle",
    "dense",
    "grid",
    "path",
    "path_plus",
    "rmat",
    "small_world",
    "star",
    "tree",
    "uniform",
]


def __dir__() -> list[str]:
    return __all__
