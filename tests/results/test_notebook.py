"""What notebooks show: small, whole, escaped HTML that costs nothing to make."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import kleene as kl

HOSTILE = '<script>alert("x")</script>'


class Card(HTMLParser):
    """The elements and texts of HTML, which must be closed in order."""

    def __init__(self, thing: Any) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.styles: list[str] = []
        self.html: str = thing._repr_html_()
        self.feed(self.html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.styles += [value or "" for name, value in attrs if name == "style"]
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " | ".join(self.texts)


@pytest.fixture(scope="module")
def towns() -> kl.Graph:
    table = {
        "source": ["Rome", "Rome", "Milan", HOSTILE],
        "target": ["Naples", "Milan", "Turin", "Bari"],
        "weight": [225, 570, 140, 1234567],
    }
    return kl.Graph.from_table(table)


def everything(g: kl.Graph) -> list[Any]:
    """Return one object of each kind that notebooks show."""
    return [
        g,
        g.stats,
        g.with_positions(np.arange(2 * g.n).reshape(-1, 2)),
        kl.Graph.from_edges([], []),
        kl.Graph.from_dense(np.ones((3, 3))),
        kl.bfs(g, "Rome"),
        kl.sssp(g, "Rome", reverse=True),
        kl.sssp(g, "Rome", predecessors=False),
        kl.sssp(g, sources=["Rome", HOSTILE], targets=["Turin"]),
        kl.sssp(g, pairs=[("Rome", "Turin"), ("Turin", HOSTILE)]),
        kl.apsp(g),
        kl.closure(g),
        kl.sssp(g, HOSTILE).route("Bari"),
        kl.sssp(g, "Bari").route("Rome"),
        kl.nearest(g, ["Bari", HOSTILE]),
        kl.within(g, ["Rome", HOSTILE], 300),
        kl.components(g),
        kl.k_shortest(g, "Rome", "Turin", 3),
        kl.k_shortest(g, "Turin", "Rome", 3),
        kl.isochrones(g.with_positions(np.arange(2 * g.n).reshape(-1, 2)), HOSTILE, [1, 2e6]),
        kl.explain(g, "apsp"),
        kl.explain(g, "apsp", device="emulated"),
        kl.methods(),
        kl.methods("k_shortest", "cuda"),
        kl.draw(g),
    ]


def test_everything_shows_itself(towns: kl.Graph) -> None:
    for thing in everything(towns):
        card = Card(thing)
        assert "script" not in card.tags, thing
        assert len(card.html) < 120_000, thing  # methods() is the largest
        for style in card.styles:  # the page's own colours: light or dark
            assert "color" not in style, thing
            assert "background" not in style or "background:none" in style, thing


def test_a_graph(towns: kl.Graph) -> None:
    text = Card(towns).text
    assert "6 vertices, 4 arcs, directed" in text
    assert "int64, 140 to 1,234,567" in text
    assert "mean 0.7, max 2" in text
    assert "Rome | Naples | 225" in text
    assert f"{HOSTILE} | Bari | 1,234,567" in text  # as text
    named = kl.generate.cycle(9)
    assert "cycle(n=9): 9 vertices, 9 edges, undirected" in Card(named).text
    assert "first 6 of 9 edges" in Card(named).text
    assert "0 to 8, without labels" in Card(named).text


def test_an_undirected_graph_shows_each_edge_once() -> None:
    graph = kl.Graph.from_edges([2, 0, 1], [3, 1, 2], [7, 8, 9], directed=False)
    assert "0 | 1 | 8 | 1 | 2 | 9 | 2 | 3 | 7" in Card(graph).text


def test_a_graph_with_positions_has_a_sketch() -> None:
    graph = kl.generate.grid(5, 6).with_positions([divmod(v, 6) for v in range(30)])
    card = Card(graph)
    assert "svg" in card.tags
    assert "M0 150" in card.html or "M0 120" in card.html
    assert "svg" not in Card(kl.generate.grid(5, 6)).tags


def test_a_matrix_is_shown_without_making_its_arcs() -> None:
    weights = np.full((4, 4), np.inf)
    weights[1, 3], weights[2, 0], weights[3, 3] = 5.5, 2.0, -1.0
    graph = kl.Graph.from_dense(weights)
    assert "1 | 3 | 5.5 | 2 | 0 | 2 | 3 | 3 | -1" in Card(graph).text
    assert "neighbors" not in graph.__dict__


def test_a_display_derives_nothing_from_a_large_graph() -> None:
    graph = kl.generate.rmat(17, weights=(1, 9))
    before = set(graph.__dict__)
    text = Card(graph).text
    assert "first 6 of" in text
    assert "max" not in text  # degree
    assert set(graph.__dict__) - before <= {"stats"}
    assert "degrees" not in graph.stats.__dict__
    assert "not computed yet" in repr(graph.stats)
    assert graph.stats.max_degree > 9
    assert f"max {graph.stats.max_degree:,}" in Card(graph).text


def test_results(towns: kl.Graph) -> None:
    text = Card(kl.sssp(towns, "Rome")).text
    assert "sssp by dijkstra on cpu" in text
    assert "4 of 6" in text
    assert "Turin | 710 | Milan" in text
    assert "Bari | no path" in text
    text = Card(kl.apsp(towns)).text
    assert "from \\ to" in text
    assert "Milan | no path | no path | 0 | 140" in text
    assert "to | Rome" in Card(kl.sssp(towns, "Rome", reverse=True)).text
    pairs = kl.sssp(towns, pairs=[("Rome", "Turin"), ("Turin", HOSTILE)])
    assert f"Rome | Turin | 710 | Turin | {HOSTILE} | no path" in Card(pairs).text
    assert "True" in Card(kl.closure(towns)).text


def test_a_huge_result_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its distances may be in a file larger than memory."""
    monkeypatch.setattr("kleene.results.display._MOST_COUNTED", 8)
    result = kl.apsp(kl.generate.cycle(3))
    assert "9 distances" in repr(result)
    assert "9 distances" in Card(result).text


