"""A small city, prepared by slow, plain code and saved in a ``.kp`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import prepared_reference

import kleene as kl
from kleene.graph.forms import is_frozen
from kleene.prepared import files
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination

Parts = tuple[kl.Graph, Elimination, Customization]


def prepared(graph: kl.Graph, semiring: str = "min_plus", dtype: Any = None) -> Parts:
    order = np.random.default_rng(1).permutation(graph.n).tolist()
    elimination = prepared_reference.eliminate(graph, order)
    return graph, elimination, prepared_reference.customize(graph, elimination, semiring, dtype)


def city() -> kl.Graph:
    return kl.generate.grid(6, 7, weights=(1, 9), seed=3)


def save_city(folder: Path) -> Path:
    path = folder / "city.kp"
    files.save(path, *prepared(city()))
    return path


def require_same(found: Parts, parts: Parts) -> None:
    graph, elimination, customization = parts
    read, eliminated, customized = found
    assert (read.n, read.directed, read.name) == (graph.n, graph.directed, graph.name)
    for a, b in zip(read.csr, graph.csr, strict=True):
        assert (a is None and b is None) or np.array_equal(a, b)
    for name in ("labels", "positions"):
        a, b = getattr(read, name), getattr(graph, name)
        assert (a is None and b is None) or a.tolist() == b.tolist()
    for name in ("order", "ranks", "parents", "offsets", "heads"):
        a, b = getattr(eliminated, name), getattr(elimination, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
    for name in ("semiring", "dtype", "negative", "symmetric"):
        assert getattr(customized, name) == getattr(customization, name)
    for name in ("up", "down"):
        a, b = getattr(customized, name), getattr(customization, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
        assert is_frozen(a)
