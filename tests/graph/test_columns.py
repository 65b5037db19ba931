"""A column is the same column in every library: nulls stay nulls, and texts stay as they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kleene as kl
from kleene.graph import Graph

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

Column = Callable[[list[Any]], Any]


def chunked(values: list[Any]) -> Any:
    """Return a dictionary-encoded column in two chunks with dictionaries of their own."""
    kind = pa.array(values).type
    parts = (pa.array(part, kind).dictionary_encode() for part in (values[:1], values[1:]))
    return pa.chunked_array(list(parts))


def null_in_dictionary(values: list[Any]) -> Any:
    """Return a dictionary-encoded array in which a null is a value of the dictionary."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), pa.array(values))


def of_extension(values: list[Any]) -> Any:
    coded = pa.array(values).dictionary_encode()

    class Coded(pa.ExtensionType):
        def __init__(self) -> None:
            super().__init__(coded.type, "kleene.test")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Any:
            return cls()

    return pa.chunked_array([pa.ExtensionArray.from_storage(Coded(), coded)])


#: Columns that may hold nulls, by what makes them of a list.
COLUMNS: dict[str, Column] = {
    "list": list,
    "arrow": pa.array,
    "arrow chunked": lambda values: pa.chunked_array(
        [values[:1], values[1:]], pa.array(values).type
    ),
    "arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "arrow dictionary in chunks": chunked,
    "arrow dictionary of nulls": null_in_dictionary,
    "arrow extension": of_extension,
    "pandas": pd.Series,
    "pandas categorical": lambda values: pd.Series(pd.Categorical(values)),
    "pandas of arrow": lambda values: pd.Series(
        pd.array(chunked(values), dtype=pd.ArrowDtype(chunked(values).type))
    ),
    "polars": pl.Series,
}


@pytest.fixture(params=COLUMNS)
def column(request: pytest.FixtureRequest) -> Column:
    return COLUMNS[request.param]


def arcs(graph: Graph) -> list[tuple[Any, ...]]:
    sources, targets, _ = graph.coo
    pairs = zip(graph.label(sources).tolist(), graph.label(targets).tolist(), strict=True)
    weights = graph.weights
    return [
        pair if weights is None else (*pair, weights[at].item()) for at, pair in enumerate(pairs)
    ]


# ---- nulls --------------------------------------------------------------------------------------


def path_graph() -> Graph:
    return Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 1, 1])


def table_of(**columns: Any) -> dict[str, Any]:
    return columns


