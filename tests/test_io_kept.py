"""What files keep: the numbers of vertices, labels, positions, table rows."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from torture.sample_files import GRAPHML

STREETS = """from,to,km,minutes,oneway
1,2,10,1,yes
2,3,20,2,
3,4,30,3,-1
4,1,40,4,NO
"""


@pytest.mark.parametrize("ending", ["gr", "mtx", "graph"])
def test_a_vertex_keeps_its_number(tmp_path: Path, ending: str) -> None:
    """Formats that number from 1 are read, asked and written in these numbers."""
    graph = kl.Graph.from_edges([0, 1, 2], [1, 2, 3], [10, 20, 30], directed=ending != "graph")
    kl.write(graph, tmp_path / f"g.{ending}")
    back = kl.read(tmp_path / f"g.{ending}")
    assert repr(back).endswith("labelled 1 to 4)")
    assert kl.sssp(back, 1).path(4) == [1, 2, 3, 4]
    assert kl.sssp(back.unlabelled(), 0).path(3) == [0, 1, 2, 3]
    with pytest.raises(kl.GraphError, match="labelled 1 to 4"):
        kl.sssp(back, 0)
    kl.write(back, tmp_path / f"again.{ending}")
    first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("g", "again"))
    assert second in (first, b"c g\n" + first)  # DIMACS files begin with a name
    for other in ("csv", "npz", "graphml"):
        kl.write(back, tmp_path / f"g.{other}")
        assert kl.read(tmp_path / f"g.{other}").labels.tolist() == [1, 2, 3, 4]  # type: ignore[union-attr]


@pytest.mark.parametrize("ending", ["gr", "mtx", "npy", "sg"])
def test_other_labels_are_not_dropped_without_a_word(tmp_path: Path, ending: str) -> None:
    for labels in (["a", "b"], np.array([7, 8]), np.array([2, 1])):
        graph = kl.Graph.from_edges([0], [1], labels=labels)
        with pytest.raises(kl.GraphError, match=r"cannot hold labels .*use graph.unlabelled\(\)"):
            kl.write(graph, tmp_path / f"g.{ending}")
        assert list(tmp_path.iterdir()) == []
    kl.write(graph.unlabelled(), tmp_path / f"g.{ending}")
    assert kl.read(tmp_path / f"g.{ending}").m == 1


def read(contents: str | bytes, format: str | None = "edge_list", **options: Any) -> kl.Graph:
    raw = contents.encode() if isinstance(contents, str) else contents
    return kl.read(io.BytesIO(raw), format, **options)


def saved(graph: kl.Graph, **options: Any) -> kl.Graph:
    file = io.BytesIO()
    kl.write(graph, file, "npz", **options)
    return read(file.getvalue(), "npz")


def test_npz_keeps_rows_and_geometry() -> None:
    streets = read(STREETS, directed="oneway", weight="minutes")
    osm = read(GRAPHML[0], None)
    parallel = kl.Graph.from_edges([0, 0, 1], [1, 1, 2], [5.0, 4.0, 3.0], directed=False)
    for graph in (streets, osm, parallel, streets.transpose(), streets.subgraph([2, 3, 4])):
        back = saved(graph)
        assert back.equals(graph)
        assert back.rows is not None
        for mine, theirs in zip(graph.arc_rows, back.arc_rows, strict=True):
            assert np.array_equal(mine, theirs)
        column = np.arange(10, 10 + graph.rows.count)  # type: ignore[union-attr]
        assert back.reweight(rows=column).equals(graph.reweight(rows=column))
    lines = saved(osm).rows.lines  # type: ignore[union-attr]
    assert np.array_equal(lines.coordinates, osm.rows.lines.coordinates)  # type: ignore[union-attr]
    assert saved(streets, rows=False).rows is None
    assert saved(kl.generate.grid(3, 3)).rows is None


ROWS: dict[str, Any] = {
    "rows_sources": [0, 0], "rows_targets": [1, 1], "rows_undirected": False, "rows_flipped": False,
    "rows_count": 2, "rows_combine": "min", "rows_weights": [3, 4],
    "rows_direction": np.int8([1, 1]), "rows_numbers": [0, 1],
    "rows_line_offsets": [0, 2, 2], "rows_line_coordinates": [[0.0, 1]] * 2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({}, ""),
        ({"rows_sources": [0, 2]}, "the rows' sources must be from 0 to 1"),
        ({"rows_targets": [-1, 1]}, "the rows' targets must be from 0 to 1"),
        ({"rows_targets": [1]}, r"the rows' targets have shape \(1,\), not \(2,\)"),
        ({"rows_targets": None}, r"the rows' targets have shape \(0,\), not \(2,\)"),
        ({"rows_direction": np.int8([1, 2])}, "direction must be -1, 0 or 1"),
        ({"rows_weights": [3, np.nan]}, "weights hold NaN"),
        ({"rows_weights": [3]}, "the rows' weights have shape"),
        ({"rows_count": 1}, "the rows' numbers must be from 0 to 0"),
        ({"rows_count": -1}, "the table rows are -1"),
        ({"rows_count": 3, "rows_numbers": None}, "the table has 3 rows, but 2 are stored"),
        ({"rows_combine": "mean"}, "combined by 'mean'"),
        ({"rows_flipped": None}, "lack an entry"),
        ({"rows_line_offsets": [0, 3, 2]}, "line_offsets must not decrease"),
        ({"rows_line_offsets": [0, 2]}, "expected a line for each of 2 rows"),
        ({"rows_line_coordinates": [[0.0, np.inf]] * 2}, "must be pairs of numbers"),
        ({"rows_line_coordinates": [0.0, 1]}, "must be pairs of numbers"),
    ],
)
def test_rows_in_npz_are_checked(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    entries = {name: value for name, value in {**ROWS, **changed}.items() if value is not None}
    graph = {"format": "kleene.graph", "version": 1, "directed": True, "name": ""}
    np.savez(tmp_path / "g.npz", **graph, offsets=[0, 1, 1], neighbors=[1], weights=[3], **entries)  # type: ignore[arg-type]
    if not message:
        assert kl.read(tmp_path / "g.npz").arc_rows.rows.tolist() == [0]
        return
    with pytest.raises(kl.FormatError, match=message):
        kl.read(tmp_path / "g.npz")


def test_npz_files_without_positions_stay_readable(tmp_path: Path) -> None:
    old = {"format": "kleene.graph", "version": 1, "directed": True, "name": "old"}
    np.savez(tmp_path / "old.npz", **old, offsets=[0, 1, 1], neighbors=[1])
    assert kl.read(tmp_path / "old.npz").positions is None
    bad: dict[str, Any] = {"offsets": [0, 1, 1], "neighbors": [1], "positions": [[1, 2, 3]]}
    np.savez(tmp_path / "bad.npz", **old, **bad)
    with pytest.raises(kl.FormatError, match=r"positions must have shape \(2, 2\)"):
        kl.read(tmp_path / "bad.npz")
