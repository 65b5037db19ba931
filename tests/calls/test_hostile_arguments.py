"""Odd arguments of every public function: a result, a KleeneError or a TypeError; never a crash."""

from __future__ import annotations

import inspect
import io
import itertools
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import rustworkx

import kleene as kl
from torture.sample_files import TNTP

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**62, 2**63, 2**64, 10**18, -(2**70), 10**400, 1.5,
    math.inf, -math.inf, math.nan, "x", "", b"x", [], [1], {}, {1}, (1, 2), Decimal("1.5"),
    Decimal("NaN"), Decimal("1e400"), Fraction(1, 3), np.float16(2), np.float32(1.5), np.float64(2),
    np.int8(1), np.uint64(3), np.bool_(True), np.array(2), np.array([1, 2]), np.array(2.5), 1j,
    object(), len, np.ma.masked, np.datetime64("2020"), range(3), np.array([1, 2], ">i4"),
    np.array([[0.0, 1], [2, 0]], ">f8"), np.ma.masked_equal([1, 2], 2), [[1], [1, 2]], ["a", "b"],
    np.array(["a"], object), np.longdouble("1e4000"), [np.longdouble("1e4000")] * 2,
]  # fmt: skip

G = kl.generate.grid(4, 4, weights=(1, 9))
PLACED = G.with_positions([divmod(v, 4) for v in range(16)])
POINTS = {"source": [0], "target": [1]}

TURN: dict[str, Any] = {"from": [0], "via": [1], "to": [2], "delay": [3]}
TURNS = kl.TurnGraph(G, TURN)
PREPARED = kl.prepare(G)


def _streets() -> Any:
    made = nx.MultiDiGraph(crs="epsg:4326")
    made.add_node(7, x=0.0, y=1.0)
    made.add_node(9, x=0.5, y=1.0)
    made.add_edge(7, 9, length=2.5, geometry="LINESTRING (0 1, 0.5 1)")
    return made


def _digraph() -> Any:
    made = rustworkx.PyDiGraph()
    made.extend_from_weighted_edge_list([(0, 1, {"length": 2.5})])
    return made


_IGRAPH = igraph.Graph(edges=[(0, 1)], edge_attrs={"length": [2.5]})
_EDGE_INDEX = SimpleNamespace(edge_index=np.array([[0, 1], [1, 2]]), num_nodes=3)

