"""kleene ... --out d.zarr --resume, kleene store info and verify."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from cli_runner import kleene

import kleene as kl
from kleene.cli import cluster
from kleene.stores import sink
from kleene.stores.writer import StoreWriter
from kleene.stores.zarr import ZarrWriter

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs file locks and signals")

GRAPH = kl.generate.uniform(300, 2000, weights=(1, 9), seed=4)


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "choose_block_rows", lambda rows, *_: min(48, max(1, rows)))


@pytest.fixture(params=["npy", "zarr"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / f"d.{request.param}"


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    kl.write(GRAPH, tmp_path / "g.npz")
    return tmp_path / "g.npz"


def test_commands(graph_file: Path, path: Path) -> None:
    plain = kleene("apsp", graph_file, "--json")
    first = kleene("apsp", graph_file, "-o", path, "--json")
    assert first.exit_code == 0, first.output
    for name in ("mean", "farthest", "center", "reached", "of"):
        assert f'"{name}": ' in first.output
    refused = kleene("apsp", graph_file, "-o", path)
    assert refused.exit_code != 0
    assert "add --resume to continue or reuse it" in refused.output
    resumed = kleene("apsp", graph_file, "-o", path, "--resume")
    assert resumed.exit_code == 0, resumed.output
    wanted, found = json.loads(plain.output), json.loads(first.output)
    assert {k: wanted[k] for k in ("mean", "farthest", "reached", "of")} == {
        k: found[k] for k in ("mean", "farthest", "reached", "of")
    }
    info = json.loads(kleene("store", "info", path, "--json").output)
    assert (info["blocks"], info["done"], info["finished"]) == (7, 7, True)
    assert "finished" in kleene("store", "info", path).output
    assert "7 of 7 blocks of 48 rows" in kleene("store", "verify", path).output
    proved = kleene("store", "verify", path, "--graph", graph_file, "--sample", "9")
    assert "proved: 9 of 300 sources" in proved.output
    checked = json.loads(kleene("store", "verify", path, "--graph", graph_file, "--json").output)
    assert (checked["checked"], checked["proof"]["rows"]) == (7, 300)


def test_commands_for_many_sources(graph_file: Path, path: Path) -> None:
    some = ",".join(map(str, range(120)))
    for command in ("bfs", "sssp"):
        file = path.with_stem(command)
        done = kleene(command, graph_file, "-s", some, "-o", file, "--resume", "--top", "2")
        assert done.exit_code == 0, done.output
        assert kleene("store", "verify", file, "--graph", graph_file).exit_code == 0


def test_columns_of_targets_are_resumed(graph_file: Path, path: Path) -> None:
    some = ",".join(map(str, range(120)))
    call = ("sssp", graph_file, "-s", some, "-t", "5,6", "-o", path)
    done = kleene(*call)
    assert done.exit_code == 0, done.output
    inside = path.suffix == ".zarr"
    held = zarr.open_array(path / "distances", mode="r") if inside else np.load(path)
    assert held.shape == (120, 2)
    assert kleene("store", "verify", path, "--graph", graph_file).exit_code == 0
    assert kleene(*call, "--resume").exit_code == 0
    other = graph_file.with_name("h.npz")
    kl.write(kl.generate.path(300), other)
    done = kleene("sssp", other, *call[2:], "--resume")
    assert "belongs to other work" in done.output


def test_lists_are_not_resumed(graph_file: Path, tmp_path: Path) -> None:
    out, pairs = tmp_path / "d.npy", tmp_path / "pairs.csv"
    pairs.write_text("0,1\n2,3\n")
    for ends in (["-s", "0", "-t", "1,2"], ["--pairs", pairs]):
        done = kleene("sssp", graph_file, *ends, "-o", out)
        assert done.exit_code == 0, done.output
        done = kleene("sssp", graph_file, *ends, "-o", out, "--resume")
        assert "holds a list: omit --resume" in done.output


def test_a_store_is_read_once_to_describe_it(
    graph_file: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, read = [0], StoreWriter.read

    def count(writer: StoreWriter, name: str, first: int, stop: int) -> Any:
        counted[0] += stop - first
        return read(writer, name, first, stop)

    monkeypatch.setattr(StoreWriter, "read", count)
    for command in (["apsp"], ["bfs", "-s", ",".join(map(str, range(300)))]):
        out = path.with_stem(command[0])
        for option, wanted in (("-q", 0), ("--top=0", 300)):
            counted[0] = 0
            done = kleene(command[0], graph_file, *command[1:], "-o", out, "--resume", option)
            assert done.exit_code == 0, done.output
            assert counted[0] == wanted


def test_a_closure_larger_than_memory_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dense = kl.generate.uniform(300, density=0.2, weights=(0.0, 1.0), seed=1)
    kl.write(dense, tmp_path / "dense.npz")
    monkeypatch.setattr(ZarrWriter, "whole", None)
    call = ("closure", tmp_path / "dense.npz", "--semiring", "max_min")
    done = kleene(*call, "-o", tmp_path / "w.zarr", "--json")
    assert done.exit_code == 0, done.output
    values = kl.closure(dense, "max_min").values[~np.eye(300, dtype=bool)]
    found = json.loads(done.output)
    assert (found["lowest"], found["highest"]) == (values.min(), values.max())
    assert found["reached"] == 300 * 300


def test_mistakes_at_the_command_line(graph_file: Path, path: Path) -> None:
    for said, *arguments in (
        ("--resume continues a file: name it by --out", "apsp", graph_file, "--resume"),
        ("--resume is for .zarr and .npy", "apsp", graph_file, "--resume", "-o", "d.csv"),
        ("is not a store", "store", "info", path),
        ("is not a store", "store", "verify", path),
        ("add --graph FILE", "store", "verify", path, "--sample", "3"),
    ):
        done = kleene(*arguments)
        assert done.exit_code != 0
        assert said in done.output, done.output
    kleene("apsp", graph_file, "-o", path)
    other = graph_file.with_name("h.npz")
    kl.write(kl.generate.path(300), other)
    done = kleene("store", "verify", path, "--graph", other)
    assert "belongs to another graph" in done.output
    block = path if path.suffix == ".npy" else path / "distances/c/1/0"
    whole = bytearray(block.read_bytes())
    whole[len(whole) // 3] ^= 255
    block.write_bytes(whole)
    done = kleene("store", "verify", path)
    assert done.exit_code != 0
    assert "differ from those written" in done.output or "cannot be read" in done.output


def test_info_says_when_the_files_are_gone(graph_file: Path, path: Path) -> None:
    kleene("apsp", graph_file, "-o", path)
    if path.suffix == ".npy":
        path.write_bytes(path.read_bytes()[:-4])
    else:
        path.rename(path.with_name("moved"))
    done = kleene("store", "info", path)
    assert done.exit_code != 0
    assert "is missing" in done.output or "was replaced by another file" in done.output


def test_messages_name_the_option_that_was_given(
    graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask.distributed")
    monkeypatch.setattr(cluster, "_local_client", lambda workers: nullcontext("tcp://127.0.0.1:1"))
    for given in (["--on", "tcp://127.0.0.1:1"], ["--workers", "2"]):
        done = kleene("sssp", graph_file, "-s", "0", *given)
        assert f"leave out {given[0]}, or give" in done.output
