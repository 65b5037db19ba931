"""The contracts that fuzzing tests in Python: what may happen when a hostile file is read.

Reading gives a graph or a KleeneError. Loading a result gives a Result or a KleeneError; what loads
can be proved right or is refused, and what is proved is the answer. A target is a function of the
bytes of a file; whatever it raises is a failure.
"""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # noqa: F401  (imported by what is tested: not while the clock runs)
import pyarrow.parquet  # noqa: F401
import scipy.sparse.csgraph  # noqa: F401

import kleene as kl
from kleene.io import FORMATS, gml, graphml, text
from torture.fuzz_prepared import check_prepared

__all__ = ["TARGETS", "BrokenContract", "result_graphs"]


class BrokenContract(Exception):
    """A file did what no file may do."""


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenContract(what)


#: Options that change what a reader does; every input is read with each.
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "edge_list": (
        {},
        {"relabel": False, "weighted": True},
        {"names": True, "directed": False},
        {"separator": ",", "header": True},
        {"columns": [1, 0], "comments": "c"},
        {"directed": "oneway", "weight": "km"},
    ),
    "parquet": ({}, {"relabel": False}, {"directed": "oneway", "weight": "km"}),
    "graphml": ({}, {"weight": "km", "labels": "name"}, {"directed": True, "weighted": False}),
    "gml": ({}, {"weight": "km", "labels": "id"}, {"directed": True, "weighted": False}),
    "tntp": ({}, {"through": False, "weight": "length"}, {"through": True, "weighted": False}),
    "geojson": ({}, {"directed": "oneway", "weight": "km"}, {"weighted": False, "snap": 9}),
    "geopackage": ({}, {"directed": "oneway", "weight": "km"}, {"layer": "streets", "snap": 9}),
    "matrix_market": ({}, {"directed": False, "weighted": False}),
    "npy": ({}, {"null_value": 0}),
}

GRAINS = (1 << 20, 7)  # the bytes of a chunk: more than a file has, and few


def read(format: str | None, contents: bytes) -> None:
    """Read a file with every set of options; check the graph, and the message of an error."""
    is_text = format is not None and FORMATS[format].text
    for options in OPTIONS.get(format or "", ({},)):
        outcomes = {_read(format, contents, grain, options) for grain in GRAINS[: 1 + is_text]}
        _require(len(outcomes) == 1, f"chunks change the outcome: {outcomes}")


def _read(format: str | None, contents: bytes, grain: int, options: dict[str, Any]) -> str:
    """Return what came of reading, in one line."""
    usual = text.GRAIN, graphml.CHUNK, gml.CHUNK
    text.GRAIN = graphml.CHUNK = gml.CHUNK = grain
    try:
        graph = kl.read(io.BytesIO(contents), format, **options)
    except kl.KleeneError as error:
        return _checked_message(error)
    finally:
        text.GRAIN, graphml.CHUNK, gml.CHUNK = usual
    try:
        again = kl.Graph.from_csr(*graph.csr, directed=graph.directed)  # which checks them
    except kl.MemoryBudgetError as error:  # of the second graph
        return _checked_message(error)
    _require(np.array_equal(again.offsets, graph.offsets), "the graph is not canonical")
    if graph.rows is not None:
        try:
            rows = graph.arc_rows.rows
        except kl.MemoryBudgetError as error:
            return _checked_message(error)
        _require(len(rows) == graph.m, "an arc without a row")
        anything = contents.startswith(b"PK")  # an archive, whose rows may say what they like
        _require(anything or graph.m == 0 or rows.min() >= 0, "an arc of no row")
    return f"{graph!r} at {graph.positions}"


def read_in_parts(format: str, contents: bytes) -> None:
    """Read a file as a rank of an MPI job does; what one process reads too is the same."""
    path = Path(_folder().name) / "parts"
    path.write_bytes(contents)
    try:
        parts = kl.distributed.read(path, format, comm=kl.distributed.Communicator())
        whole = kl.read(path, format)
    except kl.KleeneError as error:  # of one process: in a part of the file that ranks do not read
        _checked_message(error)
        return
    _require((parts.n, parts.m) == (whole.n, whole.m), f"{parts!r} in parts, {whole!r} whole")
    _require(np.array_equal(parts.neighbors, whole.neighbors), "other arcs in parts")
    _require(np.array_equal(parts.weights, whole.weights), "other weights in parts")


def _checked_message(error: kl.KleeneError) -> str:
    message = str(error)
    _require(message != "", f"{type(error).__name__} without a message")
    _require(message.isprintable(), f"unprintable message: {message!r}")
    return message.partition("damaged XML (")[0]  # Expat sees chunks, and finds another fault first


