"""The program that checks and measures a GPU, tried in the emulator."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl
from kleene.backends.cuda.closure.ceiling import across, layout_for, run_in_registers, start_values
from kleene.backends.cuda.runtime.emulated_device import EmulatedDevice
from kleene.calls.programs import kernel_digest
from kleene.system.machine import this_machine
from kleene_lab.harness import record as records
from kleene_lab.harness.dense import (
    CASES,
    PLAIN,
    Weights,
    best_row,
    require_paths,
    require_row,
    resident,
)
from kleene_lab.harness.environment import Environment
from kleene_lab.harness.record import Check, Line, Point, Run, SameKernels, Skip

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import cost_model  # noqa: E402
import gpu_checks  # noqa: E402
import gpu_record  # noqa: E402
import highways  # noqa: E402

PROGRAM = [sys.executable, str(BENCHMARKS / "gpu_check.py")]


def test_the_whole_program(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    done = subprocess.run(
        [*PROGRAM, "--device", "emulated", "--quick", "--record", str(path), "crossover-searches"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = records.read(path)
    [run] = record.runs.values()
    assert run.kernels == kernel_digest()
    assert run.machine["gpu"]["kind"] == "emulated"
    checks = {check.name: check for check in record.checks}
    assert checks["tests"].passed >= 1
    assert checks["tests"].failed == 0
    assert checks["compute-sanitizer"].details == ("needs a GPU",)
    assert {point.experiment for point in record.points} == {"crossover-searches"}
    assert {point.device for point in record.points} == {"cpu", "emulated"}
    assert gpu_record.stale(tmp_path) == []


def test_one_sentence_without_a_gpu() -> None:
    if "cuda" in this_machine().devices:
        pytest.skip("there is a GPU")
    done = subprocess.run(PROGRAM, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("gpu-check needs an NVIDIA GPU: device 'cuda' is not available")
    assert len(done.stderr.splitlines()) == 1


# ---- records ------------------------------------------------------------------------------------

RUN = Run(
    "r1", "2026-01-02T00:00:00Z", {"cores": 2, "gpu": {"name": "NVIDIA H200", "kind": "cuda"}},
    "0.1.0", kernel_digest(),
)  # fmt: skip
PASSED = Check("r1", "tests", 12, 0)
OLD = replace(RUN, kernels="old")


def same(old: str, new: str = RUN.kernels) -> SameKernels:
    return SameKernels(old, new, "2026-01-03", 136, {"nvidia-cuda-nvrtc 13.4": ["sm_90"]})


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([RUN, PASSED], None),
        ([replace(RUN, kernels="0"), PASSED], "on 2026-01-02 with other kernels"),
        ([RUN], "has no checks"),
        ([RUN, Check("r1", "tests", 0, 0, ("not done within the budget",))], "has no checks"),
        ([RUN, Check("r1", "tests", 12, 1)], "checks that failed"),
        ([RUN, PASSED, Skip("r1", "bfs-by-scale", "wrong", "", "GPU", 3, True)], "failed"),
        ([RUN, PASSED, Skip("r1", "bfs-by-scale", "no time", "", "GPU", 3)], None),
        ([replace(RUN, machine={"cores": 2}, kernels="0")], None),  # of a CPU
        # A newer run with these kernels stands beside one with others.
        ([replace(RUN, kernels="0"), replace(RUN, id="r2"), replace(PASSED, run="r2")], None),
        # Lines say which kernels are the same.
        ([OLD, PASSED, same("old")], None),
        ([OLD, PASSED, same("old", "between"), same("between")], None),
        ([OLD, PASSED, same("older")], "with other kernels"),
        ([OLD, PASSED, same("old", "newer")], "with other kernels"),
        ([OLD, PASSED, same("between")], "with other kernels"),
        ([OLD, same("old")], "has no checks"),
    ],
)
def test_stale_records_are_reported(lines: list[Line], problem: str | None, tmp_path: Path) -> None:
    assert gpu_record.path_for("NVIDIA H200").name == "nvidia-h200.jsonl"
    records.write(tmp_path / "a.jsonl", lines)
    results = gpu_record.stale(tmp_path)
    assert len(results) == (problem is not None)
    assert problem is None or problem in results[0]


def test_an_old_record_counts_until_there_is_a_new_one(tmp_path: Path) -> None:
    old = tmp_path / "a.json"
    old.write_text('{"device": "NVIDIA H200", "date": "2026-01-01", "digest": "0"}')
    [sentence] = gpu_record.stale(tmp_path)
    assert "run `make gpu-check` on NVIDIA H200" in sentence
    records.write(tmp_path / "a.jsonl", [RUN, PASSED])
    assert gpu_record.stale(tmp_path) == []


def test_estimates_stand_beside_what_was_measured() -> None:
    def point(panel: str, series: str, method: str, ms: float, **more: Any) -> Point:
        given = {"n": 2**20, "m": 31_000_000, "dtype": "int32", "x": 2.0**20, **more}
        given = {"experiment": "crossover-searches", **given}
        device = "cpu" if series == "CPU" else "cuda"
        return Point(
            "r1", series=series, panel=panel, device=device, method=method, seconds=(ms / 1e3,),
            **given,
        )  # fmt: skip

    record = records.Record({"r1": RUN})
    for made in (
        point("BFS, R-MAT", "CPU", "direction_optimizing", 15.0),
        point("BFS, R-MAT", "GPU", "direction_optimizing", 20.0),
        point("BFS, R-MAT", "GPU, graph there", "direction_optimizing", 100.0),
        point("without weights", "CPU", "batched", 1e6, experiment="crossover-all-pairs"),
        point("paths", "CPU", "tiled", 200.0, experiment="crossover-dense", n=2048, m=2048 * 2047,
              dtype="float32", x=2048.0),
        point("", "GPU", "tiled", 1.0, experiment="dense-rate-by-size"),
    ):  # fmt: skip
        record.add(made)
    results = list(cost_model.comparisons(record))
    assert [one.where for one in results] == ["CPU", "GPU", "GPU, graph there", "CPU", "CPU"]
    assert results[0].estimated == pytest.approx(0.015, rel=0.3)
    assert 0.35 > results[1].estimated > results[2].estimated > 0
    assert results[4].estimated == pytest.approx(2048**3 / 35e9, rel=0.1)
    assert str(results[0]).startswith("searches, BFS, R-MAT, n = 1,048,576  ")
    [sentence] = cost_model.misplaced(results)
    assert sentence == (
        "searches, BFS, R-MAT, n = 1,048,576: GPU, graph there is chosen and 6.7 times slower"
    )


def test_what_the_sanitizer_runs() -> None:
    """A method of each problem on its small graphs."""
    for problem in ("bfs", "sssp", "closure"):
        for row in kl.methods(problem, "emulated")[:1]:
            gpu_checks.solve(row, row.semirings[0], "emulated", True)
    gpu_checks.verify_betweenness("emulated")


def test_highways_are_read_as_text() -> None:
    rows, nodes = "graph=[{1: 1.2335, 2: 0.0001}, {}, {0: 3}]", "nodes=[[1, 2], [3, 4], [5, 6]]"
    g = highways.parse(f"import x\n\n{rows}\n{nodes}\n\n\nx()\n")
    assert g.positions is not None
    assert g.positions.tolist() == [[2, 1], [4, 3], [6, 5]]
    assert (g.n, g.coo.sources.tolist(), g.coo.targets.tolist()) == (3, [0, 0, 2], [1, 2, 0])
    assert g.weights is not None
    assert (g.weights.dtype, g.weights.tolist()) == (np.int32, [1234, 1, 3000])


# ---- the ceiling --------------------------------------------------------------------------------

LAYOUTS = [layout_for(c.semiring, np.dtype(c.dtype), not c.negative) for c in CASES]
EXTEND: dict[str, Any] = {"PLUS": np.add, "MIN": np.minimum, "TIMES": np.multiply}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.algebra)
def test_the_ceiling_is_of_products_that_are_computed(layout: Any) -> None:
    """What the loop finds is the best of all its products, in each thread."""
    rounds, given = 3, start_values(layout.word)
    rate, values = run_in_registers(EmulatedDevice(), layout, rounds, 1)
    assert rate > 0
    for thread in (0, 5, 255):
        assert values[thread] == pytest.approx(expected(layout, given, rounds, thread), rel=1e-6)


def expected(layout: Any, given: Any, rounds: int, thread: int) -> Any:
    taken = given[(thread + np.arange(16 + 2 * across(layout))) % len(given)]
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


@pytest.mark.parametrize(
    ("case", "paths"),
    [
        pytest.param(case, paths, id=f"{case.name}-{paths}")
        for case in CASES
        for paths in ("lengths", "paths")
        if paths == "lengths" or case.dtype not in ("bool", "int16")  # those have no paths
    ],
)
def test_wrong_rows_are_noticed(case: Any, paths: str) -> None:
    n = 70
    case = case._replace(paths=paths != "lengths")
    trial = resident(Environment("emulated"), case, n, n)
    results = trial.run()
    assert trial.check(results) == "2 of 70 rows computed again by Dijkstra's algorithm"
    stats = trial.parts(results)
    assert stats is not None
    assert stats.compute > 0
    assert min(stats.copy_in, stats.copy_out) > 0
    if results.predecessors is not None:
        results.predecessors[:] = 0
        with pytest.raises(AssertionError):
            trial.check(results)
    results = trial.run()
    results.distances[:] = Weights(n).matrix(case, n)  # not closed
    with pytest.raises(AssertionError):
        trial.check(results)


def test_rows_and_paths_are_judged_one_by_one() -> None:
    n, weights = 40, Weights(40)
    matrix = weights.matrix(PLAIN, n)
    row = best_row(PLAIN, matrix, 5, weights.heights)
    require_row(PLAIN, row, row, 5)
    spoiled = row.copy()
    spoiled[7] += 1
    with pytest.raises(AssertionError):
        require_row(PLAIN, spoiled, row, 5)
    tight = np.isclose(row[:, None] + matrix, row) & ~np.eye(n, dtype=bool)
    last = np.where(np.arange(n) == 5, -1, tight.argmax(0)).astype(np.int32)
    require_paths(PLAIN, matrix, row, last, 5)
    last[7] = -1
    with pytest.raises(AssertionError, match="missing"):
        require_paths(PLAIN, matrix, row, last, 5)
