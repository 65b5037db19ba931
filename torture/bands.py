"""Closures of matrices on several emulated devices beside one: equal bit for bit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

import kleene as kl
from torture.random_graphs import Spec

__all__ = ["bands_fault", "random_bands"]

_DEVICES = 4
_KINDS = [
    ("min_plus", "float32"), ("min_plus", "float64"), ("min_plus", "int32"), ("min_plus", "int64"),
    ("max_min", "float32"), ("max_min", "int64"), ("max_times", "float64"), ("boolean", None),
]  # fmt: skip


def random_bands(seed: int) -> Spec:
    """Return a sparse graph of some blocks of vertices, a semiring, devices and a schedule."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 560))
    semiring, dtype = _KINDS[rng.integers(len(_KINDS))]
    ends = [(int(u), int(v)) for u, v in rng.integers(0, n, (int(rng.integers(1, 4)) * n, 2))]
    weights = None
    if dtype is not None:
        low = -1 if semiring == "min_plus" and rng.random() < 0.3 else 0  # often with a cycle
        whole = dtype.startswith("int")
        found = rng.integers(low, 99, len(ends)) if whole else rng.uniform(low, 1, len(ends))
        weights = tuple(found.astype(dtype).tolist())
    asked = {
        "semiring": semiring,
        "predecessors": bool(rng.random() < 0.5),
        "devices": rng.permutation(_DEVICES)[: rng.integers(2, _DEVICES + 1)].tolist(),
        "schedule": int(rng.integers(0, 3)),
    }
    return replace(Spec(n, tuple(ends), weights, dtype), asked=asked)


def bands_fault(spec: Spec) -> str | None:
    """Return how several devices differ from one, None if they do not."""
    devices, graph = spec.asked["devices"], spec.graph()
    with _emulated(spec.asked["schedule"]):
        one, several = (_closure(graph, spec.asked, names) for names in (devices[:1], devices))
    if isinstance(one, str) or isinstance(several, str):
        return None if str(one) == str(several) else f"one device: {one}; several: {several}"
    if one.values.tobytes() != several.values.tobytes():
        where = np.argwhere(one.values != several.values)[:1].tolist()
        return f"values differ between one device and {len(devices)}, first at {where}"
    if spec.asked["predecessors"] and (one.predecessors != several.predecessors).any():
        return f"predecessors differ between one device and {len(devices)}"
    return None


def _closure(graph: kl.Graph, asked: dict[str, Any], devices: list[int]) -> kl.Result | str:
    """Return the closure, or the cycle that forbids one."""
    try:
        return kl.closure(
            graph, asked["semiring"], method="tiled", device="emulated", devices=devices,
            predecessors=asked["predecessors"],
        )  # fmt: skip
    except kl.NegativeCycleError as error:
        return f"a negative cycle {error.cycle}"


@contextmanager
def _emulated(schedule: int) -> Iterator[None]:
    """Let the emulator have several devices, and a schedule."""
    chosen = {"KLEENE_EMULATOR_DEVICES": str(_DEVICES), "KLEENE_EMULATOR_SEED": str(schedule)}
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
