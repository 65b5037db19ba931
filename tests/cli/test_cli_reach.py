"""What is near: nearest, within, isochrones, components; other paths: k-shortest, turns, routes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from cli_runner import TOWNS, document, kleene, lines

import kleene as kl


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text(TOWNS)
    return path


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """A 5 x 5 grid of labelled junctions with positions."""
    graph = kl.generate.grid(5, 5, weights=(1, 9), seed=3)
    graph = graph.with_positions([(v % 5, v // 5) for v in range(25)])
    kl.write(graph, tmp_path / "grid.npz")
    return tmp_path / "grid.npz"


def table(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


# ---- nearest ------------------------------------------------------------------------------------


def test_nearest_is_that_of_python(grid: Path, tmp_path: Path) -> None:
    near = kl.nearest(kl.read(grid), [0, 24, 12], k=2)
    found = document("nearest", grid, 0, "-f", "24,12", "--k", 2, "-o", tmp_path / "n.csv")
    assert (found["served"], found["of"], found["listed"]) == (25, 25, 50)
    rows = {(r["vertex"], r["rank"]): (r["facility"], r["distance"]) for r in found["vertices"]}
    for v in range(25):
        for rank in range(2):
            assert rows[v, rank] == (near.owner[v, rank], near.distances[v, rank])
    distances = [row["distance"] for row in found["vertices"]]
    assert distances == sorted(distances)
    saved = table(tmp_path / "n.csv")
    assert saved[0] == ["vertex", "rank", "facility", "distance"]
    assert len(saved) == 51


def test_nearest_of_towns(towns: Path, tmp_path: Path) -> None:
    page = lines("nearest", towns, "dee", "ann", "--limit", 3)
    assert "served 4 of 5 vertices" in page
    assert "dee 2 0.5 1" in page
    assert "eve ann 2" in page
    (tmp_path / "shops.txt").write_text("dee\n# closed\n\nann\n")
    listed = document("nearest", towns, "--facilities", tmp_path / "shops.txt", "-v", "bob,eve")
    assert [(r["vertex"], r["facility"]) for r in listed["vertices"]] == [
        ("bob", "dee"), ("eve", "ann"),
    ]  # fmt: skip
    assert [f["facility"] for f in listed["facilities"]] == ["dee", "ann"]
    reverse = document("nearest", towns, "eve", "--reverse", "--hops")
    assert {r["vertex"]: r["distance"] for r in reverse["vertices"]}["dee"] == 3
    assert document("nearest", towns, "dee", "--top", 1)["listed"] == 1
    more = kleene("nearest", towns, "dee", "ann", "--top", 1).output
    assert "and 4 more: --top 5" in more


def test_nearest_without_facilities(towns: Path, tmp_path: Path) -> None:
    assert "nearest needs facilities" in kleene("nearest", towns).stderr
    (tmp_path / "shops.txt").write_text("dee\nzoe\n")
    failed = kleene("nearest", towns, "--facilities", tmp_path / "shops.txt")
    assert failed.exit_code == 3
    assert "shops.txt:2: no vertex 'zoe'" in failed.stderr


# ---- within -------------------------------------------------------------------------------------


def test_within_a_limit(towns: Path, tmp_path: Path) -> None:
    found = document("within", towns, "ann", "--limit", 7)
    assert [(p["target"], p["distance"], p["predecessor"]) for p in found["pairs"]] == [
        ("ann", 0, None), ("bob", 4, "ann"), ("cy", 7, "bob"),
    ]  # fmt: skip
    assert (found["reached"], found["listed"], found["sources"]) == (3, 3, 1)
    assert document("within", towns, "ann", "--limit", 1, "--hops")["reached"] == 3
    page = lines("within", towns, "ann", "bob", "--k", 1, "--top", 1)
    assert "reached 4 pairs" in page
    assert "and 2 more: --top 5, or --out table.csv" in page


def test_within_of_all_vertices_goes_to_a_file(towns: Path, tmp_path: Path) -> None:
    found = document("within", towns, "-k", 1, "-o", tmp_path / "near.csv")
    assert (found["sources"], found["reached"], found["pairs"]) == (5, 9, [])
    rows = table(tmp_path / "near.csv")
    assert rows[0] == ["source", "target", "distance", "predecessor"]
    assert ["eve", "ann", "2", "eve"] in rows
    assert ["dee", "dee", "0", ""] in rows


def test_within_towards_a_vertex(towns: Path, tmp_path: Path) -> None:
    out = tmp_path / "near.tsv"
    found = document("within", towns, "cy", "--reverse", "-k", 2, "-o", out)
    assert [(p["source"], p["target"], p["next_hop"]) for p in found["pairs"]] == [
        ("cy", "cy", None), ("bob", "cy", "cy"), ("ann", "cy", "bob"),
    ]  # fmt: skip
    assert "ann\tcy\t7\tbob" in out.read_text().splitlines()


def test_within_needs_a_bound(towns: Path) -> None:
    failed = kleene("within", towns, "ann")
    assert failed.exit_code == 2
    assert "within needs --limit LENGTH, or --k K" in failed.stderr


# ---- on the map ---------------------------------------------------------------------------------


def test_isochrones_as_geojson(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "iso.geojson"
    found = document("isochrones", grid, 12, "--limit", 12, "--limit", 5, "-o", out)
    assert [zone["limit"] for zone in found["limits"]] == [5, 12]
    assert found["limits"][0]["vertices"] < found["limits"][1]["vertices"]
    drawn = json.loads(out.read_text())
    assert drawn == json.loads(json.dumps(kl.isochrones(kl.read(grid), 12, [5, 12]).to_geojson()))
    assert "saved" in kleene("isochrones", grid, 12, "--limit", 5, "-o", out).output


def test_isochrones_of_several(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "iso.geojson"
    graph = kl.read(grid)
    found = document("isochrones", grid, 6, 18, "--limits", "3,6", "-o", out)
    assert found["source"] == [6, 18]
    zones = kl.isochrones(graph, [6, 18], [3, 6])
    assert json.loads(out.read_text()) == json.loads(json.dumps(zones.to_geojson()))
    assert [zone["vertices"] for zone in found["limits"]] == zones._counts
    found = document("isochrones", grid, "6,18", "--each", "--limits", "3,6", "-o", out)
    each = kl.isochrones(graph, [6, 18], [3, 6], each=True)
    assert json.loads(out.read_text()) == json.loads(json.dumps(each.to_geojson()))
    assert [zone["source"] for zone in found["limits"]] == [6, 6, 18, 18]
    said = lines("isochrones", grid, 6, 18, "--each", "--limits", "3")
    assert "sources 6, 18" in said
    assert "source limit vertices" in said


def test_a_map_needs_positions(towns: Path, tmp_path: Path) -> None:
    for arguments in (
        ("isochrones", towns, "ann", "--limit", 5),
        ("path", towns, "ann", "dee", "-o", tmp_path / "route.geojson"),
    ):
        failed = kleene(*arguments)
        assert failed.exit_code == 3
        assert "--positions FILE" in failed.stderr
        assert "graph." not in failed.stderr
    (tmp_path / "xy.csv").write_text("id,x,y\n" + "".join(f"{t},{ord(t[0])},7\n" for t in PLACES))
    assert "positions x 97 to 101, y 7 to 7" in lines(
        "info", towns, "--positions", tmp_path / "xy.csv"
    )
    route = tmp_path / "route.geojson"
    options = ("--positions", tmp_path / "xy.csv", "-o", route)
    assert document("path", towns, "ann", "cy", *options)["out"] == str(route)
    feature = json.loads(route.read_text())
    assert feature["geometry"]["coordinates"] == [[97, 7], [98, 7], [99, 7]]
    assert feature["properties"] == {"source": "ann", "target": "cy", "distance": 7}


PLACES = ("ann", "bob", "cy", "dee", "eve")


def test_paths_of_pairs_as_geojson(grid: Path, tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("0,24\n3,7\n")
    out = tmp_path / "routes.geojson"
    assert kleene("sssp", grid, "--pairs", tmp_path / "trips.csv", "-o", out, "-q").exit_code == 0
    ends = [f["properties"] for f in json.loads(out.read_text())["features"]]
    assert [(end["source"], end["target"]) for end in ends] == [(0, 24), (3, 7)]
    assert kleene("apsp", grid, "-s", "0,1", "-t", "8,9,10", "-o", out, "-q").exit_code == 0
    assert len(json.loads(out.read_text())["features"]) == 6
    assert kleene("bfs", grid, 0, "-t", 24, "--reverse", "-o", out, "-q").exit_code == 0
    assert json.loads(out.read_text())["features"][0]["properties"]["source"] == 24
    failed = kleene("sssp", grid, 0, "-o", out)
    assert failed.exit_code == 2
    assert "name their ends by --targets or --pairs" in failed.stderr


def test_no_file_without_a_path(towns: Path, tmp_path: Path) -> None:
    result = kleene("path", towns, "dee", "ann", "-o", tmp_path / "route.geojson")
    assert result.exit_code == 1
    assert not (tmp_path / "route.geojson").exists()
    assert "unknown suffix" in kleene("path", towns, "ann", "dee", "-o", "route.kml").stderr


# ---- components ---------------------------------------------------------------------------------


def test_components(towns: Path, tmp_path: Path) -> None:
    (tmp_path / "two.csv").write_text("a,b\nb,a\nb,c\nx,y\n")
    found = document("components", tmp_path / "two.csv", "-o", tmp_path / "parts.csv")
    assert (found["kind"], found["count"], found["listed"]) == ("weak", 2, 2)
    assert found["components"][0] == {"component": 0, "vertices": 3, "first": "a"}
    assert table(tmp_path / "parts.csv") == [
        ["vertex", "component"], ["a", "0"], ["b", "0"], ["c", "0"], ["x", "1"], ["y", "1"],
    ]  # fmt: skip
    assert document("components", tmp_path / "two.csv", "--strong")["count"] == 4
    page = lines("components", tmp_path / "two.csv", "--top", 1)
    assert "the largest 3 of 5 vertices (60.0%)" in page
    assert "and 1 more: --top 2" in page
    largest = tmp_path / "largest.csv"
    assert document("components", tmp_path / "two.csv", "--largest", largest)["largest"]
    assert kl.read(largest).n == 3
    empty = tmp_path / "empty.npz"
    kl.write(kl.Graph.from_edges([], [], n=0), empty)
    assert document("components", empty)["count"] == 0
    assert kleene("components", empty).exit_code == 0


# ---- other paths --------------------------------------------------------------------------------


def test_k_shortest(towns: Path) -> None:
    found = document("k-shortest", towns, "ann", "dee", "-k", 5)
    assert [(p["rank"], p["distance"], p["path"]) for p in found["paths"]] == [
        (0, 8, ["ann", "bob", "cy", "dee"]), (1, 10, ["ann", "cy", "dee"]),
    ]  # fmt: skip
    page = lines("k-shortest", towns, "ann", "dee")
    assert "1 10 2 ann cy dee" in page
    assert "there are no more than 2" in page
    result = kleene("k-shortest", towns, "dee", "ann")
    assert result.exit_code == 1
    assert "no path from dee to ann" in result.output


def test_k_shortest_as_routes(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "routes.geojson"
    assert kleene("k-shortest", grid, 0, 24, "-k", 3, "-o", out, "-q").exit_code == 0
    assert len(json.loads(out.read_text())["features"]) == 3


def test_turns(towns: Path, tmp_path: Path) -> None:
    turns = tmp_path / "turns.csv"
    turns.write_text("from,via,to\nann,bob,cy\n")
    found = document("path", towns, "ann", "dee", "--turns", turns)
    assert ([step["vertex"] for step in found["path"]], found["distance"]) == (
        ["ann", "cy", "dee"], 10,
    )  # fmt: skip
    turns.write_text("from,via,to,delay\nann,bob,cy,1\n")
    found = document("path", towns, "ann", "dee", "--turns", turns)
    assert (found["distance"], found["delays"], found["arcs"]) == (9, 1, 3)
    assert "delays 1" in lines("path", towns, "ann", "dee", "--turns", turns)
    found = document("sssp", towns, "ann", "--turns", turns)
    assert {p["target"]: p["distance"] for p in found["pairs"]}["dee"] == 9
    assert "add" not in kleene("path", towns, "ann", "dee", "--u-turns", "forbidden").stderr


@pytest.mark.parametrize(
    ("code", "message", "content", "options"),
    [
        (3, "turns.csv:2: no vertex 'zoe'", "from,via,to\nann,bob,zoe\n", ()),
        (3, "is not a turn in the graph", "from,via,to\nann,dee,cy\n", ()),
        (0, "", "from,via,to\nann,dee,cy\n", ("--missing", "ignore")),
        (3, "turns.csv:1: found 2 column(s)", "ann,bob\n", ()),
        (3, "turns.csv:2: could not convert", "from,via,to,delay\nann,bob,cy,long\n", ()),
        (2, "--hops counts arcs", "ann,bob,cy\n", ("--hops",)),
        (2, "--u-turns takes a delay", "ann,bob,cy\n", ("--u-turns", "never")),
    ],
)
def test_bad_turns(
    code: int, message: str, content: str, options: tuple[str, ...], towns: Path, tmp_path: Path
) -> None:
    (tmp_path / "turns.csv").write_text(content)
    result = kleene("path", towns, "ann", "dee", "--turns", tmp_path / "turns.csv", *options)
    assert result.exit_code == code
    assert message in result.stderr
    assert "missing=" not in result.stderr


def test_turns_take_no_pairs(towns: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("ann,bob,cy\n")
    result = kleene("sssp", towns, "ann", "--reverse", "--turns", tmp_path / "t.csv")
    assert result.exit_code == 2
    assert "does not take --reverse" in result.stderr


def test_draw(towns: Path, tmp_path: Path) -> None:
    for arguments in (("ann", "-t", "dee"), (), ("ann", "--hops", "--title", "Towns")):
        out = tmp_path / "picture.svg"
        assert document("draw", towns, *arguments, "-o", out)["out"] == str(out)
        assert out.read_text().startswith("<svg")
        out.unlink()
    assert "a path needs a source" in kleene("draw", towns, "-t", "dee", "-o", out).stderr
    assert kleene("draw", towns).exit_code == 2