#: A call with good arguments, as keywords; each is replaced by each odd value in turn.
CALLS: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "from_edges": (
        kl.Graph.from_edges,
        {"sources": [0, 1], "targets": [1, 2], "weights": None, "n": 3, "directed": True,
         "combine": "min", "labels": None, "name": "", "threads": None},
    ),
    "from_csr": (
        kl.Graph.from_csr,
        {"offsets": [0, 1, 2, 2], "neighbors": [1, 2], "weights": None, "directed": True,
         "labels": None},
    ),
    "from_dense": (kl.Graph.from_dense, {"matrix": [[0, 1], [2, 0]], "null_value": None}),
    "from_scipy": (kl.Graph.from_scipy, {"matrix": None}),
    "from_networkx": (kl.Graph.from_networkx, {"graph": None}),
    "from_igraph": (kl.Graph.from_igraph, {"graph": None}),
    "from_rustworkx": (kl.Graph.from_rustworkx, {"graph": None}),
    "from_osmnx": (kl.Graph.from_osmnx, {"streets": _streets(), "weight": "length"}),
    "from_networkx, weights": (
        lambda **k: kl.Graph.from_networkx(_streets(), **k), {"weight": "length"},
    ),
    "from_igraph, weights": (
        lambda **k: kl.Graph.from_igraph(_IGRAPH, **k), {"weight": "length"},
    ),
    "from_rustworkx, weights": (
        lambda **k: kl.Graph.from_rustworkx(_digraph(), **k), {"weight": "length"},
    ),
    "from_any, weights": (
        lambda **k: kl.Graph.from_any(_EDGE_INDEX, **k), {"weight": "auto"},
    ),
    "read edge_list": (
        lambda **k: kl.read(io.BytesIO(b"from,to,km,oneway\n0,1,2,no\n"), "edge_list", **k),
        {"directed": "oneway", "weight": "km", "weighted": None, "keep_rows": True,
         "positions": None},
    ),
    "read graphml": (
        lambda **k: kl.read(io.BytesIO(b"<graphml><graph/></graphml>"), "graphml", **k),
        {"directed": None, "weight": "auto", "weighted": None, "labels": None},
    ),
    "read tntp": (
        lambda **k: kl.read(io.BytesIO(TNTP[1]), "tntp", **k),
        {"weight": "length", "weighted": True, "through": None},
    ),
    "write npz": (
        lambda **k: kl.write(G, io.BytesIO(), "npz", **k), {"compressed": False, "rows": True},
    ),
    "from_table": (
        kl.Graph.from_table,
        {"table": POINTS, "source": "source", "target": "target", "weight": None, "relabel": True},
    ),
    "index": (G.index, {"label": 0}),
    "subgraph": (G.subgraph, {"vertices": [0]}),
    "reweight": (G.reweight, {"weights": None}),
    "symmetrise": (G.symmetrise, {"combine": "min"}),
    "to": (G.to, {"device": "cpu"}),
    "equals": (G.equals, {"other": G}),
    "bfs": (
        lambda **k: kl.bfs(G, **k),
        {"source": 0, "limit": None, "targets": None, "threads": None, "dtype": None,
         "method": "auto", "device": "auto", "out": None, "reverse": False},
    ),
    "bfs from several": (lambda **k: kl.bfs(G, **k), {"sources": [0]}),
    "sssp": (
        lambda **k: kl.sssp(G, **k),
        {"source": 0, "limit": None, "targets": None, "threads": None, "dtype": None,
         "method": "auto", "device": "auto", "out": None, "reverse": False},
    ),
    "apsp": (
        lambda **k: kl.apsp(G, **k),
        {"sources": None, "limit": None, "threads": None, "dtype": None, "method": "auto",
         "device": "auto", "reverse": False},
    ),
    "sssp of pairs": (lambda **k: kl.sssp(G, **k), {"pairs": [(0, 1)], "limit": None}),
    "components": (lambda **k: kl.components(G, **k), {"kind": "weak", "threads": None}),
    "members": (kl.components(G).members, {"number": 0}),
    "k_shortest": (
        lambda **k: kl.k_shortest(G, **k),
        {"source": 0, "target": 5, "k": 2, "device": "auto", "threads": None},
    ),
    "k_shortest of pairs": (lambda **k: kl.k_shortest(G, k=2, **k), {"pairs": [(0, 1)]}),
    "TurnGraph": (
        lambda **k: kl.TurnGraph(G, **k), {"turns": TURN, "u_turns": 2, "missing": "error"},
    ),
    **{
        f"turns, {name}": (lambda **k: kl.TurnGraph(G, TURN | k), {name: TURN[name]})
        for name in ("from", "via", "to", "delay")
    },
    "turns": (TURNS.sssp, {"source": 0, "targets": [2], "limit": None}),
    "turns, matrix": (TURNS.apsp, {"sources": [0], "targets": [2]}),
    "path": (lambda **k: kl.apsp(G).path(k["source"], k["target"]), {"source": 0, "target": 1}),
    "within": (
        lambda **k: kl.within(G, **k),
        {"sources": [0], "limit": 5, "k": None, "hops": False, "reverse": False, "threads": None},
    ),
    "reach": (kl.within(G, [0], 5).path, {"start": 0, "end": 1}),
    "nearest": (
        lambda **k: kl.nearest(G, **k),
        {"facilities": [0], "k": 2, "limit": None, "hops": False, "reverse": False,
         "threads": None, "device": "auto"},
    ),
    "the nearest": (lambda **k: kl.nearest(G, **k), {"facilities": [0], "k": 1, "device": "cpu"}),
    "nearest, paths": (kl.nearest(G, [0], 2).paths, {"vertices": [1], "rank": 1}),
    "isochrones": (
        lambda **k: kl.isochrones(PLACED, **k),
        {"source": 0, "limits": [1, 2], "hops": False, "reverse": False, "longest": None},
    ),
    "zones": (kl.isochrones(PLACED, 0, 3).to_geojson, {"kinds": ["area"]}),
    "paths": (kl.sssp(G, 0).paths, {"targets": [1], "source": None}),
    "routes": (kl.apsp(G).routes, {"targets": [1], "source": 0}),
    "paths of pairs": (kl.sssp(G, pairs=[(0, 1), (1, 2)]).paths, {"pairs": [1]}),
    "save": (kl.sssp(G, 0).save, {"path": "result.csv"}),
    "draw": (
        lambda **k: kl.draw(kl.sssp(kl.generate.cycle(4), 0), **k),
        {"target": None, "positions": None, "row": 0, "route": None, "labels": None,
         "arrows": None, "title": None, "unit": None},
    ),
    "draw, anything": (kl.draw, {"what": G}),
    "closure": (
        lambda **k: kl.closure(G, **k), {"semiring": "min_plus", "dtype": None, "threads": None},
    ),
    "prepare": (
        lambda **k: kl.prepare(G, **k),
        {"order": None, "semiring": "min_plus", "dtype": None, "threads": None},
    ),
    "customize": (
        PREPARED.customize,
        {"weights": None, "rows": None, "arcs": None, "semiring": None, "dtype": None,
         "threads": None},
    ),
    "customize, new weights": (
        lambda **k: PREPARED.customize(arcs=G.csr[2] * 2, **k),
        {"semiring": None, "dtype": None, "device": "cpu", "threads": None},
    ),
    "prepared, sssp": (
        lambda **k: kl.sssp(PREPARED, **k),
        {"source": 0, "limit": None, "targets": None, "threads": None, "dtype": None,
         "method": "auto", "device": "auto", "out": None, "reverse": False},
    ),
    "prepared, distance": (PREPARED.distance, {"source": 0, "target": 1}),
    "prepared, path": (PREPARED.path, {"source": 0, "target": 1}),
    "prepared, distances": (PREPARED.distances, {"pairs": [(0, 1)], "threads": None}),
    "prepared, paths": (PREPARED.paths, {"pairs": [(0, 1)], "threads": None}),
    "prepared, tree": (PREPARED.tree, {"source": 0, "reverse": False, "threads": None}),
    "prepared, trees": (
        PREPARED.trees, {"sources": [0], "reverse": False, "out": None, "threads": None},
    ),
    "prepared, matrix": (
        PREPARED.matrix,
        {"sources": [0], "targets": [1], "reverse": False, "predecessors": True, "out": None,
         "device": "auto", "threads": None},
    ),
    "prepared, nearest": (
        PREPARED.nearest,
        {"sources": [0], "facilities": [1], "k": 2, "limit": None, "reverse": False,
         "threads": None},
    ),
    "prepared, within": (
        PREPARED.within,
        {"sources": [0], "limit": 3, "reverse": False, "predecessors": True, "threads": None},
    ),
    "load_prepared": (kl.load_prepared, {"path": "nowhere.kp", "graph": None}),
    "spmv": (lambda **k: kl.spmv(G, **k), {"x": np.zeros(16)}),
    "close_distances": (kl.close_distances, {"lengths": None}),
    "ego": (
        lambda **k: kl.ego(G, **k),
        {"vertex": 0, "radius": 2, "hops": False, "reverse": False, "undirected": False,
         "center": True},
    ),
    "product": (
        kl.product,
        {"A": np.zeros((3, 3)), "B": np.zeros((3, 3)), "semiring": "min_plus", "argmin": False,
         "out": None, "dtype": None, "device": "auto", "threads": None},
    ),
    "distance_encodings": (
        kl.distance_encodings,
        {"graphs": [G], "n": None, "ptr": None, "batch": None, "weights": None, "threads": None},
    ),
}  # fmt: skip


