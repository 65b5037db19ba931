"""Prepared graphs in ``.kp`` files: Kleene's ``.npz`` of the graph, and what preparing it made.

The entries of the graph are those of ``kleene.write``, so a ``.kp`` is also a graph file. Beside
them are the arrays of the elimination and of its values, and ``prepared``, a head in JSON. The
arrays are mapped: loading reads every byte, to compare checksums and to check, and copies none.

A file may come from anywhere, and native code indexes memory by what it holds. So the elimination
is proved to be one of this graph: ranks are a postorder, all upward neighbors of a vertex are its
ancestors, and every arc joins a pair. Of the values, type, number and range are checked, which is
what keeps sums from wrapping; whether they are the right ones, ``verify`` says of every answer. A
file made by an enemy can hold wrong values: they give wrong answers, which ``verify`` refuses, and
no other harm. A graph that the user passes never keeps them.

A file that is in use must not be rewritten in place. ``save`` never does that: it writes a new file
and gives it the name, and a graph that is loaded keeps the old one.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene import _native
from kleene.graph import Graph
from kleene.graph.fingerprint import fingerprint
from kleene.graph.forms import adopt
from kleene.io.npz import graph_entries, read_mapped, read_npz_arrays, text_of_entry, write_aligned
from kleene.io.source import PathOrFile, Source
from kleene.prepared.customization import Customization
from kleene.prepared.elimination import Elimination
from kleene.system.atomic_file import atomic_path
from kleene.system.machine import threads_for

__all__ = ["SUFFIX", "load", "prepared_entries", "save"]

Array = NDArray[Any]

SUFFIX = ".kp"

_FORMAT = "kleene prepared"
_VERSION = 1
_MOST_HEAD = 1 << 16  # bytes; no head has more
_ELIMINATION = {
    "order": "int32",
    "ranks": "int32",
    "parents": "int32",
    "offsets": "int64",
    "heads": "int32",
}
_FAULTS = {
    "order": "order and ranks are not the two directions of one permutation",
    "offsets": "offsets do not rise from 0 to the number of heads",
    "heads": "heads are not ascending ranks above their own",
    "parents": "parents are not the first of the heads",
    "fill": "heads are not among those of the parent",
    "postorder": "a subtree is not a run of ranks",
    "arcs": "an arc of the graph is not among the heads",
}

_Types = dict[str, tuple[str, ...]]
_FLOATS: _Types = {"float32": ("float32",), "float64": ("float64",)}
_NUMBERS: _Types = {**_FLOATS, "int32": ("int32",), "int64": ("int64",)}
#: The types of answers, by semiring, and those that values of pairs may have then: lengths that all
#: fit in 32 bits are added in 32.
_TYPES: dict[str, _Types] = {
    "min_plus": {**_NUMBERS, "int64": ("int32", "int64")},
    "max_min": _NUMBERS,
    "max_times": _FLOATS,
    "boolean": {"bool": ("uint8",)},
}


# ---- write --------------------------------------------------------------------------------------


def save(
    path: str | PathLike[str],
    graph: Graph,
    elimination: Elimination,
    customization: Customization,
) -> None:
    """Write a prepared graph to a file, which is replaced only when it is complete.

    Parameters
    ----------
    path : str or path
        The file, by custom with the suffix ``.kp``.
    graph : Graph
        The graph that was prepared.
    elimination : Elimination
    customization : Customization
        Values by the weights of this graph.
    """
    entries = prepared_entries(graph, elimination, customization)
    with atomic_path(Path(path)) as beside, beside.open("wb") as file:
        write_aligned(file, entries)


def prepared_entries(
    graph: Graph, elimination: Elimination, customization: Customization
) -> dict[str, Any]:
    """Return the entries of a file that hold a prepared graph."""
    head = {
        "format": _FORMAT,
        "version": _VERSION,
        "graph": fingerprint(graph),
        "semiring": customization.semiring,
        "dtype": customization.dtype.name,
        "negative": bool(customization.negative),
    }
    values = {"up": customization.up}
    if not customization.symmetric:
        values["down"] = customization.down
    arrays = {name: getattr(elimination, name) for name in _ELIMINATION} | values
    return {
        "prepared": json.dumps(head),
        **{f"prepared_{name}": array for name, array in arrays.items()},
        **graph_entries(graph),
    }


# ---- read ---------------------------------------------------------------------------------------


def load(path: PathOrFile, graph: Graph | None = None) -> tuple[Graph, Elimination, Customization]:
    """Return what :func:`save` wrote, checked; arrays are mapped where that is possible.

    Parameters
    ----------
    path : str, path or binary file
    graph : Graph, optional
        The graph that the file should belong to, which is then returned; by default the file's own.

    Raises
    ------
    FormatError
        The file is not a prepared graph, is damaged, or belongs to another graph.
    """
    with Source(path) as source:
        head = _head(source)
        whose = "the graph in it" if graph is None else repr(graph)
        if graph is None:
            graph = read_mapped(source)
        if head["graph"] != fingerprint(graph):
            source.fail(f"the file is stale: it was not prepared from {whose}; prepare it again")
        names = (*_ELIMINATION, "up", "down")
        entries = read_npz_arrays(source, [f"prepared_{name}" for name in names], mapped=True)
        arrays = {name.removeprefix("prepared_"): adopt(array) for name, array in entries.items()}
        elimination = _elimination(source, arrays, graph)
        return graph, elimination, _customization(source, head, arrays, graph, elimination)


def _head(source: Source) -> dict[str, Any]:
    """Return the head, if there is one that this version reads."""
    text = read_npz_arrays(source, ("prepared",), most=_MOST_HEAD).get("prepared")
    try:
        head = json.loads(text_of_entry(text))
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        source.fail(
            "found no prepared graph, expected what `kleene prepare` or PreparedGraph.save wrote"
        )
    version = head.get("version")
    if type(version) is not int or not 1 <= version <= _VERSION:
        source.fail(f"found version {version!r}, expected {_VERSION}; upgrade Kleene")
    for name in ("graph", "semiring", "dtype", "negative"):
        if name not in head:
            source.fail(f"found no field {name!r} in the head")
    return head


def _array(source: Source, arrays: dict[str, Array], name: str, types: tuple[str, ...]) -> Array:
    """Return an array that is there, has one dimension, and has one of these types."""
    array = arrays.get(name)
    if array is None or array.ndim != 1 or array.dtype not in [np.dtype(t) for t in types]:
        found = "nothing" if array is None else f"{array.dtype} of shape {array.shape}"
        source.fail(f"found {found} as {name}, expected a list of {' or '.join(types)}")
    return array


def _elimination(source: Source, arrays: dict[str, Array], graph: Graph) -> Elimination:
    """Return the elimination, if it is one of this graph."""
    kept = {name: _array(source, arrays, name, (dtype,)) for name, dtype in _ELIMINATION.items()}
    if graph.neighbors.dtype != np.int32:
        source.fail(f"found {graph.n:,} vertices, more than a prepared graph has")
    for name in ("order", "ranks", "parents", "offsets"):
        length = graph.n + (name == "offsets")
        if len(kept[name]) != length:
            source.fail(f"found {len(kept[name]):,} {name}, expected {length:,}")
    work = graph.m + len(kept["heads"])
    fault = _native.prepared_check_elimination(
        **kept,
        graph_offsets=graph.offsets,
        neighbors=graph.neighbors,
        threads=threads_for(work, source.threads),
    )
    if fault is not None:
        name, rank = fault
        source.fail(f"found a damaged elimination: {_FAULTS[name]} (rank {rank:,})")
    return Elimination(**kept)


def _customization(
    source: Source,
    head: dict[str, Any],
    arrays: dict[str, Array],
    graph: Graph,
    elimination: Elimination,
) -> Customization:
    """Return the values, if they are of the types and in the range that sums rely on."""
    semiring, dtype, negative = head["semiring"], head["dtype"], head["negative"]
    known = _TYPES.get(semiring, {}) if isinstance(semiring, str) else {}
    if not isinstance(dtype, str) or dtype not in known:
        source.fail(f"found values of {dtype!r} in the semiring {semiring!r}")
    if not isinstance(negative, bool):
        source.fail(f"found negative = {negative!r}, expected true or false")
    up = _array(source, arrays, "up", known[dtype])
    down = _array(source, arrays, "down", (up.dtype.name,)) if "down" in arrays else up
    for name, values in (("up", up), ("down", down)):
        if len(values) != elimination.arcs:
            source.fail(f"found {len(values):,} {name}, expected {elimination.arcs:,}")
        if len(values):
            _check_range(source, semiring, negative, name, values)
    return Customization(semiring, np.dtype(dtype), negative, up, down, graph)


def _check_range(source: Source, semiring: str, negative: bool, name: str, values: Array) -> None:
    """Raise unless values are in the range of paths: no sum of two wraps, and none is NaN."""
    low: Any
    high: Any
    if semiring in ("boolean", "max_times"):
        low, high = 0, 1
    elif values.dtype.kind == "i" and semiring == "min_plus":
        high = np.iinfo(values.dtype).max // 2  # which is "no path"
        low = -high
    else:
        low, high = -np.inf, np.inf
    if semiring == "min_plus" and not negative:
        low = 0
    least, most = values.min(), values.max()
    if not (low <= least and most <= high):  # False for NaN
        source.fail(f"found {name} from {least} to {most}, expected values from {low} to {high}")