#: Every door that takes a column, with values for it; the last one may be missing, but must not be.
DOORS: dict[str, tuple[list[Any], Callable[[Any], Any]]] = {
    "names": (
        ["a", "b"],
        lambda c: Graph.from_table(table_of(source=c, target=["b", "c"])),
    ),
    "numbers": ([1, 2], lambda c: Graph.from_table(table_of(source=[0, 1], target=c))),
    "positions of ends": (
        [1, 2],
        lambda c: Graph.from_table(table_of(source=[0, 1], target=c), relabel=False),
    ),
    "weights": (
        [5, 6],
        lambda c: Graph.from_table(table_of(source=[0, 1], target=[1, 2], weight=c)),
    ),
    "nodes": (
        ["a", "b"],
        lambda c: Graph.from_table(
            table_of(source=["a"], target=["a"]), nodes=table_of(id=c)
        ),
    ),
    "places of nodes": (
        [1.0, 2.0],
        lambda c: Graph.from_table(
            table_of(source=[0], target=[1]), nodes=table_of(id=[0, 1], x=c, y=[1, 2])
        ),
    ),
    "edges": ([0, 1], lambda c: Graph.from_edges(c, [1, 2])),
    "weights of edges": ([5, 6], lambda c: Graph.from_edges([0, 1], [1, 2], c)),
    "a tuple": ([0, 1], lambda c: Graph.from_any((c, [1, 2]))),
    "offsets": ([0, 1], lambda c: Graph.from_csr(c, [0])),
    "labels": (["a", "b"], lambda c: Graph.from_edges([0], [1], labels=c)),
    "weights of rows": ([7, 8, 9], lambda c: path_graph().reweight(rows=c)),
    "weights of arcs": ([7, 8, 9], lambda c: path_graph().reweight(arcs=c)),
    "weights of a prepared graph": ([7, 8, 9], lambda c: kl.prepare(path_graph()).customize(c)),
    "origins": (
        [0, 1],
        lambda c: kl.loads(path_graph(), table_of(origin=c, destination=[3, 3])).arcs,
    ),
    "destinations": ([3, 2], lambda c: kl.loads(path_graph(), ([0, 0], c, [1.0, 1.0])).arcs),
    "volumes": (
        [2.0, 1.0],
        lambda c: kl.loads(
            path_graph(), table_of(origin=[0, 0], destination=[3, 3], volume=c)
        ).arcs,
    ),
    "volumes of a tuple": ([2.0, 1.0], lambda c: kl.loads(path_graph(), ([0, 0], [3, 3], c)).arcs),
    "sources": ([0, 1], lambda c: kl.sssp(path_graph(), sources=c).distances),
    "targets": ([3, 1], lambda c: kl.sssp(path_graph(), 0, targets=c).distances),
    "paths": ([3, 1], lambda c: list(kl.sssp(path_graph(), 0).paths(c))),
    "facilities": ([3, 1], lambda c: kl.nearest(path_graph(), c).distances),
    "paths to facilities": ([0, 1], lambda c: list(kl.nearest(path_graph(), [3]).paths(c))),
    "starts": ([3, 1], lambda c: kl.within(path_graph(), c, 2).distances.toarray()),
    "vertices": ([3, 1], lambda c: path_graph().subgraph(c).csr),
    "index": ([3, 1], lambda c: path_graph().index(c)),
    "label": ([3, 1], lambda c: path_graph().label(c)),
    "rows turned into": (
        [0, 1],
        lambda c: kl.TurnGraph(path_graph(), table_of(from_row=c, to_row=[1, 2])).expanded.csr,
    ),
    "vertices turned at": (
        [1, 2],
        lambda c: kl.TurnGraph(
            path_graph(), {"from": [0, 1], "via": c, "to": [2, 3]}
        ).expanded.csr,
    ),
    "a vector": ([1.0, 2.0, 3.0, 4.0], lambda c: kl.spmv(path_graph(), c, "min_plus")),
}  # fmt: skip


def plain(answer: Any) -> Any:
    return arcs(answer) if isinstance(answer, Graph) else answer


@pytest.mark.parametrize("door", DOORS)
def test_a_null_is_never_a_value(door: str, column: Column) -> None:
    values, call = DOORS[door]
    for lacking in ([*values[:-1], None], [None, *values[1:]]):
        with pytest.raises(ValueError, match=r".") as caught:
            call(column(lacking))
        assert isinstance(caught.value, kl.KleeneError)


@pytest.mark.parametrize("door", DOORS)
def test_a_column_of_any_library_is_its_values(door: str, column: Column) -> None:
    values, call = DOORS[door]
    held, wanted = (plain(call(given)) for given in (column(values), values))
    if hasattr(held, "graph"):
        held, wanted = arcs(held.graph), arcs(wanted.graph)
    np.testing.assert_equal(held, wanted)


def test_a_missing_flag_goes_both_ways(column: Column) -> None:
    for flags, back in ((["yes", None], (3, 2)), ([None, "-1"], (2, 1)), ([True, None], (3, 2))):
        table = {"source": [1, 2], "target": [2, 3], "oneway": column(flags)}
        assert back in arcs(Graph.from_table(table, directed="oneway"))