def _generators() -> Iterator[str]:
    for name in kl.generate.__all__:
        function = getattr(kl.generate, name)
        if not inspect.isfunction(function):
            continue
        good: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name == "progress":  # anything but a function is a TypeError
                continue
            required = parameter.default is parameter.empty
            good[parameter.name] = 4 if required else parameter.default
        if "p" in good:
            good["p"] = 0.25
        CALLS[f"generate.{name}"] = (function, good)
        yield name


GENERATORS = list(_generators())


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_MEMORY", "128M")  # of graphs and of answers


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # out="x" writes a file
    call, good = CALLS[name]
    for argument, value in itertools.product(good, ODD):
        try:
            call(**good | {argument: value})
        except (kl.KleeneError, TypeError, FileNotFoundError):  # a name may be that of a file
            continue
        except Exception as error:
            pytest.fail(f"{name}({argument}={value!r:.60}): {error!r}")


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("size", [2**40, 2**62, 2**70])
def test_huge_graphs_are_refused_before_allocation(name: str, size: int) -> None:
    function, good = CALLS[f"generate.{name}"]
    sizes = [k for k in good if k in ("n", "m", "rows", "columns", "scale", "k", "edge_factor")]
    assert sizes
    for argument in sizes:
        with pytest.raises(kl.KleeneError):
            function(**good | {argument: size})


