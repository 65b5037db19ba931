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
from processor_time import taken_by

import kleene as kl

KLEENE = [sys.executable, "-m", "kleene.cli.main"]
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and named pipes")


def run(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*KLEENE, *map(str, arguments)], input=stdin, capture_output=True, timeout=600
    )


def test_a_pipeline_of_three() -> None:
    made = run("generate", "grid", "-", "--rows", 3, "--columns", 4, "--to", "edge_list")
    assert (made.returncode, made.stderr) == (0, b"")
    converted = run("convert", "-", "-", "--to", "dimacs", stdin=made.stdout)
    assert (converted.returncode, converted.stderr) == (0, b"")
    solved = run("bfs", "-", "--source", 1, "--json", stdin=converted.stdout)
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


#: The answer in one file, not in a store, which stays to be resumed.
ONE_BLOCK = {**os.environ, "KLEENE_PIECE_SECONDS": "1e6"}


@posix
def test_ctrl_c_takes_less_than_a_second(tmp_path: Path) -> None:
    pipe = tmp_path / "graph"
    os.mkfifo(pipe)
    command = [*KLEENE, "apsp", str(pipe), "--device", "reference", "-o", str(tmp_path / "o.npy")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=ONE_BLOCK, **streams) as process:
        with pipe.open("wb") as file:  # opens when the process reads
            kl.write(kl.generate.grid(60, 60, weights=(1, 9)), file, "dimacs")
        while not list(tmp_path.glob(".kleene-*.npy")):  # until it works on the answer
            time.sleep(0.05)
            assert process.poll() is None
        before = taken_by(process)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
        assert taken_by(process) - before < 1
    assert process.returncode == 130
    assert said == b"kleene: interrupted\n"
    assert list(tmp_path.iterdir()) == [pipe]  # nothing half-written stays


# ---- before and around the command ---------------------------------------------------------------

SCRIPT = "import sys, _kleene_cli; sys.argv[0] = 'kleene'; _kleene_cli.main()"

#: Ctrl-C at the moment when a module is imported.
INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""


@posix
@pytest.mark.parametrize(
    "module", ["kleene", "numpy", "kleene.graph.core", "typer", "kleene.io.dimacs", "rich.console"]
)
def test_ctrl_c_while_importing(module: str) -> None:
    script = INTERRUPTED.replace("MODULE", repr(module)) + SCRIPT
    done = subprocess.run(
        [sys.executable, "-c", script, "info", "-"],
        input=b"p sp 2 1\na 1 2 3\n",
        capture_output=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (130, b"kleene: interrupted\n")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["sh", "-c", command, sys.executable, SCRIPT],
        capture_output=True,
        timeout=600,
        env=os.environ | environment,
    )


@posix
@pytest.mark.parametrize(
    ("redirect", "error"),
    [
        (">&-", b"kleene: standard output: Bad file descriptor\n"),
        ("--json >&-", b"kleene: standard output: Bad file descriptor\n"),
        ("> /dev/full", b"kleene: standard output: No space left on device\n"),
        ("--json > /dev/full", b"kleene: standard output: No space left on device\n"),
        (">&- 2>&-", b""),
    ],
)
def test_output_that_cannot_be_written(tmp_path: Path, redirect: str, error: bytes) -> None:
    if "full" in redirect and not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    kl.write(kl.generate.path(5), tmp_path / "g.npz")
    done = shell(f'"$0" -c "$1" bfs {tmp_path}/g.npz -s 0 -o {tmp_path}/r.npz {redirect}')
    assert (done.returncode, done.stderr) == (3, error)
    kl.Result.load(tmp_path / "r.npz", kl.generate.path(5)).verify()  # no output went into files


@posix
def test_streams_that_are_closed_but_not_used(tmp_path: Path) -> None:
    done = shell(f'"$0" -c "$1" generate path {tmp_path}/g.npz --n 5 -q <&- >&- 2>&-')
    assert done.returncode == 0
    assert kl.read(tmp_path / "g.npz").n == 5
    done = shell('"$0" -c "$1" info - <&-')
    assert (done.returncode, done.stderr) == (3, b"kleene: <stdin>: Bad file descriptor\n")


@posix
def test_output_in_ascii(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("\u00e9,b\n\u00e9,b\n", encoding="utf-8")
    done = shell(
        f'"$0" -c "$1" bfs {tmp_path}/g.csv --format edge_list -s b', PYTHONIOENCODING="ascii"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"us\n" in done.stdout or b"ms\n" in done.stdout
    assert b"0 hops  1  ####" in done.stdout
    done = shell(f'"$0" -c "$1" info {tmp_path}/g.csv --format edge_list', PYTHONIOENCODING="ascii")
    assert done.returncode == 0


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_other_signals_remove_files_too(tmp_path: Path, number: int, code: int) -> None:
    pipe = tmp_path / "graph"
    os.mkfifo(pipe)
    command = [*KLEENE, "apsp", str(pipe), "--device", "reference", "-o", str(tmp_path / "o.npy")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=ONE_BLOCK, **streams) as process:
        with pipe.open("wb") as file:
            kl.write(kl.generate.grid(60, 60, weights=(1, 9)), file, "dimacs")
        while not list(tmp_path.glob(".kleene-*.npy")):
            time.sleep(0.05)
            assert process.poll() is None
        time.sleep(0.3)  # a signal between the lines that make the file leaves it to the next write
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, b"kleene: terminated\n")
    assert list(tmp_path.iterdir()) == [pipe]


#: A signal while an archive is opened: its destructor fails over what is not there yet.
HALF_MADE = """
import os, signal, zipfile
def half_made(self, *arguments, **options):
    self.fp = object()
    os.kill(os.getpid(), NUMBER)
zipfile.ZipFile.__init__ = half_made
"""


@posix
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGTERM, 143, b"terminated"), (signal.SIGINT, 130, b"interrupted")],
)
def test_a_signal_prints_one_line(tmp_path: Path, number: int, code: int, message: bytes) -> None:
    kl.write(kl.generate.path(3), tmp_path / "g.npz")
    script = HALF_MADE.replace("NUMBER", str(int(number))) + SCRIPT
    done = subprocess.run(
        [sys.executable, "-c", script, "info", str(tmp_path / "g.npz")],
        capture_output=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (code, b"kleene: " + message + b"\n")


# ---- imports ------------------------------------------------------------------------------------


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
        "cuda",
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
