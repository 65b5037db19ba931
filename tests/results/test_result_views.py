"""Distances without traps, and results as tables and files."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graphs import graph

import kleene as kl
from kleene.results import files, result, tables

TOWNS = {"source": ["a", "b", "a"], "target": ["b", "c", "d"], "km": [1, 2, 9]}
G = kl.Graph.from_table(TOWNS, weight="km")
LONG = ["source", "target", "distance", "predecessor"]


# ---- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [kl.bfs, kl.sssp])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_no_path_does_not_poison_a_mean(solve: Any, dtype: str) -> None:
    r = solve(G, "b", dtype=dtype)
    near = [0, 1] if solve is kl.bfs else [0, 2]
    assert r.masked.mean() == np.mean(near)
    assert r.masked.dtype == dtype
    assert r.masked.mask.tolist() == [True, False, False, True]
    assert r.floats.dtype == np.float64
    assert r.floats.tolist() == [np.inf, *near, np.inf]


def test_floats_of_closures() -> None:
    g = kl.Graph.from_edges([0], [1], [3])
    assert kl.closure(g, "max_min").floats.tolist() == [[np.inf, 3], [-np.inf, np.inf]]
    assert kl.closure(g, "boolean").floats.tolist() == [[1, 1], [0, 1]]
    assert kl.closure(g, "min_plus").floats.tolist() == [[0, 3], [np.inf, 0]]
    half = kl.Graph.from_edges([0], [1], [0.5])
    assert kl.closure(half, "max_times").floats.tolist() == [[1, 0.5], [0, 1]]


def test_floats_are_not_copied_without_need() -> None:
    r = kl.sssp(G, "a", dtype=float)
    assert np.shares_memory(r.floats, r.distances)


def test_as_an_array() -> None:
    r = kl.sssp(G, "a")
    assert np.asarray(r).tolist() == r.distances.tolist()
    assert np.shares_memory(np.asarray(r), r.distances)
    assert np.asarray(r, dtype=np.float32).dtype == np.float32
    copied = np.array(r)
    copied[0] = 77
    assert r.distances[0] == 0
    assert not np.shares_memory(r.__array__(copy=True), r.distances)
    with pytest.raises(ValueError, match="must be copied"):
        r.__array__(np.float64, copy=False)
    assert np.add(r, 1).tolist() == (r.distances + 1).tolist()
    assert np.asarray(kl.apsp(G, targets=["c"])).shape == (4, 1)


# ---- tables -------------------------------------------------------------------------------------


def test_wide_frames() -> None:
    frame = kl.apsp(G, sources=["b", "a"], targets=["d", "c"]).to_frame()
    assert (frame.index.name, frame.columns.name) == ("source", "target")
    assert frame.loc["a", "d"] == 9
    assert np.isnan(frame.loc["b", "d"])
    assert frame.to_numpy().dtype == np.float64
    one = kl.sssp(G, "b").to_frame()
    assert list(one.columns) == ["distance"]
    assert one["distance"].dropna().to_dict() == {"b": 0, "c": 2}
    assert kl.closure(G).to_frame().loc["a", "c"].tolist() is True
    widths = kl.closure(G, "max_min").to_frame()
    assert np.isnan(widths.loc["c", "a"])


@pytest.mark.parametrize("block", [2, 3, 1000])
def test_long_tables_agree(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tables, result, files):
        monkeypatch.setattr(module, "BLOCK", block)
    r = kl.apsp(G)
    frame = r.to_pandas()
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    assert list(frame.columns) == LONG
    assert rows == [
        ["a", "a", 0, None], ["a", "b", 1, "a"], ["a", "c", 3, "b"], ["a", "d", 9, "a"],
        ["b", "b", 0, None], ["b", "c", 2, "b"], ["c", "c", 0, None], ["d", "d", 0, None],
    ]  # fmt: skip
    polars, arrow = r.to_polars(), r.to_arrow()
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert [list(row) for row in polars.rows()] == rows
    assert [list(row.values()) for row in arrow.to_pylist()] == rows


def test_empty_tables() -> None:
    r = kl.apsp(G, sources=[])
    assert list(r.to_pandas().columns) == LONG
    assert len(r.to_pandas()) == len(r.to_polars()) == len(r.to_arrow()) == 0
    assert r.to_frame().shape == (0, 4)


def test_the_table_of_a_closure_has_values() -> None:
    assert list(kl.closure(G).to_pandas().columns) == ["source", "target", "value"]


# ---- files --------------------------------------------------------------------------------------


def _read(file: Path) -> pd.DataFrame:
    if file.suffix == ".parquet":
        return pq.read_table(file).to_pandas()
    if file.suffix == ".json":
        return pd.DataFrame(json.loads(file.read_text()))
    return pd.read_csv(file, sep="\t" if file.suffix == ".tsv" else ",")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "parquet"])
@pytest.mark.parametrize("block", [2, 1000])
def test_tables_in_files(
    suffix: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (tables, result, files):
        monkeypatch.setattr(module, "BLOCK", block)
    for r in (kl.apsp(G), kl.apsp(graph("disconnected"), targets=[0, 3]), kl.bfs(G, sources=[])):
        file = tmp_path / f"distances.{suffix}"
        r.save(file)
        found, expected = _read(file), r.to_pandas()
        if len(expected) or suffix != "json":  # an empty list has no columns
            assert list(found.columns) == LONG
        for name in found.columns:
            want = expected[name].astype(object).where(expected[name].notna(), None)
            have = found[name].astype(object).where(found[name].notna(), None)
            assert have.tolist() == want.tolist()
    assert [f.name for f in tmp_path.iterdir()] == [f"distances.{suffix}"]


def test_json_holds_no_infinity(tmp_path: Path) -> None:
    file = tmp_path / "widths.json"
    kl.closure(kl.Graph.from_edges([0], [1], [0.5]), "max_min").save(file)
    assert "Infinity" not in file.read_text()
    assert json.loads(file.read_text())[:2] == [
        {"source": 0, "target": 0, "value": None}, {"source": 0, "target": 1, "value": 0.5},
    ]  # fmt: skip


def test_distances_in_a_file(tmp_path: Path) -> None:
    for r in (kl.apsp(G), kl.sssp(G, "a"), kl.apsp(G, targets=["c", "a"])):
        r.save(tmp_path / "d.NPY")
        assert np.array_equal(np.load(tmp_path / "d.NPY"), r.distances)


@pytest.mark.parametrize("name", ["d.txt", "d", "d.csv.gz", "d.xlsx", "d.npz.bak"])
def test_unknown_suffixes_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(kl.RequestError, match=r"\.npz .*\.npy .*\.csv, \.tsv, \.json or \.parquet"):
        kl.sssp(G, "a").save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_labels_are_quoted(tmp_path: Path) -> None:
    g = kl.Graph.from_table({"source": ['say "a", b'], "target": ["two\nlines"]})
    kl.bfs(g, 'say "a", b').save(tmp_path / "d.csv")
    with (tmp_path / "d.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[2] == ['say "a", b', "two\nlines", "1", 'say "a", b']


def test_csv_needs_no_pandas(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules.update(pandas=None, pyarrow=None, polars=None)\n"
        "import kleene as kl\n"
        "r = kl.bfs(kl.Graph.from_edges([0], [1]), 0)\n"
        "r.save('d.csv'); r.save('d.json'); r.save('d.npz')\n"
        "for ask in (r.to_pandas, r.to_polars, r.to_arrow, lambda: r.save('d.parquet')):\n"
        "    try: ask(); print('no error')\n"
        "    except kl.RequestError as error: assert 'pip install' in str(error), error\n"
        "print(open('d.csv').read())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.stdout == "source,target,distance,predecessor\n0,0,0,\n0,1,1,0\n\n", done.stderr
    assert sorted(os.listdir(tmp_path)) == ["d.csv", "d.json", "d.npz"]
