"""The command line as a process: pipes, signals, exit codes, and imports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kleene as kl

KLEENE = [sys.executable, "-m", "kleene.cli.main"]
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and named pipes")


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*KLEENE, *map(str, arguments)], input=stdin, capture_output=True, timeout=60
    )


def test_a_pipeline_of_three() -> None:
    made = run("generate", "grid", "-", "--rows", 3, "--columns", 4, "--to", "edge_list")
    assert (made.returncode, made.stderr) == (0, b"")
    converted = run("convert", "-", "-", "--to", "dimacs", stdin=made.stdout)
    assert (converted.returncode, converted.stderr) == (0, b"")
    solved = run("bfs", "-", "--source", 0, "--json", stdin=converted.stdout)
    assert json.loads(solved.stdout)["levels"] == [1, 2, 3, 3, 2, 1]
    assert solved.stderr == b""  # no progress bar where there is no terminal


def test_errors_go_to_standard_error_without_a_traceback() -> None:
    failed = run("info", "-", stdin=b"p sp 1 1\na 1 2 3\n")
    assert (failed.returncode, failed.stdout) == (3, b"")
    assert failed.stderr.startswith(b"kleene: <stdin>:2: ")
    assert failed.stderr.count(b"\n") == 1


@posix
@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_closed_pipe(tmp_path: Path, json_too: tuple[str, ...]) -> None:
    kl.write(kl.generate.path(200_000), tmp_path / "path.npz")
    command = [*KLEENE, "bfs", str(tmp_path / "path.npz"), "-s", "0", "--top", "20000", *json_too]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@posix
def test_ctrl_c_takes_less_than_a_second(tmp_path: Path) -> None:
    pipe = tmp_path / "graph"
    os.mkfifo(pipe)
    command = [*KLEENE, "apsp", str(pipe), "--device", "reference", "-o", str(tmp_path / "o.npy")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with pipe.open("wb") as file:  # opens when the process reads
            kl.write(kl.generate.grid(60, 60, weights=(1, 9)), file, "dimacs")
        while not list(tmp_path.glob(".kleene-*.npy")):  # until it works on the answer
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, said = process.communicate(timeout=30)
        assert time.monotonic() - began < 1
    assert process.returncode == 130
    assert said == b"kleene: interrupted\n"
    assert list(tmp_path.iterdir()) == [pipe]  # nothing half-written stays


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_is_light() -> None:
    loaded = modules_after("import kleene")
    for heavy in (
        "kleene.generate",
        "numpy.random",
        "scipy",
        "typer",
        "rich",
        "matplotlib",
        "networkx",
        "pandas",
        "pyarrow",
        "cupy",
    ):
        assert heavy not in loaded


def test_help_is_light() -> None:
    loaded = modules_after("import kleene.cli.main")
    for heavy in (
        "scipy",
        "rich.console",
        "kleene.system.doctor",
        "kleene.backends.reference.sssp",
    ):
        assert heavy not in loaded