def positions(contents: bytes) -> None:
    """Read a file of positions, for vertices that are numbers and for vertices with names."""
    for graph in (b"p sp 3 2\na 1 2 1\na 2 3 1\n", b"a b,c\nc,d\n"):
        for at in GRAINS:
            usual, text.GRAIN = text.GRAIN, at
            format = "dimacs" if graph.startswith(b"p") else "edge_list"
            try:
                placed = kl.read(io.BytesIO(graph), format, positions=io.BytesIO(contents))
                _require(np.isfinite(placed.positions).all(), "a vertex nowhere")
            except kl.KleeneError as error:
                _checked_message(error)
            finally:
                text.GRAIN = usual


# ---- results ------------------------------------------------------------------------------------


@cache
def result_graphs() -> tuple[kl.Graph, ...]:
    """Return the graphs that the results of the corpus belong to."""
    tails, heads = [0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 1, 4, 0]
    whole = np.array([4, 9, 3, 1, 7, 2, 5], np.int32)
    real = np.array([0.5, 2.25, -0.125, 1e9, 3, 1e-3, 7])
    return tuple(
        kl.Graph.from_edges(tails, heads, weights, n=6)
        for weights in (None, whole, real, abs(real))
    )


def result(contents: bytes) -> None:
    """Load a result on every graph; prove it; what was proved must be the answer."""
    path = Path(_folder().name) / "result.npz"
    path.write_bytes(contents)
    for graph in result_graphs():
        try:
            loaded = kl.Result.load(path, graph)
            proof = loaded.verify()
        except kl.KleeneError as error:
            _require(str(error) != "", f"{type(error).__name__} without a message")
            continue
        _require(proof.rows == proof.of, f"{proof.rows} rows were proved")
        _use(loaded)
        if isinstance(loaded, kl.PairsResult):
            _check_pairs(loaded)
        else:
            _check_answer(loaded)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="kleene-fuzz-")


def _use(loaded: kl.Result) -> None:
    """Call what a user calls: it works, or refuses."""
    _require(repr(loaded) != "", "a result without a representation")
    uses: tuple[Callable[[], Any], ...] = (
        loaded.paths,
        lambda: loaded.next_hops,
        loaded.to_pandas,
        loaded.to_frame,
        loaded.routes,
        lambda: loaded.path(int(loaded.sources[0]), 1),
    )
    for use in uses:
        try:
            use()
        except kl.KleeneError as error:
            _require(str(error) != "", f"{type(error).__name__} without a message")


def _check_answer(loaded: kl.Result) -> None:
    """Compare what was proved with the answer of the slow, plain methods."""
    values = np.atleast_2d(loaded._answer.values)
    for row, source in enumerate(loaded.sources.tolist()):
        reached = values[row] != loaded.no_path
        horizons, limit = loaded._answer.horizons, loaded._limit
        truth, exists = _truth(loaded, source)
        _require(not (reached & ~exists).any(), "a path was proved that there is not")
        _require(np.allclose(values[row][reached], truth[reached], rtol=1e-6), "a wrong value")
        if horizons is None and limit is None:
            _require(np.array_equal(reached, exists), "a path is missing from what was proved")


def _check_pairs(loaded: kl.PairsResult) -> None:
    """Compare the values of pairs with the answer of the slow, plain methods."""
    for i, (source, target) in enumerate(zip(loaded.sources, loaded.targets, strict=True)):
        truth, exists = (values[target] for values in _truth(loaded, source))
        _require(exists or not loaded.reached[i], "a path was proved that there is not")
        if loaded.reached[i]:
            _require(np.isclose(loaded.distances[i], truth, rtol=1e-6), "a wrong value")
        elif exists:
            _require(loaded._limit is not None, "a path is missing from what was proved")


def _truth(loaded: kl.Result, source: int) -> tuple[Any, Any]:
    """Return the values from a source, or towards it, and which of them are paths."""
    which = result_graphs().index(loaded.graph)
    right = _right_answer(which, loaded.problem == "bfs", loaded.plan.semiring)
    if loaded.reverse:
        return right.values[:, source], right.reached[:, source]
    return right.values[source], right.reached[source]


@cache
def _right_answer(which: int, hops: bool, semiring: str) -> kl.Result:
    graph = result_graphs()[which]
    if hops:
        return kl.bfs(graph, sources=range(graph.n), device="reference")
    return kl.closure(graph, semiring, device="reference")


def _without_warnings(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def checked(contents: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", kl.GraphWarning)
            check(contents)

    return checked


def _reader(format: str | None) -> Callable[[bytes], None]:
    def check(contents: bytes) -> None:
        read(format, contents)
        if format in ("npz", "gap", "edge_list"):
            read_in_parts(format, contents)

    return check


#: Every target, by name; "any" detects the format.
TARGETS: dict[str, Callable[[bytes], None]] = {
    name: _without_warnings(check)
    for name, check in {
        **{name: _reader(name) for name in FORMATS},
        "any": _reader(None),
        "positions": positions,
        "result": result,
        "prepared": check_prepared,
    }.items()
}
