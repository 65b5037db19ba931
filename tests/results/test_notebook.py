"""What notebooks show: small, whole, escaped HTML that costs nothing to make."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, chromium

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
    placed = g.with_positions(np.arange(2 * g.n).reshape(-1, 2))
    return [
        g,
        g.stats,
        placed,
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
        kl.isochrones(placed, HOSTILE, [1, 2e6]),
        kl.isochrones(placed, ["Rome", HOSTILE], [1, 2e6]),
        kl.isochrones(placed, ["Rome", HOSTILE], [1, 2e6], each=True),
        kl.nearest(g, ["Bari", HOSTILE, "Turin"], k=3),
        kl.sssp(placed, "Rome").routes(),
        kl.k_shortest(g, k=2, pairs=[("Rome", "Turin"), ("Turin", HOSTILE)]),
        kl.loads(placed, [("Rome", "Turin", 5), ("Turin", HOSTILE, 9)]),
        kl.loads(g, [("Turin", HOSTILE, 9)]).unassigned,
        kl.closeness(placed),
        kl.betweenness(placed, edges=True),
        kl.betweenness(placed, edges=True).edges,
        kl.eccentricity(kl.generate.cycle(9)),
        kl.path_counts(g, HOSTILE),
        kl.distance_histogram(g),
        kl.reduce_distances(g),
        kl.sssp(g, "Rome").stats,
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
        assert len(card.html) < 140_000, thing  # methods() is the largest
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


def test_no_card_has_a_number_that_stands_for_another(towns: kl.Graph) -> None:
    """Largest integers, infinities and -1 are words: "no path", "no limit"."""
    largest = [str(2**bits - 1) for bits in (31, 63)]
    largest += [f"{2**bits - 1:,}" for bits in (31, 63)]
    answers = [
        *everything(towns),
        kl.closure(towns, "max_min"),
        kl.sssp(towns, "Rome", dtype="int64"),
        kl.bfs(towns, sources=["Rome", "Bari"]),
        kl.sssp(towns.reweight(arcs=[0.5, 1.5, 2.5, 3.5]), "Bari"),
        kl.closure(towns.reweight(arcs=[0.5, 1.5, 2.5, 3.5]), "max_min"),
        kl.prepare(towns, semiring="max_min").matrix(["Rome", "Bari"], ["Rome", "Turin"]),
        kl.within(towns, ["Rome"], float("inf")),
        kl.nearest(towns, ["Turin"], k=1),
    ]
    for answer in answers:
        text = Card(answer).text
        assert not [word for word in largest if word in text], answer
        assert not re.search(r"(?<![\w.])(-?inf|nan|-1)(?![\w.])", text), text


def test_paths_without_an_arc_have_no_limit(towns: kl.Graph) -> None:
    assert "Rome | no limit | 225 | 570 | 140" in Card(kl.closure(towns, "max_min")).text


def test_all_of_the_nearest(towns: kl.Graph) -> None:
    near = kl.nearest(towns, ["Turin", "Milan"], k=2)
    text = Card(near).text
    assert "vertex | rank | nearest | distance | Rome | 1 | Milan | 570 | 2 | Turin | 710" in text
    assert "Turin | 1 | Turin | 0 | 2 | no path" in text
    many = kl.nearest(kl.generate.complete(40), range(30), k=30)
    card = Card(many)
    assert card.tags.count("tr") == 1 + 1 + 30  # the fact, the heads, and all of one vertex
    assert "first 1 of 40 vertices" in card.text
    assert "rank" not in Card(kl.nearest(towns, ["Turin"])).text


def test_maps_in_cards() -> None:
    town = kl.generate.grid(8, 8, weights=(1, 3), seed=1)
    town = town.with_positions([divmod(v, 8) for v in range(64)])
    search = kl.sssp(town, 0)
    for answer, what in (
        (kl.isochrones(town, 27, [2, 4, 6]), "map of the areas"),
        (kl.isochrones(town, [0, 63], [2, 4]), "map of the areas"),
        (kl.isochrones(town, [0, 63], [2, 4], each=True), "map of the areas"),
        (search.route(63), "map of the way"),
        (search.routes([63, 7]), "map of the way"),
        (kl.loads(town, [(0, 63, 5)]), "map of traffic"),
        (kl.closeness(town), "map of closeness"),
        (kl.betweenness(town, edges=True).edges, "map of betweenness"),
    ):
        card = Card(answer)
        assert f'aria-label="{what}"' in card.html
        assert "currentColor" in card.html  # the streets
        assert all("max-width:100%" in style for style in card.styles if "height:auto" in style)
    areas = Card(kl.isochrones(town, 27, [2, 4, 6])).html
    filled = re.findall(r'fill="(#\w+)" fill-opacity', areas)
    assert len(filled) == len(set(filled)) == 3
    for colour in filled:  # the table says what it stands for
        assert areas.count(f'fill="{colour}"') == 2
    assert "svg" not in Card(kl.closeness(kl.generate.grid(8, 8))).tags
    assert "svg" not in Card(kl.sssp(town, 0, limit=1).route(63)).tags  # no path
    large = kl.generate.grid(80, 80).with_positions([divmod(v, 80) for v in range(6400)])
    assert len(Card(kl.isochrones(large, 0, [300], hops=True)).html) < 60_000


def test_no_map_of_what_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card is made in milliseconds."""
    town = kl.generate.grid(8, 8).with_positions([divmod(v, 8) for v in range(64)])
    answers = [
        kl.isochrones(town, [0, 63], [2, 4]),
        kl.isochrones(town, [0, 63], [2, 4], each=True),
        kl.bfs(town, 0).route(63),
        kl.loads(town, [(0, 63, 5)]),
        kl.closeness(town),
    ]
    assert all("map of" in Card(answer).html for answer in answers)
    with monkeypatch.context() as patch:
        patch.setattr("kleene.graph.sketch._MOST_ARCS", 100)
        assert not any("map of" in Card(answer).html for answer in answers)
    monkeypatch.setattr("kleene.results.display._MOST_OUTLINED", 9)
    assert not any("map of" in Card(answer).html for answer in answers[:2])


