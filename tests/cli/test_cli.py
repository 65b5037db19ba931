"""The command line, in process."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from cli_runner import TOWNS, document, kleene

import kleene as kl
from kleene.cli.commands.demo import tour
from kleene.cli.main import app
from kleene.cli.summaries import distance_summary
from kleene.cli.tables import list_pairs, pairs_of_result


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    """A graph with labels."""
    path = tmp_path / "towns.csv"
    path.write_text(TOWNS)
    return path


@pytest.fixture
def square(tmp_path: Path) -> Path:
    """A graph without labels: 0 - 1 - 2 - 3 - 0, and an isolated vertex 4."""
    path = tmp_path / "square.npz"
    kl.write(kl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=5, directed=False), path)
    return path


# ---- help ---------------------------------------------------------------------------------------


def commands(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [path]
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            found += commands(command.get_command(None, name), (*path, name))
    return found


ALL = commands(typer.main.get_command(app))


def test_commands_match_the_documentation() -> None:
    names = {path[0] for path in ALL if path}
    text = Path(__file__).parents[2].joinpath("docs", "command-line.md").read_text()
    for name in names:
        assert f"## `kleene {name}`" in text


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_help_that_fits_a_terminal(path: tuple[str, ...]) -> None:
    result = kleene(*path, "--help")
    assert result.exit_code == 0
    assert f"Usage: kleene {' '.join(path)}".strip() in result.output.replace("root", "kleene")
    assert max(map(len, result.output.splitlines())) <= 80
    assert "None" not in result.output


def test_main_help_explains_exit_codes_and_shortens_no_summary() -> None:
    output = kleene("--help").output
    assert "Exit codes" in output
    assert "..." not in output.replace("[ARGS]...", "")


def test_version() -> None:
    assert kleene("--version").output == f"kleene {kl.__version__}\n"


# ---- the problems -------------------------------------------------------------------------------


def test_sssp_shows_a_summary_and_pairs_by_name(towns: Path) -> None:
    result = kleene("sssp", towns, "--source", "ann", "--verify")
    assert result.exit_code == 0
    lines = [" ".join(row.split()) for row in result.output.splitlines()]
    assert "towns: 5 vertices, 5 arcs, int32 weights, labelled 'ann', ..., 'eve'" in lines
    assert "reached 4 of 5 vertices" in lines
    assert "farthest dee, at 8" in lines
    assert "cy 7 bob" in lines
    assert "1 not reached" in lines
    assert any(row.startswith("proved: 1 source") for row in lines)


def test_sssp_as_json(towns: Path) -> None:
    found = document("sssp", towns, "-s", "ann", "--verify")
    assert found["graph"] == {
        "name": "towns",
        "vertices": 5,
        "arcs": 5,
        "directed": True,
        "weights": "int32",
        "labelled": True,
    }
    assert found["plan"]["problem"] == "sssp"
    assert (found["reached"], found["of"], found["sources"]) == (4, 5, 1)
    assert found["farthest"] == {"source": "ann", "target": "dee", "distance": 8}
    assert found["mean"] == pytest.approx((4 + 7 + 8) / 3)
    assert found["proof"]["tolerance"] == "exact"
    by_name = {pair["target"]: pair for pair in found["pairs"]}
    assert by_name["cy"] == {"source": "ann", "target": "cy", "distance": 7, "predecessor": "bob"}
    assert "eve" not in by_name
    assert (found["listed"], len(found["pairs"])) == (4, 4)


def test_sources_and_targets_as_lists(towns: Path) -> None:
    found = document("sssp", towns, "-s", "ann,eve", "-s", "bob", "-t", "dee", "-t", "cy,ann")
    assert [(p["source"], p["target"], p["distance"]) for p in found["pairs"]] == [
        ("ann", "dee", 8), ("ann", "cy", 7), ("ann", "ann", 0),
        ("eve", "dee", 10), ("eve", "cy", 9), ("eve", "ann", 2),
        ("bob", "dee", 4), ("bob", "cy", 3), ("bob", "ann", None),
    ]  # fmt: skip


def test_options_reach_the_call(towns: Path) -> None:
    keywords = ("--method", "bellman_ford", "--device", "reference", "--dtype", "float64")
    found = document("sssp", towns, "-s", "ann", *keywords, "--threads", 1, "--no-predecessors")
    plan = found["plan"]
    assert (plan["method"], plan["device"]) == ("bellman_ford", "reference")
    assert (plan["dtype"], plan["threads"]) == ("float64", 1)
    assert "predecessor" not in found["pairs"][0]
    assert document("sssp", towns, "-s", "ann", "--limit", 4)["reached"] == 2
    assert len(document("sssp", towns, "-s", "ann", "--top", 2)["pairs"]) == 2
    assert document("sssp", towns, "-s", "ann", "--unweighted")["farthest"]["distance"] == 2
    assert document("sssp", towns, "-s", "dee", "--undirected")["reached"] == 5


def test_bfs_counts_levels(square: Path) -> None:
    assert document("bfs", square, "-s", 0)["levels"] == [1, 2, 1]
    output = kleene("bfs", square, "-s", 0).output
    assert "1 hops  2  ████" in output


def test_bfs_joins_levels_where_there_are_many(tmp_path: Path) -> None:
    kl.write(kl.generate.path(100), tmp_path / "long.npz")
    output = kleene("bfs", tmp_path / "long.npz", "-s", 0).output
    assert "0-4 hops" in output
    assert "95-99 hops" in output


def test_apsp_finds_diameter_and_radius(square: Path) -> None:
    found = document("apsp", square)
    assert (found["reached"], found["of"], found["sources"]) == (17, 25, 5)
    assert found["farthest"]["distance"] == 2
    assert found["center"] is None  # no vertex reaches all
    assert found["pairs"] == []
    page = kleene("apsp", square).output
    assert "farthest       2, from 0 to 2" in page  # 17 of 25: the graph has no diameter
    assert "diameter" not in page
    assert "radius" not in page
    found = document("apsp", square, "-s", "0,1,2", "-t", "0,1")
    assert found["center"] == {"source": 0, "distance": 1}
    page = kleene("apsp", square, "-s", "0,1,2", "-t", "0,1").output
    assert "nearest to all  1, from 0" in page
    assert "radius" not in page


def test_a_diameter_is_that_of_all_vertices(tmp_path: Path) -> None:
    kl.write(kl.generate.cycle(6), tmp_path / "ring.npz")
    for command in (["apsp"], ["sssp", "-s", "0,1,2,3,4,5"]):
        page = kleene(command[0], tmp_path / "ring.npz", *command[1:]).output
        assert "diameter" in page
        assert "radius" in page
    for sources in ("0,1", "0,1,2,3,4,4"):
        page = kleene("sssp", tmp_path / "ring.npz", "-s", sources).output
        assert "farthest" in page
        assert "nearest to all" in page
        assert "diameter" not in page
        assert "radius" not in page


@pytest.mark.parametrize("semiring", ["boolean", "min_plus", "max_min"])
def test_closure(towns: Path, semiring: str) -> None:
    found = document("closure", towns, "--semiring", semiring, "--verify", "--top", 99)
    assert found["semiring"] == semiring
    assert found["reached"] == 5 + 10
    values = {(p["source"], p["target"]): p["value"] for p in found["pairs"]}
    expected = {"boolean": True, "min_plus": 7, "max_min": 9}
    assert values["ann", "cy"] == expected[semiring]
    assert ("dee", "ann") not in values


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "command", ["info", "apsp", "closure", "closure --semiring max_min", "explain", "bfs", "sssp"]
)
def test_graphs_without_arcs(command: str, n: int, tmp_path: Path) -> None:
    path = tmp_path / "empty.npz"
    kl.write(kl.Graph.from_edges([], [], n=n), path)
    name, *options = command.split()
    options += ["apsp"] if name == "explain" else []
    if name in ("bfs", "sssp"):
        options += ["--source", "0", "--target", str(n - 1)]
        if n == 0:
            assert "the graph is empty" in kleene(name, path, *options).stderr
            return
    assert kleene(name, path, *options).exit_code == 0
    document(name, path, *options)


def test_infinities_are_valid_json(tmp_path: Path) -> None:
    path = tmp_path / "pipes.csv"
    for width in ("5", "0.5"):
        path.write_text(f"a,b,{width}\n")
        found = document("closure", path, "--semiring", "max_min", "--top", 9)
        assert found["pairs"][0]["value"] == "inf"  # the width of the empty path


def test_path_is_printed_step_by_step(towns: Path) -> None:
    found = document("path", towns, "ann", "dee")
    assert found["path"] == [
        {"vertex": "ann", "length": None, "total": 0},
        {"vertex": "bob", "length": 4, "total": 4},
        {"vertex": "cy", "length": 3, "total": 7},
        {"vertex": "dee", "length": 1, "total": 8},
    ]
    assert (found["found"], found["distance"], found["arcs"]) == (True, 8, 3)
    assert document("path", towns, "ann", "dee", "--hops")["distance"] == 2
    assert "bob" in kleene("path", towns, "ann", "dee").output


def test_no_path_sets_the_exit_code(towns: Path) -> None:
    result = kleene("path", towns, "dee", "ann")
    assert result.exit_code == 1
    assert "no path from dee to ann" in result.output
    result = kleene("path", towns, "dee", "ann", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["found"] is False


def test_an_empty_path_has_length_zero(towns: Path) -> None:
    found = document("path", towns, "ann", "ann")
    assert (found["distance"], found["arcs"]) == (0, 0)


# ---- files --------------------------------------------------------------------------------------


def test_results_are_saved_and_verified(towns: Path, tmp_path: Path) -> None:
    saved = tmp_path / "all.npz"
    assert document("apsp", towns, "--out", saved)["out"] == str(saved)
    assert document("verify", towns, saved)["proof"]["rows"] == 5
    assert document("verify", towns, saved, "--sample", 2)["proof"]["rows"] == 2
    assert "proved" in kleene("verify", towns, saved).output


def test_a_wrong_result_is_detected(towns: Path, tmp_path: Path) -> None:
    graph = kl.read(towns)
    result = kl.sssp(graph, "ann")
    result.distances[2] += 1
    result.save(tmp_path / "wrong.npz")
    answer = kleene("verify", towns, tmp_path / "wrong.npz")
    assert answer.exit_code == 1
    assert answer.stderr.startswith("kleene: from source 'ann'")


@pytest.mark.parametrize("targets", [(), ("-t", "dee,cy")])
def test_distances_are_saved_as_an_array(towns: Path, tmp_path: Path, targets: Any) -> None:
    saved = tmp_path / "distances.npy"
    assert kleene("sssp", towns, "-s", "ann", *targets, "-o", saved, "-q").output == ""
    expected = [8, 7] if targets else [0, 4, 7, 8]
    assert np.load(saved).tolist()[:4] == expected


def test_a_matrix_in_a_file_stays_there(tmp_path: Path) -> None:
    """What is printed about it is computed a row at a time."""
    result = kl.apsp(kl.generate.path(1000), out=tmp_path / "d.npy", predecessors=False)
    tracemalloc.start()
    try:
        summary = distance_summary(result)
        assert (summary.document["farthest"]["distance"], summary.reached) == (999, 10**6)
        assert len(list_pairs(pairs_of_result(result, 10**6), 1).pairs) == 1000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10**6  # bytes: less than one for each pair


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t")])
def test_pairs_are_saved_as_a_table(
    towns: Path, tmp_path: Path, suffix: str, separator: str
) -> None:
    saved = tmp_path / f"table{suffix}"
    assert kleene("sssp", towns, "-s", "bob", "-o", saved).exit_code == 0
    rows = [row.split(separator) for row in saved.read_text().splitlines()]
    assert rows == [
        ["source", "target", "distance", "predecessor"],
        ["bob", "bob", "0", ""],
        ["bob", "cy", "3", "bob"],
        ["bob", "dee", "4", "cy"],
    ]


def test_convert_there_and_back(towns: Path, tmp_path: Path) -> None:
    assert document("convert", towns, tmp_path / "towns.npz")["graph"]["arcs"] == 5
    assert kl.read(tmp_path / "towns.npz").equals(kl.read(towns))
    result = kleene("convert", towns, tmp_path / "data", "--to", "matrix_market", "--undirected")
    assert result.exit_code == 3
    assert "use --unlabelled" in result.stderr  # the names would be lost
    result = kleene("convert", towns, tmp_path / "data.mtx", "--undirected", "--unlabelled")
    assert result.exit_code == 0
    assert kl.read(tmp_path / "data.mtx").m == 10
    assert "10" not in kleene("convert", towns, tmp_path / "x.csv", "-q").output


# ---- about --------------------------------------------------------------------------------------


def test_info_prints_the_detected_format(tmp_path: Path, towns: Path) -> None:
    kl.write(kl.read(towns).unlabelled(), tmp_path / "towns.txt", "dimacs")
    assert document("info", tmp_path / "towns.txt")["format"] == "dimacs"
    told = kleene("info", "-", stdin="0 1\n").output
    assert "edge_list" in told


def test_info(towns: Path, square: Path) -> None:
    found = document("info", towns)
    assert (found["format"], found["vertices"], found["arcs"]) == ("edge_list", 5, 5)
    assert (found["min_weight"], found["max_weight"]) == (1, 9)
    assert found["degrees"] == {"min": 0, "mean": 1.0, "max": 2}
    assert found["symmetric"] is False
    assert set(found["memory"]) == {"csr", "csc", "coo", "ell", "dense"}
    found = document("info", square)
    assert (found["weights"], found["min_weight"], found["isolated"]) == (None, None, 1)
    assert found["weak_components"] == {"count": 2, "largest": 4}
    assert found["strong_components"] == {"count": 2, "largest": 4}
    assert found["memory"]["dense"] == kl.read(square).dense.nbytes
    assert "1 vertex" in kleene("info", square).output
    assert "ann, bob, cy, ..." in kleene("info", towns).output


def test_info_memory_is_the_size_of_the_forms(towns: Path) -> None:
    graph = kl.read(towns)
    told = document("info", towns)["memory"]
    for form in ("csr", "csc", "coo", "ell"):
        arrays = [a for a in getattr(graph, form) if a is not None]
        assert told[form] == sum(a.nbytes for a in arrays), form


def test_methods_are_the_rows_of_the_registry() -> None:
    assert len(document("methods")["methods"]) == len(kl.methods())
    assert {m["problem"] for m in document("methods", "bfs")["methods"]} == {"bfs"}
    assert "Dijkstra 1959" in kleene("methods", "sssp", "--device", "reference").output
    assert max(map(len, kleene("methods").output.splitlines())) <= 100


def test_no_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kl, "methods", lambda problem, device: ())
    assert kleene("methods").output == "no methods\n"
    assert document("methods")["methods"] == []


def test_explain_prints_the_plan(towns: Path) -> None:
    found = document("explain", towns, "sssp", "-s", "ann")
    assert found["plan"] == document("sssp", towns, "-s", "ann")["plan"] | {
        "available": found["plan"]["available"]
    }
    assert "because" in kleene("explain", towns, "closure", "--semiring", "max_min").output


def test_quiet_prints_nothing(towns: Path) -> None:
    assert kleene("info", towns, "-q").output == ""


def test_the_tour_verifies_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = kl.generate.grid(6, 7, weights=(1, 9))
    picture = tmp_path / "demo.svg"
    found = tour(graph, str(picture), verbose=True)
    assert len(found["proofs"]) == 3
    assert found["longest"]["path"][-1]["total"] == found["longest"]["distance"]
    assert picture.exists()
    spoken = capsys.readouterr().out
    assert str(picture) in spoken
    assert spoken.count("proved:") == 3
    assert "more junctions" in spoken
    tour(graph, str(picture), verbose=False)
    assert capsys.readouterr().out == ""


def test_the_demo_is_the_tour_of_rome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kl.datasets, "rome", lambda: kl.generate.grid(4, 4, weights=(1, 9)))
    monkeypatch.chdir(tmp_path)
    assert document("demo")["picture"] == "kleene-demo.svg"
    assert (tmp_path / "kleene-demo.svg").exists()
    assert "every result is verified" in kleene("demo", "--picture", "other.svg").output
    assert (tmp_path / "other.svg").exists()


def test_what_zeros_of_a_matrix_mean(tmp_path: Path) -> None:
    file = tmp_path / "adjacency.npy"
    np.save(file, np.eye(3, k=1))
    refused = kleene("info", file)
    assert refused.exit_code == 3
    assert "pass --null-value 0 if zeros mean 'no arc'" in refused.stderr
    assert "or --null-value inf if they are arcs" in refused.stderr
    assert [document("info", file, "--null-value", null)["arcs"] for null in (0, "inf")] == [2, 6]
