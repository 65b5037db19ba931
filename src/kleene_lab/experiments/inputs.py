"""Where graphs come from: files, read and written in every format, and generators."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kleene as kl
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.experiment import Axis, Experiment, Plan, Skipped
from kleene_lab.harness.formatting import amount, three
from kleene_lab.harness.measurements import Measurements, times_as
from kleene_lab.harness.peers import NOT_INSTALLED
from kleene_lab.harness.trial import Trial

__all__ = ["EXPERIMENTS", "FileOf", "ours", "same_graph"]


class FileOf:
    """A graph in a file, which goes with this object."""

    def __init__(self, graph: kl.Graph, name: str) -> None:
        self.graph = graph
        folder = Path(tempfile.mkdtemp(prefix="kleene-lab-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = folder / name
        kl.write(graph, self.path)


def same_graph(right: kl.Graph, results: kl.Graph) -> str:
    """Raise AssertionError if a graph is not what it should be."""
    if not results.equals(right):
        raise AssertionError(f"{results!r} is not {right!r}")
    return "the same arcs"


def ours(environment: Environment) -> Iterator[tuple[str, int]]:
    """Yield Kleene's series: name and threads."""
    yield "Kleene, one core", 1
    if environment.cores > 1:
        yield "Kleene, all cores", environment.cores


def beside_ours(
    results: Measurements, labels: tuple[str, ...], panel: str | None = None
) -> Iterator[str]:
    """Say how fast Kleene is beside each other library."""
    own = best_of(results)
    for series in results.series:
        if not series.startswith("Kleene"):
            for x in results.shared(own, series, panel=panel):
                a, b = results.at(own, x, panel), results.at(series, x, panel)
                if a is not None and b is not None:
                    ratio = results.value(a) / results.value(b)
                    yield f"{labels[int(x)]}: {own} is {times_as(ratio)} as fast as {series}."


def best_of(results: Measurements) -> str:
    """Return Kleene's series with the most cores."""
    return "Kleene, all cores" if "Kleene, all cores" in results.series else "Kleene, one core"


_FILES = ("arcs.mtx", "arcs.tsv", "arcs.tsv.gz", "arcs.gr", "arcs.wsg", "arcs.npz", "arcs.parquet")
_FORMATS = (
    "MatrixMarket", "edge list", "edge list, gzip", "DIMACS", "GAP binary", "npz", "Parquet",
)  # fmt: skip
_READ, _WRITE = "reading", "writing"


