"""GraphML and GML: what other programs write is read, and hostile files are refused."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest

import kleene as kl
from kleene.io import attributes, gml, graphml
from torture.sample_files import GML, GRAPHML

STREETS, YED, _ = GRAPHML
NEWMAN, *_ = GML


@pytest.fixture(params=[1, 3, 64, 1 << 20], autouse=True)
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Files are read in pieces of so many bytes."""
    for module in (graphml, gml):
        monkeypatch.setattr(module, "CHUNK", request.param)
    return int(request.param)


def read(contents: str | bytes, format: str | None = None, **options: Any) -> kl.Graph:
    raw = contents.encode() if isinstance(contents, str) else contents
    return kl.read(io.BytesIO(raw), format, **options)


def names(graph: kl.Graph) -> list[Any]:
    return graph.label(np.arange(graph.n)).tolist()


def edges(graph: kl.Graph) -> set[tuple[Any, ...]]:
    called = names(graph)
    columns = [column.tolist() for column in graph.coo if column is not None]
    return {(called[u], called[v], *rest) for u, v, *rest in zip(*columns, strict=True)}


def graphml_of(body: str, keys: str = "", default: str = "directed") -> str:
    return f'<graphml>{keys}<graph edgedefault="{default}">{body}</graph></graphml>'


# ---- what other programs write ------------------------------------------------------------------


def network(directed: bool) -> Any:
    made = nx.DiGraph() if directed else nx.Graph()
    made.add_edge("Zürich & <Bern>", "日本", weight=2)
    made.add_edge("日本", 'a "b"\nc', weight=1.5)
    made.add_edge('a "b"\nc', "Zürich & <Bern>", weight=7)
    for place, (_, data) in enumerate(made.nodes(data=True)):
        data.update(x=place / 2, y=-place)
    return made


@pytest.mark.parametrize("write", [nx.write_graphml, nx.write_gml])
@pytest.mark.parametrize("directed", [True, False])
def test_networkx(write: Any, directed: bool) -> None:
    theirs = network(directed)
    file = io.BytesIO()
    write(theirs, file)
    graph = read(file.getvalue())  # the format by its content
    assert graph.equals(kl.Graph.from_networkx(theirs))
    assert graph.directed == directed
    assert np.array_equal(graph.positions, [[0, 0], [0.5, -1], [1, -2]])
    assert graph.arc_rows.rows.max() == 2


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_igraph(tmp_path: Path, ending: str) -> None:
    theirs = igraph.Graph.Famous("Zachary")
    theirs.es["weight"] = [i + 0.5 for i in range(theirs.ecount())]
    theirs.vs["name"] = [f"person {i}" for i in range(34)]
    path = tmp_path / f"club.{ending}"
    getattr(theirs, f"write_{ending}")(str(path))
    graph = kl.read(path, labels="name")
    assert graph.equals(kl.Graph.from_igraph(theirs))
    assert names(kl.read(path))[0] == ("n0" if ending == "graphml" else 0)


def test_integers_are_labels() -> None:
    nodes = '<node id="{}"/><node id="{}"/>'
    big = 2**31 + 5
    assert names(read(graphml_of(nodes.format(10**12, big)))) == [10**12, big]
    assert read(graphml_of(nodes.format(0, 1))).labels is None
    assert names(read(graphml_of(nodes.format(1, 0)))) == [1, 0]
    for other in ("01", "+1", "1.0", " 1", "9" * 19):  # not the usual notation
        assert names(read(graphml_of(nodes.format(0, other)))) == ["0", other]
    assert names(read("graph [ node [ id 4294967297 ] node [ id -3 ] ]")) == [2**32 + 1, -3]


def test_streets() -> None:
    """OSMnx: all attributes are text, lengths are the weights, geometry belongs to rows."""
    graph = read(STREETS)
    assert edges(graph) == {(10, 20, 5.5), (20, 10, 4.0)}
    assert np.array_equal(graph.positions, [[12.5, 41.9], [12.6, 41.8]])
    assert graph.rows is not None
    assert graph.rows.lines is not None
    assert graph.rows.lines.offsets.tolist() == [0, 3, 3]
    assert graph.rows.lines.coordinates[1].tolist() == [12.5, 41.8]


def test_yed() -> None:
    """Nested graphs make one; a group, and edges with a direction of their own."""
    graph = read(YED)
    assert edges(graph) == {("n0::n0", "n0::n1"), ("n0", "n0::n1")}
    assert graph.positions is None  # of one of three nodes only
    node = (
        '<node id="a"><data key="g"><y:ShapeNode><y:Geometry x="1" y="2.5"/></y:ShapeNode></data>'
    )
    placed = read(graphml_of(f"{node}</node>", '<key id="g" for="node"/>'))
    assert np.array_equal(placed.positions, [[1, 2.5]])


