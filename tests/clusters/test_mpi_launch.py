"""Who started this process, and which options the command line has under mpiexec."""

from __future__ import annotations

from typing import Any

import pytest
from cli_runner import kleene
from typer.main import get_command

from kleene.cli import ranks as by_ranks
from kleene.cli.main import app
from kleene.cli.ranks import SEARCHES
from kleene.clusters.mpi.launch import launched_rank, launched_ranks
from kleene.distributed import Communicator


def start_as_rank(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands find themselves started as one of four ranks, and searches work alone."""
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setenv("PMI_RANK", str(rank))
    monkeypatch.setattr(by_ranks, "_communicator", Communicator)
    monkeypatch.setattr(by_ranks, "_end_on_signals", lambda: None)


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
        (["0", "--target", "1"], "--targets does not work under mpiexec"),
        (["0", "--limit", "0"], "--limit does not work"),
        (["0", "--reverse"], "--reverse does not work"),
        (["0", "--method", "queue"], "--method does not work"),
        (["0", "--device", "cuda"], "--device does not work"),
        (["0", "--devices", "0,1"], "--devices does not work"),
        (["0", "--workers", "2"], "--workers does not work"),
        (["0", "--on", "tcp://x:1"], "--on does not work"),
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
    start_as_rank(0, monkeypatch)
    result = kleene("sssp", "no such file", *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize("problem", SEARCHES)
def test_every_option_works_or_is_refused(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is new is refused: it has no effect on ranks."""
    start_as_rank(0, monkeypatch)
    group: Any = get_command(app)
    work = set()
    for option in (
        p for p in group.get_command(None, problem).params if p.param_type_name == "option"
    ):
        name, value = option.opts[0], [] if option.is_flag else ["7"]
        result = kleene(problem, "no such file", "0", name, *value)
        if f"{name} does not work under mpiexec" not in result.stderr:
            work.add(name)
    assert work == {
        *("--format", "--directed", "--weighted", "--weight", "--columns", "--separator"),
        *("--header", "--unlabelled", "--sources", "--out", "--resume", "--verify"),
        *("--predecessors", "--json", "--quiet"),
        *(["--dtype"] if problem == "sssp" else []),
    }


def test_values_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    start_as_rank(0, monkeypatch)
    result = kleene("bfs", "no such file", "0", "--device", "cpu", "--method", "auto")
    assert result.exit_code == 3
    assert "No such file" in result.stderr


@pytest.mark.parametrize("command", ["apsp", "closure", "info", "store", "generate", "doctor"])
def test_commands_that_ranks_do_not_have(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_as_rank(0, monkeypatch)
    result = kleene(command, "no such file")
    assert result.exit_code == 2
    assert f"kleene: {command} does not work under mpiexec" in result.stderr
    start_as_rank(1, monkeypatch)
    result = kleene(command, "no such file")
    assert (result.exit_code, result.output) == (0, "")


def test_mpi_of_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mpiexec started four processes, and each is alone to the MPI library of mpi4py."""
    monkeypatch.setenv("PMI_SIZE", "4")
    monkeypatch.setattr("kleene.distributed.MpiCommunicator", Communicator, raising=False)
    monkeypatch.setattr(by_ranks, "_end_on_signals", lambda: None)
    result = kleene("bfs", "no such file", "0")
    assert result.exit_code == 2
    assert "started 4 processes, but mpi4py sees 1" in result.stderr