def test_a_missing_delay_forbids_the_turn(column: Column) -> None:
    table = {"from": [0, 1], "via": [1, 2], "to": [2, 3], "delay": column([4.0, None])}
    turns = kl.TurnGraph(path_graph(), table)
    assert turns.sssp(0).distances.tolist()[:3] == [0, 1, 6]
    assert turns.sssp(1).reached.tolist() == [False, True, True, False]


def test_tables_of_arrow_and_of_polars() -> None:
    names = {"source": ["a", None], "target": ["b", "c"]}
    coded = pa.table({name: chunked(values) for name, values in names.items()})
    whole = coded.combine_chunks().to_batches()[0]
    for table in (coded, whole, pl.DataFrame(names), coded.to_pandas()):
        with pytest.raises(kl.GraphError, match="no value in 'source', row 1"):
            Graph.from_any(table)
    pairs = pa.table({"origin": chunked([0, None]), "destination": [1, 2]})
    with pytest.raises(kl.GraphError, match="no vertex nan"):
        kl.sssp(path_graph(), pairs=pairs)
    assert kl.sssp(path_graph(), pairs=pairs.slice(0, 1)).distances.tolist() == [1]
    places = pa.table({"x": chunked([1.0, 2.0, 3.0, None]), "y": [0.0] * 4})
    with pytest.raises(kl.GraphError, match=r"that of vertex 3 is \(nan, 0"):
        path_graph().with_positions(places)
    demand = pa.table({"origin": chunked([0, None]), "destination": [1, 2]})
    with pytest.raises(kl.GraphError, match="no vertex nan"):
        kl.loads(path_graph(), demand)


def test_scalars_of_arrow_are_named_by_what_they_hold() -> None:
    g, named = path_graph(), Graph.from_edges([0], [1], labels=["a", "b"])
    for column in (pa.array([3, None]), chunked([3, None])):
        number, null = column[0], column[1]
        with pytest.raises(kl.RequestError, match="limit must be a number, not None"):
            kl.sssp(g, 0, limit=null)
        assert kl.sssp(g, 0, limit=number).reached.sum() == kl.sssp(g, 0, limit=3).reached.sum()
        with pytest.raises(kl.GraphError, match="no vertex None: "):
            kl.sssp(g, pairs=[(0, null)])
        with pytest.raises(kl.GraphError, match=r"which holds 3; pass scalar\.as_py\(\)"):
            kl.sssp(g, pairs=[(0, number)])
        with pytest.raises(kl.RequestError, match=r"entry 0 is 3$"):
            kl.sssp(g, pairs=column)
    with pytest.raises(kl.GraphError, match="which holds 'a'; pass"):
        named.index(chunked(["a"])[0])


def test_dictionaries_in_parquet_files(tmp_path: Path) -> None:
    from pyarrow import parquet

    def read(**columns: Any) -> Graph:
        file = tmp_path / "x.parquet"
        parquet.write_table(pa.table(columns), file)
        return kl.read(file, directed="oneway") if "oneway" in columns else kl.read(file)

    for lacking in ([5, None], [None, 5]):
        with pytest.raises(kl.FormatError, match="1 of 2 rows has no value in 'weight', row "):
            read(source=[0, 1], target=[1, 2], weight=chunked(lacking))
    assert read(source=[0, 1], target=[1, 2], weight=chunked([5, 6])).weights.tolist() == [5, 6]
    assert (2, 1) in arcs(read(source=[0, 1], target=[1, 2], oneway=chunked(["yes", None])))
    twice = pa.table([[0], [1], [2]], names=["source", "target", "source"])
    held = BytesIO()
    parquet.write_table(twice, held)
    with pytest.raises(kl.FormatError, match="found 2 columns 'source', expected one"):
        kl.read(BytesIO(held.getvalue()))


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [["a\0", "a"], [b"a\0", b"a"], ["", "\0"]])
def test_names_that_end_in_nul_are_other_names(names: list[Any], column: Column) -> None:
    g = Graph.from_table({"source": column(names[:1]), "target": column(names[1:])})
    assert arcs(g) == [tuple(names)]
    assert [g.index(name) for name in names] == [0, 1]
    nodes = {"id": column(names)}
    assert arcs(Graph.from_table({"source": names[:1], "target": names[1:]}, nodes=nodes))