def test_directions_of_edges() -> None:
    nodes = '<node id="a"/><node id="b"/><node id="c"/>'
    body = nodes + '<edge source="a" target="b"/><edge source="b" target="c" directed="{}"/>'
    both = {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}
    assert edges(read(graphml_of(body.format("true"), default="undirected"))) == both - {("c", "b")}
    assert edges(read(graphml_of(body.format("false"), default="directed"))) == both - {("b", "a")}
    undirected = read(graphml_of(body.format("false"), default="undirected"))
    assert (edges(undirected), undirected.directed) == (both, False)
    assert edges(read(graphml_of(body.format("true")), directed=False)) == both
    assert not read(graphml_of(nodes, default="undirected")).directed


def test_elements_in_other_places_say_nothing() -> None:
    body = '<node id="a"/><node id="b"/><edge source="a" target="b">{}</edge>'
    odd = '<graph><node id="c"/></graph><data key="k">4<data key="k">5</data><x>6</x></data>'
    graph = read(graphml_of(f"<desc><graph/><edge/></desc>{body.format(odd)}", KEYS))
    assert edges(graph) == {("a", "b", 4)}


KEYS = (
    '<key id="k" for="edge" attr.name="weight" attr.type="int"><default>3</default></key>'
    '<key id="t" for="edge" attr.name="minutes" attr.type="double"/>'
    '<key id="n" for="node" attr.name="name"/>'
)
PAIR = '<node id="a"><data key="n">A</data></node><node id="b"><data key="n"> B </data></node>'


def test_weights_and_defaults() -> None:
    data = '<data key="k">{}</data><data key="t">2.5</data>'
    edge = '<edge source="a" target="b">{}</edge><edge source="b" target="a">{}</edge>'
    whole = graphml_of(PAIR + edge.format(data.format(7), ""), KEYS)
    with pytest.raises(kl.GraphError, match="'weight' and 'minutes' may be the weights: say which"):
        read(whole)
    whole = whole.replace("minutes", "lanes")
    assert edges(read(whole)) == {("a", "b", 7), ("b", "a", 3)}
    assert read(whole).weights.dtype == np.int32  # type: ignore[union-attr]
    assert edges(read(whole, labels="name")) == {("A", "B", 7), ("B", "A", 3)}
    assert read(whole, weight=None).weights is None
    assert read(whole, weighted=False).weights is None
    with pytest.raises(kl.FormatError, match=r"<stream>:1: found an edge without 'lanes', which 1"):
        read(whole, weight="lanes")
    with pytest.raises(
        kl.GraphError, match="no edge attribute 'km' for the weights: there are 'we"
    ):
        read(whole, weight="km")
    with pytest.raises(kl.RequestError, match="contradicts"):
        read(whole, weight="lanes", weighted=False)
    with pytest.raises(kl.FormatError, match="found '7x', expected a number"):
        read(whole.replace(">7<", ">7x<"))
    with pytest.raises(kl.FormatError, match="found 'nan', expected a weight other than NaN"):
        read(whole.replace(">7<", ">nan<"))
    with pytest.raises(kl.FormatError, match="found an empty value, expected a number"):
        read(whole.replace(">7<", "> <"))
    with pytest.raises(kl.FormatError, match="two values of one attribute"):
        read(whole.replace('<data key="t">2.5', '<data key="k">2.5'))
    plain = graphml_of(PAIR + edge.format("", ""), '<key id="n" attr.name="name"/>')
    with pytest.raises(kl.GraphError, match=r"no edge attribute 'weight'.*there are none"):
        read(plain, weighted=True)


def test_newman() -> None:
    graph = read(NEWMAN)
    assert names(graph) == ["BrighamYoung", "Florida & ä\nState"]
    assert not graph.directed
    assert graph.weights is None
    ids = read(NEWMAN, labels="id", weight="value")
    assert edges(ids) == {(1, 2, 3), (2, 1, 3)}
    assert read(b"\xef\xbb\xbf" + NEWMAN.replace(b"\n", b"\r\n")).n == 2


