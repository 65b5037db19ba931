"""Who started this process, and which options the command line has under mpiexec."""

from __future__ import annotations

import pytest
from cli_runner import kleene

from kleene.cli import by_ranks
from kleene.distributed import Communicator
from kleene.distributed.mpi.launch import launched_rank, launched_ranks


@pytest.mark.parametrize(
    ("variables", "rank", "ranks"),
    [
        ({}, 0, 1),
        ({"PMI_RANK": "2", "PMI_SIZE": "4"}, 2, 4),  # MPICH, Intel MPI, Slurm with PMI-2
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3", "PMIX_RANK": "1"}, 1, 3),
        ({"PMIX_RANK": "5", "SLURM_STEP_NUM_TASKS": "8"}, 5, 8),  # srun --mpi=pmix
        ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, 0, 1),  # a batch script
        ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "3"}, 0, 1),  # srun without MPI
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, 0, 1),
        ({"PMI_SIZE": "many"}, 0, 1),
    ],
)
def test_the_environment(
    variables: dict[str, str], rank: int, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PMI_RANK", "PMI_SIZE", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (launched_rank(), launched_ranks()) == (rank, ranks)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0", "--target", "1"], "--target does not work under mpiexec"),
        (["0", "--limit", "0"], "--limit does not work"),
        (["0", "--reverse"], "--reverse does not work"),
        (["0", "--method", "queue"], "--method does not work"),
        (["0", "--device", "cuda"], "--device does not work"),
        (["0", "--threads", "2"], "--threads does not work"),
        (["0", "--top", "0"], "--top does not work"),
        (["0", "--turns", "x.csv"], "--turns does not work"),
        (["0", "--positions", "x.co"], "--positions does not work"),
        (["0", "1"], "one source, and 2 were given"),
        ([], "one source, and 0 were given"),
        (["0", "-o", "d.npz"], "written as .npy or .zarr, not d.npz"),
    ],
)
def test_options_that_ranks_do_not_have(
    arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_ranks, "launched_ranks", lambda: 4)
    monkeypatch.setattr(by_ranks, "_communicator", Communicator)
    monkeypatch.setattr(by_ranks, "_end_on_signals", lambda: None)
    result = kleene("sssp", "no such file", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_mpi_of_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mpiexec started four processes, and each is alone to the MPI library of mpi4py."""
    monkeypatch.setattr(by_ranks, "launched_ranks", lambda: 4)
    monkeypatch.setattr("kleene.distributed.MpiCommunicator", Communicator, raising=False)
    monkeypatch.setattr(by_ranks, "_end_on_signals", lambda: None)
    result = kleene("bfs", "no such file", "0")
    assert result.exit_code == 2
    assert "started 4 processes, but mpi4py sees 1" in result.stderr
