"""``kleene loads``: what Python says, from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runner import document, kleene, lines

import kleene as kl

TOWN = Path(__file__).parents[2] / "examples" / "data" / "streets.gpkg"


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    kl.write(kl.generate.grid(5, 5, weights=(1, 3), seed=3), tmp_path / "grid.npz")
    (tmp_path / "trips.csv").write_text("origin;destination;km;volume\n0;24;1;2.5\n3;20;1;4\n")
    return tmp_path / "grid.npz"


@pytest.mark.parametrize("split", [False, True])
def test_loads_are_those_of_python(grid: Path, tmp_path: Path, split: bool) -> None:
    right = kl.loads(kl.read(grid), ([0, 3], [24, 20], [2.5, 4]), split=split)
    options = ["--split"] if split else []
    out = tmp_path / "flows.csv"
    found = document(
        "loads", grid, tmp_path / "trips.csv", "--top", 4, "--verify", "-o", out, *options
    )
    assert found["plan"]["method"] == "searches"
    assert (found["volume"], found["total_cost"]) == (6.5, right.total_cost)
    assert found["unassigned"] == {"trips": 0, "volume": 0}
    assert [tuple(arc.values()) for arc in found["arcs"]] == right.top(4)
    assert found["proof"]["rows"] == 2
    flows = [float(row.split(",")[2]) for row in out.read_text().splitlines()[1:]]
    assert flows == right.arcs.tolist()


def test_flows_for_a_map(tmp_path: Path) -> None:
    (tmp_path / "trips.csv").write_text("0 300 5\n")
    out = tmp_path / "flows.geojson"
    kleene("loads", TOWN, tmp_path / "trips.csv", "--oneway", "oneway", "-o", out)
    right = kl.loads(kl.read(TOWN, directed="oneway"), ([0], [300], [5])).to_geojson()
    assert json.loads(out.read_text()) == right
    assert kleene("loads", TOWN, tmp_path / "trips.csv", "-o", "flows.xyz").exit_code == 2


def test_a_prepared_graph_and_trips_without_volumes(grid: Path, tmp_path: Path) -> None:
    kleene("prepare", grid, "-o", tmp_path / "grid.kp")
    (tmp_path / "trips.txt").write_text("0 24\n0 24\n7 3\n")
    found = document("loads", tmp_path / "grid.kp", tmp_path / "trips.txt")
    right = kl.loads(kl.read(grid), ([0, 7], [24, 3], [2, 1]))
    assert found["plan"]["method"] == "prepared"
    assert found["total_cost"] == right.total_cost
    hops = document("loads", tmp_path / "grid.kp", tmp_path / "trips.txt", "--hops", "--limit", 5)
    assert hops["unassigned"] == {"trips": 2, "volume": 2}


def test_the_page(grid: Path, tmp_path: Path) -> None:
    page = lines("loads", grid, tmp_path / "trips.csv", "--limit", 10, "--verify")
    assert "volume 4" in page
    assert "without a path 2.5, in 1 trip" in page
    assert any(row.startswith("proved: all 2 sources") for row in page)
    assert not any(
        "source" in row for row in lines("loads", grid, tmp_path / "trips.csv", "--top", 0)
    )


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("0,99,1\n", 3, "trips.csv:1: no vertex 99"),
        ("0,1,x\n", 3, "trips.csv:1"),
        ("0,1,1\n0,1,-1\n", 3, "trips.csv:2: volume must be a non-negative number, not '-1'"),
        ("0,1,nan\n", 3, "trips.csv:1: volume must be a non-negative number, not 'nan'"),
        ("0,1,\n", 3, "trips.csv:1: volume must be a non-negative number, not ''"),
        ("", 3, "found no rows"),
        ("0\n", 3, "found 1 column"),
        ("from,to,cars\n0,1,5\n", 3, "trips.csv:1: no column volume, but cars: rename"),
    ],
)
def test_bad_demand(grid: Path, tmp_path: Path, text: str, code: int, says: str) -> None:
    (tmp_path / "trips.csv").write_text(text)
    result = kleene("loads", grid, tmp_path / "trips.csv", "-o", tmp_path / "flows.csv")
    assert (result.exit_code, says in result.output) == (code, True), result.output
    assert not (tmp_path / "flows.csv").exists()


def test_demand_that_is_no_text(grid: Path, tmp_path: Path) -> None:
    (tmp_path / "trips.parquet").write_bytes(b"PAR1\x15\x04\xff\xfe")
    result = kleene("loads", grid, tmp_path / "trips.parquet")
    assert result.exit_code == 3
    assert "expected a text table, such as CSV" in " ".join(result.output.split())
