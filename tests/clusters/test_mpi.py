"""Searches on real processes, started by the mpiexec of the MPI library that is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from mpi_program import edges
from traffic_model import predict_bfs, predict_sssp

import kleene as kl

MPIEXEC = Path(sys.executable).with_name("mpiexec")

pytestmark = pytest.mark.skipif(
    find_spec("mpi4py") is None or not MPIEXEC.exists(),
    reason="needs mpi4py and mpich: pip install mpi4py mpich",
)


def mpiexec(ranks: int, mode: str) -> subprocess.CompletedProcess[str]:
    program = Path(__file__).with_name("mpi_program.py")
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), sys.executable, program, mode],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_answers_and_traffic(ranks: int) -> None:
    run = mpiexec(ranks, "searches")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    n, tails, heads, weights = edges()
    whole = kl.Graph.from_edges(tails, heads, weights, n=n, directed=False)
    wanted = [kl.bfs(whole, 3), kl.sssp(whole, 3)]
    assert answer["size"] == ranks
    assert answer["distances"] == [result.distances.tolist() for result in wanted]
    bounds = [rank * n // ranks for rank in range(ranks + 1)]
    delta = 128 * np.mean(whole.weights) / (whole.m / whole.n) ** 2
    predicted = [
        predict_bfs(whole, bounds, 3, pull=True),
        predict_sssp(whole, bounds, 3, int(delta), 8),
    ]
    assert answer["stats"] == [list(prediction) for prediction in predicted]
    assert predicted[0].pulled > 0
    assert answer["few"] == [[1, 0], [5, 0]]
    assert len(answer["path"]) > 1
    assert answer["path"][0] == 3


def test_an_argument_that_is_wrong_on_one_rank() -> None:
    run = mpiexec(3, "check")
    assert run.returncode == 0, run.stderr
    messages = json.loads(run.stdout)
    assert len(messages) == 3
    assert set(messages) == {"no vertex 300: the graph's vertices are 0 to 299"}


def test_a_rank_that_fails_ends_the_job_with_one_message() -> None:
    run = mpiexec(3, "fail")
    assert run.returncode != 0
    assert run.stdout == "" or "distances" not in run.stdout
    ours = [line for line in run.stderr.splitlines() if line.startswith("kleene: ")]
    assert ours == ["kleene: rank 1 of 3 failed in sssp: MemoryError: no room; the job ends"]
    assert "Traceback" not in run.stderr