def test_names_in_lists_keep_their_types() -> None:
    g = Graph.from_table({"source": [1, "1", (0, 1)], "target": ["1", (0, 1), ("a",)]})
    assert arcs(g) == [(1, "1"), ("1", (0, 1)), ((0, 1), ("a",))]
    grid = Graph.from_table({"source": [(0, 0), (0, 1)], "target": [(0, 1), (1, 1)]})
    assert arcs(grid) == [((0, 0), (0, 1)), ((0, 1), (1, 1))]


@pytest.mark.parametrize(
    "missing", [None, np.nan, np.float64("nan"), np.datetime64("NaT"), pd.NaT, pd.NA]
)
def test_a_vertex_needs_a_name(missing: Any) -> None:
    import networkx as nx

    G = nx.DiGraph([("a", "b")])
    G.add_node(missing) if missing is not None else G.add_node("c")
    doors: list[Callable[[], Graph]] = [
        lambda: Graph.from_edges([0], [1], labels=["a", missing, "b"], n=3),
        lambda: Graph.from_csr([0, 0, 0], [], labels=[missing, "a"]),
        lambda: Graph.from_table({"source": ["a"], "target": [missing]}),
        lambda: Graph.from_table({"source": [], "target": []}, nodes={"id": ["a", missing]}),
    ]
    if missing is not None:
        doors.append(lambda: Graph.from_networkx(G))
    for door in doors:
        with pytest.raises(kl.GraphError, match=r"is missing|has no value"):
            door()
    times = np.array(["2020-01-01", "NaT"], "M8[s]")
    with pytest.raises(kl.GraphError, match="the label of vertex 1 is missing"):
        Graph.from_edges([0], [1], labels=times)


# ---- what is no column --------------------------------------------------------------------------


def decimals() -> Any:
    return pa.array([Decimal("1.5"), Decimal("2.5")])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (lambda: pl.LazyFrame({"source": [0], "target": [1]}), "LazyFrame .* pass frame.collect"),
        (
            lambda: pl.DataFrame({"source": [1], "target": [2]}).cast(pl.Int128),
            "column 'source' has the type Int128, which NumPy does not have; cast it",
        ),
        (
            lambda: pa.table([[1], [2], [3]], names=["source", "target", "source"]),
            "the table has 2 columns 'source'; rename all but one",
        ),
        (
            lambda: pd.DataFrame([[1, 2, 3]], columns=["source", "target", "source"]),
            "the table has 2 columns 'source'; rename all but one",
        ),
        (
            lambda: pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_product([["s"], [*"ab"]])),
            r"no column 'source'; it has \('s', 'a'\), \('s', 'b'\)",
        ),
        (
            lambda: {"source": decimals(), "target": [1, 2], "weight": decimals()},
            "column 'weight' holds Python objects, such as '1.5' of the type Decimal",
        ),
        (lambda: {"source": pa.array([[1], [2, 3]]), "target": [1, 2]}, "must be hashable"),
        (
            lambda: {
                "source": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
                "target": [1],
            },
            "column 'source' has the type sparse_union.*, which NumPy does not have",
        ),
        (lambda: {"source": pa.array([{"a": 1}]), "target": [1]}, "must be hashable"),
        (lambda: {"source": pl.Series([{"a": 1}]), "target": [1]}, r"has the shape \(1, 1\)"),
        (
            lambda: {"source": pl.Series([[1]], dtype=pl.Array(pl.Int64, 1)), "target": [1]},
            "column 'source' must hold one value in each row",
        ),
        (lambda: {"source": [[1], [2, 3]], "target": [1, 2]}, "must be hashable"),
        (lambda: {"source": 1, "target": [1]}, r"has the shape \(\)"),
        (lambda: {"source": "ab", "target": [1, 2]}, r"has the shape \(\)"),
        (lambda: {"source": {1, 2}, "target": [1, 2]}, r"has the shape \(\)"),
        (lambda: {"source": np.eye(2), "target": [1, 2]}, r"has the shape \(2, 2\)"),
        (lambda: pa.table({"a": [1]}).schema, "expected a table or a dict of columns, not Schema"),
        (lambda: pa.array([1]), "expected a table or a dict of columns, not Int64Array"),
    ],
)  # fmt: skip
def test_what_is_no_column_is_refused(table: Callable[[], Any], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kl.GraphError, match=message):
            Graph.from_table(table())


