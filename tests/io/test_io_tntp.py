"""TNTP: networks of transport research, and zones that no path may pass."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.io import text
from torture.sample_files import TNTP


def read(contents: str | bytes, format: str | None = "edge_list", **options: Any) -> kl.Graph:
    raw = contents.encode() if isinstance(contents, str) else contents
    return kl.read(io.BytesIO(raw), format, **options)


def arcs(graph: kl.Graph) -> set[tuple[Any, ...]]:
    names = graph.label(np.arange(graph.n)).tolist()
    columns = [column.tolist() for column in graph.coo if column is not None]
    return {(names[u], names[v], *rest) for u, v, *rest in zip(*columns, strict=True)}


ZONES, NO_ZONES, UNDECLARED = TNTP


def test_tntp(grain: int) -> None:
    graph = read(NO_ZONES, None)
    assert arcs(graph) == {(1, 3, 1.09), (3, 1, 2.0), (2, 3, 3.5)}
    assert graph.arc_rows.rows.tolist() == [0, 2, 1]
    assert arcs(read(NO_ZONES, "tntp", weight="length")) == {(1, 3, 5280), (3, 1, 5280), (2, 3, 80)}
    assert read(NO_ZONES, "tntp", weight=None).weights is None
    assert read(NO_ZONES, "tntp", weighted=False).weights is None
    assert arcs(read(UNDECLARED, "tntp")) == {(75674, 75778, 3), (75778, 9, 4)}
    untitled = NO_ZONES.replace(b"~\tinit_node", b"\r\n~ nothing\r\n\r\n~\tinit_node")
    assert read(untitled, "tntp").equals(graph)
    units = NO_ZONES.replace(b"\tfree_flow_time", b"\tFree Flow Time (min) ")
    assert read(units, "tntp").equals(graph)
    assert read(b"<NUMBER OF NODES> 2\n<END OF METADATA>\n", None).n == 2
    assert read(b"<END OF METADATA>\n", None).n == 0


def test_zones_are_not_passed() -> None:
    """A trip from zone 1 to zone 2 is a path from 1 to -2."""
    with pytest.raises(
        kl.RequestError, match=r"<stream>:3: paths may not pass zones, nodes below 3"
    ):
        read(ZONES, "tntp")
    assert arcs(read(ZONES, "tntp", through=True)) == arcs(read(NO_ZONES, "tntp"))
    links = ZONES.replace(b"<NUMBER OF LINKS> 3\n", b"") + b"3 2 1 1 7 ;\n1 2 1 1 1 ;\n"
    graph = read(links, "tntp", through=False)
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 2, 3, -1, -2]
    assert kl.sssp(graph, 1).path(-2) == [1, -2]
    assert kl.sssp(graph, 1).path(3) == [1, 3]
    assert kl.sssp(graph, 2).path(-1) == [2, 3, -1]
    assert kl.sssp(graph, 1, targets=[-1]).path(-1) == [1, 3, -1]
    assert kl.sssp(read(links, "tntp", through=True), 1).path(3) == [1, 3]
    nodes = io.BytesIO(b"Node X Y ;\n1 0 1 ;\n2 2 3 ;\n3 4 5 ;\n")
    positions = read(links, "tntp", through=False, positions=nodes).positions
    assert positions is not None
    assert positions.tolist() == [[0, 1], [2, 3], [4, 5], [0, 1], [2, 3]]


def test_zones_that_nothing_passes() -> None:
    one_way = ZONES.replace(b"\t3\t1\t", b"\t3\t3\t")
    assert arcs(read(one_way, "tntp")) == {(1, 3, 1.09), (2, 3, 3.5)}


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (ZONES.replace(b"LINKS> 3", b"LINKS> 4"), "<stream>:4: found 3 links, expected 4"),
        (
            ZONES.replace(b"NODES> 3", b"NODES> 2"),
            "<stream>:2: found 3 nodes in the links, expected 2",
        ),
        (
            ZONES.replace(b"NODES> 3", b"NODES> x"),
            "<stream>:2: .*expected '<NUMBER OF NODES> <number",
        ),
        (
            ZONES.replace(b"NODES> 3", b"NODES> " + b"9" * 18),
            "<stream>:2: a graph of 999,999,999,999",
        ),
        (
            ZONES.replace(b"\t1\t3\t", b"\t0\t3\t"),
            "<stream>:10: found '0' .*, expected a vertex from 1",
        ),
        (ZONES.replace(b"1.09", b"fast"), "<stream>:10: found 'fast' .*, expected a number"),
        (ZONES.replace(b"<END OF METADATA>", b"<END"), "<stream>:6: .*expected metadata"),
        (b"1 2 3 4 5\n", "<stream>:1: .*expected metadata"),
        (b"<END OF METADATA>\n1\n", "<stream>:2: "),
    ],
)
def test_bad_tntp(contents: bytes, message: str) -> None:
    with pytest.raises((kl.FormatError, kl.MemoryBudgetError), match=message):
        read(contents, "tntp", through=True)


def test_columns_of_tntp() -> None:
    with pytest.raises(
        kl.GraphError, match="no column 'time' for the weights: there are 'capacity'"
    ):
        read(NO_ZONES, "tntp", weight="time")
    with pytest.raises(kl.GraphError, match="no column 'init_node'"):
        read(NO_ZONES, "tntp", weight="init_node")


def test_the_ends_are_the_first_columns_whatever_they_are_called(grain: int) -> None:
    """A weight of the name of an end is the column behind them."""
    renamed = NO_ZONES.replace(b"~\tinit_node\tterm_node", b"~\tinit_node\tlength")
    assert renamed != NO_ZONES
    assert arcs(read(renamed, "tntp", weight="length")) == {
        (1, 3, 5280), (3, 1, 5280), (2, 3, 80),
    }  # fmt: skip
    with pytest.raises(ValueError, match="a column is read once"):
        text.ColumnLayout(0, 1, 1)
