"""The program that checks and measures a GPU, tried in the emulator."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kleene.cuda import loader
from kleene.cuda.emulator import EmulatedDevice
from kleene.machine import this_machine
from kleene.registry import methods

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import gpu_checks  # noqa: E402
import gpu_estimates  # noqa: E402
import gpu_rates  # noqa: E402
import gpu_record  # noqa: E402
import gpu_tables  # noqa: E402
import highways  # noqa: E402
from gpu_session import Session  # noqa: E402

PROGRAM = [sys.executable, str(BENCHMARKS / "gpu_check.py")]


def test_the_whole_program(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    done = subprocess.run(
        [*PROGRAM, "--device", "emulated", "--quick", "--record", str(path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(path.read_text())
    assert record["digest"] == loader.digest()
    assert record["checks"]["passed"] >= 1
    assert record["checks"]["failed"] == 0
    assert any(line.startswith("checks: compute-sanitizer: ") for line in record["skipped"])
    assert {tuple(row) for row in record["results"]} == {
        ("part", "method", "case", "n", "dtype", "value", "unit")
    }
    assert {row["part"] for row in record["results"]} <= record["parts"].keys()
    assert {"traversal", "forms", "seed tables", "crossovers"} <= record["parts"].keys()
    for problem in ("bfs", "sssp"):  # every method that there is, and the planner's in detail
        parts = {r["part"] for r in record["results"] if r["case"].startswith(f"{problem}, ")}
        assert not methods(problem, "emulated") or {"traversal", "forms"} <= parts
        for row in methods(problem, "emulated"):
            told = {r["case"] for r in record["results"] if r["method"] == row.name}
            assert any(case.startswith(f"{problem}, grid 8") for case in told), row
    assert {"Trelax/s", "fraction", "ms", "s"} <= {row["unit"] for row in record["results"]}
    assert {"tiled", "naive", "ceiling", "first use"} <= {
        row["method"] for row in record["results"]
    }
    assert len(path.read_text().splitlines()) > len(record["results"])
    assert gpu_record.stale(tmp_path) == []


def test_one_sentence_without_a_gpu() -> None:
    if "cuda" in this_machine().devices:
        pytest.skip("there is a GPU")
    done = subprocess.run(PROGRAM, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("gpu-check needs an NVIDIA GPU: device 'cuda' is not available")
    assert len(done.stderr.splitlines()) == 1


def test_records_of_other_kernels_are_told(tmp_path: Path) -> None:
    assert gpu_record.path_for("NVIDIA H200").name == "nvidia-h200.json"
    record = {"device": "NVIDIA H200", "date": "2026-01-01", "digest": "0"}
    record["checks"] = {"failed": 0, "sanitizer_errors": 0}
    gpu_record.write(tmp_path / "a.json", record)
    [told] = gpu_record.stale(tmp_path)
    assert "run `make gpu-check` on NVIDIA H200" in told
    record |= {"digest": loader.digest(), "checks": {"failed": 2, "sanitizer_errors": 0}}
    gpu_record.write(tmp_path / "a.json", record)
    [told] = gpu_record.stale(tmp_path)
    assert "failed" in told


def test_parts_of_two_runs_stand_in_one_record(tmp_path: Path) -> None:
    same = {"device": "GPU", "capability": "9.0", "driver": "1", "versions": {}}
    same["digest"] = loader.digest()

    def record(date: str, checks: dict[str, int] | None, *parts: str) -> dict[str, Any]:
        made: dict[str, Any] = {**same, "date": date}
        if checks is not None:
            made["checks"] = checks
        made["parts"] = {name: {"date": date, "seconds": 1.0, "failed": 0} for name in parts}
        made["skipped"] = [f"{name}: this: why" for name in parts]
        made["results"] = [{"part": name, "value": date} for name in parts]
        return made

    path, right = tmp_path / "gpu.json", {"failed": 0, "sanitizer_errors": 0}
    gpu_record.write(path, gpu_record.merged(path, record("1st", None, "forms")))
    [told] = gpu_record.stale(tmp_path)
    assert "no checks" in told
    gpu_record.write(path, gpu_record.merged(path, record("2nd", right, "checks", "calls")))
    gpu_record.write(path, gpu_record.merged(path, record("3rd", None, "calls")))
    both = json.loads(path.read_text())
    assert {name: part["date"] for name, part in both["parts"].items()} == {
        "forms": "1st", "checks": "2nd", "calls": "3rd",
    }  # fmt: skip
    assert [row["value"] for row in both["results"]] == ["1st", "2nd", "3rd"]
    assert len(both["skipped"]) == 3
    assert gpu_record.stale(tmp_path) == []
    both["parts"]["forms"]["failed"] = 1
    gpu_record.write(path, both)
    assert "failed" in gpu_record.stale(tmp_path)[0]
    other = {**record("4th", None, "calls"), "driver": "2"}  # nothing is kept
    assert gpu_record.merged(path, other) == other


def test_estimates_stand_beside_what_was_measured() -> None:
    def row(case: str, method: str, value: float, unit: str = "ms") -> dict[str, Any]:
        return {"case": f"crossover, {case}", "method": method, "n": 2**20, "dtype": "int32",
                "value": value, "unit": unit}  # fmt: skip

    record = {"cores": 2, "results": [
        row("bfs, R-MAT 20, cpu", "direction_optimizing", 15.0),
        row("bfs, R-MAT 20, cuda", "direction_optimizing", 20.0),
        row("bfs, R-MAT 20, cuda, placed", "direction_optimizing", 100.0),
        row("bfs, R-MAT 20", "graph", 31e6, "arcs"),
        row("apsp, uniform, 1048576 vertices, unweighted, cpu", "batched", 1e6),
        row("apsp, uniform, 1048576 vertices, unweighted", "graph", 8e6, "arcs"),
        {**row("", "tiled", 1.0), "case": "min_plus, whole call"},
    ]}  # fmt: skip
    found = list(gpu_estimates.comparisons(record))
    assert [one.where for one in found] == ["cpu", "cuda", "cuda, placed", "cpu"]
    assert found[0].estimated == pytest.approx(0.015, rel=0.3)
    assert 0.35 > found[1].estimated > found[2].estimated > 0
    assert str(found[0]).startswith("bfs   R-MAT 20  ")
    [told] = gpu_estimates.misplaced(found)
    assert told == "bfs, R-MAT 20: cuda, placed is taken and 6.7 times slower"


def test_what_fails_or_takes_too_long_is_told() -> None:
    session = Session(EmulatedDevice(), 60, True)
    with session.part("one"):
        assert gpu_tables.climb(session, "a", (1, 2, 3), lambda size: 1.0)
        assert not gpu_tables.climb(session, "b", (1, 2, 3), lambda size: 20.0**size)
        assert not gpu_tables.climb(session, "c", (1, 20), lambda size: 1 / 0)
        assert not session.fits("d", 1000)
    assert session.parts["one"]["failed"] == 1
    assert [line.split(",")[0] for line in session.skipped] == [
        "one: b",
        "one: c",
        "one: d: needs about 1000 s",
    ]


def test_what_the_sanitizer_runs() -> None:
    """A method of each problem on its small graphs."""
    for problem in ("bfs", "sssp", "closure"):
        for row in methods(problem, "emulated")[:1]:
            gpu_checks.solve(row, row.semirings[0], "emulated", True)


def test_highways_are_read_as_text() -> None:
    g = highways.parse("import x\n\ngraph=[{1: 1.2335, 2: 0.0001}, {}, {0: 3}]\n\nnodes=[[1, 2]]\n")
    assert (g.n, g.coo.sources.tolist(), g.coo.targets.tolist()) == (3, [0, 0, 2], [1, 2, 0])
    assert g.weights is not None
    assert (g.weights.dtype, g.weights.tolist()) == (np.int32, [1234, 1, 3000])


# ---- the ceiling --------------------------------------------------------------------------------

LAYOUTS = [case.layout(1) for case in gpu_rates.CASES if not case.paths]
EXTEND: dict[str, Any] = {"PLUS": np.add, "MIN": np.minimum, "TIMES": np.multiply}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.algebra)
def test_the_ceiling_is_of_products_that_are_computed(layout: Any) -> None:
    """What the loop finds is the best of all its products, in each thread."""
    rounds, given = 3, gpu_rates.given_words(layout.word)
    rate, found = gpu_rates.ceiling(EmulatedDevice(), layout, rounds, 1)
    assert rate > 0
    for thread in (0, 5, 255):
        assert found[thread] == pytest.approx(expected(layout, given, rounds, thread), rel=1e-6)


def expected(layout: Any, given: Any, rounds: int, thread: int) -> Any:
    across = gpu_rates.across(layout)
    taken = given[(thread + np.arange(16 + 2 * across)) % len(given)]
    even, odd, b0, b1 = taken[:16:2], taken[1:16:2], taken[16::2], taken[17::2]
    by = layout.word.type(0.999 if "TIMES" in layout.algebra else 1)
    change = np.multiply if "TIMES" in layout.algebra else np.add
    products = []
    boolean, short = layout.algebra == "KL_BOOLEAN", layout.algebra == "KL_MIN_PLUS_SHORT"
    extend = np.bitwise_and if boolean else EXTEND[layout.algebra.split("_")[2]]
    for _ in range(2 * rounds):
        products += [extend.outer(even, b0), extend.outer(odd, b1)]
        even, odd = odd, change(odd, by)
    every = np.concatenate([p.ravel() for p in products])
    if boolean:
        return reduce(np.bitwise_or, every)
    if short:  # the upper half of every word is zero
        return every.min()
    return every.min() if "MIN_PLUS" in layout.algebra else every.max()


# ---- what rates are checked by ------------------------------------------------------------------


@pytest.mark.parametrize("case", gpu_rates.CASES, ids=lambda case: f"{case}-{case.dtype}")
def test_wrong_rows_and_paths_are_noticed(case: Any) -> None:
    device, weights = EmulatedDevice(), gpu_rates.Weights(70)
    rate = gpu_rates.measure(device, case, 70, weights, 1, 2)
    assert rate.run > 0
    matrix = weights.matrix(case, 70)
    wrong = matrix.copy()  # not closed
    with pytest.raises(AssertionError):
        gpu_rates.require_right(case, matrix, wrong, None, np.arange(5), weights.heights)


def test_paths_that_are_wrong_are_noticed() -> None:
    case, weights = gpu_rates.PLAIN._replace(paths=True), gpu_rates.Weights(40)
    matrix = weights.matrix(case, 40)
    closed = np.array([gpu_rates.best_row(case, matrix, s, None) for s in range(40)])
    last = np.zeros((40, 40), np.int32)
    with pytest.raises(AssertionError):
        gpu_rates.require_right(case, matrix, closed, last, np.arange(5), weights.heights)