def test_other_answers(towns: kl.Graph) -> None:
    assert "Rome | Naples | 225 | 0" in Card(kl.sssp(towns, "Rome").route("Naples")).text
    assert "no path" in Card(kl.sssp(towns, "Rome").route("Bari")).text
    assert "Milan | Turin | 140" in Card(kl.nearest(towns, ["Turin"])).text
    assert "Rome | 2 | 225" in Card(kl.within(towns, ["Rome"], 300)).text
    assert "0 | 4 | Rome | 1 | 2" in Card(kl.components(towns)).text
    assert "710 | 2 | Milan" in Card(kl.k_shortest(towns, "Rome", "Turin", 3)).text
    placed = towns.with_positions(np.arange(2 * towns.n).reshape(-1, 2))
    assert "300 | 2 | 600 | 3" in Card(kl.isochrones(placed, "Rome", [300, 600])).text


def test_plans_and_statistics(towns: kl.Graph) -> None:
    plan = kl.explain(towns, "sssp")
    assert "dijkstra: the graph is too small for more than one core" in Card(plan).texts
    assert repr(plan) == str(plan)
    text = repr(kl.datasets.rome().stats)
    assert text.startswith("Statistics of 'rome99'\n  vertices           3,353\n")
    assert "\n  symmetric          False\n" in text
    assert "min_weight | 140" in Card(towns.stats).text
    assert "min_weight" not in repr(kl.generate.cycle(4).stats)


def test_methods_are_a_sequence_and_a_table() -> None:
    rows = kl.methods("sssp")
    assert isinstance(rows, tuple)
    assert rows[0].name == "dijkstra"
    card = Card(rows)
    assert card.tags.count("tr") == 1 + len(rows)
    assert f"{len(rows)} methods" in card.text


def test_a_result_in_a_kernel() -> None:
    """The formatters of IPython take all of them."""
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(kl.draw(kl.generate.cycle(4)))
    assert {"text/plain", "text/html", "image/svg+xml"} <= data.keys()
    assert data["text/plain"].startswith("Picture(")
