"""All pairs on the CPU by matrices; the algorithms are in ``native/core/dense_*.cpp``.

Each takes a task; ``blocked`` and ``tiled`` take the side of a block besides, as in
``blocked(task, block=48)``.
"""

from __future__ import annotations

from functools import partial

from kleene.backends.cpu.closure import close, floyd_warshall, tiled

__all__ = ["blocked", "floyd_warshall", "min_plus", "rkleene", "rkleene_quadtree", "tiled"]

blocked = partial(close, "blocked")
min_plus = partial(close, "min_plus")
rkleene = partial(close, "rkleene")
rkleene_quadtree = partial(close, "rkleene_quadtree")
