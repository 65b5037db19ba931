"""Lists of pairs: which are printed, in which order, what is left out, and vertices as typed."""

from __future__ import annotations

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
def star(tmp_path: Path) -> Path:
    """A star whose leaves are the nearer the larger their number; 30 is not reached."""
    path = tmp_path / "star.npz"
    leaves = list(range(1, 30))
    weights = [100 - leaf for leaf in leaves]
    kl.write(kl.Graph.from_edges([0] * 29, leaves, weights, n=31), path)
    return path


def test_json_lists_all_pairs_of_the_sources_and_counts_them(star: Path) -> None:
    found = document("sssp", star, 0)
    assert found["listed"] == len(found["pairs"]) == found["reached"] == 30
    assert found["of"] == 31
    found = document("sssp", star, 0, "--top", 4)
    assert (found["listed"], found["reached"]) == (4, 30)
    assert document("bfs", star, 0, "--top", 0)["pairs"] == []


def test_a_whole_matrix_is_listed_only_on_request(star: Path) -> None:
    found = document("apsp", star)
    assert (found["listed"], found["pairs"], found["reached"]) == (0, [], 31 + 29)
    assert document("apsp", star, "--top", 2)["listed"] == 2 + 30
    assert document("apsp", star, "-s", "0,1")["listed"] == 30 + 1
    assert document("closure", star, "-s", 0)["listed"] == 30


def test_top_is_the_nearest_and_reached_only(star: Path) -> None:
    pairs = document("sssp", star, 0, "--top", 3)["pairs"]
    assert [(p["target"], p["distance"]) for p in pairs] == [(0, 0), (29, 71), (28, 72)]
    assert {p["target"] for p in document("sssp", star, 0)["pairs"]} == set(range(30))
    page = lines("sssp", star, 0, "--top", 3)
    assert page[-5:] == ["0 0 -", "29 71 0", "28 72 0", "and 27 more: --top 31, or --out table.csv",
                         "1 not reached"]  # fmt: skip


def test_top_of_a_widest_path_is_the_widest(star: Path) -> None:
    pairs = document("closure", star, "-s", 0, "--semiring", "max_min", "--top", 3)["pairs"]
    assert [(p["target"], p["value"]) for p in pairs] == [(0, "inf"), (1, 99), (2, 98)]


def test_top_counts_for_each_source(towns: Path) -> None:
    pairs = document("sssp", towns, "ann", "bob", "--top", 2)["pairs"]
    assert [(p["source"], p["target"]) for p in pairs] == [
        ("ann", "ann"), ("ann", "bob"), ("bob", "bob"), ("bob", "cy"),
    ]  # fmt: skip


def test_named_targets_are_listed_as_named(towns: Path) -> None:
    pairs = document("sssp", towns, "bob", "-t", "dee,ann,cy")["pairs"]
    assert [(p["target"], p["distance"]) for p in pairs] == [("dee", 4), ("ann", None), ("cy", 3)]
    page = lines("sssp", towns, "bob", "-t", "dee,ann,cy")
    assert page[-3:] == ["dee 4 cy", "ann - -", "cy 3 bob"]
    pairs = document("sssp", towns, "bob", "-t", "dee,ann,cy", "--top", 9)["pairs"]
    assert [p["target"] for p in pairs] == ["cy", "dee"]


def test_vertices_are_printed_as_they_are_typed(tmp_path: Path) -> None:
    path = tmp_path / "far.npz"
    kl.write(kl.Graph.from_edges([0, 1234567], [1234567, 1], [1000, 2000], n=1234568), path)
    for arguments in (
        ("sssp", path, 0), ("bfs", path, 0), ("sssp", path, 0, "-t", 1234567),
        ("path", path, 0, 1), ("apsp", path, "-s", "0,1234567", "-t", "1,1234567"),
    ):  # fmt: skip
        page = kleene(*arguments).output
        assert "1234567" in page
        assert "1,234,567" not in page.replace("1,234,567 ", "").replace("1,234,568", "")
    assert "3,000" in kleene("path", path, 0, 1).output  # a quantity