@pytest.mark.parametrize("contents", [*GRAPHML, *GML])
def test_compressed_and_with_other_line_ends(contents: bytes) -> None:
    import gzip

    assert read(gzip.compress(contents)).equals(read(contents))
    if b"Florida" not in contents:  # whose name has a line end
        assert read(contents.replace(b"\n", b"\r\n")).equals(read(contents))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_encodings_of_xml(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + graphml_of('<node id="é"/>')
    assert names(read(text.encode(encoding), "graphml")) == ["é"]


# ---- writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [None, [5, -1, 2**40], ["a\t&", "<\n>", "é'\""]])
@pytest.mark.parametrize("directed", [True, False])
def test_what_is_written_is_read(labels: list[Any] | None, directed: bool) -> None:
    given = np.array(labels) if labels and isinstance(labels[0], int) else labels
    weights = np.array([1, 2**40, 3])
    graph = kl.Graph.from_edges([0, 1, 2], [1, 2, 0], weights, directed=directed, labels=given)
    graph = graph.with_positions([[0, 1 / 3], [1e300, -2], [5, 1e-9]])
    file = io.BytesIO()
    kl.write(graph, file, "graphml")
    back = read(file.getvalue())
    assert back.equals(graph)
    assert np.array_equal(back.positions, graph.positions)
    theirs = kl.Graph.from_networkx(nx.read_graphml(io.BytesIO(file.getvalue())))
    assert theirs.m == graph.m
    assert np.array_equal(np.sort(theirs.weights), np.sort(graph.weights))


# ---- hostile files ------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))

BAD_GRAPHML = {
    f'<!DOCTYPE g [<!ENTITY l0 "ha">{LAUGHS}]><graphml>&l9;</graphml>': "1: found a document type",
    '<!DOCTYPE g SYSTEM "file:///etc/passwd"><graphml/>': "1: found a document type",
    "<graphml>&nbsp;</graphml>": r"1: found damaged XML \(undefined entity\)",
    "<graphml>\n<graph>": r"2: found damaged XML \(no element found\)",
    "<graphml/>": "found no <graph>, expected one",
    "<html/>": "1: found <html>, expected <graphml>",
    "<graphml>" + "<a>" * 300: "1: found more than 200 elements inside each other",
    "<graphml><graph/><graph/></graphml>": "1: found a second graph, expected one",
    '<graphml><graph edgedefault="no"/></graphml>': "found edgedefault='no', expected directed or",
    graphml_of("<node/>"): "found <node> without 'id', expected it",
    graphml_of('<node id="a"/>\n<node id="a"/>'): "2: found a second node with the id 'a'",
    graphml_of(
        '<node id="a"/>\n<edge source="a" target="b"/>'
    ): "2: found an edge at 'b', expected a",
    graphml_of('<node id="a"/>\n<edge source="a"/>'): "2: found <edge> without 'target'",
    graphml_of('<node id="a"><data key="z">1</data></node>'): "found data of 'z', expected a key",
    graphml_of("<hyperedge/>"): "found <hyperedge>, expected edges between two nodes",
    "<graphml><graph/><key id='a'/></graphml>": "found <key> after <graph>",
    '<?xml version="1.0" encoding="big5"?><graphml/>': "multi-byte encodings are not supported",
    '<?xml version="1.0" encoding="none"?><graphml/>': "unknown encoding: none",
    graphml_of('<node id="\x00"/>'): "not well-formed",
    "": "found an empty file",
}


@pytest.mark.parametrize(("contents", "message"), BAD_GRAPHML.items())
def test_bad_graphml(contents: str, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(contents, "graphml")


BAD_GML = {
    "graph [\n": r"2: found the end of the file, expected '\]'",
    "graph ]": "1: found ']', expected a value of 'graph'",
    "graph [ ] ]": "1: found ']', expected a key",
    "[ ]": r"1: found '\[', expected a key before it",
    "graph [ directed 2 ]": "1: found directed '2', expected 0 or 1",
    "graph [ ]\ngraph [ ]": "2: found a second graph",
    "a [ " * 300: "1: found more than 200 lists inside each other",
    "Creator me": r"found no graph, expected 'graph \[ ... \]'",
    '"key" 1': "1: found '\"key\"', expected a key",
    "graph [ node [ ] ]": "1: found 0 values of 'id' in this node, expected one",
    "graph [ node [ id 1 id 2 ] ]": "1: found 2 values of 'id' in this node, expected one",
    "graph [ node [ id 1 ]\nnode [ id 01 ] ]": "2: found a second node with the id '1'",
    "graph [ edge [ source 1 target 2 ] ]": "1: found an edge at '1', expected a node of this id",
    'graph [ node [ id 1 label "open ] ]': "1: found '\"open ] ]', expected the string to be",
    'graph [ node [ id 1 label "a" ] node [ id 2 ] ]': "found no label on the node '2',",
    'graph [ node [ id 1 label "a" ] node [ id 2 label "a" ] ]': "two nodes with the label 'a'",
    "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight x ] ]": "2: found 'x', expected a",
}


@pytest.mark.parametrize(("contents", "message"), BAD_GML.items())
def test_bad_gml(contents: str, message: str) -> None:
    with pytest.raises(kl.FormatError, match=message):
        read(contents, "gml")


def test_gml_that_is_not_utf8() -> None:
    with pytest.raises(kl.FormatError, match=r"<stream>:2: found '\\xff', expected text in UTF-8"):
        read(b'graph [\nnode [ id 1 label "\xff" ] ]', "gml")
    with pytest.raises(kl.FormatError, match="found ']', expected a value"):  # which comes before
        read(b'graph ] node [ id 1 label "\xff" ] ]', "gml")


@pytest.mark.parametrize(
    "text",
    ["LINESTRING (1 2, 3)", "LINESTRING 1 2", "LINESTRING (1 2,, 3 4)", "LINESTRING (1 2, inf 4)"],
)
def test_damaged_geometry(text: str) -> None:
    with pytest.raises(kl.FormatError, match=r"<stream>:1\d: found "):
        read(STREETS.replace(b"LINESTRING (12.5 41.9, 12.5 41.8, 12.6 41.8)", text.encode()))


def test_geometry_of_other_kinds_says_nothing() -> None:
    for text in (b"POINT (1 2)", b"", b"round", b"LINESTRING EMPTY"):
        other = STREETS.replace(b"LINESTRING (12.5 41.9, 12.5 41.8, 12.6 41.8)", text)
        rows = read(other).rows
        assert rows is not None
        assert rows.lines is None or not len(rows.lines.coordinates)


@pytest.mark.parametrize(
    ("format", "contents"),
    [
        ("graphml", f'<graphml><graph><node id="{"a" * 500}"/></graph></graphml>'),
        ("graphml", f"<graphml><!-- {'a' * 500} --><graph/></graphml>"),
        (
            "graphml",
            graphml_of(f'<node id="a"><data key="x">{"1" * 500}</data></node>', '<key id="x"/>'),
        ),
        ("gml", f'graph [ node [ id 1 label "{"a" * 500}" ] ]'),
        ("gml", f"graph [ node [ id {'1' * 500} ] ]"),
        ("gml", f"graph [ ] # {'a' * 500}\n"),
    ],
)
def test_long_values(
    format: str, contents: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (graphml, gml):
        monkeypatch.setattr(module, "LONGEST_VALUE", 200)
    if chunk > 64 and "x" not in contents:
        return  # a value of one piece is not held back
    with pytest.raises(kl.FormatError, match=r"more than 200 .*, expected less"):
        read(contents, format)


def test_values_are_parsed_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "_PENDING", 300)
    n = 50
    nodes = "".join(f"node [ id {i} x {i} y {i}.5 ]\n" for i in range(n))
    arcs = "".join(
        f"edge [ source {i} target {i + 1} weight {i}{'.5' * (i > 9)} ]\n" for i in range(n - 1)
    )
    graph = read(f"graph [ {nodes}{arcs} ]", "gml")
    assert graph.weights is not None
    assert graph.weights[::2].tolist() == [
        i + 0.5 * (i > 9) for i in np.repeat(range(n - 1), 2)[::2]
    ]
    assert graph.positions is not None
    assert graph.positions[:, 1].tolist() == [i + 0.5 for i in range(n)]
    with pytest.raises(kl.FormatError, match="<stream>:74: found 'x'"):
        read(f"graph [ {nodes}{arcs.replace('weight 23.5', 'weight x')} ]", "gml")


def test_memory_is_checked_on_the_way(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    if chunk < 1 << 20:
        return
    monkeypatch.setattr("kleene.graph.checks.available_memory", lambda: 1 << 26)
    body = "".join(f'<node id="v{i}"/>' for i in range(300_000))
    tracemalloc.start()
    try:
        with pytest.raises(kl.MemoryBudgetError, match="reading <stream> needs"):
            read(graphml_of(body))
        with pytest.raises(kl.MemoryBudgetError, match="reading <stream> needs"):
            read("graph [" + "".join(f"node [ id {i} ]" for i in range(300_000)), "gml")
        assert tracemalloc.get_traced_memory()[1] < 1 << 27
    finally:
        tracemalloc.stop()