def test_measures_and_traffic(towns: kl.Graph) -> None:
    text = Card(kl.loads(towns, [("Rome", "Turin", 5), ("Turin", HOSTILE, 9)])).text
    assert "volume | 5 | on | 2 of 4 arcs | total cost | 3,550" in text
    assert "without a path | 9 (1 trip)" in text
    assert "Rome | Milan | 5 | Milan | Turin | 5" in text
    text = Card(kl.eccentricity(kl.generate.path(5))).text
    assert "least | 2 | mean | 3.2 | most | 4" in text
    assert "vertices | vertex | eccentricity | 0 | 4 | 4 | 4" in text
    assert "largest 6 of 40 vertices" in Card(kl.closeness(kl.generate.path(40))).text
    assert "one end | other end | betweenness" in (
        Card(kl.betweenness(kl.generate.path(5), edges=True).edges).text
    )
    assert "sources | 3 of 5" in Card(kl.betweenness(kl.generate.path(5), samples=3)).text
    text = Card(kl.distance_histogram(kl.generate.path(5))).text
    assert "pairs | 20 | from | 5 sources" in text
    counted = kl.path_counts(kl.generate.grid(60, 60), 0, exact=True)
    assert "3599 | 2.43" in Card(counted).text
    assert "e+34" in Card(counted).text
    assert "source | reached | sum | farthest" in Card(kl.reduce_distances(towns)).text


def test_routes_and_timings(towns: kl.Graph) -> None:
    text = Card(kl.sssp(towns, "Rome").routes(["Turin", "Bari"])).text
    assert "2 routes | routes | from | to | arcs | distance | Rome | Turin | 2 | 710" in text
    assert "no path" in text
    pairs = kl.k_shortest(towns, k=2, pairs=[("Rome", "Turin"), ("Turin", "Rome")])
    assert "Rome | Turin | 1 | 710 | 710 | Turin | Rome | 0 | no path" in Card(pairs).text
    weighted = towns.reweight(arcs=[0.1, 0.2, 0.1, 1.0])
    route = kl.sssp(weighted, "Rome").route("Turin")
    assert "distance 0.3" in Card(route).text
    assert "0.30000000000000004" not in Card(route).text
    assert "computing" in Card(kl.sssp(towns, "Rome").stats).text


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


# ---- in a browser -------------------------------------------------------------------------------


HEAD = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium")
def test_cards_fit_a_phone_and_a_desk(towns: kl.Graph, tmp_path: Path) -> None:
    cards = "".join(f"<div>{thing._repr_html_()}</div>" for thing in everything(towns))
    page = tmp_path / "cards.html"
    page.write_text(f"{HEAD}<body>{cards}</body>", encoding="utf-8")
    program = chromium()
    assert program is not None
    with Browser(program) as browser:
        for width in (390, 1280):
            browser.open(page, width)
            assert browser.errors == []
            assert browser.run("document.documentElement.scrollWidth") <= width