def test_a_lazy_frame_is_refused_at_every_door() -> None:
    g, frame = path_graph(), pl.LazyFrame({"origin": [0], "destination": [1]})
    calls: list[Callable[[], Any]] = [
        lambda: Graph.from_any(frame),
        lambda: kl.loads(g, frame),
        lambda: kl.sssp(g, pairs=frame),
        lambda: kl.TurnGraph(g, frame),
    ]
    for call in calls:
        with pytest.raises(kl.GraphError, match=r"pass frame.collect\(\)"):
            call()


def test_turns_of_empty_lists() -> None:
    for table in ({"from_row": [], "to_row": []}, {"from": [], "via": [], "to": [], "delay": []}):
        assert kl.TurnGraph(path_graph(), table).expanded.m == 3


class Tensor:
    """As much of a tensor of PyTorch as Kleene asks: it makes no array of what has gradients."""

    __module__ = "torch"

    def __init__(self, values: Any, **of: Any) -> None:
        self.array = np.asarray(values)
        self.ndim = self.array.ndim
        self.__dict__.update(of)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if "requires_grad" in self.__dict__ or "layout" in self.__dict__:
            raise RuntimeError("no array of this")
        return np.asarray(self.array, dtype)

    def __iter__(self) -> Any:
        return iter(self.array)

    def __len__(self) -> int:
        return len(self.array)

    def item(self) -> Any:
        return self.array.item()


def test_tensors_that_lose_something_are_refused() -> None:
    learned = Tensor([1.0, 2.0], requires_grad=True)
    sparse = Tensor([1.0, 2.0], layout="torch.sparse_coo")
    g = kl.Graph.from_edges([0, 1], [1, 2], Tensor([1.0, 2.0]))
    for call in (
        lambda weights: kl.Graph.from_edges([0, 1], [1, 2], weights),
        lambda weights: g.reweight(arcs=weights),
        lambda weights: kl.product([[1.0]], weights),
        lambda weights: kl.Graph.from_dense(weights),
    ):
        with pytest.raises(kl.GraphError, match=r"requires gradients, .*tensor\.detach\(\)"):
            call(learned)
        with pytest.raises(kl.GraphError, match="is a sparse tensor; make a graph of its arcs"):
            call(sparse)


@pytest.mark.parametrize("kind", [np.array, Tensor])
def test_a_vertex_as_an_array_without_axes(kind: Any) -> None:
    g = kl.Graph.from_edges([7, 8], [8, 9], [1, 2])
    named = kl.Graph.from_table({"source": [7, 8], "target": [8, 9], "weight": [1, 2]})
    for graph, vertex in ((g, kind(7)), (named, kind(7))):
        assert graph.index(vertex) == graph.index(7)
        assert kl.sssp(graph, vertex).path(kind(9)) == [7, 8, 9]
        assert kl.within(graph, vertex, 1).reached(7).tolist() == [7, 8]
        assert kl.nearest(graph, vertex).distances[graph.index(7)] == 0
        assert kl.path_counts(graph, vertex)[9] == 1
        assert kl.ego(graph, vertex, 1).n == 2
    with pytest.raises(kl.RequestError, match=r"pass several sources by keyword"):
        kl.sssp(g, kind([7, 8]))
    with pytest.raises(kl.GraphError, match="no vertex"):
        kl.sssp(named, kind(6))
