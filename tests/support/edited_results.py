"""Results that are saved, edited in the file, and loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kleene as kl

CHAIN = kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0])


def edited(
    result: kl.Result,
    folder: Path,
    head: Callable[[dict[str, Any]], Any] = lambda head: None,
    drop: tuple[str, ...] = (),
    **arrays: Any,
) -> kl.Result:
    """Save a result, edit the file, and load it."""
    file = folder / "result.npz"
    result.save(file)
    with np.load(file) as archive:
        contents = dict(archive)
    fields = json.loads(str(contents["head"]))
    head(fields)
    contents["head"] = np.array(json.dumps(fields))
    contents |= arrays
    np.savez(file, **{name: array for name, array in contents.items() if name not in drop})
    return kl.Result.load(file, result.graph)