# ---- masked, swapped and other arrays -----------------------------------------------------------


def test_masked_arcs_are_refused() -> None:
    masked = np.ma.masked_equal([0, 1, 2], 2)
    plain = np.array([1, 2, 0])
    for given in ((masked, plain), (plain, masked), (plain, plain, masked * 1.0)):
        with pytest.raises(kl.GraphError, match="masked"):
            kl.Graph.from_edges(*given)
    with pytest.raises(kl.GraphError, match="masked"):
        kl.Graph.from_csr([0, 1, 2, 3], masked)
    with pytest.raises(kl.GraphError, match="column 'source' has masked"):
        kl.Graph.from_table({"source": masked, "target": plain})
    with pytest.raises(kl.GraphError, match="labels has masked"):
        kl.Graph.from_edges([0], [1], n=3, labels=masked)
    with pytest.raises(kl.RequestError, match="masked"):
        kl.close_distances(np.ma.masked_equal([[0.0, 1], [1, 0]], 1))
    whole = np.ma.array([0, 1, 2])
    assert kl.Graph.from_edges(whole, plain).m == 3


def test_masked_entries_of_a_matrix_are_no_arcs() -> None:
    matrix = np.ma.array([[0, 2], [3, 0]], mask=[[0, 1], [0, 0]])
    assert kl.Graph.from_dense(matrix).coo.targets.tolist() == [0]
    assert kl.Graph.from_any(matrix).m == 1


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u4", "f2", "f4", "f8"])
def test_swapped_bytes_make_the_same_graph(dtype: str) -> None:
    s, t, w = [0, 1, 0], [1, 2, 2], [1, 2, 3]
    expected = kl.Graph.from_edges(s, t, np.array(w, "<" + dtype), labels=np.array([7, 5, 6]))
    swapped = np.array(w, ">" + dtype)
    ids = [np.array(x, ">i4") for x in (s, t)]
    labels = np.array([7, 5, 6], ">i8")
    assert kl.Graph.from_edges(*ids, swapped, labels=labels).equals(expected)
    offsets, neighbors, weights = expected.csr
    csr = kl.Graph.from_csr(
        offsets.astype(">i8"), neighbors.astype(">i4"), weights.astype(">" + weights.dtype.str[1:]),
        labels=labels,
    )  # fmt: skip
    assert csr.equals(expected)
    dense = expected.dense.astype(">" + expected.dense.dtype.str[1:])
    assert kl.Graph.from_dense(dense).csr.weights.tolist() == weights.tolist()


def test_long_doubles_do_not_become_infinite() -> None:
    large = np.array([np.longdouble("1e400")])
    if not np.isfinite(large).all():
        pytest.skip("long double is double here")
    with pytest.raises(kl.GraphError, match="too large for float64"):
        kl.Graph.from_edges([0], [1], large)


def test_labels_may_come_from_a_generator() -> None:
    g = kl.Graph.from_edges([0], [1], labels=(name for name in "ab"))
    assert g.index("b") == 1
    with pytest.raises(kl.GraphError, match="got more than 2 labels for 2"):
        kl.Graph.from_edges([0], [1], labels=itertools.count())
    with pytest.raises(kl.GraphError, match="got 1 labels for 2"):
        kl.Graph.from_edges([0], [1], labels=iter("a"))


@pytest.mark.parametrize("labels", [[[1], [2]], [{}, {}], [{1}, {2}]])
def test_unhashable_labels_are_refused(labels: Any) -> None:
    with pytest.raises(kl.GraphError, match="hashable"):
        kl.Graph.from_edges([0], [1], labels=labels)


def test_missing_names_of_pandas_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    for dtype, names in (("Int64", [1, None]), ("string", ["a", None]), (object, ["a", pd.NA])):
        frame = pd.DataFrame({"source": pd.Series(names, dtype=dtype), "target": [2, 3]})
        with pytest.raises(kl.GraphError, match=r"missing|not an integer"):
            kl.Graph.from_table(frame)


@pytest.mark.parametrize("limit", [np.float16(4), np.float32(4), np.int8(4), np.uint64(4), 4.0])
def test_limits_of_any_type_are_the_same(limit: Any) -> None:
    expected = kl.sssp(G, 0, limit=4).distances
    np.testing.assert_array_equal(kl.sssp(G, 0, limit=limit).distances, expected)
    np.testing.assert_array_equal(
        kl.bfs(G, 0, limit=limit).distances, kl.bfs(G, 0, limit=4).distances
    )
