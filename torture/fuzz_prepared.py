"""What may happen when a hostile ``.kp`` is loaded, and its graph is asked.

Loading gives a prepared graph or a KleeneError. Whatever its values are, every question is answered
or refused by a KleeneError, without a crash; and what ``verify()`` proves is the right answer. A
graph that the file is loaded for answers as before.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import kleene as kl
from kleene.graph.forms import CSR
from kleene.io.npz import write_aligned

__all__ = ["BrokenContract", "check_prepared", "prepared_graphs"]


class BrokenContract(Exception):
    """A file did what no file may do."""


@cache
def prepared_graphs() -> tuple[kl.PreparedGraph, ...]:
    """Return prepared graphs of all kinds, whose files are the first inputs."""
    tails, heads = [0, 0, 1, 2, 3, 3, 4, 5], [1, 2, 2, 3, 1, 4, 0, 3]
    whole = np.array([4, 9, 3, 1, 7, 2, 5, 8], np.int32)
    unit = kl.Graph.from_edges(tails, heads, n=7)
    ways = kl.Graph.from_edges(tails, heads, whole, n=7, directed=False, name="ways")
    named = kl.Graph.from_edges(tails, heads, whole, labels=list("abcdef"))
    rises = 3.5 * np.subtract(heads, tails)  # which leave every cycle as long as it is
    negative = kl.Graph.from_edges(tails, heads, whole + rises, n=7)
    return (
        kl.prepare(unit),
        kl.prepare(ways),
        kl.prepare(named.with_positions(np.arange(12).reshape(6, 2)), order=list("fedcba")),
        kl.prepare(negative),
        kl.prepare(unit, semiring="boolean"),
        kl.prepare(ways, semiring="max_min"),
        kl.prepare(ways.reweight(0.5), semiring="max_times"),
    )


def check_prepared(contents: bytes) -> None:
    """Load a file as it is, and once more as it would be mapped; ask both.

    NumPy, which reads the arrays for the other archive, does not compare all that the directory of
    an archive says, and passes over bytes behind an array: where that is wrong, the file is
    refused, and the other archive is right.
    """
    first, mapped = _outcome(contents), _aligned(contents)
    unread = "not where the directory says" in first or "bytes of data, expected" in first
    second = first if mapped is None or unread else _outcome(mapped)
    refused = [outcome.startswith("refused") for outcome in (first, second)]
    if not all(refused) and first != second:
        raise BrokenContract(f"mapped and read, a file gives two outcomes: {first}, {second}")


def _aligned(contents: bytes) -> bytes | None:
    """Return the same arrays in an archive that can be mapped; None for what NumPy cannot read."""
    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            names = archive.namelist()
        with np.load(io.BytesIO(contents), allow_pickle=False) as loaded:
            arrays = {name.removesuffix(".npy"): loaded[name] for name in names}
        file = io.BytesIO()
        write_aligned(file, arrays)
    except Exception:  # a damaged archive makes NumPy raise many types
        return None
    # NumPy returns what is not an array as bytes.
    whole = all(isinstance(array, np.ndarray) for array in arrays.values())
    return file.getvalue() if whole and len(arrays) == len(names) else None


def _outcome(contents: bytes) -> str:
    """Return what came of loading a file, in one line."""
    try:
        p = kl.load_prepared(io.BytesIO(contents))
    except kl.KleeneError as error:
        message = str(error)
        if not message or not message.isprintable():
            raise BrokenContract(f"the message of an error: {message!r}") from None
        return f"refused: {message}"
    _ask(p)
    _load_for(_copy(p.graph), contents)
    return f"{p!r}"


def _copy(graph: kl.Graph) -> kl.Graph:
    """Return the graph as the user may have it, in arrays of its own."""
    arrays = (None if array is None else array.copy() for array in graph.csr)
    return kl.Graph(CSR(*arrays), graph.directed)


def _load_for(graph: kl.Graph, contents: bytes) -> None:
    """Load a file for a graph of the user, which must not take over values of the file."""
    try:
        p = kl.load_prepared(io.BytesIO(contents), graph)
        found = kl.closure(graph, p.semiring, method="prepared")
    except kl.KleeneError:
        return
    _compare(found)


def _ask(p: kl.PreparedGraph) -> None:
    """Ask everything; prove the answers, and compare what was proved."""
    vertices: list[Any] = np.atleast_1d(p.graph.label(np.arange(min(p.graph.n, 8)))).tolist()
    pairs = [(a, b) for a in vertices for b in vertices]
    questions: tuple[Callable[[], Any], ...] = (
        lambda: p.trees(vertices),
        lambda: p.matrix(vertices, vertices[::-1]),
        lambda: p.trees(vertices[:2], reverse=True).next_hops,
        lambda: p.distances(pairs),
        lambda: p.paths(pairs),
        lambda: p.nearest(vertices, vertices[:3], 2),
        lambda: p.within(vertices, 9),
        lambda: p.customize(arcs=np.ones(p.graph.m)).trees(vertices),
        lambda: repr(p),
    )
    for question in questions:
        try:
            answer = question()
            if isinstance(answer, kl.Result) and not isinstance(answer, kl.PairsResult):
                _prove(answer)
            elif hasattr(answer, "verify"):
                answer.verify()
        except kl.KleeneError as error:
            if not str(error):
                raise BrokenContract(f"{type(error).__name__} without a message") from None


def _prove(answer: kl.Result) -> None:
    """Compare values that are proved."""
    answer.verify()
    _compare(answer)


def _compare(answer: kl.Result) -> None:
    """Raise unless the values are those of the slow, plain methods."""
    semiring = answer.plan.semiring
    # A file may ask for a wider type than the graph's, which has another value for "no path".
    dtype = None if semiring == "boolean" else answer.values.dtype
    right = kl.closure(answer.graph, semiring, device="reference", predecessors=False, dtype=dtype)
    rows = answer.graph.index(answer.sources)
    columns = slice(None) if answer.targets is None else answer.graph.index(answer.targets)
    truth = right.values.T if answer.reverse else right.values
    values = np.atleast_2d(answer.values)
    if not np.allclose(values, truth[rows][:, columns], rtol=1e-6):
        raise BrokenContract(f"not refused, and wrong: {values.tolist()}")
