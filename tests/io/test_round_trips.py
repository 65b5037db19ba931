"""What is written is read again: every format, type of weight, kind of label and extreme value.

A format that cannot hold a graph refuses it with an error of Kleene, before anything is written.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kleene as kl
from kleene.io import FORMATS

Array = np.ndarray[Any, Any]
TAILS, HEADS = [0, 0, 1, 2, 3], [1, 2, 2, 3, 0]
N = 4

ENDINGS = [
    (format.name, ending)
    for format in FORMATS.values()
    if format.write is not None
    for ending in format.suffixes
]


def extremes(dtype: type[np.floating[Any]]) -> list[Any]:
    info = np.finfo(dtype)
    return [info.smallest_subnormal, info.tiny, -0.0, dtype(0.1), info.max]


#: Five weights each. Int64 beyond 2^53 has no float64.
WEIGHTS: dict[str, Any] = {
    "none": None,
    "small": np.array([1, 2, 3, 4, 5], np.int32),
    "int32 largest": np.array([2**31 - 1, 1, 2**31 - 2, 7, 3], np.int32),
    "int32 smallest": np.array([-(2**31), 1, 0, 2**31 - 1, 2**31 - 1], np.int32),
    "int64 as int32": np.array([2**31 - 1, 1, 2, 7, 3], np.int64),
    "int64 largest": np.array([2**62, 2**31 - 1, 2**53 + 1, 7, 2**63 - 1], np.int64),
    "int64 smallest": np.array([-(2**63), 2**53 + 1, 2, 2**63 - 1, 2**63 - 1], np.int64),
    "uint8": np.array([255, 1, 2, 3, 4], np.uint8),
    "uint16": np.array([65535, 1, 2, 3, 4], np.uint16),
    "uint32": np.array([2**32 - 1, 1, 2**31 - 1, 3, 4], np.uint32),
    "int8": np.array([127, 1, 2, 3, 4], np.int8),
    "bool": np.array([True, False, True, True, True]),
    "float16": np.array([0.1, 65504, 6e-8, 1, 2], np.float16),
    "float32": np.array(extremes(np.float32), np.float32),
    "float64": np.array(extremes(np.float64), np.float64),
    "whole floats": np.array([1.0, 2.0**53, 2.0**63, 1e22, 5.0]),
    "with inf": np.array([1.5, np.inf, 2, 3, 4]),
    "negative": np.array([-1.5, 2, 3, 4, 5]),
    "zeros": np.zeros(5, np.int32),
}

LABELS: dict[str, Any] = {
    "none": None,
    "from one": [1, 2, 3, 4],
    "numbers": [40, 30, 20, 10],
    "negative": [-(2**63), -1, 0, 2**63 - 1],
    "uint64": np.array([2**63, 2**63 + 1, 2**64 - 1, 5], np.uint64),
    "small uint64": np.array([9, 7, 5, 3], np.uint64),
    "uint8": np.array([9, 7, 5, 3], np.uint8),
    "huge": [2**64, -(2**70), 5, 6],
    "strings": ["ann", "bob", "cy", "dee"],
    "digits": ["1", "2", "3", "-4"],
    "odd digits": ["1", "02", "3", "-4"],
    "odd": ['a "b"', "c,d;e\tf", " g ", ""],
    "comments": ["#x", "%y", "\ufeffz", "source"],
    "unicode": ["Zürich", "東京", "🚲", "e\u0301"],
    "lines": ["a\nb", "c\rd", "e\u2028f", "g"],
    "controls": ["a\0", "\x01", "\x7f", "b\x00c"],
    "surrogate": ["\ud800", "a", "b", "c"],
    "markup": ["<a>", "&amp;", "]]>", "'"],
    "titles": ["source", "target", "weight", "from"],
    "numbers in words": ["inf", "nan", "1e5", "0x1"],
    "mixed": [1, "1", "a", 2],
    "floats": [1.0, 2.5, 3.5, 4.5],
    "tuples": [(0, 1), (1, 2), (2, 3), (3, 4)],
    "dates": [datetime.date(2024, 1, day) for day in range(1, 5)],
    "datetimes": np.array(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"], "M8[ns]"),
    "bytes": [b"a", b"b", b"c", b"d"],
    "bools": [True, False, "a", "b"],
}

Edges = list[tuple[str, str, Any]]


def edges(graph: kl.Graph, names: dict[Any, str]) -> Edges:
    """Return the arcs by the names of their ends; floats of single precision as such."""
    weights = [1] * graph.m if graph.weights is None else graph.weights.tolist()
    ends = [[names[v] for v in graph.label(end).tolist()] for end in graph.coo[:2]]
    return sorted(zip(*ends, weights, strict=True), key=lambda edge: edge[:2])


def check_round_trip(
    graph: kl.Graph, format: str, ending: str, path: Path, **options: Any
) -> str | None:
    """Write and read; return the message if the graph is refused."""
    stream = io.BytesIO()
    try:
        kl.write(graph, path)
    except kl.KleeneError as error:
        assert list(path.parent.iterdir()) == []
        with pytest.raises(type(error)):
            kl.write(graph, stream, format)
        assert stream.getvalue() == b""  # nothing, rather than half
        return str(error)
    kl.write(graph, stream, format, **options)
    if format in ("edge_list", "npy", "dimacs"):
        options["directed"] = graph.directed
    back = kl.read(path, format if format == "edge_list" else None, **options)
    names = list(range(graph.n)) if graph.labels is None else graph.labels.tolist()
    first = FORMATS[format].numbered_from
    read_names = list(range(first, first + graph.n)) if first is not None else names
    wanted = edges(graph, {name: repr(name) for name in names})
    if first is not None:
        shown = {new: repr(old) for new, old in zip(read_names, names, strict=True)}
    else:
        shown = {name: repr(name) for name in names}
        assert {type(v) for v in back.label(np.arange(back.n)).tolist()} <= {type(v) for v in names}
    found = edges(back, shown)
    if graph.weights is not None and graph.weights.dtype == np.float32:
        found = [(u, v, float(np.float32(w))) for u, v, w in found]
    assert found == wanted
    if graph.weights is None:
        assert back.weights is None or format in ("dimacs", "npy")
    elif graph.weights.dtype.kind == "i":
        assert back.weights is not None
        assert back.weights.dtype.kind == "i"
    path.unlink()
    return None


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("format", "ending"), ENDINGS)
def test_weights(tmp_path: Path, format: str, ending: str, weights: str, directed: bool) -> None:
    values = WEIGHTS[weights]
    graph = kl.Graph.from_edges(TAILS, HEADS, values, n=N, directed=directed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused = check_round_trip(graph, format, ending, tmp_path / f"g{ending}")
    if refused is None:
        return
    if format == "gap":
        assert "int32 weights only" in refused
    elif format == "metis":
        assert "positive integer" in refused or "undirected" in refused
    else:
        assert format == "npy", refused
        assert weights in ("int64 largest", "int64 smallest"), refused
        assert str(2**63 - 1) in refused


@pytest.mark.parametrize("weights", [None, [0] * 6, [0, 1, 0, 2, 0, 3], [0.0] * 6, [2**31 - 1] * 6])
@pytest.mark.parametrize(("format", "ending"), ENDINGS)
def test_complete_graphs(
    tmp_path: Path, format: str, ending: str, weights: list[Any] | None
) -> None:
    """A matrix of these has no entry that says "no arc" beside its zeros."""
    ends = [(u, v) for u in range(3) for v in range(3) if u != v]
    graph = kl.Graph.from_edges(*zip(*ends, strict=True), weights, n=3)
    refused = check_round_trip(graph, format, ending, tmp_path / f"g{ending}")
    whole = weights is None or isinstance(weights[0], int)
    assert refused is None or format == "metis" or (format == "gap" and not whole)


#: What a format with labels cannot hold.
REFUSED = {
    "edge_list": {"uint64", "huge", "lines", "surrogate", "mixed", "floats", "tuples", "dates"}
    | {"datetimes", "bytes", "bools"},
    "graphml": {"uint64", "huge", "controls", "surrogate", "mixed", "floats", "tuples", "dates"}
    | {"datetimes", "bytes", "bools", "digits"},
    "npz": {
        "huge",
        "mixed",
        "floats",
        "tuples",
        "dates",
        "datetimes",
        "bytes",
        "bools",
        "controls",
    },
    "parquet": {"uint64", "huge", "surrogate", "mixed", "floats", "tuples", "dates", "datetimes"}
    | {"bytes", "bools"},
}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(("format", "ending"), ENDINGS)
def test_labels(tmp_path: Path, format: str, ending: str, labels: str, weighted: bool) -> None:
    weights = [1.5, 2, 3, 4, 5] if weighted and format != "gap" else None
    graph = kl.Graph.from_edges(TAILS, HEADS, weights, n=N, labels=LABELS[labels])
    if format == "metis":
        graph = graph.reweight(None).symmetrise()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refused = check_round_trip(graph, format, ending, tmp_path / f"g{ending}")
    if FORMATS[format].numbered_from is not None:
        assert (refused is None) == (labels in ("none", "from one"))
    else:
        assert (refused is not None) == (labels in REFUSED[format]), refused


# ---- tables of results ------------------------------------------------------------------------

TABLES = ["csv", "tsv", "json", "parquet"]


@pytest.mark.parametrize("ending", TABLES)
@pytest.mark.parametrize("labels", LABELS)
def test_labels_in_tables_of_results(tmp_path: Path, labels: str, ending: str) -> None:
    graph = kl.Graph.from_edges(TAILS, HEADS, [1, 2, 3, 4, 5], n=N, labels=LABELS[labels])
    path = tmp_path / f"r.{ending}"
    result = kl.apsp(graph)
    names = list(range(N)) if graph.labels is None else graph.labels.tolist()
    if labels == "surrogate":
        with pytest.raises(kl.GraphError, match="lone surrogate"):
            result.save(path)
        assert list(tmp_path.iterdir()) == []
        return
    result.save(path)
    if ending == "parquet":
        found = pd.read_parquet(path)["target"].tolist()[:N]
    elif ending == "json":
        found = [row["target"] for row in json.loads(path.read_text())][:N]
    else:
        separator = "," if ending == "csv" else "\t"
        with path.open(newline="", encoding="utf-8") as file:
            found = [row["target"] for row in csv.DictReader(file, delimiter=separator)][:N]
    if ending == "json":
        found = [tuple(name) if isinstance(name, list) else name for name in found]
    numbers_or_text = (
        graph.labels is None or graph.labels.dtype.kind in "iu" or {*map(type, names)} == {str}
    )
    if ending in ("csv", "tsv") or not numbers_or_text:
        assert list(map(str, found)) == list(map(str, names))
    else:
        assert found == names
