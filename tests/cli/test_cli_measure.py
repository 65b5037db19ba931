"""``kleene measure``: the numbers of Python, options that a measure has or has not, tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import TOWNS, document, kleene, lines

import kleene as kl
from kleene.cli.commands.measure_names import MEASURES
from kleene.errors import VerificationError
from kleene.measures.betweenness import Betweenness


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.csv"
    path.write_text(TOWNS)
    return path


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.npz"
    kl.write(kl.generate.grid(5, 6, weights=(1, 9), seed=3), path)
    return path


def table(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


# ---- every measure ------------------------------------------------------------------------------


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_measure_is_that_of_python(name: str, hops: bool, grid: Path) -> None:
    more = [0] if name == "path-counts" else []
    found = document("measure", name, grid, *more, *(["--hops"] if hops else []))
    assert found["measure"] == name
    expected: Any = MEASURES[name].function(kl.read(grid), *more, hops=hops)
    if np.ndim(expected) == 0 and not hasattr(expected, "_blocks"):
        assert found["value"] == pytest.approx(float(expected))
        assert (found["rows"], found["of"]) == ([], 0)
        return
    assert found["value"] is None
    assert found["listed"] == found["of"] == len(found["rows"]) > 0
    rows = found["rows"]
    if name in ("center", "periphery"):
        assert [row["vertex"] for row in rows] == list(expected)
    elif name == "histogram":
        assert [row["pairs"] for row in rows] == expected.counts.tolist()
    else:
        numbers = [row[expected.name] for row in rows]
        assert numbers == sorted(numbers, reverse=True)
        assert {row["vertex"]: row[expected.name] for row in rows} == {
            v: pytest.approx(x) for v, x in enumerate(np.asarray(expected).tolist())
        }


def test_the_page_lists_the_largest(towns: Path) -> None:
    page = lines("measure", "betweenness", towns, "--raw", "--top", 2)
    assert page[0].startswith("towns: 5 vertices, 5 arcs")
    assert "vertex betweenness" in page
    assert "cy 3" in page or "ann 3" in page
    assert "and 3 more: --top 5, or --out table.csv" in page
    assert any(row.startswith("mean ") for row in page)


def test_bins_are_listed_in_order(grid: Path) -> None:
    expected = kl.distance_histogram(kl.read(grid), hops=True)
    found = document("measure", "histogram", grid, "--hops", "--top", 3)
    assert [row["pairs"] for row in found["rows"]] == expected.counts[:3].tolist()
    help_text = " ".join(kleene("measure", "--help").output.split())
    assert "the largest numbers first; bins, and vertices without numbers, in order" in help_text


def test_one_number_is_a_line(grid: Path) -> None:
    diameter = kl.diameter(kl.read(grid))
    assert f"diameter {diameter}" in lines("measure", "diameter", grid)


# ---- options ------------------------------------------------------------------------------------


def test_edges_of_an_undirected_graph_come_once(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "edges.csv"
    found = document("measure", "betweenness", grid, "--edges", "--raw", "--out", out)
    g = kl.read(grid)
    right = kl.betweenness(g, edges=True, normalized=False)
    assert right.arcs is not None
    assert found["of"] == g.m // 2
    arcs = {
        (u, v): x for u, v, x in zip(*(a.tolist() for a in (*g.coo[:2], right.arcs)), strict=True)
    }
    for row in found["rows"]:
        assert row["betweenness"] == pytest.approx(arcs[row["source"], row["target"]])
    saved = table(out)
    assert saved[0] == ["source", "target", "betweenness"]
    assert len(saved) == g.m // 2 + 1


def test_sources_targets_and_limits_reach_the_call(towns: Path) -> None:
    g = kl.read(towns)
    found = document(
        "measure", "betweenness", towns, "ann", "-s", "eve", "-t", "dee", "--limit", 9, "--raw",
        "--endpoints",
    )  # fmt: skip
    right = kl.betweenness(
        g, sources=["ann", "eve"], targets=["dee"], limit=9, normalized=False, endpoints=True
    )
    assert {row["vertex"]: row["betweenness"] for row in found["rows"]} == {
        label: right[label] for label in g.labels.tolist()
    }
    none = document("measure", "betweenness", towns, "--limit", 0)
    assert {row["betweenness"] for row in none["rows"]} == {0.0}


@pytest.mark.parametrize("name", ["closeness", "harmonic"])
def test_a_sample_of_sources(grid: Path, name: str) -> None:
    found = document("measure", name, grid, "--sample", 2, "--seed", 3)
    right = getattr(kl, name)(kl.read(grid), samples=2, seed=3)
    assert {row["vertex"]: row[name] for row in found["rows"]} == dict(right)


def test_samples_and_errors(grid: Path) -> None:
    found = document("measure", "betweenness", grid, "--sample", 7, "--seed", 3, "--hops")
    right = kl.betweenness(kl.read(grid), samples=7, seed=3, hops=True)
    assert [row["betweenness"] for row in found["rows"]] == pytest.approx(
        sorted(right.values.tolist(), reverse=True)
    )
    within = document("measure", "betweenness", grid, "--error", 0.2, "--confidence", 0.8, "--hops")
    assert within["error"] == 0.2
    assert within["paths"] > 0
    assert found["error"] is found["paths"] is None
    page = lines("measure", "betweenness", grid, "--error", 0.2, "--hops")
    assert any(row.startswith("error at most 0.2, by ") for row in page)
    exact = kl.betweenness(kl.read(grid), hops=True)
    for row in within["rows"]:
        assert abs(row["betweenness"] - exact[row["vertex"]]) < 0.3


def test_a_table_and_a_proof(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "closeness.parquet"
    found = document("measure", "closeness", grid, "-o", out, "--verify", "--top", 3)
    assert found["listed"] == 3
    assert found["proof"]["rows"] > 0
    frame = pytest.importorskip("pyarrow.parquet").read_table(out)
    assert frame.column_names == ["vertex", "closeness"]
    assert frame.num_rows == 30
    page = " ".join(lines("measure", "closeness", grid, "--verify"))
    assert "proved: " in page
    quiet = kleene("measure", "harmonic", grid, "-q", "-o", tmp_path / "h.json")
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    assert len(json.loads((tmp_path / "h.json").read_text())) == 30


@pytest.mark.parametrize("weights", [None, np.int32, np.float64])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_every_measure_has_a_proof(name: str, directed: bool, weights: Any, tmp_path: Path) -> None:
    tails = np.tile(np.arange(12), 2)
    heads = (tails + np.repeat([1, 5], 12)) % 12
    lengths = None if weights is None else np.arange(1, 25, dtype=weights)
    g = kl.Graph.from_edges(tails, heads, lengths, directed=directed)
    path, more = tmp_path / "graph.npz", [0] if name == "path-counts" else []
    kl.write(g, path)
    assert document("measure", name, path, *more, "--verify")["proof"]["rows"] > 0


@pytest.mark.parametrize("name", [name for name, row in MEASURES.items() if row.follows_from])
def test_a_wrong_number_is_noticed(name: str, grid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = MEASURES[name].call
    right = getattr(kl, call)(kl.read(grid))
    wrong = right[1:] if np.ndim(right) else right * (1 + 1e-6)
    monkeypatch.setattr(kl, call, lambda *_, **__: wrong)
    failed = kleene("measure", name, grid, "--verify")
    assert failed.exit_code == 1, failed.output
    assert f"{name} is " in failed.stderr


def test_the_proof_of_an_infinite_sum(tmp_path: Path) -> None:
    path = tmp_path / "islands.csv"
    path.write_text("a,b\nc,d\na,b\n")
    found = document("measure", "wiener", path, "--verify")
    assert (found["value"], found["proof"]["rows"]) == ("inf", 4)


def test_counts_of_any_size(tmp_path: Path) -> None:
    """A grid of 40 x 40 has more shortest paths than 64 bits can count."""
    path = tmp_path / "large.npz"
    kl.write(kl.generate.grid(40, 40), path)
    found = document("measure", "path-counts", path, 0, "--exact", "--top", 1)
    count = kl.path_counts(kl.read(path), 0, exact=True)[1599]
    assert count > 2**64
    assert found["rows"] == [{"vertex": 1599, "paths": count}]
    assert f"1599 {count:,}" in lines("measure", "path-counts", path, 0, "--exact", "--top", 1)


def test_a_prepared_graph(grid: Path, tmp_path: Path) -> None:
    kept = tmp_path / "grid.kp"
    kl.prepare(kl.read(grid)).save(kept)
    for name in ("closeness", "betweenness", "diameter"):
        ours, plain = (document("measure", name, file) for file in (kept, grid))
        assert (ours["value"], len(ours["rows"])) == (plain["value"], len(plain["rows"]))


# ---- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["betweenes"], "no measure 'betweenes'; did you mean betweenness?"),
        (["xyz"], "no measure 'xyz'; there are betweenness, closeness, "),
        (["closeness", "--edges"], "closeness has no --edges"),
        (["closeness", "--raw"], "closeness has no --raw"),
        (["closeness", "--normalized"], "closeness has no --normalized"),
        (
            ["betweenness", "--confidence", "0.8"],
            "--confidence is the probability that --error holds",
        ),
        (["betweenness", "--reverse"], "betweenness has no --reverse"),
        (["diameter", "--sample", "3", "--raw"], "diameter has no --raw and no --samples"),
        (["diameter", "--out", "d.csv"], "diameter is one number: there is no table for --out"),
        (["wiener", "--top", "3"], "wiener is one number: there is no table for --top"),
        (["betweenness", "--out", "d.txt"], "a table is saved as"),
        (["betweenness", "--error", "2"], "error must be a number between 0 and 1"),
        (["betweenness", "--error", "0.1", "--sample", "3"], "leave out --samples"),
        (["betweenness", "--sample", "3", "-s", "ann"], "either --sources or --samples, not both"),
        (["closeness", "--sample", "3", "-s", "ann"], "either --sources or --samples, not both"),
        (["path-counts"], "path-counts needs one source: kleene measure GRAPH path-counts SOURCE"),
        (["betweenness", "-s", "nowhere"], "no vertex 'nowhere'"),
        (["betweenness", "--method", "xyz"], "no method 'xyz'"),
        (["diameter"], "or take the largest component: kleene components --strong --largest FILE"),
        (["diameter", "--unreachable", "x"], "must be 'error' or 'ignore'"),
    ],
)
def test_mistakes(arguments: list[str], message: str, towns: Path) -> None:
    name, *options = arguments
    failed = kleene("measure", name, towns, *options)
    assert failed.exit_code in (2, 3), failed.output
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr


def test_negative_weights(tmp_path: Path) -> None:
    path = tmp_path / "negative.csv"
    path.write_text("a,b,-1\nb,c,2\n")
    for name in ("betweenness", "closeness", "diameter"):
        failed = kleene("measure", name, path)
        assert failed.exit_code in (2, 3)
        assert "negative" in failed.stderr


def test_what_is_not_verified_is_not_saved(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise VerificationError("vertex 3 is wrong")

    monkeypatch.setattr(Betweenness, "verify", fail)
    out = tmp_path / "b.csv"
    failed = kleene("measure", "betweenness", grid, "--verify", "--out", out)
    assert (failed.exit_code, out.exists()) == (1, False), failed.output