def test_sources_are_arguments_or_options(towns: Path) -> None:
    for arguments in (("ann",), ("-s", "ann"), ("--source", "ann")):
        assert document("sssp", towns, *arguments)["farthest"]["target"] == "dee"
    found = document("bfs", towns, "ann", "-s", "bob,eve", "-t", "cy")
    assert [p["source"] for p in found["pairs"]] == ["ann", "bob", "eve"]
    assert document("explain", towns, "sssp", "ann", "bob")["plan"]["problem"] == "sssp"
    assert document("closure", towns, "ann")["sources"] == 1


def test_pairs_of_origins_and_destinations(towns: Path, tmp_path: Path) -> None:
    trips = tmp_path / "trips.csv"
    trips.write_text("trips,origin,destination\n7,ann,dee\n8,dee,ann\n9,eve,cy\n")
    found = document("sssp", towns, "--pairs", trips)
    assert [(p["source"], p["target"], p["distance"]) for p in found["pairs"]] == [
        ("ann", "dee", 8), ("dee", "ann", None), ("eve", "cy", 9),
    ]  # fmt: skip
    assert (found["reached"], found["of"], found["listed"]) == (2, 3, 3)
    trips.write_text("# by car\nann\tdee\n\neve\tbob\n")
    assert [p["distance"] for p in document("bfs", towns, "--pairs", trips)["pairs"]] == [2, 2]
    trips.write_text("ann dee 3\n")
    assert document("apsp", towns, "--pairs", trips)["reached"] == 1
    trips.write_text("ann,dee\n" * 12)
    page = lines("sssp", towns, "--pairs", trips)
    assert page.count("ann dee 8") == 10
    assert page[-1] == "and 2 more: --top 12, or --out table.csv"
    assert document("sssp", towns, "--pairs", trips)["listed"] == 12
    assert document("sssp", towns, "--pairs", trips, "--top", 3)["listed"] == 3
    table = tmp_path / "distances.csv"
    trips.write_text("ann,dee\neve,cy\n")
    assert kleene("sssp", towns, "--pairs", trips, "-o", table, "-q").exit_code == 0
    assert table.read_text().splitlines()[1].startswith("ann,dee,8")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("ann,dee\nann,zoe\n", "trips.csv:2: no vertex 'zoe'"),
        ("ann\n", "trips.csv:1: found 1 column(s)"),
        ("", "trips.csv: found no rows"),
        ("origin,destination\n", "trips.csv: found no rows"),
        ("ann,\xff\xfe", "trips.csv: not UTF-8"),
    ],
)
def test_bad_pairs(content: str, message: str, towns: Path, tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_bytes(content.encode("latin-1"))
    result = kleene("sssp", towns, "--pairs", tmp_path / "trips.csv")
    assert result.exit_code == 3
    assert message in result.stderr
    assert kleene("sssp", towns, "ann", "--pairs", tmp_path / "trips.csv").exit_code == 2


def test_distances_towards_a_vertex(towns: Path) -> None:
    found = document("sssp", towns, "cy", "--reverse")
    assert [(p["source"], p["target"], p["distance"], p["next_hop"]) for p in found["pairs"]] == [
        ("cy", "cy", 0, None), ("bob", "cy", 3, "cy"), ("ann", "cy", 7, "bob"),
        ("eve", "cy", 9, "ann"),
    ]  # fmt: skip
    assert found["farthest"] == {"source": "eve", "target": "cy", "distance": 9}
    page = lines("sssp", towns, "cy", "--reverse")
    assert "target cy" in page
    assert "source distance next_hop" in page
    assert document("bfs", towns, "cy", "--reverse")["levels"] == [1, 2, 1]
    assert document("apsp", towns, "-s", "cy,dee", "--reverse")["reached"] == 4 + 5


def test_json_of_labels_that_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "z.csv").write_text("1,2,10\n2,3,20\n3,4,30\n")
    assert document("path", tmp_path / "z.csv", 1, 3)["distance"] == 30
    found = json.loads(kleene("sssp", tmp_path / "z.csv", 1, "-t", 3, "--json").stdout)
    assert found["pairs"][0]["distance"] == 30
    found = document("sssp", tmp_path / "z.csv", 1, "-t", 3, "--unlabelled")
    assert found["pairs"][0]["distance"] == 50
