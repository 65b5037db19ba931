"""Real ranks: programs and the command line under mpiexec, and jobs that end before their time."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kleene as kl

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="needs the mpiexec of the mpich wheel")

KLEENE = (sys.executable, "-c", "from _kleene_cli import main; main()")
HERE = Path(__file__).parent


def mpiexec(ranks: int, *command: Any, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MPIEXEC), "-n", str(ranks), *map(str, command)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mpi") / "g.npz"
    kl.write(kl.generate.rmat(10, 8, seed=4, weights=(1, 99)), path)
    return path


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_a_program(ranks: int, tmp_path: Path) -> None:
    done = mpiexec(ranks, sys.executable, HERE / "mpi_parts_program.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"right on {ranks} ranks\n"


def test_the_command_line(graph: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.npy"
    done = mpiexec(3, *KLEENE, "sssp", graph, "--source", 5, "-o", out, "--verify", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    expected = kl.sssp(kl.read(graph), 5)
    assert np.array_equal(np.load(out), expected.distances)
    assert document["mpi"]["ranks"] == 3
    assert document["mpi"]["bytes"] > document["mpi"]["messages"] > 0
    assert document["reached"] == expected.reached.sum()
    assert document["proof"]["arcs"] == expected.graph.m
    far = expected.distances[expected.reached].max()
    assert document["farthest"]["distance"] == far
    assert expected.distances[document["farthest"]["target"]] == far


def test_the_page_and_levels(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("7 8\n8 9\n9 5\n6 7\n")
    done = mpiexec(2, *KLEENE, "bfs", tmp_path / "g.txt", 7)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bfs by 2 ranks" in done.stdout
    assert "4 of 5 vertices" in done.stdout
    assert "5, at 3" in done.stdout
    assert "messages" in done.stdout


def test_mistakes_are_said_once(graph: Path, tmp_path: Path) -> None:
    for arguments, code, words in (
        (["bfs", tmp_path / "none.npz", 0], 3, "No such file"),
        (["sssp", graph, 0, "--target", 5], 2, "--targets does not work under mpiexec"),
        (["apsp", graph, "-o", tmp_path / "d.zarr"], 2, "apsp does not work under mpiexec"),
        (["bfs", graph, 0, "--nonsense"], 2, "No such option"),
        (["bfs"], 2, "Missing argument"),
    ):
        done = mpiexec(2, *KLEENE, *arguments)
        assert done.returncode == code, done
        assert done.stderr.count(words) == 1
        assert done.stderr.count("kleene: ") <= 1
        assert not done.stdout


def test_a_store_that_cannot_be_used_is_refused_before_the_search(
    graph: Path, tmp_path: Path
) -> None:
    """The same search on another number of ranks is read from the store."""
    program = tmp_path / "no_search.py"
    program.write_text(
        "import kleene.clusters.mpi.sssp as searches\n"
        "def search(*_, **__):\n"
        "    raise RuntimeError('searched')\n"
        "searches.sssp = search\n"
        "from _kleene_cli import main\n"
        "main()\n"
    )
    out = tmp_path / "d.npy"
    assert mpiexec(3, *KLEENE, "sssp", graph, 0, "-o", out).returncode == 0
    for arguments, code, words in (
        ([0, "-o", tmp_path / "none" / "d.npy"], 2, "there is no directory"),
        ([1, "-o", out, "--resume"], 3, "belongs to other work"),
        ([0, "-o", out, "--resume", "--verify", "--json"], 0, ""),
    ):
        done = mpiexec(2, sys.executable, program, "sssp", graph, *arguments)
        assert done.returncode == code, done.stderr
        assert words in done.stderr
    assert json.loads(done.stdout)["reused"]


def test_help_is_printed_once() -> None:
    done = mpiexec(2, *KLEENE, "bfs", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: ") == 1


def test_a_program_that_fails_on_one_rank_ends_as_documented(tmp_path: Path) -> None:
    """The command in docs/mpi.md ends the job; without -m mpi4py the other ranks would wait."""
    page = (HERE.parents[1] / "docs" / "mpi.md").read_text(encoding="utf-8")
    (options,) = re.findall(r"`mpiexec -n 4 python (.*)program\.py` runs it", page)
    program = tmp_path / "program.py"
    program.write_text(
        "import kleene as kl\n"
        "g = kl.distributed.rmat(4, seed=1)\n"
        "if g.communicator.rank == 1:\n"
        "    raise ValueError('of the user')\n"
        "kl.distributed.bfs(g, 0)\n"
    )
    done = mpiexec(2, sys.executable, *options.split(), program)
    assert done.returncode != 0
    assert "ValueError: of the user" in done.stderr


# ---- jobs that end before their time ------------------------------------------------------------


@pytest.fixture
def endless(graph: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A job that waits in the middle of writing: one rank never comes."""
    program = tmp_path / "endless.py"
    program.write_text(
        "import sys, time\n"
        "from kleene.stores.npy import NpyWriter\n"
        "write = NpyWriter._write\n"
        "def slow(self, name, piece, block):\n"
        "    write(self, name, piece, block)\n"
        "    if piece.index == 1:\n"
        f"        open({str(tmp_path / 'here')!r}, 'w').write('1')\n"
        "        time.sleep(100)\n"
        "NpyWriter._write = slow\n"
        "from _kleene_cli import main\n"
        "main()\n"
    )
    command = [program, "bfs", graph, "0", "-o", tmp_path / "d.npy"]
    job = subprocess.Popen(
        [str(MPIEXEC), "-n", "3", sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 100
    while not (tmp_path / "here").exists() and time.monotonic() < end:
        time.sleep(0.02)
    yield job
    job.kill()
    job.communicate()


def ranks_of(job: subprocess.Popen[str]) -> list[int]:
    """Return the processes of the ranks: children of the proxy, which is a child of mpiexec."""

    def children(process: int) -> list[int]:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text()
        return [int(child) for child in listed.split()]

    return [rank for proxy in children(job.pid) for rank in children(proxy)]


def completed(graph: Path, folder: Path) -> bool:
    """Run the search again; return whether the file is then what one process finds."""
    done = mpiexec(3, *KLEENE, "bfs", graph, 0, "-o", folder / "d.npy", "-q", "--resume")
    expected = kl.bfs(kl.read(graph), 0).distances
    return done.returncode == 0 and np.array_equal(np.load(folder / "d.npy"), expected)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_rank_ends_the_job(
    endless: subprocess.Popen[str], graph: Path, tmp_path: Path
) -> None:
    os.kill(ranks_of(endless)[2], signal.SIGKILL)
    said, _ = endless.communicate(timeout=600)
    assert endless.returncode != 0
    assert "signal 9" in said  # the message is mpiexec's
    assert not (tmp_path / "d.npy").exists()
    assert (tmp_path / "d.npy.partial").exists()
    assert completed(graph, tmp_path)
    assert not (tmp_path / "d.npy.partial").exists()


def test_ctrl_c(endless: subprocess.Popen[str], tmp_path: Path) -> None:
    endless.send_signal(signal.SIGINT)
    _, said = endless.communicate(timeout=600)
    assert endless.returncode == 130
    assert said.count("kleene: interrupted") == 1
    assert "Traceback" not in said
    assert not (tmp_path / "d.npy").exists()


def test_a_job_that_is_terminated_during_the_search_is_run_again(
    graph: Path, tmp_path: Path
) -> None:
    """Its store has no block, and any number of ranks begins it anew."""
    program, here, out = tmp_path / "search.py", tmp_path / "here", tmp_path / "d.npy"
    program.write_text(
        "import time\n"
        "import kleene.clusters.mpi.bfs as searches\n"
        "def search(*_, **__):\n"
        f"    open({str(here)!r}, 'w').write('1')\n"
        "    time.sleep(100)\n"
        "searches.bfs = search\n"
        "from _kleene_cli import main\n"
        "main()\n"
    )
    for ranks, resume in ((3, ()), (2, ("--resume",))):
        here.unlink(missing_ok=True)
        command = map(str, ["-n", 2, sys.executable, program, "bfs", graph, 0, "-o", out])
        with subprocess.Popen([str(MPIEXEC), *command], stderr=subprocess.PIPE, text=True) as job:
            end = time.monotonic() + 100
            while not here.exists() and time.monotonic() < end:
                time.sleep(0.02)
            job.terminate()
            job.communicate(timeout=600)
        assert sorted(file.name for file in tmp_path.glob("d.*")) == [
            "d.npy.ledger", "d.npy.partial", "d.predecessors.npy.partial",
        ]  # fmt: skip
        done = mpiexec(ranks, *KLEENE, "bfs", graph, 0, "-o", out, *resume)
        assert done.returncode == 0, done.stderr
        assert np.array_equal(np.load(out), kl.bfs(kl.read(graph), 0).distances)
        for file in tmp_path.glob("d.*"):
            file.unlink()