def _random_graph(arcs: int) -> kl.Graph:
    random = np.random.default_rng(1)
    sources, targets = random.integers(0, max(arcs // 5, 2), (2, arcs))
    return kl.Graph.from_edges(sources, targets, random.integers(1, 256, arcs, np.int32))


def _file(environment: Environment, x: int) -> FileOf:
    arcs = 500 if environment.quick else 1_000_000
    g = environment.graph(("file", arcs), partial(_random_graph, arcs))
    if _FILES[x].endswith("parquet") and not find_spec("pyarrow"):
        raise Skipped("Parquet needs PyArrow; pip install pyarrow")
    return environment.last("file", (_FILES[x], arcs), lambda: FileOf(g, _FILES[x]))


def _same_arcs(right: kl.Graph, results: Any) -> str:
    """Compare the arcs that were read with those of the graph, up to labels."""
    if isinstance(results, kl.Graph):
        names = results.label(np.arange(results.n))
        if np.array_equal(names, np.arange(1, right.n + 1)):  # the format's own numbering
            names = names - 1
        columns = [names[results.coo.sources], names[results.coo.targets], results.weights]
    elif hasattr(results, "row"):  # a SciPy matrix
        columns = [results.row, results.col, results.data]
    elif hasattr(results, "iloc"):  # a pandas table
        columns = [results[title].to_numpy() for title in results]
    else:  # an Arrow table
        columns = [column.to_numpy() for column in results.columns]
    sources, targets, weights = (np.asarray(column) for column in columns)
    made = kl.Graph.from_edges(sources, targets, weights.astype(np.int32), n=right.n)
    return same_graph(right, made)


_COMMENTS = 2  # lines of an edge list that Kleene wrote


def _scipy(path: Path) -> Callable[[], Any]:
    from scipy.io import mmread

    if "spmatrix" in signature(mmread).parameters:  # from SciPy 1.15 on
        return partial(mmread, path, spmatrix=False)
    return partial(mmread, path)


def _pandas(path: Path) -> Callable[[], Any]:
    import pandas

    return partial(pandas.read_csv, path, sep="\t", skiprows=_COMMENTS, header=None)


def _pyarrow(path: Path) -> Callable[[], Any]:
    from pyarrow import csv

    reading = csv.ReadOptions(skip_rows=_COMMENTS, autogenerate_column_names=True)
    return partial(csv.read_csv, path, reading, csv.ParseOptions(delimiter="\t"))


#: Other readers: what they read, who they are, what must be installed.
_READERS: tuple[tuple[int, str, str, Callable[[Path], Callable[[], Any]]], ...] = (
    (0, "SciPy", "scipy", _scipy),
    (1, "pandas", "pandas", _pandas),
    (1, "PyArrow", "pyarrow", _pyarrow),
)


def _reading(environment: Environment, x: int, threads: int) -> Trial:
    file = _file(environment, x)
    return _of_bytes(partial(kl.read, file.path, threads=threads), file)


def _other_reading(
    environment: Environment, x: int, module: str, reader: Callable[[Path], Callable[[], Any]]
) -> Trial:
    if not find_spec(module):
        raise Skipped(f"{module} is not installed")
    file = _file(environment, x)
    return _of_bytes(reader(file.path), file)


def _writing(environment: Environment, x: int, threads: int) -> Trial:
    file = _file(environment, x)
    trial = _of_bytes(partial(kl.write, file.graph, file.path, threads=threads), file)
    trial.check = lambda _: _same_arcs(file.graph, kl.read(file.path))
    return trial


def _of_bytes(run: Callable[[], Any], file: FileOf) -> Trial:
    g, size = file.graph, float(file.path.stat().st_size)
    check = partial(_same_arcs, g)
    return Trial(run, check, n=g.n, m=g.m, work=size, unit="bytes", repeats=5)


def _files(environment: Environment) -> Iterator[Plan]:
    for x in range(len(_FILES)):
        setup, guess = (0.0, 0.0) if environment.quick else (1.0, 1.0 if "gz" in _FILES[x] else 0.2)
        for series, threads in ours(environment):
            trial = partial(_reading, environment, x, threads)
            yield Plan(series, x, trial, _READ, threads=threads, guess=guess, setup=setup, size=0)
        for which, who, module, reader in _READERS:
            if which == x:
                trial = partial(_other_reading, environment, x, module, reader)
                yield Plan(who, x, trial, _READ, guess=guess, setup=setup, size=0)
        for series, threads in ours(environment):
            trial = partial(_writing, environment, x, threads)
            yield Plan(series, x, trial, _WRITE, threads=threads, guess=guess, setup=setup, size=0)


def _findings_files(results: Measurements) -> Iterator[str]:
    for panel in (_READ, _WRITE):
        points = results.of(best_of(results), panel)
        if points:
            least = min(points, key=lambda point: results.times(point)[0])
            yield (
                f"The fastest format for {panel} is {_FORMATS[int(least.x)]}: "
                f"{three((least.m or 0) / least.median / 1e6)} million arcs a second."
            )
    yield from beside_ours(results, _FORMATS, _READ)


# ---- generators ----------------------------------------------------------------------------------


class _Other(NamedTuple):
    """Another library's way to make such a graph; the number of its arcs."""

    name: str
    module: str
    make: Callable[[Any], Any]
    arcs: Callable[[Any], int]


class _Family(NamedTuple):
    name: str
    make: Callable[[int], kl.Graph]  # by the number of threads
    others: tuple[_Other, ...] = ()


def _families(quick: bool) -> tuple[_Family, ...]:
    generate = kl.generate
    scale = 6 if quick else 18
    n, m = 2**scale, 16 * 2**scale
    side, dense, capped = (8, 24, 32) if quick else (2048, 4096, 5120)
    few, few_m, few_side = max(n // 16, 16), max(m // 16, 16), max(side // 8, 3)  # in plain Python
    return (
        _Family("rmat", lambda t: generate.rmat(scale, threads=t), (
            _Other("NetworKit", "networkit", lambda nk: nk.generators.RmatGenerator(
                scale, 16, 0.57, 0.19, 0.19, 0.05).generate(), lambda g: 2 * g.numberOfEdges()),
        )),
        _Family("rmat, undirected", lambda t: generate.rmat(scale, directed=False, threads=t)),
        _Family("rmat, weights", lambda t: generate.rmat(scale, weights=(1, 255), threads=t)),
        _Family("uniform", lambda t: generate.uniform(n, m, threads=t), (
            _Other("igraph", "igraph", lambda ig: ig.Graph.Erdos_Renyi(n=n, m=m, directed=True),
                   lambda g: g.ecount()),
            _Other("SciPy", "scipy.sparse", lambda sp: sp.random(
                few // 8, few // 8, min(1.0, 128 / few), format="csr"), lambda a: a.nnz),
            _Other("NetworkX", "networkx", lambda nx: nx.gnm_random_graph(
                few, few_m, directed=True), lambda g: g.number_of_edges()),
        )),
        _Family("uniform, undirected", lambda t: generate.uniform(n, m, directed=False, threads=t)),
        _Family("dense", lambda t: generate.dense(dense, threads=t)),
        _Family("capped", lambda t: generate.capped(capped, 0.25, threads=t)),
        _Family("path_plus", lambda t: generate.path_plus(n, threads=t)),
        _Family("grid", lambda t: generate.grid(side, side, threads=t), (
            _Other("igraph", "igraph", lambda ig: ig.Graph.Lattice([side, side], circular=False),
                   lambda g: 2 * g.ecount()),
            _Other("NetworkX", "networkx", lambda nx: nx.grid_2d_graph(few_side, few_side),
                   lambda g: 2 * g.number_of_edges()),
        )),
        _Family("small_world", lambda t: generate.small_world(n, 10, threads=t), (
            _Other("igraph", "igraph", lambda ig: ig.Graph.Watts_Strogatz(1, n, 5, 0.1),
                   lambda g: 2 * g.ecount()),
            _Other("NetworKit", "networkit", lambda nk: nk.generators.WattsStrogatzGenerator(
                n, 5, 0.1).generate(), lambda g: 2 * g.numberOfEdges()),
            _Other("NetworkX", "networkx", lambda nx: nx.watts_strogatz_graph(few, 10, 0.1),
                   lambda g: 2 * g.number_of_edges()),
        )),
    )  # fmt: skip


_FAMILIES = tuple(family.name for family in _families(True))


def _making(environment: Environment, x: int, family: _Family, threads: int) -> Trial:
    right = environment.last("family", (x, environment.quick), lambda: family.make(1))
    check = partial(same_graph, right)
    make = partial(family.make, threads)
    m = float(right.m)
    return Trial(make, check, n=right.n, m=right.m, work=m, unit="arcs", repeats=3)


def _other_making(other: _Other) -> Trial:
    if not find_spec(other.module.partition(".")[0]):
        raise Skipped(NOT_INSTALLED)

    def check(results: Any) -> str:
        arcs = other.arcs(results)
        if trial.m is None:  # what is random has about as many arcs each time
            trial.m, trial.work = arcs, float(arcs)
        if not 0 < 0.9 * trial.m <= arcs <= 1.1 * trial.m:
            raise AssertionError(f"{arcs} arcs, and {trial.m} before")
        return "as many arcs each time, about"

    trial = Trial(partial(other.make, import_module(other.module)), check, unit="arcs", repeats=2)
    return trial


def _generators(environment: Environment) -> Iterator[Plan]:
    guess = 0.0 if environment.quick else 1.0
    for x, family in enumerate(_families(environment.quick)):
        for series, threads in ours(environment):
            trial = partial(_making, environment, x, family, threads)
            yield Plan(series, x, trial, threads=threads, guess=guess, size=0)
        for other in family.others:
            yield Plan(other.name, x, partial(_other_making, other), guess=guess, size=0)


def _findings_generators(results: Measurements) -> Iterator[str]:
    points = results.of(best_of(results))
    if points:
        best = max(points, key=results.value)
        yield (
            f"The fastest family is {_FAMILIES[int(best.x)]}: {three(results.value(best) / 1e6)} "
            "million arcs a second, ready to search."
        )
    yield from beside_ours(results, _FAMILIES)


EXPERIMENTS = (
    Experiment(
        "files",
        "Reading and writing files",
        "How fast are graphs read from files, and written?",
        Axis("format", log=False, labels=_FORMATS),
        _files,
        _findings_files,
        ("ours", "peers"),
        y="rate",
        kind="bars",
        budget=30,
        notes=(
            "Bytes of the file a second; a million arcs with weights, in the page cache. Kleene's "
            "times include making the graph; other libraries' end with the columns of the file."
        ),
        columns=(("arcs/s", lambda point: amount((point.m or 0) / point.median)),),
    ),
    Experiment(
        "generators",
        "Graph generators",
        "How many arcs a second do the generators make?",
        Axis("family", log=False, labels=_FAMILIES),
        _generators,
        _findings_generators,
        ("ours", "peers"),
        y="rate",
        kind="bars",
        budget=30,
        notes=(
            "Arcs a second, the finished graph included. Libraries in plain Python make smaller "
            "graphs. Every graph is the same on one thread and on all."
        ),
    ),
)
