"""Tables of streets: one-way columns, weights by name, positions in another file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kleene as kl
from torture.sample_files import POSITIONS


def read(contents: str | bytes, format: str | None = "edge_list", **options: Any) -> kl.Graph:
    raw = contents.encode() if isinstance(contents, str) else contents
    return kl.read(io.BytesIO(raw), format, **options)


def arcs(graph: kl.Graph) -> set[tuple[Any, ...]]:
    names = graph.label(np.arange(graph.n)).tolist()
    columns = [column.tolist() for column in graph.coo if column is not None]
    return {(names[u], names[v], *rest) for u, v, *rest in zip(*columns, strict=True)}


def parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


# ---- one-way streets and weights by name --------------------------------------------------------

STREETS = """from,to,km,minutes,oneway
1,2,10,1,yes
2,3,20,2,
3,4,30,3,-1
4,1,40,4,NO
"""
BY_MINUTES = {(1, 2, 1), (2, 3, 2), (3, 2, 2), (4, 3, 3), (4, 1, 4), (1, 4, 4)}


def test_one_way_streets(grain: int) -> None:
    graph = read(STREETS, directed="oneway", weight="minutes")
    assert arcs(graph) == BY_MINUTES
    assert graph.directed
    rows, against = graph.arc_rows
    assert dict(zip(arcs_in_order(graph), rows.tolist(), strict=True)) == {
        (1, 2): 0, (2, 3): 1, (3, 2): 1, (4, 3): 2, (4, 1): 3, (1, 4): 3,
    }  # fmt: skip
    assert against.tolist() == [(u, v) in ((3, 2), (4, 3), (1, 4)) for u, v in arcs_in_order(graph)]
    again = graph.reweight(rows=[10, 20, 30, 40])  # the column km, in the order of the table
    assert arcs(again) == {(u, v, 10 * w) for u, v, w in BY_MINUTES}


def arcs_in_order(graph: kl.Graph) -> list[tuple[Any, Any]]:
    ends = (graph.label(column).tolist() for column in graph.coo[:2])
    return list(zip(*ends, strict=True))


def test_one_way_streets_between_names(grain: int) -> None:
    table = 'from;to;oneway\n"a;b";c;true\nc;d;"0"\n# note\nd;e;reverse\n'
    assert arcs(read(table, directed="oneway")) == {
        ("a;b", "c"),
        ("c", "d"),
        ("d", "c"),
        ("e", "d"),
    }
    assert not read(table.replace("true", "no").replace("reverse", ""), directed="oneway").directed
    alike = read(table.replace('"0"', "1").replace("reverse", "yes"), directed="oneway")
    assert arcs(alike) == {("a;b", "c"), ("c", "d"), ("d", "e")}
    tabs = "u\tv\toneway\n1\t2\t\n2\t3\t1\n"
    assert arcs(read(tabs, directed="oneway")) == {(1, 2), (2, 1), (2, 3)}


@pytest.mark.parametrize(
    "flags", [["yes", None, "-1", "no"], [1, None, -1, 0], [1.0, None, -1.0, 0]]
)
@pytest.mark.parametrize("names", [[1, 2, 3, 4], ["a", "b", "c", "d"]])
def test_one_way_streets_in_parquet(flags: list[Any], names: list[Any]) -> None:
    table = parquet(source=names, target=[*names[1:], names[0]], minutes=[1, 2, 3, 4], oneway=flags)
    graph = read(table, "parquet", directed="oneway", weight="minutes")
    assert arcs(graph) == {(names[u - 1], names[v - 1], w) for u, v, w in BY_MINUTES}
    assert graph.arc_rows.rows.max() == 3
    assert read(table, "parquet", directed="oneway", keep_rows=False).rows is None


def test_weights_by_name() -> None:
    with pytest.raises(kl.GraphError, match="'km' and 'minutes' may be the weights: say which"):
        read(STREETS)
    assert arcs(read(STREETS, weight="km")) == {(1, 2, 10), (2, 3, 20), (3, 4, 30), (4, 1, 40)}
    one = STREETS.replace("minutes", "lanes")
    assert arcs(read(one)) == arcs(read(STREETS, weight="km"))
    assert read(one, weight=None).weights is None
    assert arcs(read(STREETS, columns=["to", "from"], weight="km")) >= {(2, 1, 10)}
    table = parquet(source=[0], target=[1], weight=[2], km=[3.5])
    with pytest.raises(kl.GraphError, match="'weight' and 'km' may be the weights"):
        read(table, "parquet")
    assert arcs(read(table, "parquet", weight="km")) == {(0, 1, 3.5)}
    assert arcs(read(table, "parquet", weight=None)) == {(0, 1)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "hours"}, "no column 'hours' for the weights: there are .*'km', 'minutes'"),
        ({"directed": "one-way"}, "no column 'one-way'"),
        ({"weight": "km", "weighted": False}, "contradicts"),
        ({"weight": None, "weighted": True}, "contradicts"),
        ({"weight": "km", "columns": ["source", "target", "minutes"]}, "contradicts"),
        ({"directed": "km"}, "column 'km' has '10'"),
    ],
)
@pytest.mark.parametrize("format", ["edge_list", "parquet"])
def test_columns_that_are_not_there(options: dict[str, Any], message: str, format: str) -> None:
    table: Any = STREETS.replace("from,to", "source,target")
    if format == "parquet":
        columns = [line.split(",") for line in table.splitlines()]
        numbers = {"source", "target"}
        table = parquet(
            **{
                name: [int(word) if name in numbers else word for word in values]
                for name, *values in zip(*columns, strict=True)
            }
        )
        message = message.replace("no column 'one", "expected 'one")
    with pytest.raises(kl.KleeneError, match=message):
        read(table, format, **options)


def test_a_street_without_its_last_column() -> None:
    with pytest.raises(kl.FormatError, match="<stream>:3: found the end of the line in '2,3,20,2'"):
        read(STREETS.replace("2,3,20,2,", "2,3,20,2"), directed="oneway", weight="km")


# ---- positions in another file ------------------------------------------------------------------

ROADS = "p sp 3 2\na 1 2 5\na 2 3 4\n"
NAMED = "a b,c\nc,d\n"


def placed(contents: str | bytes, graph: str = ROADS) -> list[list[float]]:
    raw = contents.encode() if isinstance(contents, str) else contents
    format = "dimacs" if graph == ROADS else "edge_list"
    positions = read(graph, format, positions=io.BytesIO(raw)).positions
    assert positions is not None
    return positions.tolist()  # type: ignore[no-any-return]


def test_positions(grain: int) -> None:
    co, sioux_falls, berlin, named, plain = POSITIONS
    assert placed(co) == [[12500000, 41900000], [-1, 2], [7, 8]]
    assert placed(sioux_falls) == [[50000, 510000], [3, -4.5], [1000, 4]]
    assert placed(berlin) == [[5.5, 1.5], [5, 1], [5, 1]]
    assert placed(named, NAMED) == [[1.5, 2], [3, 4], [5, 6]]
    assert placed(plain) == [[0, 0], [1, 1], [2, 2]]
    assert placed("\ufeffy,note,X,Node\r\n3,n,.5,3\r\n2,n,1,2\r\n1,n,0,1\r\n") == [
        [0, 1],
        [1, 2],
        [0.5, 3],
    ]
    assert placed("city,x,y\nd,5,6\nc,3,4\na b,1,2\nzz,0,0\n", NAMED) == [[1, 2], [3, 4], [5, 6]]
    table = parquet(latitude=[1.5, 2, 3], osmid=[3, 2, 1], longitude=[4, 5, 6])
    assert placed(table) == [[6, 3], [5, 2], [4, 1.5]]
    assert placed(parquet(id=["d", "c", "a b"], x=[3, 2, 1], y=[0, 0, 0]), NAMED)[0] == [1, 0]


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("id,x,y\n1,0,0\n3,1,1\n", "found no position of vertex 2, expected one for each of the 3"),
        ("id,x,y\n1,0,0\n2,0,0\n2,1,1\n3,1,1\n", "found two positions of vertex 2, expected one"),
        ("id,x,y\n1,0,zero\n", "<stream>:2: found 'zero' in '1,0,zero', expected a number"),
        ("id,x,y\n1,inf,0\n2,0,0\n3,0,0\n", "positions must be finite"),
        ("id,x\n1,0\n", "expected a vertex, x and y; or a header with the columns id, x and y"),
        ("p aux sp co 4\nv 1 1 1\nv 2 1 1\nv 3 1 1\n", "<stream>:1: found 3 positions, expected 4"),
        ("p aux sp co 1\nw 1 1 1\n", "<stream>:2: .*expected a line that begins with 'v'"),
        (b"p aux sp\n", "expected the header 'p aux sp co <vertices>'"),
        (b"", "found an empty file, expected the positions of vertices"),
        (b"PAR1", "PyArrow cannot read the file"),
        (parquet(id=[1], x=[2.0]), "found the columns id, x, expected id, x and y"),
        (b"\xff\xfe\x00", "found text in UTF-16LE, expected UTF-8"),
    ],
)
def test_positions_that_are_not(contents: str | bytes, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        placed(contents)


def test_positions_by_path(tmp_path: Path) -> None:
    (tmp_path / "roads.gr").write_text(ROADS)
    (tmp_path / "roads.co").write_bytes(POSITIONS[0])
    graph = kl.read(tmp_path / "roads.gr", positions=str(tmp_path / "roads.co"))
    kl.write(graph, tmp_path / "roads.npz")
    back = kl.read(tmp_path / "roads.npz")
    assert back.equals(graph)
    assert np.array_equal(back.positions, graph.positions)
    with pytest.raises(FileNotFoundError):
        kl.read(tmp_path / "roads.gr", positions=tmp_path / "none.co")
    with pytest.raises(kl.RequestError, match="takes a path"):
        kl.read(tmp_path / "roads.gr", positions=5)  # type: ignore[arg-type]
